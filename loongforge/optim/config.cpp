#include "loongforge/optim/config.h"

#include "loongforge/base/config/fields.h"

namespace loongforge {

void OptimConfig::fields(Fields& f) {
  f.field("optim.name", name, "Optimizer.").one_of({"adamw"});
  f.field("optim.lr", lr, "Peak learning rate.").at_least(0);
  f.field("optim.schedule", schedule, "Course of the learning rate after the warm-up.")
      .one_of({"constant", "linear", "cosine", "wsd"});
  f.field("optim.warmup_steps", warmup_steps, "Steps in which the rate rises linearly to its peak.")
      .at_least(0)
      .unit("steps");
  f.field("optim.min_lr_ratio", min_lr_ratio,
          "Share of the peak rate that linear, cosine and wsd go down to.")
      .at_least(0)
      .at_most(1);
  f.field("optim.decay_steps", decay_steps, "Last steps in which wsd decays (needed by wsd only).")
      .at_least(0)
      .unit("steps");
  f.field("optim.beta1", beta1, "Decay of the first moment.").at_least(0).below(1);
  f.field("optim.beta2", beta2, "Decay of the second moment.").at_least(0).below(1);
  f.field("optim.eps", eps, "Added to the root of the second moment.").above(0);
  f.field("optim.weight_decay", weight_decay,
          "Decoupled weight decay of matrices; norms and biases have none.")
      .at_least(0);
  f.field("optim.clip_norm", clip_norm, "Largest 2-norm of the whole gradient; 0: no clipping.").at_least(0);
}

void OptimConfig::violations(std::int64_t total_steps, std::vector<std::string>& out) const {
  if (warmup_steps > total_steps) {
    out.push_back(concat("optim.warmup_steps: expected at most train.steps (", total_steps, "), got ",
                         warmup_steps, "; lower it"));
  }
  if (schedule == "wsd" && (decay_steps < 1 || decay_steps > total_steps - warmup_steps)) {
    out.push_back(concat("optim.decay_steps: expected 1 to ", total_steps - warmup_steps,
                         " (train.steps - optim.warmup_steps) for schedule wsd, got ", decay_steps));
  }
  if (schedule != "wsd" && decay_steps != 0) {
    out.push_back(concat("optim.decay_steps: has no effect with optim.schedule: ", schedule,
                         "; leave it out or take wsd"));
  }
}

}  // namespace loongforge
