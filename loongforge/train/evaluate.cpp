#include "loongforge/train/evaluate.h"

#include <ATen/core/grad_mode.h>

#include <cmath>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/base/process.h"
#include "loongforge/data/prefetch.h"
#include "loongforge/train/step.h"

namespace loongforge {
namespace {

struct Sums {
  std::vector<TermWeight> weights;
  std::vector<double> sums;
};

void add_batch(const Model& model, const Task& task, const Batch& batch, std::int64_t step, Sums& sums) {
  const std::vector<TermWeight> weights = task.weights(batch);
  if (sums.weights.empty()) {
    sums.weights = weights;
    for (TermWeight& term : sums.weights) term.weight = 0;
    sums.sums.assign(weights.size(), 0.0);
  }
  Context context = task.context(batch);
  const Flow flow = model.run(context, task.inputs(batch));
  const std::vector<LossTerm> terms = task.terms(model, context, flow, batch, {});
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double sum = terms[i].sum.item<double>();
    check<NumericError>(std::isfinite(sum), "held-out loss ", terms[i].name, " is not finite in micro-batch ",
                        step + 1, " of the held-out data: ", task.blame(flow, batch));
    sums.weights.at(i).weight += weights[i].weight;
    sums.sums.at(i) += sum;
  }
}

}  // namespace

EvalResult evaluate(const Model& model, const Task& task, const BatchSource& source, std::int64_t max_batches,
                    const std::function<void(std::int64_t, std::int64_t)>& on_progress) {
  const at::NoGradGuard no_grad;
  const double start = monotonic_seconds();
  check(source.steps().has_value(), "held-out data: expected a source that is read once");
  const std::int64_t steps = max_batches > 0 ? std::min(max_batches, *source.steps()) : *source.steps();
  Sums sums;
  Prefetcher prefetcher(source, 0, steps);
  for (std::int64_t step = 0; step < steps; ++step) {
    throw_if_interrupted();
    const StepBatches batches = prefetcher.next();
    for (const Batch& batch : batches.micro_batches) add_batch(model, task, batch, step, sums);
    if (on_progress) on_progress(step + 1, steps);
  }
  EvalResult result;
  for (std::size_t i = 0; i < sums.weights.size(); ++i) {
    const TermWeight& term = sums.weights[i];
    if (i == 0) result.weight = term.weight;
    if (term.weight > 0) result.loss += term.coefficient * sums.sums[i] / term.weight;
  }
  check<DataError>(result.weight > 0,
                   "held-out data: has no token that counts towards the loss; take other data.eval");
  result.seconds = monotonic_seconds() - start;
  return result;
}

}  // namespace loongforge
