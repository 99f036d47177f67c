// From tensors to the kernels' arguments.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <functional>

#include "loongforge/base/error.h"
#include "loongforge/ops/cpu/kernels.h"

namespace loongforge::ops::cpu {

// Storage type of a dtype. Throws InternalError naming `what` for any but float32, bfloat16, float64.
Type type_of(at::ScalarType dtype, const char* what);
inline Type type_of(const at::Tensor& x, const char* what) {
  return type_of(x.scalar_type(), what);
}

// float64 for float64, else float32: the dtype in which sums run.
inline at::ScalarType wide_dtype(at::ScalarType dtype) {
  return dtype == at::kDouble ? at::kDouble : at::kFloat;
}

// Splits [0, n) over the threads, `bytes_each` being what one item moves: small work stays on this thread.
template <typename F>
void for_ranges(std::int64_t n, std::int64_t bytes_each, const F& body) {
  constexpr std::int64_t kBytesWorthAThread = 64 * 1024;
  const std::int64_t grain =
      std::max<std::int64_t>(1, kBytesWorthAThread / std::max<std::int64_t>(1, bytes_each));
  if (n > 0) at::parallel_for(0, n, grain, body);
}

// Calls body(i) once for each i in [0, n), on all threads, each taking the next item when it is free. Items
// must not share outputs; what each writes then does not depend on who took it.
void for_items(std::int64_t n, const std::function<void(std::int64_t)>& body);

// Runs a product: tiles over the threads, working memory from thread_scratch.
void run_gemm(const GemmArgs& args);

// y (+)= x, element by element; both contiguous, of equal size, float32, bfloat16 or float64.
void convert_into(const at::Tensor& x, const at::Tensor& y, bool add);

}  // namespace loongforge::ops::cpu
