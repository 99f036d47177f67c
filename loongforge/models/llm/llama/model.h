// The Llama family (Touvron et al. 2023; Llama 3 and SmolLM2 are of it).
#pragma once

#include "loongforge/models/card.h"

namespace loongforge {

namespace llama {

LanguagePart build(const Json& config, ParamBuilder& builder, const std::string& where);

}  // namespace llama

void register_llama(Registry& registry);

}  // namespace loongforge
