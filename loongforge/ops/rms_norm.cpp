#include "loongforge/ops/rms_norm.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "loongforge/ops/autograd_support.h"
#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/cuda/kernels.h"
#include "loongforge/ops/device.h"

namespace loongforge::ops {
namespace {

using cpu::RmsNormArgs;
using cpu::Type;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

RmsNormArgs arguments(const at::Tensor& x, const at::Tensor& weight, double eps, const at::Tensor& rstd) {
  RmsNormArgs args{};
  args.type = cpu::type_of(x, "rms_norm");
  args.channels = weight.numel();
  args.eps = eps;
  args.x = x.data_ptr();
  args.weight = weight.data_ptr();
  args.rstd = rstd.data_ptr();
  return args;
}

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_in, const at::Tensor& weight,
                            double eps, const WeightGradient& weight_gradient) {
    const at::Tensor x = packed(x_in), y = at::empty_like(x);
    const std::int64_t channels = weight.numel(), rows = channels == 0 ? 0 : x.numel() / channels;
    const at::Tensor rstd = at::empty({rows}, x.options().dtype(cpu::wide_dtype(x.scalar_type())));
    RmsNormArgs args = arguments(x, weight, eps, rstd);
    args.y = y.data_ptr();
    if (x.is_cuda()) {
      cuda::rms_norm_forward(args, rows, x.get_device());
    } else {
      const cpu::Kernels& k = cpu::kernels();
      cpu::for_ranges(rows, channels * 8,
                      [&](std::int64_t begin, std::int64_t end) { k.rms_norm_forward(args, begin, end); });
    }
    context->save_for_backward({x, weight, rstd});
    context->saved_data["weight_gradient"] = wrap(weight_gradient);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    refuse_double_backward("rms_norm");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &rstd = saved[2];
    const at::Tensor dy = packed(grads[0]);
    const std::int64_t rows = rstd.numel(), blocks = (rows + kBlockRows - 1) / kBlockRows;
    RmsNormArgs args = arguments(x, weight, 0, rstd);
    args.dy = dy.data_ptr();
    args.block = kBlockRows;
    at::Tensor dx, partial, dweight;
    if (context->needs_input_grad(0)) {
      dx = at::empty_like(x);
      args.dx = dx.data_ptr();
    }
    if (context->needs_input_grad(1)) {
      partial = at::empty({blocks, args.channels}, rstd.options());
      args.dweight = partial.data_ptr();
    }
    if (x.is_cuda()) {
      cuda::rms_norm_backward(args, rows, x.get_device());
    } else {
      const cpu::Kernels& k = cpu::kernels();
      cpu::for_ranges(blocks, args.channels * kBlockRows * 12, [&](std::int64_t begin, std::int64_t end) {
        k.rms_norm_backward(args, rows, begin, end);
      });
    }
    if (partial.defined())
      dweight =
          deliver(unwrap(context->saved_data["weight_gradient"]), weight,
                  [&](const at::Tensor& buffer, bool overwrite) { add_blocks(partial, buffer, overwrite); });
    return {dx, dweight, {}, {}};
  }
};

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps,
                    const WeightGradient& weight_gradient) {
  check(weight.dim() == 1 && x.dim() >= 1 && x.size(-1) == weight.size(0) &&
            x.scalar_type() == weight.scalar_type(),
        "rms_norm: expected x (..., C) and weight (C) of one dtype, got ", x.sizes(), " ",
        at::toString(x.scalar_type()), " and ", weight.sizes(), " ", at::toString(weight.scalar_type()));
  check_device("rms_norm", {&x, &weight});
  return RmsNorm::apply(x, packed(weight), eps, weight_gradient);
}

at::Tensor rms_norm_reference(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const at::ScalarType wide = cpu::wide_dtype(x.scalar_type());
  const at::Tensor v = x.to(wide);
  return v.mul(v.pow(2).mean(-1, true).add(eps).rsqrt()).mul(weight.to(wide)).to(x.scalar_type());
}

}  // namespace loongforge::ops
