#include "loongforge/nn/gated_mlp.h"

#include "loongforge/ops/swiglu.h"

namespace loongforge {
namespace {

LinearOptions linear_options(bool bias, double init_std, LinearOptions::Split split) {
  LinearOptions options;
  options.bias = bias;
  options.init_std = init_std;
  options.split = split;
  return options;
}

}  // namespace

GatedMlp::GatedMlp(ParamBuilder& builder, const std::string& name, std::int64_t channels, std::int64_t hidden,
                   bool bias, double init_std)
    : gate(builder, name + ".gate", channels, hidden,
           linear_options(bias, init_std, LinearOptions::Split::kOutputs)),
      up(builder, name + ".up", channels, hidden,
         linear_options(bias, init_std, LinearOptions::Split::kOutputs)),
      down(builder, name + ".down", hidden, channels,
           linear_options(bias, init_std, LinearOptions::Split::kInputs)) {}

at::Tensor GatedMlp::forward(const Context& context, const at::Tensor& x) const {
  return down.forward(context, ops::swiglu(gate.forward(context, x), up.forward(context, x)));
}

}  // namespace loongforge
