#include "loongforge/ops/autograd_support.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/custom_class.h>

#include "loongforge/base/error.h"
#include "loongforge/ops/cpu/tensors.h"

namespace loongforge::ops {
namespace {

struct Holder : torch::CustomClassHolder {
  explicit Holder(WeightGradient f) : callback(std::move(f)) {}
  WeightGradient callback;
};

}  // namespace

c10::IValue wrap(const WeightGradient& weight_gradient) {
  return c10::IValue::make_capsule(c10::make_intrusive<Holder>(weight_gradient));
}

WeightGradient unwrap(const c10::IValue& value) {
  return static_cast<Holder*>(value.toCapsule().get())->callback;
}

void refuse_double_backward(const char* op) {
  check(!at::GradMode::is_enabled(), op, ": its backward has no derivative; do not ask for create_graph");
}

void add_blocks(const at::Tensor& partial, const at::Tensor& buffer, bool overwrite) {
  if (buffer.is_cuda()) {
    const at::Tensor sum = partial.sum(0, false, at::kDouble);
    overwrite ? buffer.copy_(sum) : buffer.add_(sum);
    return;
  }
  const std::int64_t channels = buffer.numel();
  const auto add = [&](auto* to, const auto* from) {
    for (std::int64_t i = 0; i < channels; ++i) {
      double sum = overwrite ? 0.0 : static_cast<double>(to[i]);
      for (std::int64_t b = 0; b < partial.size(0); ++b) sum += static_cast<double>(from[b * channels + i]);
      to[i] = static_cast<std::remove_reference_t<decltype(*to)>>(sum);
    }
  };
  if (buffer.scalar_type() == at::kDouble)
    add(buffer.data_ptr<double>(), partial.const_data_ptr<double>());
  else
    add(buffer.data_ptr<float>(), partial.const_data_ptr<float>());
}

at::Tensor deliver(const WeightGradient& weight_gradient, const at::Tensor& weight,
                   const GradientFill& fill) {
  const at::ScalarType wide = cpu::wide_dtype(weight.scalar_type());
  if (!weight_gradient) {
    const at::Tensor buffer = at::empty(weight.sizes(), weight.options().dtype(wide).requires_grad(false));
    fill(buffer, true);
    return buffer.to(weight.scalar_type());
  }
  int calls = 0;
  weight_gradient([&](const at::Tensor& buffer, bool overwrite) {
    ++calls;
    check(buffer.sizes() == weight.sizes() && buffer.is_contiguous() && buffer.scalar_type() == wide,
          "weight gradient: the buffer must be contiguous, ", at::toString(wide),
          " and of the weight's shape");
    fill(buffer, overwrite);
  });
  check(calls == 1, "weight gradient: the callback must fill one buffer, filled ", calls);
  return {};
}

}  // namespace loongforge::ops
