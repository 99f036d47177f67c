#include "loongforge/models/vision/qwen2_5_vit/model.h"

#include <ATen/ops/add.h>

#include <algorithm>
#include <cmath>

#include "loongforge/models/vision/tower.h"
#include "loongforge/nn/gated_mlp.h"
#include "loongforge/nn/rms_norm.h"
#include "loongforge/nn/rope_frequencies.h"
#include "loongforge/nn/vision_attention.h"

namespace loongforge {
namespace qwen2_5_vit {
namespace {

constexpr double kNormEps = 1e-6;

// The patch embedding: a convolution whose stride is its size, as a product with rows of pixels.
LinearOptions patch_options(const TowerConfig& config) {
  LinearOptions options;
  options.init_std = config.init_std;
  options.file_shape = {config.hidden_size, config.in_channels, config.temporal_patch_size, config.patch_size,
                        config.patch_size};
  return options;
}

std::int64_t pixels_of_a_patch(const TowerConfig& config) {
  return config.in_channels * config.temporal_patch_size * config.patch_size * config.patch_size;
}

// Pixels → patches, and the layout that the blocks share.
class PatchSegment final : public Segment {
 public:
  PatchSegment(ParamBuilder& builder, const TowerConfig& config)
      : config_(config),
        embedding_(builder, "patch_embedding", pixels_of_a_patch(config), config.hidden_size,
                   patch_options(config)) {
    // Each half of a head's frequencies turns by one axis, by the same frequencies.
    const std::int64_t half = config.hidden_size / config.heads / 2;
    RopeOptions rope;
    rope.theta = config.rope_theta;
    const at::Tensor axis = rope_frequencies(rope, half, builder.compute());
    inv_freq_ = axis.repeat({2});
    axes_ = rope_axes({half / 2, half / 2});
  }

  Flow forward(const Context& context, Flow flow) const override {
    const auto pixels = flow.find(vision_flow::kPixels);
    if (pixels == flow.end()) return flow;
    const at::ScalarType dtype = embedding_.weight->value.scalar_type();
    const VisionLayout layout =
        vision_layout(flow.at(vision_flow::kGrid), config_.merge_size, config_.window);
    put_layout(flow, layout);
    const std::int64_t unit = config_.merge_size * config_.merge_size;
    const at::Tensor units = joined_units(pixels->second.to(dtype), unit).index_select(0, layout.order);
    flow[vision_flow::kPatches] = embedding_.forward(context, units.view({-1, pixels_of_a_patch(config_)}));
    const ops::RopeTables rope = ops::rope_tables(layout.positions, inv_freq_, dtype, axes_);
    flow[vision_flow::kCos] = rope.cos;
    flow[vision_flow::kSin] = rope.sin;
    flow.erase(vision_flow::kPixels);
    return flow;
  }
  bool has_trainable() const override { return embedding_.weight->trainable; }

 private:
  TowerConfig config_;
  Linear embedding_;
  at::Tensor inv_freq_, axes_;
};

// patches (P, C) → patches (P, C): x + attention(norm(x)), then x + mlp(norm(x)).
class Block final : public Segment {
 public:
  Block(ParamBuilder& builder, std::int64_t index, const TowerConfig& config)
      : Block(builder, index, config, "blocks." + std::to_string(index), builder.params().size()) {}

  Flow forward(const Context& context, Flow flow) const override {
    const auto patches = flow.find(vision_flow::kPatches);
    if (patches == flow.end()) return flow;
    const at::Tensor x = std::move(patches->second);
    const ops::RopeTables rope{flow.at(vision_flow::kCos), flow.at(vision_flow::kSin)};
    const at::Tensor& bounds = flow.at(whole_frame_ ? vision_flow::kFrames : vision_flow::kWindows);
    const at::Tensor y =
        at::add(x, attention_.forward(context, attention_norm_.forward(context, x), bounds, &rope));
    patches->second = at::add(y, mlp_.forward(context, mlp_norm_.forward(context, y)));
    return flow;
  }
  bool is_layer() const override { return true; }
  bool has_trainable() const override { return trainable_; }

 private:
  Block(ParamBuilder& builder, std::int64_t index, const TowerConfig& config, const std::string& name,
        std::size_t first)
      : attention_norm_(builder, name + ".attention_norm", config.hidden_size, kNormEps),
        attention_(builder, name + ".attention", config.hidden_size, config.heads, config.init_std),
        mlp_norm_(builder, name + ".mlp_norm", config.hidden_size, kNormEps),
        mlp_(builder, name + ".mlp", config.hidden_size, config.intermediate_size, true, config.init_std),
        whole_frame_(std::find(config.full_blocks.begin(), config.full_blocks.end(), index) !=
                     config.full_blocks.end()),
        trainable_(builder.any_trainable(first)) {}

  RmsNorm attention_norm_;
  VisionAttention attention_;
  RmsNorm mlp_norm_;
  GatedMlp mlp_;
  bool whole_frame_, trainable_;
};

}  // namespace

VisionPart build(const TowerConfig& config, ParamBuilder& builder) {
  VisionPart part;
  part.segments.push_back(std::make_unique<PatchSegment>(builder, config));
  for (std::int64_t i = 0; i < config.depth; ++i)
    part.segments.push_back(std::make_unique<Block>(builder, i, config));
  part.channels = config.hidden_size;
  part.visual.channels = config.in_channels;
  part.visual.patch_size = config.patch_size;
  part.visual.temporal_patch_size = config.temporal_patch_size;
  part.visual.merge_size = config.merge_size;
  part.visual.tokens_per_second = config.tokens_per_second;
  return part;
}

NameMap names() {
  std::vector<std::pair<std::string, std::string>> rules = {
      {"patch_embedding.weight", "patch_embed.proj.weight"},
      {"blocks.{}.attention_norm.weight", "blocks.{}.norm1.weight"},
      {"blocks.{}.mlp_norm.weight", "blocks.{}.norm2.weight"},
  };
  const std::vector<std::pair<std::string, std::string>> linears = {{"attention.qkv", "attn.qkv"},
                                                                    {"attention.o", "attn.proj"},
                                                                    {"mlp.gate", "mlp.gate_proj"},
                                                                    {"mlp.up", "mlp.up_proj"},
                                                                    {"mlp.down", "mlp.down_proj"}};
  for (const auto& [ours, file] : linears)
    for (const char* part : {".weight", ".bias"})
      rules.emplace_back("blocks.{}." + ours + part, "blocks.{}." + file + part);
  return NameMap(std::move(rules));
}

}  // namespace qwen2_5_vit

void register_qwen2_5_vit(Registry& registry) {
  Card card;
  card.family = "qwen2_5_vit";
  card.model_types = {"qwen2_5_vl_vision"};
  card.names = [](const Json&) { return qwen2_5_vit::names(); };
  card.vision = [](const Json& config, ParamBuilder& builder, const std::string& where) {
    return qwen2_5_vit::build(qwen2_5_vit::read_config(config, where), builder);
  };
  registry.add(std::move(card));
}

}  // namespace loongforge
