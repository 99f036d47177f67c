#include "loongforge/nn/rms_norm.h"

#include "loongforge/ops/rms_norm.h"

namespace loongforge {
namespace {

ParamSpec norm_spec(const std::string& name, std::int64_t channels) {
  ParamSpec spec;
  spec.name = name + ".weight";
  spec.shape = {channels};
  spec.init = {Init::Kind::kOnes, 0.0};
  spec.decay = DecayGroup::kNoDecay;
  return spec;
}

}  // namespace

RmsNorm::RmsNorm(ParamBuilder& builder, const std::string& name, std::int64_t channels, double eps)
    : weight(builder.add(norm_spec(name, channels))), eps(eps) {}

at::Tensor RmsNorm::forward(const Context& context, const at::Tensor& x) const {
  return ops::rms_norm(x, weight_of(context, weight), eps, gradient_of(context, weight));
}

}  // namespace loongforge
