// In the place of ../cuda/ in a build without CUDA.
#include "loongforge/ops/cuda/kernels.h"

#include "loongforge/base/error.h"

namespace loongforge::ops::cuda {
namespace {

[[noreturn]] void absent(const char* op) {
  throw ConfigError(concat(op, ": expected CPU tensors, got CUDA ones, and this build has no CUDA kernels; ",
                           "build with scripts/cuda-build.sh"));
}

}  // namespace

std::string kernels_built_for() {
  return "";
}

void rms_norm_forward(const RmsNormArgs&, std::int64_t, int) {
  absent("rms_norm");
}

void rms_norm_backward(const RmsNormArgs&, std::int64_t, int) {
  absent("rms_norm");
}

void rope(const RopeArgs&, std::int64_t, int) {
  absent("rope");
}

void swiglu_forward(const SwigluArgs&, std::int64_t, int) {
  absent("swiglu");
}

void swiglu_backward(const SwigluArgs&, std::int64_t, int) {
  absent("swiglu");
}

void adamw(const AdamWArgs&, std::int64_t, int) {
  absent("adamw_step");
}

void squared_norm(Type, const void*, std::int64_t, std::int64_t, double*, int) {
  absent("squared_norm");
}

}  // namespace loongforge::ops::cuda
