#include "loongforge/ops/linear.h"

#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/custom_function.h>

#include "loongforge/base/error.h"
#include "loongforge/ops/autograd_support.h"
#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/matmul.h"

namespace loongforge::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Linear : torch::autograd::Function<Linear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const WeightGradient& weight_gradient) {
    context->save_for_backward({x, weight});
    context->saved_data["weight_gradient"] = wrap(weight_gradient);
    return matmul_nt(x, weight, x.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    refuse_double_backward("linear");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &dy = grads[0];
    at::Tensor dx, dweight;
    if (context->needs_input_grad(0)) dx = matmul_nn(dy, weight, x.scalar_type());
    if (context->needs_input_grad(1))
      dweight = deliver(
          unwrap(context->saved_data["weight_gradient"]), weight,
          [&](const at::Tensor& buffer, bool overwrite) { matmul_tn_out(buffer, dy, x, !overwrite); });
    return {dx, dweight, {}};
  }
};

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const WeightGradient& weight_gradient) {
  check(weight.dim() == 2 && x.dim() >= 1 && x.size(-1) == weight.size(1) &&
            x.scalar_type() == weight.scalar_type(),
        "linear: expected x (..., K) and weight (M, K) of one dtype, got ", x.sizes(), " ",
        at::toString(x.scalar_type()), " and ", weight.sizes(), " ", at::toString(weight.scalar_type()));
  if (x.dim() == 2) return Linear::apply(x, weight, weight_gradient);
  std::vector<std::int64_t> shape(x.sizes().begin(), x.sizes().end());
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  shape.back() = weight.size(0);
  return Linear::apply(x.reshape({rows, weight.size(1)}), weight, weight_gradient).reshape(shape);
}

at::Tensor linear_reference(const at::Tensor& x, const at::Tensor& weight) {
  return at::linear(x, weight);
}

}  // namespace loongforge::ops
