#include "loongforge/ops/adamw.h"

#include <cmath>

#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/cuda/kernels.h"
#include "loongforge/ops/device.h"

namespace loongforge::ops {
namespace {

void check_arguments(const AdamWTensors& t, const AdamWOptions& options) {
  const at::ScalarType dtype = t.master.scalar_type();
  check(dtype == at::kFloat || dtype == at::kDouble, "adamw_step: master: expected float32 or float64, got ",
        at::toString(dtype));
  for (const at::Tensor* x : {&t.master, &t.grad, &t.m, &t.v})
    check(x->defined() && x->scalar_type() == dtype && x->sizes() == t.master.sizes() && x->is_contiguous(),
          "adamw_step: master, grad, m and v must be contiguous, of one shape and dtype");
  if (t.weight.defined()) {
    const at::ScalarType kept = t.weight.scalar_type();
    check(t.weight.sizes() == t.master.sizes() && t.weight.is_contiguous(),
          "adamw_step: weight must be contiguous and of master's shape");
    check(kept == dtype || (kept == at::kBFloat16 && dtype == at::kFloat),
          "adamw_step: weight: expected master's dtype or bfloat16 beside float32, got ", at::toString(kept));
  }
  check_device("adamw_step", {&t.master, &t.grad, &t.m, &t.v, &t.weight});
  check(options.step >= 1, "adamw_step: step: expected 1 or more, got ", options.step);
}

double correction(double beta, std::int64_t step) {
  return 1 - std::pow(beta, static_cast<double>(step));
}

}  // namespace

void adamw_step(const AdamWTensors& t, const AdamWOptions& options) {
  check_arguments(t, options);
  const bool separate = t.weight.defined() && t.weight.data_ptr() != t.master.data_ptr();
  cpu::AdamWArgs args{};
  args.type = cpu::type_of(t.master, "adamw_step");
  args.weight = separate ? t.weight.data_ptr() : nullptr;
  args.weight_type = separate ? cpu::type_of(t.weight, "adamw_step") : args.type;
  args.master = t.master.data_ptr();
  args.m = t.m.data_ptr();
  args.v = t.v.data_ptr();
  args.grad = t.grad.data_ptr();
  args.lr = options.lr;
  args.beta1 = options.beta1;
  args.beta2 = options.beta2;
  args.eps = options.eps;
  args.weight_decay = options.weight_decay;
  args.correction1 = correction(options.beta1, options.step);
  args.correction2 = correction(options.beta2, options.step);
  args.gradient_scale = options.gradient_scale;
  if (t.master.is_cuda()) {
    cuda::adamw(args, t.master.numel(), t.master.get_device());
    return;
  }
  const cpu::Kernels& k = cpu::kernels();
  cpu::for_ranges(t.master.numel(), 30,
                  [&](std::int64_t begin, std::int64_t end) { k.adamw(args, begin, end); });
}

void adamw_step_reference(const AdamWTensors& t, const AdamWOptions& o) {
  check_arguments(t, o);
  const at::Tensor g = t.grad.mul(o.gradient_scale);
  t.m.mul_(o.beta1).add_(g, 1 - o.beta1);
  t.v.mul_(o.beta2).addcmul_(g, g, 1 - o.beta2);
  t.master.mul_(1 - o.lr * o.weight_decay);
  const at::Tensor root = t.v.div(correction(o.beta2, o.step)).sqrt().add_(o.eps);
  t.master.addcdiv_(t.m.div(correction(o.beta1, o.step)), root, -o.lr);
  if (t.weight.defined() && t.weight.data_ptr() != t.master.data_ptr()) t.weight.copy_(t.master);
}

}  // namespace loongforge::ops
