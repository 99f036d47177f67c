// Where gradients of parameters go: one function for every source, summed in place in float32 or wider.
#pragma once

#include <ATen/core/Tensor.h>

#include "loongforge/nn/param.h"

namespace loongforge {

// Receives parts of gradients during backward; must live until backward has ended.
class GradSink {
 public:
  virtual ~GradSink() = default;
  // Adds `part` (the parameter's shape) to the gradient of `param`.
  virtual void add(Param& param, const at::Tensor& part) = 0;
  // Adds gᵀ·x, the weight gradient of a linear: g (N, out), x (N, in).
  virtual void add_outer(Param& param, const at::Tensor& g, const at::Tensor& x) = 0;
};

// Sums into Param::grad, which is made at the first part.
class AccumulateGrads : public GradSink {
 public:
  void add(Param& param, const at::Tensor& part) override;
  void add_outer(Param& param, const at::Tensor& g, const at::Tensor& x) override;
};

// Drops the gradients (memory stays for the next step when `keep_memory`: zeroed, not freed).
void clear_grads(const std::vector<ParamRef>& params, bool keep_memory);

}  // namespace loongforge
