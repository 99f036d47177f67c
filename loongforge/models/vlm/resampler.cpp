#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include "loongforge/models/vision/tower.h"
#include "loongforge/models/vlm/projector.h"
#include "loongforge/nn/embedding.h"
#include "loongforge/nn/mlp.h"
#include "loongforge/nn/rms_norm.h"
#include "loongforge/nn/vision_attention.h"

namespace loongforge {
namespace {

// The patches of each picture with its queries behind them.
struct Arrangement {
  // int64 (P + n · queries): rows of (patches, queries) in the order of the pictures.
  at::Tensor rows;
  // int32 (n + 1): cuts them into pictures.
  at::Tensor pictures;
  // int64 (n · queries): where the queries stand among them.
  at::Tensor places;
};

Arrangement arrange(const at::Tensor& grid_thw, std::int64_t queries) {
  const at::Tensor sizes = grid_thw.prod(1).contiguous();
  const std::int64_t pictures = sizes.size(0), patches = sizes.sum().item<std::int64_t>();
  std::vector<std::int64_t> rows, places;
  std::vector<std::int32_t> borders{0};
  std::int64_t patch = 0;
  for (std::int64_t i = 0; i < pictures; ++i) {
    for (std::int64_t k = 0; k < sizes.const_data_ptr<std::int64_t>()[i]; ++k) rows.push_back(patch++);
    for (std::int64_t k = 0; k < queries; ++k) {
      places.push_back(static_cast<std::int64_t>(rows.size()));
      rows.push_back(patches + i * queries + k);
    }
    borders.push_back(static_cast<std::int32_t>(rows.size()));
  }
  const at::TensorOptions wide = at::TensorOptions().dtype(at::kLong);
  return {at::tensor(rows, wide), at::tensor(borders, wide.dtype(at::kInt)), at::tensor(places, wide)};
}

struct ResamplerLayer {
  RmsNorm attention_norm;
  VisionAttention attention;
  RmsNorm mlp_norm;
  Mlp mlp;

  ResamplerLayer(ParamBuilder& builder, const std::string& name, const ResamplerOptions& options)
      : attention_norm(builder, name + ".attention_norm", options.width, options.norm_eps),
        attention(builder, name + ".attention", options.width, options.heads, options.init_std),
        mlp_norm(builder, name + ".mlp_norm", options.width, options.norm_eps),
        mlp(builder, name + ".mlp.",
            {.in = options.width,
             .hidden = 4 * options.width,
             .out = options.width,
             .init_std = options.init_std}) {}

  at::Tensor forward(const Context& context, const at::Tensor& patches, const at::Tensor& queries,
                     const Arrangement& order) const {
    const at::Tensor all = at::cat({patches, queries}).index_select(0, order.rows);
    const at::Tensor seen =
        attention.forward(context, attention_norm.forward(context, all), order.pictures, nullptr);
    const at::Tensor x = at::add(queries, seen.index_select(0, order.places));
    return at::add(x, mlp.forward(context, mlp_norm.forward(context, x)));
  }
};

LinearOptions biased(double init_std) {
  LinearOptions options;
  options.bias = true;
  options.init_std = init_std;
  return options;
}

class Resampler final : public Segment {
 public:
  Resampler(ParamBuilder& builder, const ResamplerOptions& options)
      : Resampler(builder, options, builder.params().size()) {}

  Flow forward(const Context& context, Flow flow) const override {
    const auto patches = flow.find(vision_flow::kPatches);
    if (patches == flow.end()) return flow;
    const at::Tensor x = in_.forward(context, patches->second.to(in_.weight->value.scalar_type()));
    const at::Tensor grid = flow.at(vision_flow::kGrid);
    const Arrangement order = arrange(grid, tokens_);
    const at::Tensor ids = at::arange(tokens_, at::TensorOptions().dtype(at::kLong)).repeat({grid.size(0)});
    at::Tensor queries = queries_.forward(context, ids);
    for (const ResamplerLayer& layer : layers_) queries = layer.forward(context, x, queries, order);
    replace_patches(flow, out_.forward(context, norm_.forward(context, queries)));
    return flow;
  }
  bool has_trainable() const override { return trainable_; }

 private:
  Resampler(ParamBuilder& builder, const ResamplerOptions& options, std::size_t first)
      : tokens_(options.tokens),
        in_(builder, "in", options.channels, options.width, biased(options.init_std)),
        queries_(builder, "queries", options.tokens, options.width, 1.0),
        layers_(layers_of(builder, options)),
        norm_(builder, "norm", options.width, options.norm_eps),
        out_(builder, "out", options.width, options.out, biased(options.init_std)),
        trainable_(builder.any_trainable(first)) {}

  static std::vector<ResamplerLayer> layers_of(ParamBuilder& builder, const ResamplerOptions& options) {
    std::vector<ResamplerLayer> layers;
    for (std::int64_t i = 0; i < options.depth; ++i)
      layers.emplace_back(builder, "layers." + std::to_string(i), options);
    return layers;
  }

  std::int64_t tokens_;
  Linear in_;
  Embedding queries_;
  std::vector<ResamplerLayer> layers_;
  RmsNorm norm_;
  Linear out_;
  bool trainable_;
};

}  // namespace

std::unique_ptr<Segment> build_resampler(ParamBuilder& builder, const ResamplerOptions& options) {
  return std::make_unique<Resampler>(builder, options);
}

}  // namespace loongforge
