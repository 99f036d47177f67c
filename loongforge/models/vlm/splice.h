// Puts visual tokens in the places that a text holds for them.
#pragma once

#include <memory>

#include "loongforge/nn/model.h"

namespace loongforge {

// The language model's first segment with the rows of placeholders replaced by the flow's visual tokens, in
// their order. Throws DataError when there are more or fewer tokens than places.
std::unique_ptr<Segment> splice_into(std::unique_ptr<Segment> embedding, const VisualInfo& visual);

}  // namespace loongforge
