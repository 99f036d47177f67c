// Tests only: a small random model and a byte tokenizer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loongforge/models/card.h"
#include "loongforge/nn/param.h"
#include "loongforge/text/tokenizer/byte_tokenizer_for_test.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge::test {

// 256 bytes of byte-level BPE, then <|im_start|> = 256, <|im_end|> = 257.
inline constexpr int kTinyVocabulary = 258;

inline Json tiny_config() {
  return {{"model_type", "llama"},
          {"architectures", Json::array({"LlamaForCausalLM"})},
          {"vocab_size", kTinyVocabulary},
          {"hidden_size", 48},
          {"intermediate_size", 96},
          {"num_hidden_layers", 3},
          {"num_attention_heads", 6},
          {"num_key_value_heads", 2},
          {"head_dim", 8},
          {"max_position_embeddings", 128},
          {"rms_norm_eps", 1e-5},
          {"rope_theta", 10000.0},
          {"hidden_act", "silu"},
          {"initializer_range", 0.3},
          {"tie_word_embeddings", true},
          {"attention_bias", false},
          {"mlp_bias", false}};
}

inline std::unique_ptr<Model> tiny_model(at::ScalarType compute = at::kFloat, std::uint64_t seed = 1) {
  ParamPlan plan;
  plan.compute = compute;
  plan.train = false;
  auto model = build_model(tiny_config(), plan, "tiny config");
  initialize(model->params(), seed);
  return model;
}

inline Tokenizer tiny_tokenizer() {
  ByteTokenizerForTest bytes;
  bytes.special = {{256, "<|im_start|>"}, {257, "<|im_end|>"}};
  return Tokenizer::from_json(dump_json(to_json(bytes)), "tiny tokenizer");
}

// Prompts of different lengths: prompt i has 3 + 5 i tokens; the first `shared` ids are the same in all.
inline std::vector<std::vector<std::int32_t>> tiny_prompts(int count, int shared = 0) {
  std::vector<std::vector<std::int32_t>> prompts;
  for (int i = 0; i < count; ++i) {
    std::vector<std::int32_t> ids;
    for (int t = 0; t < shared; ++t) ids.push_back((t * 31 + 7) % 256);
    for (int t = 0; t < 3 + 5 * i; ++t) ids.push_back((i * 37 + t * t * 11 + 5) % 256);
    prompts.push_back(ids);
  }
  return prompts;
}

}  // namespace loongforge::test
