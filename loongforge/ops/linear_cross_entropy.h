// Output projection and cross-entropy in one: the logits exist only a few tokens at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "loongforge/ops/weight_gradient.h"

namespace loongforge::ops {

struct LinearCrossEntropyOptions {
  // Factor (N) float32 of each token's loss; absent: 1.
  std::optional<at::Tensor> token_weights;
  // Receives the gradient of `weight`; empty: it goes through autograd.
  WeightGradient weight_gradient;
  // The gradient that backward will bring, where the caller knows it (1 for loss.backward()). Forward, when
  // gradients are on, then also makes both gradients, `weight_gradient` included, and no logit is computed
  // twice: a quarter of the operator's work saved. Backward throws InternalError when another one arrives.
  std::optional<double> known_gradient;
  // Rows of the vocabulary beyond this one are padding: never a target, no share in the softmax. 0: none.
  std::int64_t vocab_size = 0;
};

// hidden: (N, C), weight: (V, C), same dtype (float32, bfloat16, float64); targets: (N) int64, -100 =
// ignored.
// -> scalar in the wider of float32 and that dtype: sum over tokens of
// token_weight * (logsumexp(hidden W^T) - logit of the target), in nats. Differentiable in hidden and weight.
// Throws DataError naming a target outside [0, vocab_size).
at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                const LinearCrossEntropyOptions& options = {});

// The loss of each token, (N), 0 where the target is -100; not differentiable.
at::Tensor linear_cross_entropy_per_token(const at::Tensor& hidden, const at::Tensor& weight,
                                          const at::Tensor& targets, std::int64_t vocab_size = 0);

// The sum from plain libtorch operators, logits whole.
at::Tensor linear_cross_entropy_reference(const at::Tensor& hidden, const at::Tensor& weight,
                                          const at::Tensor& targets,
                                          const LinearCrossEntropyOptions& options = {});

}  // namespace loongforge::ops
