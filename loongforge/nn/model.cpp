#include "loongforge/nn/model.h"

#include <ATen/core/grad_mode.h>

#include "loongforge/base/error.h"
#include "loongforge/nn/recompute.h"
#include "loongforge/ops/matmul.h"

namespace loongforge {

Model::Model(ModelParts parts) : parts_(std::move(parts)) {
  for (const ParamRef& param : parts_.params) by_name_[param->spec.name] = param.get();
}

Param* Model::find(const std::string& name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

Flow run_segment(const Segment& segment, const Context& context, Flow flow) {
  const bool again = context.recompute.mode == RecomputePolicy::Mode::kLayer && segment.is_layer() &&
                     at::GradMode::is_enabled() && context.cache == nullptr;
  return again ? recompute(segment, context, flow) : segment.forward(context, std::move(flow));
}

Flow Model::run(const Context& context, Flow flow) const {
  Context fresh = context;
  fresh.rope = std::make_shared<ops::RopeTables>();
  for (const auto& segment : parts_.segments) flow = run_segment(*segment, fresh, std::move(flow));
  return flow;
}

at::Tensor Model::hidden(const Context& context, const at::Tensor& input_ids) const {
  return run(context, {{"input_ids", input_ids}}).at("hidden");
}

at::Tensor Model::logits(const at::Tensor& hidden) const {
  const at::NoGradGuard no_grad;
  return ops::matmul_nt(hidden.detach(), parts_.head->value.detach(), wide_dtype(compute_dtype()));
}

void Model::check_filled() const {
  std::string missing;
  for (const ParamRef& param : parts_.params) {
    if (!param->filled) missing += (missing.empty() ? "" : ", ") + param->spec.name;
  }
  check(missing.empty(), "model: neither loaded nor initialised: ", missing);
}

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const ParamRef& param : parts_.params) count += param->spec.numel();
  return count;
}

std::int64_t Model::trainable_count() const {
  std::int64_t count = 0;
  for (const ParamRef& param : parts_.params) count += param->trainable ? param->spec.numel() : 0;
  return count;
}

double Model::flops_per_token(double length) const {
  double products = 0;
  for (const ParamRef& param : parts_.params) {
    const bool table = param == parts_.embedding || param == parts_.head;
    if (param->spec.shape.size() == 2 && !table) products += static_cast<double>(param->spec.numel());
  }
  const ModelInfo& i = parts_.info;
  // Causal: a token sees half of the document on average; scores and weighted sum.
  const double attention = static_cast<double>(i.layers * i.heads * i.head_dim) * length;
  return 2.0 * (products + attention);
}

double Model::head_flops_per_token() const {
  return 2.0 * static_cast<double>(parts_.head->spec.numel());
}

}  // namespace loongforge
