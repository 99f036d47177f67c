#include "loongforge/optim/optimizer.h"

#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "loongforge/base/error.h"
#include "loongforge/nn/grad_sink.h"
#include "loongforge/ops/adamw.h"
#include "loongforge/ops/squared_norm.h"

namespace loongforge {

double clip_factor(double norm, double clip_norm) {
  return clip_norm > 0 && norm > clip_norm ? clip_norm / norm : 1.0;
}

AdamW::AdamW(const OptimConfig& config, const std::vector<ParamRef>& params) : config_(config) {
  for (const ParamRef& param : params) {
    if (!param->trainable) continue;
    check(param->master.defined(), "parameter ", param->spec.name, ": is trained but has no master weight");
    params_.push_back(param);
    exp_avg_.push_back(at::zeros_like(param->master));
    exp_avg_sq_.push_back(at::zeros_like(param->master));
  }
  check<ConfigError>(!params_.empty(), "nothing to train: every parameter of the model is frozen");
}

double AdamW::grad_norm() const {
  std::vector<at::Tensor> grads;
  for (const ParamRef& param : params_) {
    if (param->has_grad) grads.push_back(param->grad);
  }
  return std::sqrt(ops::squared_norm(grads));
}

void AdamW::step(double lr, double grad_scale) {
  ops::AdamWOptions options{.lr = lr,
                            .beta1 = config_.beta1,
                            .beta2 = config_.beta2,
                            .eps = config_.eps,
                            .step = ++updates_,
                            .gradient_scale = grad_scale};
  for (std::size_t i = 0; i < params_.size(); ++i) {
    Param& param = *params_[i];
    // The moments of a parameter that no token reached still decay, as if its gradient were there and zero.
    const at::Tensor grad = param.has_grad ? param.grad : at::zeros_like(param.master);
    options.lr = lr * param.rate;
    options.weight_decay = param.spec.decay == DecayGroup::kDecay ? config_.weight_decay : 0.0;
    ops::adamw_step({param.value, param.master, grad, exp_avg_[i], exp_avg_sq_[i]}, options);
  }
}

void AdamW::clear_gradients() {
  clear_grads(params_, /*keep_memory=*/false);
}

std::vector<StateTensor> AdamW::state() const {
  std::vector<StateTensor> state;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const std::string& name = params_[i]->spec.name;
    state.push_back({"master/" + name, params_[i]->master.detach()});
    state.push_back({"exp_avg/" + name, exp_avg_[i]});
    state.push_back({"exp_avg_sq/" + name, exp_avg_sq_[i]});
  }
  return state;
}

void AdamW::refresh_values() {
  for (const ParamRef& param : params_) assign(*param, param->master.detach());
}

std::int64_t AdamW::trained_elements() const {
  std::int64_t elements = 0;
  for (const ParamRef& param : params_) elements += param->spec.numel();
  return elements;
}

}  // namespace loongforge
