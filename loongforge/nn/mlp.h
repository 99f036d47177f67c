// Linear → GELU → linear, both with biases.
#pragma once

#include "loongforge/nn/linear.h"

namespace loongforge {

// By the error function, or by its approximation with tanh ("gelu_pytorch_tanh").
enum class Gelu { kErf, kTanh };

struct MlpOptions {
  // Channels of what comes in, between the linears, and of what goes out.
  std::int64_t in = 0, hidden = 0, out = 0;
  Gelu gelu = Gelu::kErf;
  double init_std = 0.02;
};

struct Mlp {
  Linear up, down;
  Gelu gelu;

  // Declares `name`up and `name`down.
  Mlp(ParamBuilder& builder, const std::string& name, const MlpOptions& options);
  // x (N, in) → (N, out).
  at::Tensor forward(const Context& context, const at::Tensor& x) const;
};

}  // namespace loongforge
