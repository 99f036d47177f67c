// Rotary embedding, SwiGLU, conversions.
#include "loongforge/ops/cpu/kernels/functions.h"
#include "loongforge/ops/cpu/kernels/simd.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {
namespace {

template <typename S>
void rope_of(const RopeArgs& args, std::int64_t begin, std::int64_t end) {
  using T = Wide<S>;
  const std::int64_t half = args.dim / 2;
  const T sign = args.backward ? T(-1) : T(1);
  for (std::int64_t token = begin; token < end; ++token) {
    const T* cos = static_cast<const T*>(args.cos) + token * half;
    const T* sin = static_cast<const T*>(args.sin) + token * half;
    for (std::int64_t head = 0; head < args.heads; ++head) {
      const S* x1 = static_cast<const S*>(args.x) + token * args.row_stride + head * args.dim;
      const S* x2 = x1 + half;
      S* y1 = static_cast<S*>(args.y) + (token * args.heads + head) * args.dim;
      S* y2 = y1 + half;
      std::int64_t i = 0;
      for (; i + kLanes<T> <= half; i += kLanes<T>) {
        const Vector<T> a = load(x1 + i), b = load(x2 + i), c = load(cos + i), s = load(sin + i) * sign;
        store(y1 + i, a * c - b * s);
        store(y2 + i, b * c + a * s);
      }
      for (; i < half; ++i) {
        const T a = widen(x1[i]), b = widen(x2[i]), c = cos[i], s = sin[i] * sign;
        store_one(y1 + i, a * c - b * s);
        store_one(y2 + i, b * c + a * s);
      }
    }
  }
}

// Runs f(vector position) over whole vectors and g(position) over the rest of a row.
template <typename T, typename F, typename G>
LOONGFORGE_INLINE void over_row(std::int64_t n, F f, G g) {
  std::int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) f(i);
  for (; i < n; ++i) g(i);
}

template <typename S>
void swiglu_forward_of(const SwigluArgs& args, std::int64_t begin, std::int64_t end) {
  using T = Wide<S>;
  for (std::int64_t row = begin; row < end; ++row) {
    const S* gate = static_cast<const S*>(args.gate) + row * args.gate_stride;
    const S* up = static_cast<const S*>(args.up) + row * args.up_stride;
    S* y = static_cast<S*>(args.y) + row * args.columns;
    over_row<T>(
        args.columns,
        [&](std::int64_t i) __attribute__((always_inline)) {
          const Vector<T> g = load(gate + i);
          store(y + i, g / (T(1) + exponential(-g)) * load(up + i));
        },
        [&](std::int64_t i) {
          const T g = widen(gate[i]);
          store_one(y + i, g / (T(1) + exponential_one<T>(-g)) * widen(up[i]));
        });
  }
}

// With s = sigmoid(gate): dup = dy * gate * s, dgate = dy * up * s * (1 + gate * (1 - s)).
template <typename S>
void swiglu_backward_of(const SwigluArgs& args, std::int64_t begin, std::int64_t end) {
  using T = Wide<S>;
  for (std::int64_t row = begin; row < end; ++row) {
    const S* gate = static_cast<const S*>(args.gate) + row * args.gate_stride;
    const S* up = static_cast<const S*>(args.up) + row * args.up_stride;
    const S* dy = static_cast<const S*>(args.dy) + row * args.columns;
    S* dgate = static_cast<S*>(args.dgate) + row * args.columns;
    S* dup = static_cast<S*>(args.dup) + row * args.columns;
    over_row<T>(
        args.columns,
        [&](std::int64_t i) __attribute__((always_inline)) {
          const Vector<T> g = load(gate + i), u = load(up + i), d = load(dy + i);
          const Vector<T> s = T(1) / (T(1) + exponential(-g));
          store(dup + i, d * g * s);
          store(dgate + i, d * u * s * (T(1) + g * (T(1) - s)));
        },
        [&](std::int64_t i) {
          const T g = widen(gate[i]), u = widen(up[i]), d = widen(dy[i]);
          const T s = T(1) / (T(1) + exponential_one<T>(-g));
          store_one(dup + i, d * g * s);
          store_one(dgate + i, d * u * s * (T(1) + g * (T(1) - s)));
        });
  }
}

template <typename From, typename To>
void convert_of(const From* x, To* y, bool add, std::int64_t begin, std::int64_t end) {
  if constexpr (sizeof(Wide<From>) == sizeof(Wide<To>)) {
    using T = Wide<From>;
    over_row<T>(
        end - begin,
        [&](std::int64_t i) __attribute__((always_inline)) {
          const Vector<T> v = load(x + begin + i);
          store(y + begin + i, add ? v + load(y + begin + i) : v);
        },
        [&](std::int64_t i) {
          const T v = widen(x[begin + i]);
          store_one(y + begin + i, add ? v + widen(y[begin + i]) : v);
        });
  } else {
    for (std::int64_t i = begin; i < end; ++i) {
      const double v = static_cast<double>(widen(x[i]));
      store_one(y + i, static_cast<Wide<To>>(add ? v + static_cast<double>(widen(y[i])) : v));
    }
  }
}

template <typename To>
void sum_groups_of(const Wide<To>* x, To* y, std::int64_t group, std::int64_t dim, std::int64_t begin,
                   std::int64_t end) {
  using T = Wide<To>;
  for (std::int64_t row = begin; row < end; ++row) {
    const T* from = x + row * group * dim;
    for (std::int64_t i = 0; i < dim; ++i) {
      T sum = from[i];
      for (std::int64_t g = 1; g < group; ++g) sum += from[g * dim + i];
      store_one(y + row * dim + i, sum);
    }
  }
}

}  // namespace

void rope(const RopeArgs& args, std::int64_t begin, std::int64_t end) {
  dispatch(args.type, [&](auto tag) { rope_of<LOONGFORGE_STORAGE(tag)>(args, begin, end); });
}

void swiglu_forward(const SwigluArgs& args, std::int64_t begin, std::int64_t end) {
  dispatch(args.type, [&](auto tag) { swiglu_forward_of<LOONGFORGE_STORAGE(tag)>(args, begin, end); });
}

void swiglu_backward(const SwigluArgs& args, std::int64_t begin, std::int64_t end) {
  dispatch(args.type, [&](auto tag) { swiglu_backward_of<LOONGFORGE_STORAGE(tag)>(args, begin, end); });
}

void convert(Type from, const void* x, Type to, void* y, bool add, std::int64_t begin, std::int64_t end) {
  dispatch(from, [&](auto source) {
    dispatch(to, [&](auto target) {
      using From = LOONGFORGE_STORAGE(source);
      using To = LOONGFORGE_STORAGE(target);
      convert_of(static_cast<const From*>(x), static_cast<To*>(y), add, begin, end);
    });
  });
}

void sum_groups(Type to, const void* x, void* y, std::int64_t group, std::int64_t dim, std::int64_t begin,
                std::int64_t end) {
  dispatch(to, [&](auto tag) {
    using To = LOONGFORGE_STORAGE(tag);
    sum_groups_of(static_cast<const Wide<To>*>(x), static_cast<To*>(y), group, dim, begin, end);
  });
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
