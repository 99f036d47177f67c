#include "loongforge/train/step.h"

#include <ATen/ops/full.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"

namespace loongforge {
namespace {

// Sums of the terms over the micro-batches of a step, and what divides them.
struct Totals {
  std::vector<TermWeight> weights;
  std::vector<double> sums;

  double gradient(std::size_t term) const {
    return weights[term].weight > 0 ? weights[term].coefficient / weights[term].weight : 0.0;
  }
};

Totals total_weights(const Task& task, const std::vector<Batch>& batches) {
  Totals totals;
  for (const Batch& batch : batches) {
    const std::vector<TermWeight> parts = task.weights(batch);
    if (totals.weights.empty()) {
      totals.weights = parts;
      continue;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) totals.weights.at(i).weight += parts[i].weight;
  }
  totals.sums.assign(totals.weights.size(), 0.0);
  return totals;
}

std::vector<double> gradients_of(const Totals& totals) {
  std::vector<double> gradients;
  for (std::size_t i = 0; i < totals.weights.size(); ++i) gradients.push_back(totals.gradient(i));
  return gradients;
}

// Adds the terms' sums; returns the name of a term that is not finite, or nothing.
std::string add_sums(const std::vector<LossTerm>& terms, Totals& totals) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double sum = terms[i].sum.item<double>();
    if (!std::isfinite(sum)) return terms[i].name;
    totals.sums.at(i) += sum;
  }
  return "";
}

void backward(const std::vector<LossTerm>& terms, const std::vector<double>& gradients) {
  std::vector<at::Tensor> roots, root_gradients;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!terms[i].sum.requires_grad()) continue;
    roots.push_back(terms[i].sum);
    root_gradients.push_back(at::full({}, gradients[i], terms[i].sum.options().requires_grad(false)));
  }
  if (!roots.empty()) torch::autograd::backward(roots, root_gradients);
}

std::string place_of(const StepBatches& batches, std::size_t index, const StepOptions& options,
                     const std::string& blame) {
  const auto first = static_cast<std::int64_t>(index) * options.rows_per_micro_batch;
  std::string place =
      concat("step ", batches.step + 1, ", micro-batch ", index + 1, " of ", batches.micro_batches.size(),
             " (rows ", first + 1, " to ", first + batches.micro_batches[index].counts.rows, " of the step)");
  if (!blame.empty()) place += ", " + blame;
  return place;
}

// Forward and backward of one micro-batch; returns what was not finite and where, empty when all was well.
std::string accumulate(const Model& model, const Task& task, const StepBatches& batches, std::size_t index,
                       const StepOptions& options, GradSink& sink, Totals& totals) {
  const Batch& batch = batches.micro_batches[index];
  Context context = task.context(batch);
  context.grads = &sink;
  context.training = true;
  context.recompute = options.recompute;
  context.random = {.seed = options.seed,
                    .step = static_cast<std::uint64_t>(batches.step),
                    .token_offset = index * static_cast<std::uint64_t>(options.tokens_per_micro_batch)};
  const std::vector<double> gradients = gradients_of(totals);
  Flow flow = model.run(context, task.inputs(batch));
  const std::vector<LossTerm> terms = task.terms(model, context, flow, batch, gradients);
  const std::string bad = add_sums(terms, totals);
  if (!bad.empty()) {
    return concat("loss ", bad, " is not finite in ",
                  place_of(batches, index, options, task.blame(flow, batch)));
  }
  // Held only by the graph from here on, which frees each part as backward passes it.
  flow.clear();
  backward(terms, gradients);
  return "";
}

void finish_losses(const Totals& totals, StepResult& result) {
  for (std::size_t i = 0; i < totals.weights.size(); ++i) {
    const TermWeight& term = totals.weights[i];
    result.terms.emplace_back(term.name, term.weight > 0 ? totals.sums[i] / term.weight : 0.0);
    result.loss += totals.sums[i] * totals.gradient(i);
  }
}

}  // namespace

StepResult train_step(const Model& model, const Task& task, AdamW& optimizer, StepBatches batches,
                      const StepOptions& options) {
  StepResult result;
  Totals totals = total_weights(task, batches.micro_batches);
  result.weight = totals.weights.empty() ? 0 : totals.weights.front().weight;
  if (result.weight <= 0) {
    result.kind = StepResult::Kind::kNoTargets;
    return result;
  }
  AccumulateGrads sink;
  for (std::size_t i = 0; i < batches.micro_batches.size(); ++i) {
    if (interrupt_requested()) result.kind = StepResult::Kind::kInterrupted;
    if (result.kind != StepResult::Kind::kUpdated) break;
    result.reason = accumulate(model, task, batches, i, options, sink, totals);
    if (!result.reason.empty()) result.kind = StepResult::Kind::kNotFinite;
    batches.micro_batches[i].tensors.clear();
  }
  if (result.kind == StepResult::Kind::kUpdated) {
    finish_losses(totals, result);
    result.grad_norm = optimizer.grad_norm();
    if (std::isfinite(result.grad_norm)) {
      optimizer.step(options.lr, clip_factor(result.grad_norm, options.clip_norm));
    } else {
      result.kind = StepResult::Kind::kNotFinite;
      result.reason =
          concat("the gradient is not finite in step ", batches.step + 1, " (loss ", result.loss, ")");
    }
  }
  optimizer.clear_gradients();
  return result;
}

}  // namespace loongforge
