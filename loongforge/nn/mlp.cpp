#include "loongforge/nn/mlp.h"

#include <ATen/ops/gelu.h>

namespace loongforge {
namespace {

LinearOptions linear_options(double init_std, LinearOptions::Split split) {
  LinearOptions options;
  options.bias = true;
  options.init_std = init_std;
  options.split = split;
  return options;
}

}  // namespace

Mlp::Mlp(ParamBuilder& builder, const std::string& name, const MlpOptions& options)
    : up(builder, name + "up", options.in, options.hidden,
         linear_options(options.init_std, LinearOptions::Split::kOutputs)),
      down(builder, name + "down", options.hidden, options.out,
           linear_options(options.init_std, LinearOptions::Split::kInputs)),
      gelu(options.gelu) {}

at::Tensor Mlp::forward(const Context& context, const at::Tensor& x) const {
  return down.forward(context, at::gelu(up.forward(context, x), gelu == Gelu::kTanh ? "tanh" : "none"));
}

}  // namespace loongforge
