// Matrix products with float32 (or float64) accumulation for operands of any mix of float32 and bfloat16.
#pragma once

#include <ATen/core/Tensor.h>

namespace loongforge::ops {

// Operands: 2-D, float32 or bfloat16 (mixed as you like) or both float64; the last dimension contiguous. The
// result has `dtype` (float32, bfloat16, float64). Not differentiable. bfloat16 operands are widened while
// they are packed, so no float32 copy of them exists; on a CPU with bf16 units these are used.
// a: (M, K), b: (N, K) -> a b^T: (M, N).
at::Tensor matmul_nt(const at::Tensor& a, const at::Tensor& b, at::ScalarType dtype);
// a: (M, K), b: (K, N) -> a b: (M, N).
at::Tensor matmul_nn(const at::Tensor& a, const at::Tensor& b, at::ScalarType dtype);
// a: (K, M), b: (K, N) -> a^T b: (M, N).
at::Tensor matmul_tn(const at::Tensor& a, const at::Tensor& b, at::ScalarType dtype);

// The same into `out` (contiguous in its last dimension), added to what it holds when `accumulate`.
void matmul_nt_out(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, bool accumulate);
void matmul_nn_out(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, bool accumulate);
void matmul_tn_out(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, bool accumulate);

// True where products of two bfloat16 factors run on bf16 units: then factors should be bfloat16 where they
// may.
bool has_bf16_units();

}  // namespace loongforge::ops
