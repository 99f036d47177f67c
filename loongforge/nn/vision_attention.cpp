#include "loongforge/nn/vision_attention.h"

#include <cmath>

#include "loongforge/ops/attention.h"

namespace loongforge {
namespace {

LinearOptions linear_options(double init_std, LinearOptions::Split split, std::int64_t unit) {
  LinearOptions options;
  options.bias = true;
  options.init_std = init_std;
  options.split = split;
  options.unit = unit;
  return options;
}

}  // namespace

VisionAttention::VisionAttention(ParamBuilder& builder, const std::string& name, std::int64_t channels,
                                 std::int64_t heads, double init_std)
    : heads(heads),
      head_dim(channels / heads),
      qkv(builder, name + ".qkv", channels, 3 * channels,
          linear_options(init_std, LinearOptions::Split::kOutputs, channels / heads)),
      o(builder, name + ".o", channels, channels,
        linear_options(init_std, LinearOptions::Split::kInputs, channels / heads)) {}

at::Tensor VisionAttention::forward(const Context& context, const at::Tensor& x, const at::Tensor& cu_seqlens,
                                    const ops::RopeTables* rope) const {
  const std::int64_t n = x.size(0);
  const at::Tensor joint = qkv.forward(context, x).view({n, 3 * heads, head_dim});
  at::Tensor q = joint.narrow(1, 0, heads), k = joint.narrow(1, heads, heads);
  if (rope != nullptr) {
    q = ops::rope(q, rope->cos, rope->sin);
    k = ops::rope(k, rope->cos, rope->sin);
  }
  const at::Tensor mixed =
      ops::attention(q, k, joint.narrow(1, 2 * heads, heads), cu_seqlens,
                     1.0 / std::sqrt(static_cast<double>(head_dim)), ops::AttentionMask::kDocument);
  return o.forward(context, mixed.reshape({n, heads * head_dim}));
}

}  // namespace loongforge
