#include "loongforge/models/llm/llama/model.h"

#include <ATen/ops/add.h>

#include "loongforge/base/error.h"
#include "loongforge/models/llm/llama/names.h"
#include "loongforge/nn/attention_block.h"
#include "loongforge/nn/embedding.h"
#include "loongforge/nn/gated_mlp.h"
#include "loongforge/nn/rms_norm.h"

namespace loongforge {
namespace llama {
namespace {

AttentionOptions attention_options(const LlamaConfig& config) {
  AttentionOptions options;
  options.channels = config.hidden_size;
  options.heads = config.heads;
  options.kv_heads = config.kv_heads;
  options.head_dim = config.head_dim;
  options.bias = config.attention_bias;
  options.init_std = config.init_std;
  options.rope = config.rope;
  return options;
}

// input_ids (N) → hidden (N, C).
class EmbeddingSegment final : public Segment {
 public:
  EmbeddingSegment(ParamBuilder& builder, const LlamaConfig& config)
      : embedding_(builder, "embedding", config.vocab_size, config.hidden_size, config.init_std) {}
  Flow forward(const Context& context, Flow flow) const override {
    return {{"hidden", embedding_.forward(context, flow.at("input_ids"))}};
  }
  bool has_trainable() const override { return embedding_.weight->trainable; }
  const ParamRef& weight() const { return embedding_.weight; }

 private:
  Embedding embedding_;
};

// hidden (N, C) → hidden (N, C): x + attention(norm(x)), then x + mlp(norm(x)).
class Block final : public Segment {
 public:
  Block(ParamBuilder& builder, std::int64_t layer, const LlamaConfig& config)
      : Block(builder, layer, config, "layers." + std::to_string(layer), builder.params().size()) {}
  Flow forward(const Context& context, Flow flow) const override {
    const at::Tensor x = std::move(flow.at("hidden"));
    const at::Tensor y = at::add(x, attention_.forward(context, attention_norm_.forward(context, x)));
    return {{"hidden", at::add(y, mlp_.forward(context, mlp_norm_.forward(context, y)))}};
  }
  bool is_layer() const override { return true; }
  bool has_trainable() const override { return trainable_; }

 private:
  Block(ParamBuilder& builder, std::int64_t layer, const LlamaConfig& config, const std::string& name,
        std::size_t first)
      : attention_norm_(builder, name + ".attention_norm", config.hidden_size, config.norm_eps),
        attention_(builder, name + ".attention", layer, attention_options(config)),
        mlp_norm_(builder, name + ".mlp_norm", config.hidden_size, config.norm_eps),
        mlp_(builder, name + ".mlp", config.hidden_size, config.intermediate_size, config.mlp_bias,
             config.init_std) {
    for (std::size_t i = first; i < builder.params().size(); ++i)
      trainable_ |= builder.params()[i]->trainable;
  }

  RmsNorm attention_norm_;
  SelfAttention attention_;
  RmsNorm mlp_norm_;
  GatedMlp mlp_;
  bool trainable_ = false;
};

// hidden (N, C) → normalised hidden (N, C), ready for the head's weight.
class NormSegment final : public Segment {
 public:
  NormSegment(ParamBuilder& builder, const LlamaConfig& config)
      : norm_(builder, "norm", config.hidden_size, config.norm_eps) {}
  Flow forward(const Context& context, Flow flow) const override {
    return {{"hidden", norm_.forward(context, flow.at("hidden"))}};
  }
  bool has_trainable() const override { return norm_.weight->trainable; }

 private:
  RmsNorm norm_;
};

ParamSpec head_spec(const LlamaConfig& config) {
  ParamSpec spec;
  spec.name = "head.weight";
  spec.shape = {config.vocab_size, config.hidden_size};
  spec.sections = {{{config.vocab_size, 1, Placement::kTensorSplit}}, {}};
  spec.init = {Init::Kind::kNormal, config.init_std};
  return spec;
}

ModelInfo info_of(const LlamaConfig& config) {
  ModelInfo info;
  info.family = "llama";
  info.vocab_size = config.vocab_size;
  info.hidden_size = config.hidden_size;
  info.layers = config.layers;
  info.heads = config.heads;
  info.kv_heads = config.kv_heads;
  info.head_dim = config.head_dim;
  info.max_positions = config.max_positions;
  return info;
}

}  // namespace

std::unique_ptr<Model> build(const Json& json, const ParamPlan& plan, const std::string& where) {
  const LlamaConfig config = read_config(json, where);
  ModelParts parts;
  parts.info = info_of(config);
  parts.config = json;
  parts.names = names();
  ParamBuilder builder(plan, parts.names);
  auto embedding = std::make_unique<EmbeddingSegment>(builder, config);
  const ParamRef table = embedding->weight();
  parts.segments.push_back(std::move(embedding));
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    parts.segments.push_back(std::make_unique<Block>(builder, layer, config));
  }
  parts.segments.push_back(std::make_unique<NormSegment>(builder, config));
  parts.head = config.tied ? table : builder.add(head_spec(config));
  builder.check_targets_met();
  parts.plan = builder.plan();
  parts.params = builder.params();
  return std::make_unique<Model>(std::move(parts));
}

}  // namespace llama

void register_llama(Registry& registry) {
  Card card;
  card.family = "llama";
  card.model_types = {"llama"};
  card.architectures = {"LlamaForCausalLM"};
  card.build = llama::build;
  registry.add(std::move(card));
}

}  // namespace loongforge
