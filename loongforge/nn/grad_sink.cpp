#include "loongforge/nn/grad_sink.h"

#include <ATen/ops/empty.h>

#include "loongforge/base/error.h"

namespace loongforge {

void GradSink::add(Param& param, const at::Tensor& part) {
  check(part.sizes() == param.value.sizes(), param.spec.name, ": gradient of shape ", part.sizes(),
        ", expected ", param.value.sizes());
  fill(param, [&](const at::Tensor& buffer, bool overwrite) {
    if (overwrite) {
      buffer.copy_(part);
    } else {
      buffer.add_(part);
    }
  });
}

void AccumulateGrads::fill(Param& param, const ops::GradientFill& fill) {
  if (!param.grad.defined()) {
    const at::ScalarType dtype = wide_dtype(param.value.scalar_type());
    param.grad = at::empty(param.value.sizes(), param.value.options().dtype(dtype).requires_grad(false));
  }
  fill(param.grad, !param.has_grad);
  param.has_grad = true;
}

void clear_grads(const std::vector<ParamRef>& params, bool keep_memory) {
  for (const ParamRef& param : params) {
    param->has_grad = false;
    if (!keep_memory) param->grad.reset();
  }
}

}  // namespace loongforge
