// Where the gradient of a weight goes: into the float32-or-wider buffer of its owner, in place, so that no
// gradient of the weight's size is ever made beside it.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace loongforge::ops {

// Adds an operator's share to `buffer` (the weight's shape, contiguous; float32, or float64 beside a float64
// weight). With `overwrite` the buffer holds nothing yet and is written instead.
using GradientFill = std::function<void(const at::Tensor& buffer, bool overwrite)>;

// Given to an operator beside a weight. Backward calls it once, when the weight requires a gradient; it must
// call `fill` once with the buffer, and may then announce that the gradient has arrived. Empty: the gradient
// goes through autograd, in the weight's own dtype.
using WeightGradient = std::function<void(const GradientFill& fill)>;

}  // namespace loongforge::ops
