// Feed-forward block of Llama: down(silu(gate(x))·up(x)).
#pragma once

#include "loongforge/nn/linear.h"

namespace loongforge {

struct GatedMlp {
  Linear gate, up, down;

  // Declares `name`.{gate,up,down}; `hidden` is the width between.
  GatedMlp(ParamBuilder& builder, const std::string& name, std::int64_t channels, std::int64_t hidden,
           bool bias, double init_std);
  // x (N, C) → (N, C).
  at::Tensor forward(const Context& context, const at::Tensor& x) const;
};

}  // namespace loongforge
