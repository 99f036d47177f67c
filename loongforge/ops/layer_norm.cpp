#include "loongforge/ops/layer_norm.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "loongforge/ops/autograd_support.h"
#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/device.h"
#include "loongforge/ops/plain/blocks.h"

namespace loongforge::ops {
namespace {

using cpu::LayerNormArgs;
using plain::LayerNormGradients;
using plain::LayerNormOutput;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

LayerNormArgs arguments(const at::Tensor& x, const at::Tensor& weight, const LayerNormOutput& forward) {
  LayerNormArgs args{};
  args.type = cpu::type_of(x, "layer_norm");
  args.channels = weight.numel();
  args.x = x.data_ptr();
  args.weight = weight.data_ptr();
  args.mean = forward.mean.data_ptr();
  args.rstd = forward.rstd.data_ptr();
  return args;
}

LayerNormOutput cpu_forward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                            double eps) {
  const std::int64_t channels = weight.numel(), rows = channels == 0 ? 0 : x.numel() / channels;
  const at::TensorOptions wide = x.options().dtype(cpu::wide_dtype(x.scalar_type()));
  LayerNormOutput out{at::empty_like(x), at::empty({rows}, wide), at::empty({rows}, wide)};
  LayerNormArgs args = arguments(x, weight, out);
  args.eps = eps;
  args.bias = bias.data_ptr();
  args.y = out.y.data_ptr();
  const cpu::Kernels& k = cpu::kernels();
  cpu::for_ranges(rows, channels * 8,
                  [&](std::int64_t begin, std::int64_t end) { k.layer_norm_forward(args, begin, end); });
  return out;
}

// dweight and dbias: partial sums (blocks, C).
LayerNormGradients cpu_backward(const at::Tensor& x, const at::Tensor& weight, const LayerNormOutput& forward,
                                const at::Tensor& dy, const plain::Wanted& wanted) {
  const std::int64_t rows = forward.rstd.numel(), blocks = (rows + kBlockRows - 1) / kBlockRows;
  LayerNormArgs args = arguments(x, weight, forward);
  args.dy = dy.data_ptr();
  args.block = kBlockRows;
  LayerNormGradients out;
  const auto made = [](at::Tensor& tensor, const at::Tensor& fresh) { return (tensor = fresh).data_ptr(); };
  const std::vector<std::int64_t> sums{blocks, args.channels};
  if (wanted.x) args.dx = made(out.dx, at::empty_like(x));
  if (wanted.weight) args.dweight = made(out.dweight, at::empty(sums, forward.rstd.options()));
  if (wanted.bias) args.dbias = made(out.dbias, at::empty(sums, forward.rstd.options()));
  const cpu::Kernels& k = cpu::kernels();
  cpu::for_ranges(blocks, args.channels * kBlockRows * 12, [&](std::int64_t begin, std::int64_t end) {
    k.layer_norm_backward(args, rows, begin, end);
  });
  return out;
}

struct LayerNorm : torch::autograd::Function<LayerNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_in, const at::Tensor& weight,
                            const at::Tensor& bias, double eps, const WeightGradient& weight_gradient,
                            const WeightGradient& bias_gradient) {
    const at::Tensor x = packed(x_in);
    const LayerNormOutput out =
        x.is_cuda() ? plain::layer_norm_forward(x, weight, bias, eps) : cpu_forward(x, weight, bias, eps);
    context->save_for_backward({x, weight, bias, out.mean, out.rstd});
    context->saved_data["weight_gradient"] = wrap(weight_gradient);
    context->saved_data["bias_gradient"] = wrap(bias_gradient);
    return out.y;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    refuse_double_backward("layer_norm");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &bias = saved[2];
    const LayerNormOutput forward{{}, saved[3], saved[4]};
    const plain::Wanted wanted{context->needs_input_grad(0), context->needs_input_grad(1),
                               context->needs_input_grad(2)};
    const LayerNormGradients g = (x.is_cuda() ? plain::layer_norm_backward : cpu_backward)(
        x, weight, forward, packed(grads[0]), wanted);
    const auto delivered = [&](const char* name, const at::Tensor& parameter, const at::Tensor& partial) {
      if (!partial.defined()) return at::Tensor();
      return deliver(
          unwrap(context->saved_data[name]), parameter,
          [&](const at::Tensor& buffer, bool overwrite) { add_blocks(partial, buffer, overwrite); });
    };
    const at::Tensor dweight = delivered("weight_gradient", weight, g.dweight);
    return {g.dx, dweight, delivered("bias_gradient", bias, g.dbias), {}, {}, {}};
  }
};

}  // namespace

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps,
                      const WeightGradient& weight_gradient, const WeightGradient& bias_gradient) {
  check(weight.dim() == 1 && weight.sizes() == bias.sizes() && x.dim() >= 1 && x.size(-1) == weight.size(0) &&
            x.scalar_type() == weight.scalar_type() && x.scalar_type() == bias.scalar_type(),
        "layer_norm: expected x (..., C), weight (C) and bias (C) of one dtype, got ", x.sizes(), " ",
        at::toString(x.scalar_type()), ", ", weight.sizes(), " ", at::toString(weight.scalar_type()), " and ",
        bias.sizes(), " ", at::toString(bias.scalar_type()));
  check_device("layer_norm", {&x, &weight, &bias});
  return LayerNorm::apply(x, packed(weight), packed(bias), eps, weight_gradient, bias_gradient);
}

at::Tensor layer_norm_reference(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                                double eps) {
  const at::ScalarType wide = cpu::wide_dtype(x.scalar_type());
  const at::Tensor v = x.to(wide), centred = v.sub(v.mean(-1, true));
  const at::Tensor normal = centred.mul(centred.pow(2).mean(-1, true).add(eps).rsqrt());
  return normal.mul(weight.to(wide)).add(bias.to(wide)).to(x.scalar_type());
}

}  // namespace loongforge::ops
