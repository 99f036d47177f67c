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

// q, k, v (P, H, D) → (P, C): each patch sees all of its picture.
at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const at::Tensor& cu_seqlens) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(2)));
  return ops::attention(q, k, v, cu_seqlens, scale, ops::AttentionMask::kDocument)
      .reshape({q.size(0), q.size(1) * q.size(2)});
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
  return o.forward(context, attend(q, k, joint.narrow(1, 2 * heads, heads), cu_seqlens));
}

SplitVisionAttention::SplitVisionAttention(ParamBuilder& builder, const std::string& name,
                                           std::int64_t channels, std::int64_t heads, double init_std)
    : heads(heads),
      head_dim(channels / heads),
      q(builder, name + ".q", channels, channels,
        linear_options(init_std, LinearOptions::Split::kOutputs, channels / heads)),
      k(builder, name + ".k", channels, channels,
        linear_options(init_std, LinearOptions::Split::kOutputs, channels / heads)),
      v(builder, name + ".v", channels, channels,
        linear_options(init_std, LinearOptions::Split::kOutputs, channels / heads)),
      o(builder, name + ".o", channels, channels,
        linear_options(init_std, LinearOptions::Split::kInputs, channels / heads)) {}

at::Tensor SplitVisionAttention::forward(const Context& context, const at::Tensor& x,
                                         const at::Tensor& cu_seqlens) const {
  const auto of_heads = [&](const Linear& linear) {
    return linear.forward(context, x).view({x.size(0), heads, head_dim});
  };
  return o.forward(context, attend(of_heads(q), of_heads(k), of_heads(v), cu_seqlens));
}

}  // namespace loongforge
