// The operators that have no CUDA kernel of ours, from plain libtorch operators, in blocks of bounded memory.
//
// CUDA tensors go this way (products through cuBLAS); any device can, and so the CPU tests execute all of it
// but the one product that only CUDA has. Correct rather than fast: attention computes in float32, without
// tensor cores. Nothing here makes a graph for autograd.
#pragma once

#include <ATen/core/Tensor.h>

namespace loongforge::ops::plain {

// out (M, N) = a (M, K) b (K, N), added to what it holds when `accumulate`. Factors of any strides: float32
// or bfloat16, mixed as you like, into either; or all float64. Sums in float32 or wider, rounded once.
void product(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, bool accumulate);

// ops/attention.h's forward: `row_stats` is what backward needs of each row's softmax, here the logarithm of
// its sum of powers (H, N); the CPU kernels keep something else in it.
struct AttentionOutput {
  at::Tensor out, row_stats;
};
AttentionOutput attention_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                  const at::Tensor& cu_seqlens, double scale, bool causal);

struct AttentionGradients {
  at::Tensor dq, dk, dv;
};
AttentionGradients attention_backward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                      const AttentionOutput& forward, const at::Tensor& dout,
                                      const at::Tensor& cu_seqlens, double scale, bool causal);

// ops/layer_norm.h's forward, with what backward needs of each row: (N), float32 or wider.
struct LayerNormOutput {
  at::Tensor y, mean, rstd;
};
LayerNormOutput layer_norm_forward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                                   double eps);

// Which gradients are wanted; the others stay undefined.
struct Wanted {
  bool x = true, weight = true, bias = true;
};
// dweight, dbias: (1, C), float32 or wider.
struct LayerNormGradients {
  at::Tensor dx, dweight, dbias;
};
LayerNormGradients layer_norm_backward(const at::Tensor& x, const at::Tensor& weight,
                                       const LayerNormOutput& forward, const at::Tensor& dy,
                                       const Wanted& wanted = {});

// Rows of a softmax with cross-entropy, all tensors on one device.
struct CrossEntropy {
  at::Tensor targets;        // (R) int64, all within the vocabulary
  at::Tensor token_weights;  // (R) in the dtype of the logits; undefined: 1
  at::Tensor losses;         // (R), written; undefined: not wanted
  double gradient = 1;       // of the sum
  bool make_gradient = false;
};

// Losses of logits (R, V), float32 or float64; with make_gradient the logits become their gradient, in place.
void cross_entropy(const at::Tensor& logits, const CrossEntropy& rows);

}  // namespace loongforge::ops::plain
