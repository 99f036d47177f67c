// Patches as the tensors that a vision tower reads.
#pragma once

#include <span>
#include <vector>

#include "loongforge/media/patches.h"
#include "loongforge/models/vlm/inputs.h"

namespace loongforge {

// Pictures and clips behind each other; seconds: MediaGrid's, one each. Without any the grids are (0, 3) and
// the pixels undefined.
VisualInputs visual_inputs(std::span<const PatchRows> media, std::vector<double> seconds);

}  // namespace loongforge
