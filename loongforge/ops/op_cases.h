// The table of all operators: what the test compares with its reference and the benchmark measures.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace loongforge::ops {

using Tensors = std::vector<at::Tensor>;

// One operator on inputs of one shape.
struct OpCase {
  std::string name;  // "rms_norm/33x576"
  // Inputs, floating ones in float64 (the runner casts them); the same at every call.
  std::function<Tensors()> inputs;
  // Outputs from inputs.
  std::function<Tensors(const Tensors&)> run;
  std::function<Tensors(const Tensors&)> reference;
  // The first this many inputs are differentiated.
  int differentiable = 0;
  // Inputs from this one on are states that stay in the wider of float32 and the dtype.
  int wide_from = 1000;
  // Both calls change their inputs.
  bool in_place = false;
  // Work of forward; of backward where the operator has one.
  double flops = 0, backward_flops = 0;
  double bytes = 0, backward_bytes = 0;  // with 2-byte numbers
};

// Odd, empty, single and larger shapes; milliseconds each.
std::vector<OpCase> small_op_cases();

// Shapes of one SmolLM2-135M step of 4 x 1,024 tokens.
std::vector<OpCase> large_op_cases();

}  // namespace loongforge::ops
