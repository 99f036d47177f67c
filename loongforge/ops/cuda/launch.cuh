// Shared by the CUDA kernels: number types, launches, sums over a block of threads.
#pragma once

#include <cuda_bf16.h>

#include "loongforge/base/error.h"
#include "loongforge/ops/cuda/kernels.h"
#include "loongforge/ops/cuda/on_device.h"

namespace loongforge::ops::cuda {

using Bf16 = __nv_bfloat16;

inline constexpr int kThreads = 256;
inline constexpr int kWarp = 32;

__device__ inline float widen(float x) {
  return x;
}
__device__ inline double widen(double x) {
  return x;
}
__device__ inline float widen(Bf16 x) {
  return __bfloat162float(x);
}

__device__ inline void store(float* to, float x) {
  *to = x;
}
__device__ inline void store(double* to, double x) {
  *to = x;
}
__device__ inline void store(Bf16* to, float x) {
  *to = __float2bfloat16_rn(x);
}

// The type in which numbers stored as S are computed.
template <typename S>
struct WideOf {
  using type = float;
};
template <>
struct WideOf<double> {
  using type = double;
};
template <typename S>
using Wide = typename WideOf<S>::type;

// Calls body with a value of the storage type.
template <typename F>
void dispatch(Type type, const F& body) {
  switch (type) {
    case Type::kFloat:
      return body(float{});
    case Type::kBf16:
      return body(Bf16{});
    case Type::kDouble:
      return body(double{});
  }
}

// Sum over the block's threads, in every thread, always in one order. Once a kernel: the shared memory is not
// guarded for a second call. In double, as on the CPU: both GPU generations that we build for are fast in it.
__device__ inline double block_sum(double x) {
  __shared__ double of_warp[kThreads / kWarp];
  for (int step = kWarp / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffU, x, step);
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = x;
  __syncthreads();
  double sum = 0;
  for (const double part : of_warp) sum += part;
  return sum;
}

// Blocks of `size` that hold n.
inline std::int64_t blocks_of(std::int64_t n, std::int64_t size) {
  return (n + size - 1) / size;
}

// Runs kernel(args...) in x by y blocks of kThreads threads. Throws ResourceError when it cannot start.
template <typename... Parameters, typename... Args>
void launch(const char* op, int device, std::int64_t x, std::int64_t y, void (*kernel)(Parameters...),
            const Args&... args) {
  if (x == 0 || y == 0) return;  // CUDA refuses an empty grid
  check<ResourceError>(x <= 0x7fffffff && y <= 65535, op, ": ", x, " by ", y,
                       " blocks are more than one CUDA launch takes");
  const OnDevice there(device);
  const dim3 grid(static_cast<unsigned>(x), static_cast<unsigned>(y));
  kernel<<<grid, kThreads, 0, there.stream()>>>(args...);
  const cudaError_t error = cudaGetLastError();
  check<ResourceError>(error == cudaSuccess, op,
                       ": the CUDA kernel could not start: ", cudaGetErrorString(error));
}

template <typename F>
__global__ void each_kernel(std::int64_t columns, F f) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (column < columns) f(static_cast<std::int64_t>(blockIdx.x), column);
}

// Calls f(row, column) for every element of (rows, columns), a thread each.
template <typename F>
void each(const char* op, int device, std::int64_t rows, std::int64_t columns, const F& f) {
  launch(op, device, rows, blocks_of(columns, kThreads), each_kernel<F>, columns, f);
}

}  // namespace loongforge::ops::cuda
