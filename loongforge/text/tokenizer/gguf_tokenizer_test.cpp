#include "loongforge/text/tokenizer/gguf_tokenizer.h"

#include <gtest/gtest.h>

#include "loongforge/base/error.h"
#include "loongforge/text/tokenizer/byte_alphabet.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

Json metadata(const char* pre) {
  Json tokens = Json::array(), types = Json::array();
  for (int b = 0; b < 256; ++b) {
    tokens.push_back(byte_character(static_cast<unsigned char>(b)));
    types.push_back(1);
  }
  for (const char* token : {"12", "<|end|>"}) tokens.push_back(token);
  types.push_back(1);
  types.push_back(3);
  return {{"general.architecture", "llama"},
          {"llama.context_length", 2048},
          {"tokenizer.ggml.model", "gpt2"},
          {"tokenizer.ggml.pre", pre},
          {"tokenizer.ggml.tokens", tokens},
          {"tokenizer.ggml.token_type", types},
          {"tokenizer.ggml.merges", {"1 2"}},
          {"tokenizer.ggml.eos_token_id", 257},
          {"tokenizer.chat_template", "{{ messages }}"}};
}

Tokenizer tokenizer_of(const Json& keys) {
  return Tokenizer::from_json(gguf_tokenizer_files(keys, "model.gguf").at(kTokenizerJson), "model.gguf");
}

std::string refusal(const Json& keys) {
  try {
    gguf_tokenizer_files(keys, "model.gguf");
  } catch (const CheckpointError& e) {
    return e.what();
  }
  return "read without an error";
}

TEST(GgufTokenizer, SmolLmSplitsDigits) {
  EXPECT_EQ(tokenizer_of(metadata("smollm")).encode("12"), (std::vector<std::int32_t>{'1', '2'}));
  EXPECT_EQ(tokenizer_of(metadata("gpt-2")).encode("12"), (std::vector<std::int32_t>{256}));
}

TEST(GgufTokenizer, ControlTokensAreSpecial) {
  const Tokenizer t = tokenizer_of(metadata("smollm"));
  EXPECT_TRUE(t.is_special(257) && !t.is_special(256));
  EXPECT_EQ(t.encode("<|end|>"), (std::vector<std::int32_t>{257}));
}

TEST(GgufTokenizer, ConfigurationNamesWhatTransformersReads) {
  const auto files = gguf_tokenizer_files(metadata("llama-bpe"), "model.gguf");
  const Json config = parse_json(files.at(kTokenizerConfig), "config");
  EXPECT_EQ(config["eos_token"], "<|end|>");
  EXPECT_EQ(config["model_max_length"], 2048);
  EXPECT_EQ(config["tokenizer_class"], "PreTrainedTokenizerFast");
  EXPECT_EQ(files.at(kChatTemplate), "{{ messages }}");
}

TEST(GgufTokenizer, UnknownFamiliesAreNamed) {
  EXPECT_NE(refusal(metadata("klingon")).find("model.gguf: tokenizer.ggml.pre: 'klingon' is not supported"),
            std::string::npos);
  Json keys = metadata("smollm");
  keys["tokenizer.ggml.model"] = "llama";
  EXPECT_NE(refusal(keys).find("tokenizer.ggml.model: expected gpt2"), std::string::npos);
}

TEST(GgufTokenizer, DamagedKeysAreNamed) {
  Json keys = metadata("smollm");
  keys["tokenizer.ggml.eos_token_id"] = 9999;
  EXPECT_NE(refusal(keys).find("tokenizer.ggml.eos_token_id"), std::string::npos);
  keys = metadata("smollm");
  keys["tokenizer.ggml.token_type"] = Json::array({1});
  EXPECT_NE(refusal(keys).find("tokenizer.ggml.token_type"), std::string::npos);
  keys.erase("tokenizer.ggml.token_type");
  keys.erase("tokenizer.ggml.merges");
  EXPECT_NE(refusal(keys).find("tokenizer.ggml.merges is missing"), std::string::npos);
}

}  // namespace
}  // namespace loongforge
