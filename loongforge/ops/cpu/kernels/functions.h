// The functions of one level, gathered into its table by table.cpp.
#pragma once

#include "loongforge/ops/cpu/kernels.h"

#ifndef LOONGFORGE_LEVEL_NAMESPACE
#define LOONGFORGE_LEVEL_NAMESPACE baseline
#endif

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {

inline constexpr std::int64_t kLongestBf16Sum = 16384;
inline constexpr std::int64_t kAttentionBlock = 96;

std::int64_t gemm_scratch_bytes(const GemmArgs& args, const GemmTile& tile);
void gemm_tile(const GemmArgs& args, const GemmTile& tile, void* scratch);
void gemm_few_rows(const GemmArgs& args, std::int64_t begin, std::int64_t end);
void rms_norm_forward(const RmsNormArgs& args, std::int64_t begin, std::int64_t end);
void rms_norm_backward(const RmsNormArgs& args, std::int64_t rows, std::int64_t begin, std::int64_t end);
void layer_norm_forward(const LayerNormArgs& args, std::int64_t begin, std::int64_t end);
void layer_norm_backward(const LayerNormArgs& args, std::int64_t rows, std::int64_t begin, std::int64_t end);
void rope(const RopeArgs& args, std::int64_t begin, std::int64_t end);
void swiglu_forward(const SwigluArgs& args, std::int64_t begin, std::int64_t end);
void swiglu_backward(const SwigluArgs& args, std::int64_t begin, std::int64_t end);
void cross_entropy(const CrossEntropyArgs& args, std::int64_t begin, std::int64_t end);
void adamw(const AdamWArgs& args, std::int64_t begin, std::int64_t end);
double squared_norm(Type type, const void* x, std::int64_t begin, std::int64_t end);
void convert(Type from, const void* x, Type to, void* y, bool add, std::int64_t begin, std::int64_t end);
void sum_groups(Type to, const void* x, void* y, std::int64_t group, std::int64_t dim, std::int64_t begin,
                std::int64_t end);
std::int64_t attention_packed_tokens(const AttentionArgs& args, std::int64_t length);
std::int64_t attention_packed_dim(const AttentionArgs& args);
void attention_pack(const AttentionArgs& args, const AttentionDocument& document, std::int64_t kv_head,
                    void* keys, void* values);
std::int64_t attention_forward_scratch_bytes(const AttentionArgs& args);
void attention_forward(const AttentionArgs& args, const AttentionDocument& document, std::int64_t head,
                       std::int64_t block, const void* keys, const void* values, void* scratch);
std::int64_t attention_backward_scratch_bytes(const AttentionArgs& args, std::int64_t longest);
void attention_backward(const AttentionArgs& args, const AttentionDocument& document, std::int64_t head,
                        void* scratch);

const Kernels& table();
Kernels with_bf16_pairs(Kernels k);

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
