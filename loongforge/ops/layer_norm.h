// Layer normalisation: y = (x - mean) / sqrt(variance + eps) * weight + bias, mean and variance over C (Ba et
// al. 2016).
#pragma once

#include <ATen/core/Tensor.h>

#include "loongforge/ops/weight_gradient.h"

namespace loongforge::ops {

// x: (..., C), weight and bias: (C), same dtype (float32, bfloat16, float64) -> (..., C). Statistics and
// products in the wider of float32 and that dtype, rounded once. Differentiable in x, weight and bias.
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps,
                      const WeightGradient& weight_gradient = {}, const WeightGradient& bias_gradient = {});

// The same from plain libtorch operators.
at::Tensor layer_norm_reference(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                                double eps);

}  // namespace loongforge::ops
