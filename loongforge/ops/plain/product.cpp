#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/plain/blocks.h"

namespace loongforge::ops::plain {
namespace {

bool is_bf16(const at::Tensor& x) {
  return x.scalar_type() == at::kBFloat16;
}

}  // namespace

void product(const at::Tensor& out_in, const at::Tensor& a_in, const at::Tensor& b_in, bool accumulate) {
  const at::NoGradGuard no_grad;
  at::Tensor out = out_in, a = a_in, b = b_in;
  const bool pairs = is_bf16(a) && is_bf16(b);
  // By default cuBLAS may add the partial sums of a split product in bfloat16.
  if (pairs && out.is_cuda()) at::globalContext().setAllowBF16ReductionCuBLAS(false);
  if (pairs && out.is_cuda() && !is_bf16(out)) {
    accumulate ? at::addmm_out(out, out, a, b, out.scalar_type()) : at::mm_out(out, a, b, out.scalar_type());
    return;
  }
  if (!pairs || !is_bf16(out)) {
    // The libraries multiply equal dtypes only.
    const at::ScalarType wide = cpu::wide_dtype(out.scalar_type());
    a = a.to(wide);
    b = b.to(wide);
  }
  if (a.scalar_type() == out.scalar_type()) {
    accumulate ? at::addmm_out(out, out, a, b) : at::mm_out(out, a, b);
    return;
  }
  const at::Tensor wide = at::mm(a, b);
  accumulate ? out.add_(wide) : out.copy_(wide);
}

}  // namespace loongforge::ops::plain
