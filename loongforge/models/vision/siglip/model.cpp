#include "loongforge/models/vision/siglip/model.h"

#include <ATen/ops/add.h>

#include "loongforge/models/vision/siglip/position_table.h"
#include "loongforge/models/vision/tower.h"
#include "loongforge/nn/layer_norm.h"
#include "loongforge/nn/mlp.h"
#include "loongforge/nn/vision_attention.h"

namespace loongforge {
namespace siglip {
namespace {

// The patch embedding: a convolution whose stride is its size, as a product with rows of pixels.
LinearOptions patch_options(const TowerConfig& config) {
  LinearOptions options;
  options.bias = true;
  options.init_std = config.init_std;
  options.file_shape = {config.hidden_size, config.channels, config.patch_size, config.patch_size};
  return options;
}

// Pixels → patches at their positions, and the layout that the blocks share: pictures one behind the other.
class PatchSegment final : public Segment {
 public:
  PatchSegment(ParamBuilder& builder, const TowerConfig& config)
      : PatchSegment(builder, config, builder.params().size()) {}

  Flow forward(const Context& context, Flow flow) const override {
    const auto pixels = flow.find(vision_flow::kPixels);
    if (pixels == flow.end()) return flow;
    const at::Tensor& grid = flow.at(vision_flow::kGrid);
    const VisionLayout layout = vision_layout(grid, merge_size_, /*window=*/0);
    put_layout(flow, layout);
    const at::Tensor rows = pixels->second.to(embedding_.weight->value.scalar_type());
    flow[vision_flow::kPatches] =
        at::add(embedding_.forward(context, rows), positions_.forward(context, grid, layout.positions));
    flow.erase(vision_flow::kPixels);
    return flow;
  }
  bool has_trainable() const override { return trainable_; }

 private:
  PatchSegment(ParamBuilder& builder, const TowerConfig& config, std::size_t first)
      : merge_size_(config.merge_size),
        embedding_(builder, "patch_embedding", config.channels * config.patch_size * config.patch_size,
                   config.hidden_size, patch_options(config)),
        positions_(builder, "position_embedding", config.grid_side(), config.hidden_size),
        trainable_(builder.any_trainable(first)) {}

  std::int64_t merge_size_;
  Linear embedding_;
  PositionTable positions_;
  bool trainable_;
};

// patches (P, C) → patches (P, C): x + attention(norm(x)), then x + mlp(norm(x)).
class Block final : public Segment {
 public:
  Block(ParamBuilder& builder, std::int64_t index, const TowerConfig& config)
      : Block(builder, config, "blocks." + std::to_string(index), builder.params().size()) {}

  Flow forward(const Context& context, Flow flow) const override {
    const auto patches = flow.find(vision_flow::kPatches);
    if (patches == flow.end()) return flow;
    const at::Tensor x = std::move(patches->second);
    const at::Tensor& frames = flow.at(vision_flow::kFrames);
    const at::Tensor y = at::add(x, attention_.forward(context, attention_norm_.forward(context, x), frames));
    patches->second = at::add(y, mlp_.forward(context, mlp_norm_.forward(context, y)));
    return flow;
  }
  bool is_layer() const override { return true; }
  bool has_trainable() const override { return trainable_; }

 private:
  Block(ParamBuilder& builder, const TowerConfig& config, const std::string& name, std::size_t first)
      : attention_norm_(builder, name + ".attention_norm", config.hidden_size, config.norm_eps),
        attention_(builder, name + ".attention", config.hidden_size, config.heads, config.init_std),
        mlp_norm_(builder, name + ".mlp_norm", config.hidden_size, config.norm_eps),
        mlp_(builder, name + ".mlp.",
             {.in = config.hidden_size,
              .hidden = config.intermediate_size,
              .out = config.hidden_size,
              .gelu = Gelu::kTanh,
              .init_std = config.init_std}),
        trainable_(builder.any_trainable(first)) {}

  LayerNorm attention_norm_;
  SplitVisionAttention attention_;
  LayerNorm mlp_norm_;
  Mlp mlp_;
  bool trainable_;
};

// patches (P, C) → norm(patches).
class NormSegment final : public Segment {
 public:
  NormSegment(ParamBuilder& builder, const TowerConfig& config)
      : norm_(builder, "norm", config.hidden_size, config.norm_eps) {}

  Flow forward(const Context& context, Flow flow) const override {
    const auto patches = flow.find(vision_flow::kPatches);
    if (patches != flow.end()) patches->second = norm_.forward(context, patches->second);
    return flow;
  }
  bool has_trainable() const override { return norm_.weight->trainable; }

 private:
  LayerNorm norm_;
};

VisualInfo visual_of(const TowerConfig& config) {
  VisualInfo visual;
  visual.channels = config.channels;
  visual.patch_size = config.patch_size;
  visual.merge_size = config.merge_size;
  visual.tokens_per_second = config.tokens_per_second;
  visual.normalisation = {.mean = {0.5, 0.5, 0.5}, .deviation = {0.5, 0.5, 0.5}};
  visual.picture_side = config.image_size;
  return visual;
}

}  // namespace

VisionPart build(const TowerConfig& config, ParamBuilder& builder) {
  VisionPart part;
  part.segments.push_back(std::make_unique<PatchSegment>(builder, config));
  for (std::int64_t i = 0; i < config.depth; ++i)
    part.segments.push_back(std::make_unique<Block>(builder, i, config));
  part.segments.push_back(std::make_unique<NormSegment>(builder, config));
  part.channels = config.hidden_size;
  part.visual = visual_of(config);
  return part;
}

NameMap names() {
  std::vector<std::pair<std::string, std::string>> rules = {
      {"position_embedding.weight", "embeddings.position_embedding.weight"}};
  const std::vector<std::pair<std::string, std::string>> modules = {
      {"patch_embedding", "embeddings.patch_embedding"},
      {"norm", "post_layernorm"},
      {"blocks.{}.attention_norm", "encoder.layers.{}.layer_norm1"},
      {"blocks.{}.mlp_norm", "encoder.layers.{}.layer_norm2"},
      {"blocks.{}.attention.q", "encoder.layers.{}.self_attn.q_proj"},
      {"blocks.{}.attention.k", "encoder.layers.{}.self_attn.k_proj"},
      {"blocks.{}.attention.v", "encoder.layers.{}.self_attn.v_proj"},
      {"blocks.{}.attention.o", "encoder.layers.{}.self_attn.out_proj"},
      {"blocks.{}.mlp.up", "encoder.layers.{}.mlp.fc1"},
      {"blocks.{}.mlp.down", "encoder.layers.{}.mlp.fc2"}};
  for (const auto& [ours, file] : modules)
    for (const char* part : {".weight", ".bias"}) rules.emplace_back(ours + part, file + part);
  const NameMap plain(std::move(rules));
  NameMap out = plain.under("", "vision_model.");
  out += plain;
  return out;
}

}  // namespace siglip

void register_siglip(Registry& registry) {
  Card card;
  card.family = "siglip";
  card.model_types = {"siglip_vision_model", "siglip"};
  card.names = [](const Json&) { return siglip::names(); };
  card.unused_tensors = {"vision_model.head.", "head.",       "vision_model.embeddings.position_ids",
                         "text_model.",        "logit_scale", "logit_bias"};
  card.vision = [](const Json& config, ParamBuilder& builder, const std::string& where) {
    return siglip::build(siglip::read_config(config, where), builder);
  };
  registry.add(std::move(card));
}

}  // namespace loongforge
