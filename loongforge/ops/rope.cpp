#include "loongforge/ops/rope.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include "loongforge/ops/autograd_support.h"
#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/cuda/kernels.h"
#include "loongforge/ops/device.h"

namespace loongforge::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor turn(const at::Tensor& x_in, const at::Tensor& cos, const at::Tensor& sin, bool backward) {
  const bool rows_packed = x_in.stride(2) == 1 && x_in.stride(1) == x_in.size(2);
  const at::Tensor x = rows_packed ? x_in : packed(x_in);
  const at::Tensor y = at::empty(x.sizes(), x.options().requires_grad(false));
  const cpu::RopeArgs args{cpu::type_of(x, "rope"), x.size(1),      x.size(2),    x.stride(0), x.data_ptr(),
                           cos.data_ptr(),          sin.data_ptr(), y.data_ptr(), backward};
  if (x.is_cuda()) {
    cuda::rope(args, x.size(0), x.get_device());
    return y;
  }
  const cpu::Kernels& k = cpu::kernels();
  cpu::for_ranges(x.size(0), args.heads * args.dim * 8,
                  [&](std::int64_t begin, std::int64_t end) { k.rope(args, begin, end); });
  return y;
}

struct Rope : torch::autograd::Function<Rope> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& cos,
                            const at::Tensor& sin) {
    context->save_for_backward({cos, sin});
    return turn(x, cos, sin, false);
  }

  // The rotation is orthogonal: its gradient is the rotation back.
  static variable_list backward(AutogradContext* context, variable_list grads) {
    refuse_double_backward("rope");
    const variable_list saved = context->get_saved_variables();
    return {turn(grads[0], saved[0], saved[1], true), {}, {}};
  }
};

}  // namespace

RopeTables rope_tables(const at::Tensor& position_ids, const at::Tensor& inv_freq, at::ScalarType dtype,
                       const at::Tensor& axes) {
  check(position_ids.scalar_type() == at::kLong && inv_freq.dim() == 1 &&
            (inv_freq.scalar_type() == at::kFloat || inv_freq.scalar_type() == at::kDouble),
        "rope_tables: expected int64 positions and float32 or float64 frequencies (D/2)");
  const bool several = position_ids.dim() == 2;
  check(several ? axes.defined() && axes.sizes() == inv_freq.sizes() : position_ids.dim() == 1,
        "rope_tables: expected positions (N), or (A, N) and an axis of each frequency, got ",
        position_ids.sizes());
  const at::Tensor positions = several ? position_ids.index_select(0, axes).t() : position_ids.unsqueeze(1);
  const at::Tensor angle = positions.to(inv_freq.scalar_type()).mul(inv_freq.detach().unsqueeze(0));
  const at::ScalarType wide = cpu::wide_dtype(dtype);
  return {angle.cos().to(wide), angle.sin().to(wide)};
}

at::Tensor rope(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  check(x.dim() == 3 && x.size(2) % 2 == 0, "rope: expected x (N, H, D) with D even, got ", x.sizes());
  const at::ScalarType wide = cpu::wide_dtype(x.scalar_type());
  for (const at::Tensor* t : {&cos, &sin})
    check(t->dim() == 2 && t->size(0) == x.size(0) && t->size(1) * 2 == x.size(2) && t->scalar_type() == wide,
          "rope: expected tables (", x.size(0), ", ", x.size(2) / 2, ") ", at::toString(wide), ", got ",
          t->sizes(), " ", at::toString(t->scalar_type()));
  check_device("rope", {&x, &cos, &sin});
  return Rope::apply(x, packed(cos), packed(sin));
}

at::Tensor rope_reference(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const std::int64_t half = x.size(2) / 2;
  const at::Tensor v = x.to(cos.scalar_type());
  const at::Tensor x1 = v.narrow(2, 0, half), x2 = v.narrow(2, half, half);
  const at::Tensor c = cos.unsqueeze(1), s = sin.unsqueeze(1);
  return at::cat({x1.mul(c).sub(x2.mul(s)), x2.mul(c).add(x1.mul(s))}, 2).to(x.scalar_type());
}

}  // namespace loongforge::ops
