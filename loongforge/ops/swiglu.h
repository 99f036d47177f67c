// Gated activation of Llama's MLP: silu(gate) * up = gate / (1 + exp(-gate)) * up (Shazeer 2020).
#pragma once

#include <ATen/core/Tensor.h>

namespace loongforge::ops {

// gate, up: same shape and dtype (float32, bfloat16, float64), the last dimension contiguous -> same shape.
// Computed in the wider of float32 and the dtype. Saves only its inputs. Differentiable in both.
at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up);

// The same from plain libtorch operators.
at::Tensor swiglu_reference(const at::Tensor& gate, const at::Tensor& up);

}  // namespace loongforge::ops
