// Puts the parts of a vision-language model together.
#pragma once

#include "loongforge/models/card.h"

namespace loongforge {

// The tower's segments, the projector, then the language model's, whose embedding takes the visual tokens in.
ModelParts assemble(VisionPart vision, std::unique_ptr<Segment> projector, LanguagePart language,
                    const VisualInfo& visual);

}  // namespace loongforge
