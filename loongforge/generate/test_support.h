// Tests only: a small random model and a byte tokenizer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loongforge/models/card.h"
#include "loongforge/nn/param.h"
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

// UTF-8 of a code point below 0x800.
inline std::string utf8(unsigned code) {
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

// GPT-2's alphabet: printable bytes stand for themselves, the others for the characters from U+0100 on.
inline Tokenizer tiny_tokenizer() {
  Json vocabulary = Json::object();
  unsigned shifted = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    vocabulary[utf8(printable ? byte : 256 + shifted++)] = byte;
  }
  Json added = Json::array();
  for (int i = 0; i < 2; ++i) {
    added.push_back({{"id", 256 + i},
                     {"content", i == 0 ? "<|im_start|>" : "<|im_end|>"},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const Json tokenizer = {{"version", "1.0"},
                          {"truncation", nullptr},
                          {"padding", nullptr},
                          {"added_tokens", added},
                          {"normalizer", nullptr},
                          {"pre_tokenizer", byte_level},
                          {"post_processor", nullptr},
                          {"decoder", byte_level},
                          {"model",
                           {{"type", "BPE"},
                            {"dropout", nullptr},
                            {"unk_token", nullptr},
                            {"continuing_subword_prefix", nullptr},
                            {"end_of_word_suffix", nullptr},
                            {"fuse_unk", false},
                            {"byte_fallback", false},
                            {"vocab", vocabulary},
                            {"merges", Json::array()}}}};
  return Tokenizer::from_json(tokenizer.dump(), "tiny tokenizer");
}

inline const char* kTinyTemplate =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif "
    "%}";

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
