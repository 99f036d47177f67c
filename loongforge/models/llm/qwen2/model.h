// Qwen2 and Qwen2.5 (Yang et al. 2024): the Llama kind with biases on queries, keys and values.
#pragma once

#include "loongforge/models/card.h"

namespace loongforge {

namespace qwen2 {

LanguagePart build(const Json& config, ParamBuilder& builder, const std::string& where);

}  // namespace qwen2

void register_qwen2(Registry& registry);

}  // namespace loongforge
