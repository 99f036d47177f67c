// Layer normalisation with a weight and a bias.
#pragma once

#include "loongforge/nn/context.h"

namespace loongforge {

struct LayerNorm {
  ParamRef weight, bias;  // (C)
  double eps;

  // Declares `name`.weight, ones, and `name`.bias, zeros.
  LayerNorm(ParamBuilder& builder, const std::string& name, std::int64_t channels, double eps);
  // x (N, C) → (N, C).
  at::Tensor forward(const Context& context, const at::Tensor& x) const;
};

}  // namespace loongforge
