// Root-mean-square normalisation: y = x / sqrt(mean(x^2 over C) + eps) * weight (Zhang and Sennrich 2019).
#pragma once

#include <ATen/core/Tensor.h>

#include "loongforge/ops/weight_gradient.h"

namespace loongforge::ops {

// x: (..., C), weight: (C), same dtype (float32, bfloat16, float64) -> (..., C). Statistics and products in
// the wider of float32 and that dtype, rounded once. Differentiable in x and weight.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps,
                    const WeightGradient& weight_gradient = {});

// The same from plain libtorch operators.
at::Tensor rms_norm_reference(const at::Tensor& x, const at::Tensor& weight, double eps);

}  // namespace loongforge::ops
