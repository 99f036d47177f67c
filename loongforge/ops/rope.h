// Rotary position embedding, half-split form ("rotate_half" of Hugging Face; Su et al. 2021).
#pragma once

#include <ATen/core/Tensor.h>

namespace loongforge::ops {

// Cosines and sines of position * frequency, each (N, D/2).
struct RopeTables {
  at::Tensor cos, sin;
};

// position_ids: (N) int64, inv_freq: (D/2) float32 or float64 (the angle is computed in its dtype). `dtype`
// is the dtype of the x to be turned; the tables come in the wider of it and float32. Positions may have
// several axes, (A, N), e.g. time, height and width: frequency i then turns by the position on axes[i],
// axes: (D/2) int64.
RopeTables rope_tables(const at::Tensor& position_ids, const at::Tensor& inv_freq, at::ScalarType dtype,
                       const at::Tensor& axes = {});

// x: (N, H, D), D even, rows (H, D) contiguous (the stride of N is free); cos, sin: (N, D/2) in the wider of
// x's dtype and float32 -> (N, H, D) contiguous: y1 = x1 cos - x2 sin, y2 = x2 cos + x1 sin. Differentiable
// in x.
at::Tensor rope(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

// The same from plain libtorch operators.
at::Tensor rope_reference(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

}  // namespace loongforge::ops
