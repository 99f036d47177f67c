// Shared by the operators' autograd functions.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "loongforge/ops/weight_gradient.h"

namespace loongforge::ops {

// Puts a callback where an autograd context can keep it, and takes it out again.
c10::IValue wrap(const WeightGradient& weight_gradient);
WeightGradient unwrap(const c10::IValue& value);

// Backward is written by hand and cannot itself be differentiated: throws InternalError when it is asked to
// be.
void refuse_double_backward(const char* op);

// x as it is, or its contiguous copy.
inline at::Tensor packed(const at::Tensor& x) {
  return x.contiguous();
}

// Hands `fill` to `weight_gradient`, or, where that is empty, fills a fresh tensor of the weight's shape and
// returns it in the weight's dtype for autograd.
at::Tensor deliver(const WeightGradient& weight_gradient, const at::Tensor& weight, const GradientFill& fill);

// Rows of one partial sum of the gradient of a norm's weight: a constant, so that no bit depends on the
// threads.
inline constexpr std::int64_t kBlockRows = 64;

// buffer (C) (+)= partial (blocks, C), block after block.
void add_blocks(const at::Tensor& partial, const at::Tensor& buffer, bool overwrite);

}  // namespace loongforge::ops
