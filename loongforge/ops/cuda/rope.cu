#include "loongforge/ops/cuda/launch.cuh"

namespace loongforge::ops::cuda {
namespace {

// One pair of one token.
template <typename S>
struct Turn {
  using T = Wide<S>;
  RopeArgs args;

  __device__ void operator()(std::int64_t token, std::int64_t pair) const {
    // In 32 bits: division of 64-bit integers is slow on a GPU, and a token's row is never that long.
    const int half = static_cast<int>(args.dim / 2);
    const int head = static_cast<int>(pair) / half, i = static_cast<int>(pair) % half;
    const S* x = static_cast<const S*>(args.x) + token * args.row_stride + head * args.dim + i;
    S* y = static_cast<S*>(args.y) + (token * args.heads + head) * args.dim + i;
    const T c = static_cast<const T*>(args.cos)[token * half + i];
    const T s = static_cast<const T*>(args.sin)[token * half + i] * (args.backward ? T(-1) : T(1));
    const T a = widen(x[0]), b = widen(x[half]);
    store(y, a * c - b * s);
    store(y + half, b * c + a * s);
  }
};

}  // namespace

void rope(const RopeArgs& args, std::int64_t tokens, int device) {
  dispatch(args.type, [&](auto tag) {
    each("rope", device, tokens, args.heads * (args.dim / 2), Turn<decltype(tag)>{args});
  });
}

}  // namespace loongforge::ops::cuda
