#include "loongforge/nn/layer_norm.h"

#include "loongforge/ops/layer_norm.h"

namespace loongforge {
namespace {

ParamSpec norm_spec(const std::string& name, std::int64_t channels, Init::Kind init) {
  ParamSpec spec;
  spec.name = name;
  spec.shape = {channels};
  spec.init = {init, 0.0};
  spec.decay = DecayGroup::kNoDecay;
  return spec;
}

}  // namespace

LayerNorm::LayerNorm(ParamBuilder& builder, const std::string& name, std::int64_t channels, double eps)
    : weight(builder.add(norm_spec(name + ".weight", channels, Init::Kind::kOnes))),
      bias(builder.add(norm_spec(name + ".bias", channels, Init::Kind::kZeros))),
      eps(eps) {}

at::Tensor LayerNorm::forward(const Context& context, const at::Tensor& x) const {
  return ops::layer_norm(x, weight_of(context, weight), weight_of(context, bias), eps,
                         gradient_of(context, weight), gradient_of(context, bias));
}

}  // namespace loongforge
