// Where gradients of parameters go: one function for every source, summed in place in float32 or wider.
#pragma once

#include <ATen/core/Tensor.h>

#include "loongforge/nn/param.h"
#include "loongforge/ops/weight_gradient.h"

namespace loongforge {

// Receives parts of gradients during backward; must live until backward has ended.
class GradSink {
 public:
  virtual ~GradSink() = default;
  // Lets an operator write (first part) or add its share to the gradient of `param` in place.
  virtual void fill(Param& param, const ops::GradientFill& fill) = 0;
  // Adds a part (the parameter's shape) that exists already.
  void add(Param& param, const at::Tensor& part);
};

// Sums into Param::grad, which is made at the first part. One thread at a time.
class AccumulateGrads : public GradSink {
 public:
  void fill(Param& param, const ops::GradientFill& fill) override;
};

// Ends a step: the gradients hold nothing. With `keep_memory` the buffers stay and the next first part
// overwrites them.
void clear_grads(const std::vector<ParamRef>& params, bool keep_memory);

}  // namespace loongforge
