// For tests: tokenizers over the 256 bytes (byte-level BPE), and a chat template.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/text/tokenizer/byte_alphabet.h"

namespace loongforge {

inline constexpr const char* kChatTemplateForTest =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif "
    "%}";

struct ByteTokenizerForTest {
  int first_byte = 0;                  // id of byte 0
  std::map<int, std::string> special;  // by id
  // Two texts that are joined, and the id of the whole.
  struct Merge {
    std::string left, right;
    int id = 0;
  };
  std::vector<Merge> merges;
  bool split_words = true;  // GPT-2's pattern before the merges
};

// tokenizer.json.
inline Json to_json(const ByteTokenizerForTest& tokenizer) {
  Json vocab = Json::object(), added = Json::array(), merges = Json::array();
  for (int byte = 0; byte < 256; ++byte)
    vocab[byte_character(static_cast<unsigned char>(byte))] = tokenizer.first_byte + byte;
  for (const auto& [id, name] : tokenizer.special) {
    vocab[name] = id;
    added.push_back({{"id", id},
                     {"content", name},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  for (const auto& [left, right, id] : tokenizer.merges) {
    vocab[token_of_bytes(left + right)] = id;
    merges.push_back(Json::array({token_of_bytes(left), token_of_bytes(right)}));
  }
  const Json byte_level = {{"type", "ByteLevel"},
                           {"add_prefix_space", false},
                           {"trim_offsets", true},
                           {"use_regex", tokenizer.split_words}};
  const Json model = {{"type", "BPE"},
                      {"dropout", nullptr},
                      {"unk_token", nullptr},
                      {"continuing_subword_prefix", nullptr},
                      {"end_of_word_suffix", nullptr},
                      {"fuse_unk", false},
                      {"byte_fallback", false},
                      {"vocab", vocab},
                      {"merges", merges}};
  return {{"version", "1.0"},          {"truncation", nullptr}, {"padding", nullptr},
          {"added_tokens", added},     {"normalizer", nullptr}, {"pre_tokenizer", byte_level},
          {"post_processor", nullptr}, {"decoder", byte_level}, {"model", model}};
}

// The 256 bytes, then the results of `merges` ("l l", in the alphabet's letters), then <s> and </s>.
inline Json tiny_tokenizer_json(const std::vector<std::string>& merges = {"Ġ a", "l l", "h e", "he ll"}) {
  ByteTokenizerForTest tokenizer;
  int id = 256;
  for (const std::string& merge : merges) {
    const std::size_t space = merge.find(' ');
    tokenizer.merges.push_back(
        {*bytes_of_token(merge.substr(0, space)), *bytes_of_token(merge.substr(space + 1)), id++});
  }
  tokenizer.special = {{id, "<s>"}, {id + 1, "</s>"}};
  return to_json(tokenizer);
}

}  // namespace loongforge
