#include "loongforge/ops/cpu/bf16_units.h"

#include "loongforge/base/error.h"

// MKL's product with float32 result (CBLAS layout constants); absent from libtorch on other CPUs.
extern "C" __attribute__((weak)) void cblas_gemm_bf16bf16f32(int layout, int transpose_a, int transpose_b,
                                                             int m, int n, int k, float alpha,
                                                             const std::uint16_t* a, int lda,
                                                             const std::uint16_t* b, int ldb, float beta,
                                                             float* c, int ldc);

namespace loongforge::ops::cpu {
namespace {

constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;

}  // namespace

bool has_bf16_product() {
  return cblas_gemm_bf16bf16f32 != nullptr;
}

void run_bf16_product(const GemmArgs& args) {
  check(has_bf16_product() && args.a.type == Type::kBf16 && args.b.type == Type::kBf16 &&
            args.c_type == Type::kFloat,
        "bf16 product: bfloat16 factors and a float32 result are needed");
  const bool plain_a = args.a.inner_stride == 1, plain_b = args.b.inner_stride != 1;
  const std::int64_t lda = plain_a ? args.a.outer_stride : args.a.inner_stride;
  const std::int64_t ldb = plain_b ? args.b.inner_stride : args.b.outer_stride;
  cblas_gemm_bf16bf16f32(kRowMajor, plain_a ? kPlain : kTransposed, plain_b ? kPlain : kTransposed,
                         static_cast<int>(args.m), static_cast<int>(args.n), static_cast<int>(args.k), 1.0f,
                         static_cast<const std::uint16_t*>(args.a.data), static_cast<int>(lda),
                         static_cast<const std::uint16_t*>(args.b.data), static_cast<int>(ldb),
                         args.accumulate ? 1.0f : 0.0f, static_cast<float*>(args.c),
                         static_cast<int>(args.ldc));
}

}  // namespace loongforge::ops::cpu
