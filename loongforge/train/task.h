// What is trained: how a batch feeds the model and what its loss is.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "loongforge/data/batch.h"
#include "loongforge/nn/context.h"
#include "loongforge/nn/model.h"

namespace loongforge {

// One part of the loss of a micro-batch, as a sum. The loss of a step is the sum over the terms of
// coefficient * (sum over all micro-batches) / (weight over all micro-batches), see TermWeight.
struct LossTerm {
  std::string name;
  at::Tensor sum;  // scalar in the wider of float32 and compute dtype, differentiable
};

// The weight of one term, known before anything is computed.
struct TermWeight {
  std::string name;
  double weight = 0;
  double coefficient = 1;
};

class Task {
 public:
  virtual ~Task() = default;

  // Packing, positions and random keys of the batch; gradients, recompute and training are the caller's.
  virtual Context context(const Batch& batch) const = 0;
  // What the first segment reads.
  virtual Flow inputs(const Batch& batch) const = 0;
  // Names and weights of the terms of `batch`, in the order of `terms`.
  virtual std::vector<TermWeight> weights(const Batch& batch) const = 0;
  // The terms, from what the last segment gave. `gradients`: for each term the gradient that backward will
  // bring to its sum, where it is known; empty in evaluation.
  virtual std::vector<LossTerm> terms(const Model& model, const Context& context, const Flow& flow,
                                      const Batch& batch, const std::vector<double>& gradients) const = 0;
  // Where in the batch numbers stopped being finite, for people ("document 3 of the micro-batch, tokens 96 to
  // 130"); empty when that cannot be told. `flow` is what the last segment gave.
  virtual std::string blame(const Flow& flow, const Batch& batch) const = 0;
};

// Next-token prediction on packed rows: `pretrain` (every token of a document) and `sft` (only the labels
// that the data floor left, i.e. the assistant's words) share it. Throws ConfigError for an unknown name.
std::unique_ptr<Task> make_task(const std::string& name);
std::vector<std::string> task_names();

}  // namespace loongforge
