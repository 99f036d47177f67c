#include "loongforge/ops/cuda/launch.cuh"

namespace loongforge::ops::cuda {
namespace {

// A row a block.
template <typename S>
__global__ void forward(RmsNormArgs args) {
  using T = Wide<S>;
  const std::int64_t n = args.channels, row = blockIdx.x;
  const S* x = static_cast<const S*>(args.x) + row * n;
  const S* w = static_cast<const S*>(args.weight);
  S* y = static_cast<S*>(args.y) + row * n;
  double squares = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += kThreads) {
    const T v = widen(x[i]);
    squares += static_cast<double>(v * v);
  }
  const T r = static_cast<T>(1 / sqrt(block_sum(squares) / static_cast<double>(n) + args.eps));
  if (threadIdx.x == 0) static_cast<T*>(args.rstd)[row] = r;
  for (std::int64_t i = threadIdx.x; i < n; i += kThreads) store(y + i, widen(x[i]) * r * widen(w[i]));
}

// A row a block; the formula stands in cpu/kernels/rms_norm.cpp.
template <typename S>
__global__ void input_gradient(RmsNormArgs args) {
  using T = Wide<S>;
  const std::int64_t n = args.channels, row = blockIdx.x;
  const S* x = static_cast<const S*>(args.x) + row * n;
  const S* w = static_cast<const S*>(args.weight);
  const S* dy = static_cast<const S*>(args.dy) + row * n;
  S* dx = static_cast<S*>(args.dx) + row * n;
  const T r = static_cast<const T*>(args.rstd)[row];
  double dot = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += kThreads)
    dot += static_cast<double>(widen(dy[i]) * widen(w[i]) * widen(x[i]));
  const double rstd = static_cast<double>(r);
  const T factor = static_cast<T>(block_sum(dot) * rstd * rstd / static_cast<double>(n));
  for (std::int64_t i = threadIdx.x; i < n; i += kThreads)
    store(dx + i, r * (widen(dy[i]) * widen(w[i]) - widen(x[i]) * factor));
}

// Partial sums of args.block rows. A pass of its own over x and dy: in the pass above a block would have to
// keep several rows, and small batches would leave most of the GPU idle.
template <typename S>
struct WeightGradient {
  using T = Wide<S>;
  RmsNormArgs args;
  std::int64_t rows;

  __device__ void operator()(std::int64_t block, std::int64_t channel) const {
    const std::int64_t first = block * args.block;
    const std::int64_t last = first + args.block < rows ? first + args.block : rows;
    T sum = 0;
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t i = row * args.channels + channel;
      sum += widen(static_cast<const S*>(args.dy)[i]) * widen(static_cast<const S*>(args.x)[i]) *
             static_cast<const T*>(args.rstd)[row];
    }
    static_cast<T*>(args.dweight)[block * args.channels + channel] = sum;
  }
};

}  // namespace

void rms_norm_forward(const RmsNormArgs& args, std::int64_t rows, int device) {
  dispatch(args.type, [&](auto tag) { launch("rms_norm", device, rows, 1, forward<decltype(tag)>, args); });
}

void rms_norm_backward(const RmsNormArgs& args, std::int64_t rows, int device) {
  dispatch(args.type, [&](auto tag) {
    using S = decltype(tag);
    if (args.dx != nullptr) launch("rms_norm", device, rows, 1, input_gradient<S>, args);
    if (args.dweight != nullptr)
      each("rms_norm", device, blocks_of(rows, args.block), args.channels, WeightGradient<S>{args, rows});
  });
}

}  // namespace loongforge::ops::cuda
