// Next-token prediction: the loss of every label that the data counts.
#pragma once

#include "loongforge/train/task.h"

namespace loongforge {

// One term "cross_entropy": the sum over counted tokens of loss_weights · (-log p(label)), in nats; its
// weight is the sum of the counted tokens' loss_weights, i.e. their number where the data has none.
class LanguageTask : public Task {
 public:
  Context context(const Batch& batch) const override;
  Flow inputs(const Batch& batch) const override;
  std::vector<TermWeight> weights(const Batch& batch) const override;
  std::vector<LossTerm> terms(const Model& model, const Context& context, const Flow& flow,
                              const Batch& batch, const std::vector<double>& gradients) const override;
  std::string blame(const Flow& flow, const Batch& batch) const override;
};

}  // namespace loongforge
