// Linear map without bias: y = x W^T.
#pragma once

#include <ATen/core/Tensor.h>

#include "loongforge/ops/weight_gradient.h"

namespace loongforge::ops {

// x: (..., K), weight: (M, K), same dtype (float32, bfloat16, float64) -> (..., M) in that dtype, accumulated
// in the wider of it and float32. Differentiable in x; the weight's gradient goes to `weight_gradient` in
// backward (dY^T X, added in place), or through autograd where that is empty. Saves x and the weight.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const WeightGradient& weight_gradient = {});

// The same from plain libtorch operators.
at::Tensor linear_reference(const at::Tensor& x, const at::Tensor& weight);

}  // namespace loongforge::ops
