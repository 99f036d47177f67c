// The vision tower of Qwen2.5-VL (Bai et al. 2025): patches of two frames, attention within windows and in
// some blocks within the frame, two-dimensional rotary positions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loongforge/models/vision/qwen2_5_vit/config.h"
#include "loongforge/nn/model.h"

namespace loongforge::qwen2_5_vit {

// The segments from pixels to patches (models/vision/tower.h).
std::vector<std::unique_ptr<Segment>> build(ParamBuilder& builder, const TowerConfig& config);
// Names of its tensors in files.
NameMap names();

}  // namespace loongforge::qwen2_5_vit
