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

Mlp::Mlp(ParamBuilder& builder, const std::string& name, std::int64_t in, std::int64_t hidden,
         std::int64_t out, double init_std)
    : up(builder, name + "up", in, hidden, linear_options(init_std, LinearOptions::Split::kOutputs)),
      down(builder, name + "down", hidden, out, linear_options(init_std, LinearOptions::Split::kInputs)) {}

at::Tensor Mlp::forward(const Context& context, const at::Tensor& x) const {
  return down.forward(context, at::gelu(up.forward(context, x)));
}

}  // namespace loongforge
