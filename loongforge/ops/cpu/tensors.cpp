#include "loongforge/ops/cpu/tensors.h"

#include <atomic>

namespace loongforge::ops::cpu {

Type type_of(at::ScalarType dtype, const char* what) {
  switch (dtype) {
    case at::kFloat:
      return Type::kFloat;
    case at::kBFloat16:
      return Type::kBf16;
    case at::kDouble:
      return Type::kDouble;
    default:
      break;
  }
  throw InternalError(concat(what, ": expected float32, bfloat16 or float64, got ", at::toString(dtype)));
}

void for_items(std::int64_t n, const std::function<void(std::int64_t)>& body) {
  if (n <= 0) return;
  const std::int64_t threads =
      at::in_parallel_region() ? 1 : std::min<std::int64_t>(n, at::get_num_threads());
  if (threads == 1) {
    for (std::int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  std::atomic<std::int64_t> next{0};
  at::parallel_for(0, threads, 1, [&](std::int64_t, std::int64_t) {
    for (std::int64_t i = next++; i < n; i = next++) body(i);
  });
}

void convert_into(const at::Tensor& x, const at::Tensor& y, bool add) {
  const Type from = type_of(x, "convert"), to = type_of(y, "convert");
  check(x.is_contiguous() && y.is_contiguous() && x.numel() == y.numel(),
        "convert: the tensors do not match");
  const Kernels& k = kernels();
  for_ranges(x.numel(), 8, [&](std::int64_t begin, std::int64_t end) {
    k.convert(from, x.data_ptr(), to, y.data_ptr(), add, begin, end);
  });
}

}  // namespace loongforge::ops::cpu
