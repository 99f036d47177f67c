#include "loongforge/ops/cpu/kernels/functions.h"
#include "loongforge/ops/cpu/kernels/row_sum.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {
namespace {

template <typename S>
void forward(const RmsNormArgs& args, std::int64_t begin, std::int64_t end) {
  using T = Wide<S>;
  const std::int64_t n = args.channels;
  const S* w = static_cast<const S*>(args.weight);
  for (std::int64_t row = begin; row < end; ++row) {
    const S* x = static_cast<const S*>(args.x) + row * n;
    S* y = static_cast<S*>(args.y) + row * n;
    const double squares = sum_row<T>(
        n,
        [&](std::int64_t i) __attribute__((always_inline)) {
          const Vector<T> v = load(x + i);
          return v * v;
        },
        [&](std::int64_t i) { return widen(x[i]) * widen(x[i]); });
    const T r = static_cast<T>(1 / __builtin_sqrt(squares / static_cast<double>(n) + args.eps));
    static_cast<T*>(args.rstd)[row] = r;
    std::int64_t i = 0;
    for (; i + kLanes<T> <= n; i += kLanes<T>) store(y + i, load(x + i) * r * load(w + i));
    for (; i < n; ++i) store_one(y + i, widen(x[i]) * r * widen(w[i]));
  }
}

// With u = dy * w and h = x * rstd: dx = rstd * (u - h * mean(u * h)), dw = sum over rows of dy * h.
template <typename S>
void backward_row(const RmsNormArgs& args, std::int64_t row, Wide<S>* dweight) {
  using T = Wide<S>;
  const std::int64_t n = args.channels;
  const S* w = static_cast<const S*>(args.weight);
  const S* x = static_cast<const S*>(args.x) + row * n;
  const S* dy = static_cast<const S*>(args.dy) + row * n;
  const T r = static_cast<const T*>(args.rstd)[row];
  if (args.dx != nullptr) {
    S* dx = static_cast<S*>(args.dx) + row * n;
    const double dot = sum_row<T>(
        n,
        [&](std::int64_t i)
            __attribute__((always_inline)) { return load(dy + i) * load(w + i) * load(x + i); },
        [&](std::int64_t i) { return widen(dy[i]) * widen(w[i]) * widen(x[i]); });
    const double rstd = static_cast<double>(r);
    const T factor = static_cast<T>(dot * rstd * rstd / static_cast<double>(n));
    std::int64_t i = 0;
    for (; i + kLanes<T> <= n; i += kLanes<T>)
      store(dx + i, r * (load(dy + i) * load(w + i) - load(x + i) * factor));
    for (; i < n; ++i) store_one(dx + i, r * (widen(dy[i]) * widen(w[i]) - widen(x[i]) * factor));
  }
  if (dweight != nullptr) {
    std::int64_t i = 0;
    for (; i + kLanes<T> <= n; i += kLanes<T>)
      store(dweight + i, load(dweight + i) + load(dy + i) * load(x + i) * r);
    for (; i < n; ++i) dweight[i] += widen(dy[i]) * widen(x[i]) * r;
  }
}

template <typename S>
void backward(const RmsNormArgs& args, std::int64_t rows, std::int64_t begin, std::int64_t end) {
  using T = Wide<S>;
  for (std::int64_t b = begin; b < end; ++b) {
    T* dweight = args.dweight == nullptr ? nullptr : static_cast<T*>(args.dweight) + b * args.channels;
    if (dweight != nullptr)
      for (std::int64_t i = 0; i < args.channels; ++i) dweight[i] = 0;
    const std::int64_t last = least((b + 1) * args.block, rows);
    for (std::int64_t row = b * args.block; row < last; ++row) backward_row<S>(args, row, dweight);
  }
}

}  // namespace

void rms_norm_forward(const RmsNormArgs& args, std::int64_t begin, std::int64_t end) {
  dispatch(args.type, [&](auto tag) { forward<LOONGFORGE_STORAGE(tag)>(args, begin, end); });
}

void rms_norm_backward(const RmsNormArgs& args, std::int64_t rows, std::int64_t begin, std::int64_t end) {
  dispatch(args.type, [&](auto tag) { backward<LOONGFORGE_STORAGE(tag)>(args, rows, begin, end); });
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
