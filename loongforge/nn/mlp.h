// Linear → GELU → linear, both with biases.
#pragma once

#include "loongforge/nn/linear.h"

namespace loongforge {

struct Mlp {
  Linear up, down;

  // Declares `name`up and `name`down.
  Mlp(ParamBuilder& builder, const std::string& name, std::int64_t in, std::int64_t hidden, std::int64_t out,
      double init_std);
  // x (N, in) → (N, out); GELU by the error function.
  at::Tensor forward(const Context& context, const at::Tensor& x) const;
};

}  // namespace loongforge
