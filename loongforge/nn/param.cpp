#include "loongforge/nn/param.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

constexpr const char* kAllLinear = "all-linear";

bool ends_in_module(const std::string& module, const std::string& target) {
  return module == target || module.ends_with("." + target);
}

}  // namespace

std::int64_t ParamSpec::numel() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

void check_spec(const ParamSpec& spec) {
  check(spec.sections.empty() || spec.sections.size() == spec.shape.size(), spec.name, ": ",
        spec.sections.size(), " lists of sections for ", spec.shape.size(), " dimensions");
  for (std::size_t d = 0; d < spec.sections.size(); ++d) {
    if (spec.sections[d].empty()) continue;
    std::int64_t sum = 0;
    for (const Section& section : spec.sections[d]) {
      check(section.unit > 0 && section.size % section.unit == 0, spec.name, ": section of ", section.size,
            " is no multiple of its unit ", section.unit);
      sum += section.size;
    }
    check(sum == spec.shape[d], spec.name, ": sections of dimension ", d, " add up to ", sum, ", expected ",
          spec.shape[d]);
  }
}

at::ScalarType wide_dtype(at::ScalarType compute) {
  return compute == at::kDouble ? at::kDouble : at::kFloat;
}

void assign(Param& param, const at::Tensor& source) {
  const at::NoGradGuard no_grad;
  check(source.sizes() == param.value.sizes(), param.spec.name, ": values of shape ", source.sizes(),
        ", expected ", param.value.sizes());
  if (param.master.defined()) param.master.copy_(source);
  const bool alias = param.master.defined() && param.master.is_alias_of(param.value);
  if (!alias) param.value.detach().copy_(source);
  param.filled = true;
}

const at::Tensor& best_value(const Param& param) {
  return param.master.defined() ? param.master : param.value;
}

ParamBuilder::ParamBuilder(ParamPlan plan, const NameMap& names) : plan_(std::move(plan)), names_(names) {
  if (plan_.compute == at::kDouble) plan_.master = at::kDouble;
  check<ConfigError>(plan_.master == plan_.compute || plan_.master == wide_dtype(plan_.compute),
                     "precision.master: expected float32 or the compute dtype ", plan_.compute, ", got ",
                     plan_.master);
}

const ComponentPlan* ParamPlan::component_of(const std::string& name) const {
  for (const ComponentPlan& component : components)
    if (name.starts_with(component.prefix)) return &component;
  return nullptr;
}

const LoraOptions* ParamPlan::lora_of(const std::string& name) const {
  const ComponentPlan* component = component_of(name);
  if (component != nullptr && component->lora) return &*component->lora;
  return lora ? &*lora : nullptr;
}

bool ParamBuilder::is_trainable(const ParamSpec& spec) const {
  if (!plan_.train) return false;
  const ComponentPlan* component = plan_.component_of(spec.name);
  if (component != nullptr && component->frozen) return false;
  return plan_.lora_of(spec.name) == nullptr || spec.adapter;
}

at::ScalarType ParamBuilder::compute() const {
  const ComponentPlan* component = plan_.component_of(prefix_);
  return component != nullptr && component->compute ? *component->compute : plan_.compute;
}

ParamRef ParamBuilder::add(ParamSpec spec) {
  spec.name = prefix_ + spec.name;
  check_spec(spec);
  for (const ParamRef& other : params_) {
    check(other->spec.name != spec.name, "parameter '", spec.name, "' is declared twice");
  }
  auto param = std::make_shared<Param>();
  param->trainable = is_trainable(spec);
  if (const ComponentPlan* component = plan_.component_of(spec.name)) param->rate = component->rate;
  const at::ScalarType dtype = compute();
  param->value = at::empty(spec.shape, at::TensorOptions().dtype(dtype));
  if (param->trainable) {
    // The master shares the value's memory where it can: the optimizer then writes both at once.
    const at::ScalarType master = dtype == at::kDouble ? at::kDouble : plan_.master;
    param->master =
        master == dtype ? param->value.detach() : at::empty(spec.shape, at::TensorOptions().dtype(master));
    param->value.requires_grad_(true);
  }
  param->spec = std::move(spec);
  params_.push_back(param);
  return param;
}

const LoraOptions* ParamBuilder::lora_target(const std::string& name) {
  const LoraOptions* lora = plan_.lora_of(prefix_ + name);
  if (lora == nullptr) return nullptr;
  const std::string module = names_.module_to_file(prefix_ + name);
  bool met = false;
  for (const std::string& target : lora->targets) {
    if (target != kAllLinear && !ends_in_module(module, target)) continue;
    met = true;
    met_targets_.push_back(target);
  }
  return met ? lora : nullptr;
}

bool ParamBuilder::any_trainable(std::size_t first) const {
  return std::any_of(params_.begin() + static_cast<std::ptrdiff_t>(first), params_.end(),
                     [](const ParamRef& param) { return param->trainable; });
}

void ParamBuilder::check_targets_met() const {
  if (plan_.lora) check_targets_met("lora.", *plan_.lora);
  for (const ComponentPlan& component : plan_.components)
    if (component.lora) check_targets_met(component.prefix + "lora_", *component.lora);
}

void ParamBuilder::check_targets_met(const std::string& key, const LoraOptions& lora) const {
  const auto met = [&](const std::string& target) {
    return std::find(met_targets_.begin(), met_targets_.end(), target) != met_targets_.end();
  };
  std::string missing;
  for (const std::string& target : lora.targets) {
    if (!met(target)) missing += (missing.empty() ? "'" : ", '") + target + "'";
  }
  check<ConfigError>(missing.empty() && !lora.targets.empty(), key,
                     "targets: no linear of the model's blocks "
                     "is called ",
                     missing.empty() ? "(empty list)" : missing,
                     "; name them as Hugging Face does (e.g. q_proj), or use all-linear");
}

}  // namespace loongforge
