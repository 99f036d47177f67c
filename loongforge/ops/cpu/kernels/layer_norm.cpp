#include "loongforge/ops/cpu/kernels/functions.h"
#include "loongforge/ops/cpu/kernels/row_sum.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {
namespace {

// The deviation in a second pass over the row, which lies in the cache: the mean of squares less the square
// of the mean would lose the digits of rows whose mean is large.
template <typename S>
void forward_row(const LayerNormArgs& args, std::int64_t row) {
  using T = Wide<S>;
  const std::int64_t n = args.channels;
  const S* w = static_cast<const S*>(args.weight);
  const S* b = static_cast<const S*>(args.bias);
  const S* x = static_cast<const S*>(args.x) + row * n;
  S* y = static_cast<S*>(args.y) + row * n;
  const double sum = sum_row<T>(
      n, [&](std::int64_t i) __attribute__((always_inline)) { return load(x + i); },
      [&](std::int64_t i) { return widen(x[i]); });
  const T m = static_cast<T>(sum / static_cast<double>(n));
  const double squares = sum_row<T>(
      n,
      [&](std::int64_t i) __attribute__((always_inline)) {
        const Vector<T> v = load(x + i) - m;
        return v * v;
      },
      [&](std::int64_t i) { return (widen(x[i]) - m) * (widen(x[i]) - m); });
  const T r = static_cast<T>(1 / __builtin_sqrt(squares / static_cast<double>(n) + args.eps));
  static_cast<T*>(args.mean)[row] = m;
  static_cast<T*>(args.rstd)[row] = r;
  std::int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) store(y + i, (load(x + i) - m) * r * load(w + i) + load(b + i));
  for (; i < n; ++i) store_one(y + i, (widen(x[i]) - m) * r * widen(w[i]) + widen(b[i]));
}

template <typename S>
void forward(const LayerNormArgs& args, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) forward_row<S>(args, row);
}

// With u = dy * w and h = (x - mean) * rstd: dx = rstd * (u - mean(u) - h * mean(u * h)).
template <typename S>
void input_gradient(const LayerNormArgs& args, std::int64_t row) {
  using T = Wide<S>;
  const std::int64_t n = args.channels;
  const S* w = static_cast<const S*>(args.weight);
  const S* x = static_cast<const S*>(args.x) + row * n;
  const S* dy = static_cast<const S*>(args.dy) + row * n;
  S* dx = static_cast<S*>(args.dx) + row * n;
  const T m = static_cast<const T*>(args.mean)[row], r = static_cast<const T*>(args.rstd)[row];
  const double sum = sum_row<T>(
      n, [&](std::int64_t i) __attribute__((always_inline)) { return load(dy + i) * load(w + i); },
      [&](std::int64_t i) { return widen(dy[i]) * widen(w[i]); });
  const double dot = sum_row<T>(
      n,
      [&](std::int64_t i)
          __attribute__((always_inline)) { return load(dy + i) * load(w + i) * (load(x + i) - m); },
      [&](std::int64_t i) { return widen(dy[i]) * widen(w[i]) * (widen(x[i]) - m); });
  const double rstd = static_cast<double>(r);
  const T shift = static_cast<T>(sum / static_cast<double>(n));
  const T factor = static_cast<T>(dot * rstd * rstd / static_cast<double>(n));
  std::int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>)
    store(dx + i, r * (load(dy + i) * load(w + i) - shift - (load(x + i) - m) * factor));
  for (; i < n; ++i) store_one(dx + i, r * (widen(dy[i]) * widen(w[i]) - shift - (widen(x[i]) - m) * factor));
}

// dweight += dy * h.
template <typename S>
void add_weight_gradient(const LayerNormArgs& args, std::int64_t row, Wide<S>* dweight) {
  using T = Wide<S>;
  const std::int64_t n = args.channels;
  const S* x = static_cast<const S*>(args.x) + row * n;
  const S* dy = static_cast<const S*>(args.dy) + row * n;
  const T m = static_cast<const T*>(args.mean)[row], r = static_cast<const T*>(args.rstd)[row];
  std::int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>)
    store(dweight + i, load(dweight + i) + load(dy + i) * (load(x + i) - m) * r);
  for (; i < n; ++i) dweight[i] += widen(dy[i]) * (widen(x[i]) - m) * r;
}

// dbias += dy.
template <typename S>
void add_bias_gradient(const LayerNormArgs& args, std::int64_t row, Wide<S>* dbias) {
  using T = Wide<S>;
  const std::int64_t n = args.channels;
  const S* dy = static_cast<const S*>(args.dy) + row * n;
  std::int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) store(dbias + i, load(dbias + i) + load(dy + i));
  for (; i < n; ++i) dbias[i] += widen(dy[i]);
}

// Block b of partial sums, all zeros; null where there are none.
template <typename T>
T* cleared_block(void* sums, std::int64_t b, std::int64_t channels) {
  if (sums == nullptr) return nullptr;
  T* block = static_cast<T*>(sums) + b * channels;
  for (std::int64_t i = 0; i < channels; ++i) block[i] = 0;
  return block;
}

template <typename S>
void backward(const LayerNormArgs& args, std::int64_t rows, std::int64_t begin, std::int64_t end) {
  using T = Wide<S>;
  for (std::int64_t b = begin; b < end; ++b) {
    T* dweight = cleared_block<T>(args.dweight, b, args.channels);
    T* dbias = cleared_block<T>(args.dbias, b, args.channels);
    const std::int64_t last = least((b + 1) * args.block, rows);
    for (std::int64_t row = b * args.block; row < last; ++row) {
      if (args.dx != nullptr) input_gradient<S>(args, row);
      if (dweight != nullptr) add_weight_gradient<S>(args, row, dweight);
      if (dbias != nullptr) add_bias_gradient<S>(args, row, dbias);
    }
  }
}

}  // namespace

void layer_norm_forward(const LayerNormArgs& args, std::int64_t begin, std::int64_t end) {
  dispatch(args.type, [&](auto tag) { forward<LOONGFORGE_STORAGE(tag)>(args, begin, end); });
}

void layer_norm_backward(const LayerNormArgs& args, std::int64_t rows, std::int64_t begin, std::int64_t end) {
  dispatch(args.type, [&](auto tag) { backward<LOONGFORGE_STORAGE(tag)>(args, rows, begin, end); });
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
