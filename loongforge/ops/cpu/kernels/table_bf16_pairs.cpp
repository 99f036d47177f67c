#include "loongforge/ops/cpu/kernels/functions.h"

#ifdef __AVX512BF16__
namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {

Kernels with_bf16_pairs(Kernels k) {
  k.gemm_scratch_bytes = gemm_scratch_bytes;
  k.gemm_tile = gemm_tile;
  k.attention_pack = attention_pack;
  k.attention_forward_scratch_bytes = attention_forward_scratch_bytes;
  k.attention_forward = attention_forward;
  k.attention_backward_scratch_bytes = attention_backward_scratch_bytes;
  k.attention_backward = attention_backward;
  return k;
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
#endif
