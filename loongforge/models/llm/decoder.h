// What decoder-only language models of the Llama kind share: an embedding, blocks of grouped-query attention
// and a gated MLP behind root-mean-square norms, a norm, a head. Cards say sizes and habits.
#pragma once

#include "loongforge/models/card.h"
#include "loongforge/models/config_reader.h"
#include "loongforge/nn/rope_frequencies.h"

namespace loongforge {

struct DecoderOptions {
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t max_positions = 0;
  double norm_eps = 0;
  double init_std = 0;
  // The head is the embedding's weight.
  bool tied = false;
  bool qkv_bias = false;
  bool out_bias = false;
  bool mlp_bias = false;
  RopeOptions rope;
};

// The sizes, norm_eps, init_std, tied and rope from a config.json of Hugging Face's usual keys. Throws
// CheckpointError naming the key that is missing, impossible or not supported.
DecoderOptions read_decoder(ConfigReader& reader, const Json& config);
// Counts the keys that change nothing in any decoder (names, cache, token ids) as known.
void ignore_decoder_habits(ConfigReader& reader);

// Parameters are declared in the order of the forward pass: embedding, blocks, norm, head.
LanguagePart build_decoder(ParamBuilder& builder, const DecoderOptions& options);
// Names of their tensors: `model`.embed_tokens, `model`.layers.0, …, `head`.weight.
NameMap decoder_names(const std::string& model = "model", const std::string& head = "lm_head");

}  // namespace loongforge
