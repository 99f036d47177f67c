// Qwen2.5-VL (Bai et al. 2025): a vision tower with windowed attention, a merger, and Qwen2.5 whose tokens
// stand on axes of time, height and width.
#pragma once

#include "loongforge/models/card.h"

namespace loongforge {

namespace qwen2_5_vl {

ModelParts build(const Json& config, ParamBuilder& builder, const std::string& where);

}  // namespace qwen2_5_vl

void register_qwen2_5_vl(Registry& registry);

}  // namespace loongforge
