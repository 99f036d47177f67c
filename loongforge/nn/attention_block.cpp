#include "loongforge/nn/attention_block.h"

#include <cmath>

#include "loongforge/base/error.h"
#include "loongforge/ops/attention.h"
#include "loongforge/ops/rope.h"

namespace loongforge {
namespace {

LinearOptions linear_options(const AttentionOptions& options, bool bias, LinearOptions::Split split) {
  LinearOptions out;
  out.bias = bias;
  out.init_std = options.init_std;
  out.split = split;
  out.unit = options.head_dim;
  return out;
}

Linear projection(ParamBuilder& builder, const std::string& name, std::int64_t heads,
                  const AttentionOptions& options) {
  return Linear(builder, name, options.channels, heads * options.head_dim,
                linear_options(options, options.qkv_bias, LinearOptions::Split::kOutputs));
}

const ops::RopeTables& tables(const Context& context, const SelfAttention& layer, at::ScalarType dtype) {
  if (!context.rope->cos.defined())
    *context.rope = ops::rope_tables(context.position_ids, layer.inv_freq, dtype, layer.axes);
  return *context.rope;
}

}  // namespace

SelfAttention::SelfAttention(ParamBuilder& builder, const std::string& name, std::int64_t layer,
                             const AttentionOptions& options)
    : options(options),
      layer(layer),
      q(projection(builder, name + ".q", options.heads, options)),
      k(projection(builder, name + ".k", options.kv_heads, options)),
      v(projection(builder, name + ".v", options.kv_heads, options)),
      o(builder, name + ".o", options.heads * options.head_dim, options.channels,
        linear_options(options, options.out_bias, LinearOptions::Split::kInputs)),
      inv_freq(rope_frequencies(options.rope, options.head_dim, builder.compute())),
      axes(rope_axes(options.rope.sections)) {}

at::Tensor SelfAttention::forward(const Context& context, const at::Tensor& x) const {
  const std::int64_t n = x.size(0), d = options.head_dim;
  const double scale = 1.0 / std::sqrt(static_cast<double>(d));
  const ops::RopeTables& rope = tables(context, *this, x.scalar_type());
  const at::Tensor query = ops::rope(q.forward(context, x).view({n, options.heads, d}), rope.cos, rope.sin);
  const at::Tensor key = ops::rope(k.forward(context, x).view({n, options.kv_heads, d}), rope.cos, rope.sin);
  const at::Tensor value = v.forward(context, x).view({n, options.kv_heads, d});
  const at::Tensor mixed = context.cache != nullptr
                               ? context.cache->attend(layer, query, key, value, context.cu_seqlens, scale)
                               : ops::attention(query, key, value, context.cu_seqlens, scale);
  return o.forward(context, mixed.reshape({n, options.heads * d}));
}

}  // namespace loongforge
