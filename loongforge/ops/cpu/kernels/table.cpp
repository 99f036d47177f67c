#include "loongforge/ops/cpu/kernels/functions.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {

const Kernels& table() {
  static constexpr Kernels kTable{
      .gemm_scratch_bytes = gemm_scratch_bytes,
      .gemm_tile = gemm_tile,
      .gemm_longest_bf16_sum = kLongestBf16Sum,
      .gemm_few_rows = gemm_few_rows,
      .rms_norm_forward = rms_norm_forward,
      .rms_norm_backward = rms_norm_backward,
      .layer_norm_forward = layer_norm_forward,
      .layer_norm_backward = layer_norm_backward,
      .rope = rope,
      .swiglu_forward = swiglu_forward,
      .swiglu_backward = swiglu_backward,
      .cross_entropy = cross_entropy,
      .adamw = adamw,
      .squared_norm = squared_norm,
      .convert = convert,
      .sum_groups = sum_groups,
      .attention_block = kAttentionBlock,
      .attention_packed_tokens = attention_packed_tokens,
      .attention_packed_dim = attention_packed_dim,
      .attention_pack = attention_pack,
      .attention_forward_scratch_bytes = attention_forward_scratch_bytes,
      .attention_forward = attention_forward,
      .attention_backward_scratch_bytes = attention_backward_scratch_bytes,
      .attention_backward = attention_backward,
  };
  return kTable;
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
