#include "loongforge/ops/cuda/launch.cuh"

namespace loongforge::ops::cuda {
namespace {

template <typename S>
struct Forward {
  using T = Wide<S>;
  SwigluArgs args;

  __device__ void operator()(std::int64_t row, std::int64_t i) const {
    const T g = widen(static_cast<const S*>(args.gate)[row * args.gate_stride + i]);
    const T u = widen(static_cast<const S*>(args.up)[row * args.up_stride + i]);
    store(static_cast<S*>(args.y) + row * args.columns + i, g / (T(1) + exp(-g)) * u);
  }
};

// The formula stands in cpu/kernels/elementwise.cpp.
template <typename S>
struct Backward {
  using T = Wide<S>;
  SwigluArgs args;

  __device__ void operator()(std::int64_t row, std::int64_t i) const {
    const std::int64_t at = row * args.columns + i;
    const T g = widen(static_cast<const S*>(args.gate)[row * args.gate_stride + i]);
    const T u = widen(static_cast<const S*>(args.up)[row * args.up_stride + i]);
    const T d = widen(static_cast<const S*>(args.dy)[at]);
    const T s = T(1) / (T(1) + exp(-g));
    store(static_cast<S*>(args.dup) + at, d * g * s);
    store(static_cast<S*>(args.dgate) + at, d * u * s * (T(1) + g * (T(1) - s)));
  }
};

}  // namespace

void swiglu_forward(const SwigluArgs& args, std::int64_t rows, int device) {
  dispatch(args.type,
           [&](auto tag) { each("swiglu", device, rows, args.columns, Forward<decltype(tag)>{args}); });
}

void swiglu_backward(const SwigluArgs& args, std::int64_t rows, int device) {
  dispatch(args.type,
           [&](auto tag) { each("swiglu", device, rows, args.columns, Backward<decltype(tag)>{args}); });
}

}  // namespace loongforge::ops::cuda
