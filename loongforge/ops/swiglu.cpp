#include "loongforge/ops/swiglu.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include "loongforge/ops/autograd_support.h"
#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/cuda/kernels.h"
#include "loongforge/ops/device.h"

namespace loongforge::ops {
namespace {

using cpu::SwigluArgs;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// (rows, columns) with columns contiguous; a view where that is possible.
at::Tensor as_rows(const at::Tensor& x) {
  if (x.dim() == 2 && x.stride(1) == 1) return x;
  const std::int64_t columns = x.dim() == 0 ? 1 : x.size(-1);
  return x.reshape({columns == 0 ? 0 : x.numel() / columns, columns}).contiguous();
}

SwigluArgs arguments(const at::Tensor& gate, const at::Tensor& up) {
  SwigluArgs args{};
  args.type = cpu::type_of(gate, "swiglu");
  args.columns = gate.size(1);
  args.gate_stride = gate.stride(0);
  args.up_stride = up.stride(0);
  args.gate = gate.data_ptr();
  args.up = up.data_ptr();
  return args;
}

struct Swiglu : torch::autograd::Function<Swiglu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate_in, const at::Tensor& up_in) {
    const at::Tensor gate = as_rows(gate_in), up = as_rows(up_in);
    const at::Tensor y = at::empty(gate_in.sizes(), gate.options().requires_grad(false));
    SwigluArgs args = arguments(gate, up);
    args.y = y.data_ptr();
    if (gate.is_cuda()) {
      cuda::swiglu_forward(args, gate.size(0), gate.get_device());
    } else {
      const cpu::Kernels& k = cpu::kernels();
      cpu::for_ranges(gate.size(0), args.columns * 12,
                      [&](std::int64_t begin, std::int64_t end) { k.swiglu_forward(args, begin, end); });
    }
    context->save_for_backward({gate_in, up_in});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    refuse_double_backward("swiglu");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor gate = as_rows(saved[0]), up = as_rows(saved[1]), dy = packed(grads[0]);
    const at::Tensor dgate = at::empty(saved[0].sizes(), gate.options()),
                     dup = at::empty(saved[0].sizes(), gate.options());
    SwigluArgs args = arguments(gate, up);
    args.dy = dy.data_ptr();
    args.dgate = dgate.data_ptr();
    args.dup = dup.data_ptr();
    if (gate.is_cuda()) {
      cuda::swiglu_backward(args, gate.size(0), gate.get_device());
    } else {
      const cpu::Kernels& k = cpu::kernels();
      cpu::for_ranges(gate.size(0), args.columns * 20,
                      [&](std::int64_t begin, std::int64_t end) { k.swiglu_backward(args, begin, end); });
    }
    return {dgate, dup};
  }
};

}  // namespace

at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up) {
  check(gate.sizes() == up.sizes() && gate.scalar_type() == up.scalar_type(),
        "swiglu: expected gate and up of one shape and dtype, got ", gate.sizes(), " ",
        at::toString(gate.scalar_type()), " and ", up.sizes(), " ", at::toString(up.scalar_type()));
  check_device("swiglu", {&gate, &up});
  return Swiglu::apply(gate, up);
}

at::Tensor swiglu_reference(const at::Tensor& gate, const at::Tensor& up) {
  const at::ScalarType wide = cpu::wide_dtype(gate.scalar_type());
  const at::Tensor g = gate.to(wide);
  return g.mul(g.sigmoid()).mul(up.to(wide)).to(gate.scalar_type());
}

}  // namespace loongforge::ops
