// One AdamW step in one pass over memory (Loshchilov and Hutter 2019).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace loongforge::ops {

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  // Decoupled: master -= lr * weight_decay * master.
  double weight_decay = 0.0;
  // Number of this step, from 1: corrects the bias of m and v.
  std::int64_t step = 1;
  // The gradient is multiplied by this first (clipping).
  double gradient_scale = 1.0;
};

// All of one shape, contiguous; master, grad, m, v float32, or all float64. `weight` (may be undefined)
// receives master in its own dtype, bfloat16 rounded to nearest even; an alias of master is allowed.
struct AdamWTensors {
  at::Tensor weight, master, grad, m, v;
};

// m = b1 m + (1-b1) g, v = b2 v + (1-b2) g^2, master -= lr (weight_decay master + m^ / (sqrt(v^) + eps)), in
// place. Throws InternalError when shapes or dtypes differ.
void adamw_step(const AdamWTensors& tensors, const AdamWOptions& options);

// The same from plain libtorch operators.
void adamw_step_reference(const AdamWTensors& tensors, const AdamWOptions& options);

}  // namespace loongforge::ops
