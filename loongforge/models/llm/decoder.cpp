#include "loongforge/models/llm/decoder.h"

#include <ATen/ops/add.h>

#include "loongforge/base/error.h"
#include "loongforge/nn/attention_block.h"
#include "loongforge/nn/embedding.h"
#include "loongforge/nn/gated_mlp.h"
#include "loongforge/nn/rms_norm.h"

namespace loongforge {
namespace {

AttentionOptions attention_options(const DecoderOptions& decoder) {
  AttentionOptions options;
  options.channels = decoder.hidden_size;
  options.heads = decoder.heads;
  options.kv_heads = decoder.kv_heads;
  options.head_dim = decoder.head_dim;
  options.qkv_bias = decoder.qkv_bias;
  options.out_bias = decoder.out_bias;
  options.init_std = decoder.init_std;
  options.rope = decoder.rope;
  return options;
}

// input_ids (N) → hidden (N, C).
class EmbeddingSegment final : public Segment {
 public:
  EmbeddingSegment(ParamBuilder& builder, const DecoderOptions& options)
      : embedding_(builder, "embedding", options.vocab_size, options.hidden_size, options.init_std) {}
  Flow forward(const Context& context, Flow flow) const override {
    flow["hidden"] = embedding_.forward(context, flow.at("input_ids"));
    flow.erase("input_ids");
    return flow;
  }
  bool has_trainable() const override { return embedding_.weight->trainable; }
  const ParamRef& weight() const { return embedding_.weight; }

 private:
  Embedding embedding_;
};

// hidden (N, C) → hidden (N, C): x + attention(norm(x)), then x + mlp(norm(x)).
class Block final : public Segment {
 public:
  Block(ParamBuilder& builder, std::int64_t layer, const DecoderOptions& options)
      : Block(builder, layer, options, "layers." + std::to_string(layer), builder.params().size()) {}
  Flow forward(const Context& context, Flow flow) const override {
    const at::Tensor x = std::move(flow.at("hidden"));
    const at::Tensor y = at::add(x, attention_.forward(context, attention_norm_.forward(context, x)));
    flow["hidden"] = at::add(y, mlp_.forward(context, mlp_norm_.forward(context, y)));
    return flow;
  }
  bool is_layer() const override { return true; }
  bool has_trainable() const override { return trainable_; }

 private:
  Block(ParamBuilder& builder, std::int64_t layer, const DecoderOptions& options, const std::string& name,
        std::size_t first)
      : attention_norm_(builder, name + ".attention_norm", options.hidden_size, options.norm_eps),
        attention_(builder, name + ".attention", layer, attention_options(options)),
        mlp_norm_(builder, name + ".mlp_norm", options.hidden_size, options.norm_eps),
        mlp_(builder, name + ".mlp", options.hidden_size, options.intermediate_size, options.mlp_bias,
             options.init_std),
        trainable_(builder.any_trainable(first)) {}

  RmsNorm attention_norm_;
  SelfAttention attention_;
  RmsNorm mlp_norm_;
  GatedMlp mlp_;
  bool trainable_;
};

// hidden (N, C) → normalised hidden (N, C), ready for the head's weight.
class NormSegment final : public Segment {
 public:
  NormSegment(ParamBuilder& builder, const DecoderOptions& options)
      : norm_(builder, "norm", options.hidden_size, options.norm_eps) {}
  Flow forward(const Context& context, Flow flow) const override {
    flow["hidden"] = norm_.forward(context, flow.at("hidden"));
    return flow;
  }
  bool has_trainable() const override { return norm_.weight->trainable; }

 private:
  RmsNorm norm_;
};

ParamSpec head_spec(const DecoderOptions& options) {
  ParamSpec spec;
  spec.name = "head.weight";
  spec.shape = {options.vocab_size, options.hidden_size};
  spec.sections = {{{options.vocab_size, 1, Placement::kTensorSplit}}, {}};
  spec.init = {Init::Kind::kNormal, options.init_std};
  return spec;
}

ModelInfo info_of(const DecoderOptions& options) {
  ModelInfo info;
  info.vocab_size = options.vocab_size;
  info.hidden_size = options.hidden_size;
  info.layers = options.layers;
  info.heads = options.heads;
  info.kv_heads = options.kv_heads;
  info.head_dim = options.head_dim;
  info.max_positions = options.max_positions;
  return info;
}

}  // namespace

LanguagePart build_decoder(ParamBuilder& builder, const DecoderOptions& options) {
  LanguagePart part;
  part.info = info_of(options);
  if (!options.rope.sections.empty()) part.position_axes = 3;
  auto embedding = std::make_unique<EmbeddingSegment>(builder, options);
  part.embedding = embedding->weight();
  part.segments.push_back(std::move(embedding));
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    part.segments.push_back(std::make_unique<Block>(builder, layer, options));
  }
  part.segments.push_back(std::make_unique<NormSegment>(builder, options));
  part.head = options.tied ? part.embedding : builder.add(head_spec(options));
  return part;
}

NameMap decoder_names(const std::string& model, const std::string& head) {
  std::vector<std::pair<std::string, std::string>> rules = {
      {"embedding.weight", model + ".embed_tokens.weight"},
      {"layers.{}.attention_norm.weight", model + ".layers.{}.input_layernorm.weight"},
      {"layers.{}.mlp_norm.weight", model + ".layers.{}.post_attention_layernorm.weight"},
      {"norm.weight", model + ".norm.weight"},
      {"head.weight", head + ".weight"},
  };
  const std::vector<std::pair<std::string, std::string>> linears = {
      {"attention.q", "self_attn.q_proj"}, {"attention.k", "self_attn.k_proj"},
      {"attention.v", "self_attn.v_proj"}, {"attention.o", "self_attn.o_proj"},
      {"mlp.gate", "mlp.gate_proj"},       {"mlp.up", "mlp.up_proj"},
      {"mlp.down", "mlp.down_proj"},
  };
  for (const auto& [ours, file] : linears) {
    for (const char* part : {".weight", ".bias"}) {
      rules.emplace_back("layers.{}." + ours + part, model + ".layers.{}." + file + part);
    }
  }
  return NameMap(std::move(rules));
}

}  // namespace loongforge
