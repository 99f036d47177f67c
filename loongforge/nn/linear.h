// Linear layer with optional bias and optional low-rank adapter.
#pragma once

#include <optional>

#include "loongforge/nn/context.h"

namespace loongforge {

// Low-rank adapter of one linear: scaling·B·(A·dropout(x)).
struct LoraAdapter {
  ParamRef a;  // (rank, in): kaiming-uniform, as PEFT
  ParamRef b;  // (out, rank): zeros
  double scaling;
  double dropout;

  // y (N, out) + the adapter's output of x (N, in).
  at::Tensor add_to(const Context& context, const at::Tensor& y, const at::Tensor& x) const;
};

// How a linear is declared.
struct LinearOptions {
  bool bias = false;
  // Standard deviation of the initial weights; biases start at zero.
  double init_std = 0.02;
  // Where tensor parallelism splits: the rows (outputs), the columns (inputs) or nothing.
  enum class Split { kNone, kOutputs, kInputs };
  Split split = Split::kNone;
  // Rows or columns that stay together, e.g. the dimension of a head.
  std::int64_t unit = 1;
  // As ParamSpec::file_shape, of the weight.
  std::vector<std::int64_t> file_shape;
};

struct Linear {
  ParamRef weight;  // (out, in)
  ParamRef bias;    // (out) or null
  std::optional<LoraAdapter> lora;

  // Declares `name`.weight, `name`.bias, and where the plan asks for it `name`.lora_a and `name`.lora_b.
  Linear(ParamBuilder& builder, const std::string& name, std::int64_t in, std::int64_t out,
         const LinearOptions& options);
  // x (N, in) → (N, out).
  at::Tensor forward(const Context& context, const at::Tensor& x) const;
};

}  // namespace loongforge
