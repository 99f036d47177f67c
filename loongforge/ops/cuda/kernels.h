// The CUDA kernels of the operators. They take the arguments of the CPU kernels, with pointers into the
// memory of GPU `device`, and run on its current stream: the call returns before they are done.
//
// Compiled, not executed: no GPU has run them yet. A build without CUDA has the same functions from
// ../no_cuda/; each throws ConfigError. Here they throw ResourceError when a kernel cannot be started.
#pragma once

#include <cstdint>
#include <string>

#include "loongforge/ops/cpu/kernels.h"

namespace loongforge::ops::cuda {

using cpu::AdamWArgs;
using cpu::RmsNormArgs;
using cpu::RopeArgs;
using cpu::SwigluArgs;
using cpu::Type;

// "CUDA 13.0 for sm_80 sm_90"; empty in a build without CUDA.
std::string kernels_built_for();

void rms_norm_forward(const RmsNormArgs& args, std::int64_t rows, int device);
void rms_norm_backward(const RmsNormArgs& args, std::int64_t rows, int device);
void rope(const RopeArgs& args, std::int64_t tokens, int device);
void swiglu_forward(const SwigluArgs& args, std::int64_t rows, int device);
void swiglu_backward(const SwigluArgs& args, std::int64_t rows, int device);
// Elements [0, n).
void adamw(const AdamWArgs& args, std::int64_t n, int device);
// sums[i] = sum of the squares of elements [i * piece, (i + 1) * piece) of the n; `sums` on the device.
void squared_norm(Type type, const void* x, std::int64_t n, std::int64_t piece, double* sums, int device);

}  // namespace loongforge::ops::cuda
