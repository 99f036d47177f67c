#include "loongforge/ops/cpu/kernels/functions.h"
#include "loongforge/ops/cpu/kernels/simd.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {
namespace {

template <typename T>
T row_maximum(const T* x, std::int64_t n) {
  T best = x[0];
  std::int64_t i = 0;
  if (n >= kLanes<T>) {
    Vector<T> most = load(x);
    for (i = kLanes<T>; i + kLanes<T> <= n; i += kLanes<T>) {
      const Vector<T> v = load(x + i);
      most = v > most ? v : most;
    }
    best = max_lanes<T>(most);
  }
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

// Sum of e^(x - shift), in double over runs of vectors, because a vocabulary is long.
template <typename T>
double sum_exponentials(const T* x, std::int64_t n, T shift) {
  constexpr std::int64_t kRun = 64 * kLanes<T>;
  double total = 0;
  std::int64_t i = 0;
  while (i + kLanes<T> <= n) {
    const std::int64_t stop = least(i + kRun, n - kLanes<T> + 1);
    Vector<T> sum{};
    for (; i < stop; i += kLanes<T>) sum += exponential(load(x + i) - shift);
    for (int lane = 0; lane < kLanes<T>; ++lane) total += static_cast<double>(sum[lane]);
  }
  for (; i < n; ++i) total += static_cast<double>(exponential_one<T>(x[i] - shift));
  return total;
}

template <typename T>
void cross_entropy_row(const CrossEntropyArgs& args, std::int64_t row) {
  T* x = static_cast<T*>(args.logits) + row * args.row_stride;
  const std::int64_t n = args.columns, target = args.targets[row];
  const T best = row_maximum(x, n);
  const double sum = sum_exponentials(x, n, best);
  const T weight = args.token_weights == nullptr ? T(1) : static_cast<const T*>(args.token_weights)[row];
  if (args.losses != nullptr)
    static_cast<T*>(args.losses)[row] =
        weight * static_cast<T>(__builtin_log(sum) + static_cast<double>(best - x[target]));
  if (!args.make_gradient) return;
  // e^(x - best) / sum rather than e^(x - log of the sum): that logarithm, rounded, would bias the whole row.
  const T factor = static_cast<T>(args.gradient) * weight;
  const T share = static_cast<T>(static_cast<double>(factor) / sum);
  std::int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) store(x + i, share * exponential(load(x + i) - best));
  for (; i < n; ++i) x[i] = share * exponential_one<T>(x[i] - best);
  x[target] -= factor;
  for (i = n; i < args.row_stride; ++i) x[i] = 0;
}

}  // namespace

void cross_entropy(const CrossEntropyArgs& args, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) {
    if (args.wide)
      cross_entropy_row<double>(args, row);
    else
      cross_entropy_row<float>(args, row);
  }
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
