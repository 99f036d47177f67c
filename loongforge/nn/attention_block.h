// Causal self-attention with grouped keys and values and rotary positions.
#pragma once

#include "loongforge/nn/linear.h"
#include "loongforge/nn/rope_frequencies.h"

namespace loongforge {

// Sizes and habits of a self-attention.
struct AttentionOptions {
  std::int64_t channels = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  bool qkv_bias = false;
  bool out_bias = false;
  double init_std = 0.02;
  RopeOptions rope;
};

struct SelfAttention {
  AttentionOptions options;
  std::int64_t layer;
  Linear q, k, v, o;
  // (D/2), and the axis of positions that each frequency turns by, where there are several.
  at::Tensor inv_freq, axes;

  // Declares `name`.{q,k,v,o}. `layer` is the index that an AttentionCache gets.
  SelfAttention(ParamBuilder& builder, const std::string& name, std::int64_t layer,
                const AttentionOptions& options);
  // x (N, C) → (N, C); no token sees another document.
  at::Tensor forward(const Context& context, const at::Tensor& x) const;
};

}  // namespace loongforge
