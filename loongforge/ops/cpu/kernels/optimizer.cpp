// AdamW and the sum of squares.
#include "loongforge/ops/cpu/kernels/functions.h"
#include "loongforge/ops/cpu/kernels/simd.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {
namespace {

template <typename T>
LOONGFORGE_INLINE Vector<T> square_root(Vector<T> x) {
  Vector<T> y;
  for (int i = 0; i < kLanes<T>; ++i)
    y[i] = sizeof(T) == sizeof(float) ? static_cast<T>(__builtin_sqrtf(static_cast<float>(x[i])))
                                      : static_cast<T>(__builtin_sqrt(x[i]));
  return y;
}

template <typename T>
struct Factors {
  explicit Factors(const AdamWArgs& a)
      : beta1(a.beta1),
        beta2(a.beta2),
        rest1(1 - a.beta1),
        rest2(1 - a.beta2),
        scale(a.gradient_scale),
        decay(1 - a.lr * a.weight_decay),
        rate(a.lr / a.correction1),
        root_correction(1 / __builtin_sqrt(a.correction2)),
        eps(a.eps) {}
  T beta1, beta2, rest1, rest2, scale, decay, rate, root_correction, eps;
};

template <typename T, typename W>
void adamw_of(const AdamWArgs& args, W* weight, std::int64_t begin, std::int64_t end) {
  const Factors<T> f(args);
  T* master = static_cast<T*>(args.master);
  T* m = static_cast<T*>(args.m);
  T* v = static_cast<T*>(args.v);
  const T* grad = static_cast<const T*>(args.grad);
  // A last, shorter piece goes through the same vector code, padded, so that no element's bits depend on
  // where the range was cut.
  const auto update = [&](Vector<T> g, Vector<T> & p, Vector<T> & m1, Vector<T> & v1)
      __attribute__((always_inline)) {
    g = g * f.scale;
    m1 = m1 * f.beta1 + g * f.rest1;
    v1 = v1 * f.beta2 + g * g * f.rest2;
    p = p * f.decay - f.rate * m1 / (square_root<T>(v1) * f.root_correction + f.eps);
  };
  std::int64_t i = begin;
  for (; i + kLanes<T> <= end; i += kLanes<T>) {
    Vector<T> p = load(master + i), m1 = load(m + i), v1 = load(v + i);
    update(load(grad + i), p, m1, v1);
    store(m + i, m1);
    store(v + i, v1);
    store(master + i, p);
    if (weight != nullptr) store(weight + i, p);
  }
  if (i == end) return;
  Vector<T> g{}, p{}, m1{}, v1{};
  const std::int64_t rest = end - i;
  for (std::int64_t j = 0; j < rest; ++j) {
    g[j] = grad[i + j];
    p[j] = master[i + j];
    m1[j] = m[i + j];
    v1[j] = v[i + j];
  }
  update(g, p, m1, v1);
  for (std::int64_t j = 0; j < rest; ++j) {
    m[i + j] = m1[j];
    v[i + j] = v1[j];
    master[i + j] = p[j];
    if (weight != nullptr) store_one(weight + i + j, p[j]);
  }
}

template <typename S>
double squared_norm_of(const S* x, std::int64_t begin, std::int64_t end) {
  using D = Vector<double>;
  constexpr std::int64_t kStep = 4 * kLanes<double>;
  D sum[4]{};
  std::int64_t i = begin;
  for (; i + kStep <= end; i += kStep)
#pragma GCC unroll 4
    for (int u = 0; u < 4; ++u) {
      D v;
      for (int lane = 0; lane < kLanes<double>; ++lane) v[lane] = widen(x[i + u * kLanes<double> + lane]);
      sum[u] += v * v;
    }
  double total = sum_lanes<double>((sum[0] + sum[1]) + (sum[2] + sum[3]));
  for (; i < end; ++i) {
    const double v = widen(x[i]);
    total += v * v;
  }
  return total;
}

}  // namespace

void adamw(const AdamWArgs& args, std::int64_t begin, std::int64_t end) {
  if (args.type == Type::kDouble)
    adamw_of<double>(args, static_cast<double*>(args.weight), begin, end);
  else if (args.weight_type == Type::kBf16)
    adamw_of<float>(args, static_cast<Bf16*>(args.weight), begin, end);
  else
    adamw_of<float>(args, static_cast<float*>(args.weight), begin, end);
}

double squared_norm(Type type, const void* x, std::int64_t begin, std::int64_t end) {
  double sum = 0;
  dispatch(type, [&](auto tag) {
    sum = squared_norm_of(static_cast<const LOONGFORGE_STORAGE(tag)*>(x), begin, end);
  });
  return sum;
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
