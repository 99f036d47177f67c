// Sums over one row, exact enough for what norms subtract.
#pragma once

#include "loongforge/ops/cpu/kernels/simd.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {

// Sum of f(i) over whole vectors and of g(i) over the rest, in double: what follows subtracts numbers of
// nearly one size, where a channel is much larger than the others.
template <typename T, typename F, typename G>
LOONGFORGE_INLINE double sum_row(std::int64_t n, F f, G g) {
  using Doubles = DoublesOf<T>;
  Doubles sum[2]{};
  std::int64_t i = 0;
  for (; i + 2 * kLanes<T> <= n; i += 2 * kLanes<T>)
#pragma GCC unroll 2
    for (int u = 0; u < 2; ++u) sum[u] += __builtin_convertvector(f(i + u * kLanes<T>), Doubles);
  for (; i + kLanes<T> <= n; i += kLanes<T>) sum[0] += __builtin_convertvector(f(i), Doubles);
  sum[0] += sum[1];
  double total = 0;
  for (int lane = 0; lane < kLanes<T>; ++lane) total += sum[0][lane];
  for (; i < n; ++i) total += static_cast<double>(g(i));
  return total;
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
