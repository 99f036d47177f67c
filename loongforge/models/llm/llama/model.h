// The Llama family (Touvron et al. 2023; Llama 3 and SmolLM2 are of it): decoder blocks of grouped-query
// attention and a gated MLP behind root-mean-square norms.
#pragma once

#include <memory>

#include "loongforge/models/card.h"
#include "loongforge/models/llm/llama/config.h"

namespace loongforge {

namespace llama {

// Parameters are declared in the order of the forward pass: embedding, blocks, norm, head.
std::unique_ptr<Model> build(const Json& config, const ParamPlan& plan, const std::string& where);

}  // namespace llama

void register_llama(Registry& registry);

}  // namespace loongforge
