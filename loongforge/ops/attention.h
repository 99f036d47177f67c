// Grouped-query attention inside the documents of a packed row of tokens, in blocks that never hold a
// whole score matrix (Dao 2023).
#pragma once

#include <ATen/core/Tensor.h>

namespace loongforge::ops {

// Which tokens of its own document token i sees: those up to itself, or all.
enum class AttentionMask { kCausal, kDocument };

// q: (N, H, D), k and v: (N, Hkv, D), same dtype (float32, bfloat16, float64), H a multiple of Hkv, rows
// (H, D) contiguous (the stride of N is free); cu_seqlens: (S+1) int32 on the CPU, from 0 to N, never
// falling, cuts the tokens into documents. softmax(scale * q k^T) v -> (N, H, D)
// contiguous. Scores, softmax and sums in the wider of float32 and the dtype. Differentiable in q, k, v;
// saves them, the output and one number a token and head. Throws DataError when cu_seqlens does not fit.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& cu_seqlens, double scale, AttentionMask mask = AttentionMask::kCausal);

// The same from plain libtorch operators, document by document.
at::Tensor attention_reference(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& cu_seqlens, double scale,
                               AttentionMask mask = AttentionMask::kCausal);

}  // namespace loongforge::ops
