#include "loongforge/nn/context.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>

#include "loongforge/base/error.h"

namespace loongforge {

at::Tensor weight_of(const Context& context, const ParamRef& param) {
  return context.grads != nullptr ? param->value : param->value.detach();
}

ops::WeightGradient gradient_of(const Context& context, const ParamRef& param) {
  if (context.grads == nullptr || !param->trainable) return {};
  return [sink = context.grads, param](const ops::GradientFill& fill) { sink->fill(*param, fill); };
}

Context single_document(std::int64_t length) {
  Context context;
  context.cu_seqlens = at::empty({2}, at::TensorOptions().dtype(at::kInt));
  context.cu_seqlens.mutable_data_ptr<int>()[0] = 0;
  context.cu_seqlens.mutable_data_ptr<int>()[1] = static_cast<int>(length);
  context.position_ids = at::arange(length, at::TensorOptions().dtype(at::kLong));
  return context;
}

at::Tensor positions_of(const at::Tensor& cu_seqlens) {
  check<DataError>(cu_seqlens.scalar_type() == at::kInt && cu_seqlens.dim() == 1 && cu_seqlens.size(0) > 0,
                   "cu_seqlens: expected int32 (S+1), got ", cu_seqlens.scalar_type(), " ",
                   cu_seqlens.sizes());
  const at::Tensor bounds = cu_seqlens.contiguous();
  const int* bound = bounds.const_data_ptr<int>();
  const std::int64_t documents = bounds.size(0) - 1;
  const at::Tensor positions = at::empty({bound[documents]}, at::TensorOptions().dtype(at::kLong));
  std::int64_t* out = positions.mutable_data_ptr<std::int64_t>();
  for (std::int64_t d = 0; d < documents; ++d) {
    check<DataError>(bound[d] <= bound[d + 1], "cu_seqlens: falls from ", bound[d], " to ", bound[d + 1]);
    for (int i = bound[d]; i < bound[d + 1]; ++i) out[i] = i - bound[d];
  }
  return positions;
}

}  // namespace loongforge
