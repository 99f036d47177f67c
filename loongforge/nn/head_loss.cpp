#include "loongforge/nn/head_loss.h"

#include "loongforge/ops/linear.h"
#include "loongforge/ops/linear_cross_entropy.h"

namespace loongforge {

at::Tensor head_cross_entropy(const Context& context, const ParamRef& head, const at::Tensor& hidden,
                              const at::Tensor& targets, const HeadLossOptions& options) {
  ops::LinearCrossEntropyOptions op;
  if (options.token_weights.defined()) op.token_weights = options.token_weights;
  op.weight_gradient = gradient_of(context, head);
  op.known_gradient = options.known_gradient;
  return ops::linear_cross_entropy(hidden, weight_of(context, head), targets, op);
}

at::Tensor head_logits(const Context& context, const ParamRef& head, const at::Tensor& hidden) {
  return ops::linear(hidden, weight_of(context, head), gradient_of(context, head));
}

}  // namespace loongforge
