// Self-attention among the patches of pictures: every patch sees all of its frame or window.
#pragma once

#include "loongforge/nn/linear.h"
#include "loongforge/ops/rope.h"

namespace loongforge {

struct VisionAttention {
  std::int64_t heads, head_dim;
  Linear qkv, o;

  // Declares `name`.qkv (rows: queries, keys, values, each (heads, head_dim)) and `name`.o, both with biases.
  VisionAttention(ParamBuilder& builder, const std::string& name, std::int64_t channels, std::int64_t heads,
                  double init_std);
  // x (P, C) → (P, C); cu_seqlens int32 (S+1) on the CPU cuts the patches, `rope` (P, D/2) turns queries and
  // keys; null: no positions.
  at::Tensor forward(const Context& context, const at::Tensor& x, const at::Tensor& cu_seqlens,
                     const ops::RopeTables* rope) const;
};

// The same with linears of their own for queries, keys and values, and without positions.
struct SplitVisionAttention {
  std::int64_t heads, head_dim;
  Linear q, k, v, o;

  // Declares `name`.q, `name`.k, `name`.v and `name`.o, all with biases.
  SplitVisionAttention(ParamBuilder& builder, const std::string& name, std::int64_t channels,
                       std::int64_t heads, double init_std);
  // x (P, C) → (P, C); cu_seqlens int32 (S+1) on the CPU cuts the patches.
  at::Tensor forward(const Context& context, const at::Tensor& x, const at::Tensor& cu_seqlens) const;
};

}  // namespace loongforge
