// Any vision tower, any projector, any language model: `model_type: loongforge_vlm`.
#pragma once

#include "loongforge/models/card.h"

namespace loongforge {

namespace composed {

inline constexpr const char* kModelType = "loongforge_vlm";

ModelParts build(const Json& config, ParamBuilder& builder, const std::string& where);
NameMap names(const Json& config);

}  // namespace composed

void register_composed(Registry& registry);

}  // namespace loongforge
