// The vision tower of Qwen2.5-VL (Bai et al. 2025): patches of two frames, attention within windows and in
// some blocks within the frame, two-dimensional rotary positions.
#pragma once

#include "loongforge/models/card.h"
#include "loongforge/models/vision/qwen2_5_vit/config.h"

namespace loongforge {

namespace qwen2_5_vit {

VisionPart build(const TowerConfig& config, ParamBuilder& builder);
// Names of its tensors in files.
NameMap names();

}  // namespace qwen2_5_vit

void register_qwen2_5_vit(Registry& registry);

}  // namespace loongforge
