// Small tokenizers for tests.
#pragma once

#include <string>
#include <vector>

#include "loongforge/text/tokenizer/byte_alphabet.h"
#include "nlohmann/json.hpp"

namespace loongforge {

// All 256 bytes, then the results of `merges` ("l l"), then the added tokens <s> and </s>; GPT-2's pattern.
inline nlohmann::json tiny_tokenizer(const std::vector<std::string>& merges = {"Ġ a", "l l", "h e",
                                                                               "he ll"}) {
  nlohmann::json vocab = nlohmann::json::object();
  for (int b = 0; b < 256; ++b) vocab[byte_character(static_cast<unsigned char>(b))] = b;
  for (const std::string& merge : merges) {
    std::string token = merge;
    token.erase(token.find(' '), 1);
    vocab[token] = vocab.size();
  }
  const std::size_t n = vocab.size();
  const auto added = [](std::size_t id, const char* content) {
    return nlohmann::json{{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                          {"rstrip", false}, {"normalized", false}, {"special", true}};
  };
  return {{"version", "1.0"},
          {"added_tokens", {added(n, "<s>"), added(n + 1, "</s>")}},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}}};
}

}  // namespace loongforge
