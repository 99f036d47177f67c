#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>

#include "loongforge/ops/plain/blocks.h"

namespace loongforge::ops::plain {

void cross_entropy(const at::Tensor& logits, const CrossEntropy& rows) {
  const at::NoGradGuard no_grad;
  const at::Tensor target = rows.targets.unsqueeze(1), lse = logits.logsumexp(1, true);
  if (rows.losses.defined()) {
    const at::Tensor losses = lse.sub(logits.gather(1, target)).squeeze(1);
    rows.losses.copy_(rows.token_weights.defined() ? losses.mul_(rows.token_weights) : losses);
  }
  if (!rows.make_gradient) return;
  logits.sub_(lse).exp_();
  // One target a row: no two additions meet, so their order cannot matter.
  logits.scatter_add_(1, target, at::full(target.sizes(), -1, logits.options()));
  logits.mul_(rows.gradient);
  if (rows.token_weights.defined()) logits.mul_(rows.token_weights.unsqueeze(1));
}

}  // namespace loongforge::ops::plain
