// AdamW over the trained parameters of a model, with float32 master weights and moments.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "loongforge/nn/param.h"
#include "loongforge/optim/config.h"

namespace loongforge {

// A tensor of the training state under its globally unique name, e.g. "exp_avg/layers.0.attn.q.weight".
struct StateTensor {
  std::string name;
  at::Tensor tensor;
};

// Factor that brings a gradient of norm `norm` to at most `clip_norm`; 1 when clip_norm is 0 (off).
double clip_factor(double norm, double clip_norm);

// Decoupled weight decay (Loshchilov and Hutter 2019): per element, with the bias-corrected moments mhat,
// vhat,
//   master <- master - lr * (weight_decay * master + mhat / (sqrt(vhat) + eps)).
// Parameters of DecayGroup::kNoDecay (norms, biases) have no decay. The master is updated in float32 (or
// float64 where the compute precision is) and then rounded into the value that the model computes with.
class AdamW {
 public:
  // Takes the trained ones of `params`, in their order; moments start at zero.
  // Throws ConfigError when none is trained.
  AdamW(const OptimConfig& config, const std::vector<ParamRef>& params);

  // 2-norm over all gradients in float64, each parameter once, whatever the number of uses of a tied weight.
  double grad_norm() const;
  // One update at rate `lr`, times a parameter's own factor, of the gradients times `grad_scale`; a parameter
  // without a gradient has gradient 0.
  void step(double lr, double grad_scale);
  // Forgets all gradients and frees their memory.
  void clear_gradients();

  // Updates done so far (the t of the bias correction).
  std::int64_t updates() const { return updates_; }
  void set_updates(std::int64_t updates) { updates_ = updates; }
  // The live tensors "master/NAME", "exp_avg/NAME", "exp_avg_sq/NAME" of every trained parameter. Writing
  // into them restores a state; call `refresh_values` afterwards.
  std::vector<StateTensor> state() const;
  // Rounds every master into the value that the model computes with.
  void refresh_values();

  std::int64_t trained_elements() const;
  const std::vector<ParamRef>& params() const { return params_; }

 private:
  OptimConfig config_;
  std::vector<ParamRef> params_;
  std::vector<at::Tensor> exp_avg_, exp_avg_sq_;
  std::int64_t updates_ = 0;
};

}  // namespace loongforge
