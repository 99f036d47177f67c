// Sum of the squares of all elements, in float64, in an order that depends on nothing but the shapes.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace loongforge::ops {

// Contiguous tensors in float32, bfloat16 or float64; undefined and empty ones count 0. The same bits for any
// number of threads. Infinity and NaN come through.
double squared_norm(const at::Tensor& tensor);
double squared_norm(const std::vector<at::Tensor>& tensors);

}  // namespace loongforge::ops
