// Loss of a language model's head: linear and cross-entropy in one, logits never whole in memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "loongforge/nn/context.h"

namespace loongforge {

// How the sum is formed.
struct HeadLossOptions {
  // Factor (N) of each token's loss; undefined: 1.
  at::Tensor token_weights;
  // The gradient that backward will bring to the sum, where the caller knows it: a quarter of the work saved.
  std::optional<double> known_gradient;
};

// Sum over the counted tokens of weight·(-log p(target)), a scalar in the wider of float32 and compute dtype.
// hidden (N, C); head weight (V, C); targets int64 (N), -100 is not counted.
// The head's gradient goes to context.grads. Throws DataError for a target outside [0, V).
at::Tensor head_cross_entropy(const Context& context, const ParamRef& head, const at::Tensor& hidden,
                              const at::Tensor& targets, const HeadLossOptions& options = {});

// hidden (N, C) -> logits (N, V) in compute dtype, differentiable; all of them are in memory.
at::Tensor head_logits(const Context& context, const ParamRef& head, const at::Tensor& hidden);

}  // namespace loongforge
