// For tests: a byte-level tokenizer with the turn markers of ChatML, and its chat template.
#pragma once

#include <cstdint>
#include <string>

#include "loongforge/base/files.h"
#include "loongforge/base/json.h"

namespace loongforge {

// The character that byte-level BPE writes for a byte.
inline std::string byte_letter(int byte) {
  const auto visible = [](int b) { return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174; };
  int code = byte;
  if (!visible(byte)) {
    code = 256;
    for (int b = 0; b < byte; ++b) code += visible(b) ? 0 : 1;
  }
  if (code < 128) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

// Ids: 0 <|endoftext|>, 1 <|im_start|>, 2 <|im_end|>, 3 + byte.
inline void write_tiny_tokenizer(const fs::path& folder) {
  Json vocab = Json::object(), added = Json::array();
  for (const char* token : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}) {
    const std::size_t id = vocab.size();
    vocab[token] = id;
    added.push_back({{"id", id},
                     {"content", token},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  for (int byte = 0; byte < 256; ++byte) vocab[byte_letter(byte)] = 3 + byte;
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const Json model = {{"type", "BPE"},
                      {"dropout", nullptr},
                      {"unk_token", nullptr},
                      {"continuing_subword_prefix", nullptr},
                      {"end_of_word_suffix", nullptr},
                      {"fuse_unk", false},
                      {"byte_fallback", false},
                      {"vocab", vocab},
                      {"merges", Json::array()}};
  const Json tokenizer = {{"version", "1.0"},          {"truncation", nullptr}, {"padding", nullptr},
                          {"added_tokens", added},     {"normalizer", nullptr}, {"pre_tokenizer", byte_level},
                          {"post_processor", nullptr}, {"decoder", byte_level}, {"model", model}};
  const std::string chat_template =
      "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  make_directories(folder);
  write_file_atomic(folder / "tokenizer.json", dump_json(tokenizer));
  write_file_atomic(folder / "tokenizer_config.json",
                    dump_json({{"tokenizer_class", "PreTrainedTokenizerFast"},
                               {"bos_token", "<|endoftext|>"},
                               {"eos_token", "<|im_end|>"},
                               {"chat_template", chat_template}}));
}

}  // namespace loongforge
