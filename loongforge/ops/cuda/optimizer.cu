// AdamW and the sum of squares.
#include <cmath>

#include "loongforge/ops/cuda/launch.cuh"

namespace loongforge::ops::cuda {
namespace {

// One element of one step; T of master, gradient and moments, W of the weight beside them.
template <typename T, typename W>
struct AdamW {
  // The factors are made once on the host, in double, and rounded to T.
  AdamW(const AdamWArgs& a, std::int64_t elements)
      : n(elements),
        master(static_cast<T*>(a.master)),
        m(static_cast<T*>(a.m)),
        v(static_cast<T*>(a.v)),
        grad(static_cast<const T*>(a.grad)),
        weight(static_cast<W*>(a.weight)),
        beta1(a.beta1),
        beta2(a.beta2),
        rest1(1 - a.beta1),
        rest2(1 - a.beta2),
        scale(a.gradient_scale),
        decay(1 - a.lr * a.weight_decay),
        rate(a.lr / a.correction1),
        root_correction(1 / std::sqrt(a.correction2)),
        eps(a.eps) {}

  __device__ void operator()(std::int64_t block, std::int64_t lane) const {
    const std::int64_t i = block * kThreads + lane;
    if (i >= n) return;
    const T g = grad[i] * scale, m1 = m[i] * beta1 + g * rest1, v1 = v[i] * beta2 + g * g * rest2;
    const T p = master[i] * decay - rate * m1 / (sqrt(v1) * root_correction + eps);
    m[i] = m1;
    v[i] = v1;
    master[i] = p;
    if (weight != nullptr) store(weight + i, p);
  }

  std::int64_t n;
  T *master, *m, *v;
  const T* grad;
  W* weight;
  T beta1, beta2, rest1, rest2, scale, decay, rate, root_correction, eps;
};

template <typename T, typename W>
void adamw_of(const AdamWArgs& args, std::int64_t n, int device) {
  each("adamw_step", device, blocks_of(n, kThreads), kThreads, AdamW<T, W>(args, n));
}

// A piece a block.
template <typename S>
__global__ void squares(const S* x, std::int64_t n, std::int64_t piece, double* sums) {
  const std::int64_t begin = blockIdx.x * piece, end = begin + piece < n ? begin + piece : n;
  double sum = 0;
  for (std::int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
    const double v = widen(x[i]);
    sum += v * v;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

}  // namespace

void adamw(const AdamWArgs& args, std::int64_t n, int device) {
  if (args.type == Type::kDouble)
    adamw_of<double, double>(args, n, device);
  else if (args.weight_type == Type::kBf16)
    adamw_of<float, Bf16>(args, n, device);
  else
    adamw_of<float, float>(args, n, device);
}

void squared_norm(Type type, const void* x, std::int64_t n, std::int64_t piece, double* sums, int device) {
  dispatch(type, [&](auto tag) {
    using S = decltype(tag);
    launch("squared_norm", device, blocks_of(n, piece), 1, squares<S>, static_cast<const S*>(x), n, piece,
           sums);
  });
}

}  // namespace loongforge::ops::cuda
