// Root-mean-square normalisation with a weight.
#pragma once

#include "loongforge/nn/context.h"

namespace loongforge {

struct RmsNorm {
  ParamRef weight;  // (C)
  double eps;

  // Declares `name`.weight, ones.
  RmsNorm(ParamBuilder& builder, const std::string& name, std::int64_t channels, double eps);
  // x (N, C) → (N, C).
  at::Tensor forward(const Context& context, const at::Tensor& x) const;
};

}  // namespace loongforge
