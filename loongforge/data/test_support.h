// What the tests of this floor share: a small tokenizer and prepared files with known tokens.
#pragma once

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/data/batch.h"
#include "loongforge/formats/indexed_dataset.h"
#include "loongforge/formats/test_folder.h"
#include "loongforge/text/tokenizer/byte_alphabet.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {

inline constexpr std::int32_t kTestEos = 256, kTestStart = 257, kTestEnd = 258, kTestMerged = 259;

inline constexpr const char* kTestTemplate =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif "
    "%}";

// Id b for byte b, three special tokens, and one merge: "\n" + "A" = 259. With `more` further special tokens
// behind them.
inline Tokenizer test_tokenizer(int more = 0) {
  const TestFolder folder;
  Json vocab = Json::object(), added = Json::array();
  for (int byte = 0; byte < 256; ++byte) vocab[byte_character(static_cast<unsigned char>(byte))] = byte;
  std::vector<std::string> names = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
  for (std::size_t i = 0; i < names.size(); ++i) vocab[names[i]] = 256 + i;
  vocab[token_of_bytes("\nA")] = kTestMerged;
  const auto special = [&](const std::string& name, std::size_t id) {
    added.push_back({{"id", id},
                     {"content", name},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  };
  for (std::size_t i = 0; i < names.size(); ++i) special(names[i], 256 + i);
  for (int i = 0; i < more; ++i) special(concat("<|extra_", i, "|>"), 260 + static_cast<std::size_t>(i));
  const Json level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
  const Json file = {{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", added},
                     {"normalizer", nullptr},
                     {"pre_tokenizer", level},
                     {"post_processor", nullptr},
                     {"decoder", level},
                     {"model",
                      {{"type", "BPE"},
                       {"dropout", nullptr},
                       {"unk_token", nullptr},
                       {"continuing_subword_prefix", nullptr},
                       {"end_of_word_suffix", nullptr},
                       {"fuse_unk", false},
                       {"byte_fallback", false},
                       {"vocab", vocab},
                       {"merges", Json::array({Json::array({token_of_bytes("\n"), "A"})})}}}};
  folder.put("tokenizer.json", dump_json(file));
  folder.put("tokenizer_config.json", dump_json({{"tokenizer_class", "PreTrainedTokenizerFast"},
                                                 {"eos_token", "<|endoftext|>"},
                                                 {"chat_template", kTestTemplate}}));
  return Tokenizer::load(folder.path());
}

// Writes documents of the given lengths whose tokens count up from `first` without gaps, so that each token
// of the file is another number.
inline void put_documents(const fs::path& prefix, const std::vector<std::int64_t>& lengths,
                          std::int32_t first = 0) {
  IndexedDatasetWriter writer(prefix, 1 << 20);
  for (const std::int64_t length : lengths) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(length));
    std::iota(ids.begin(), ids.end(), first);
    first += static_cast<std::int32_t>(length);
    writer.add(ids);
    writer.end_document();
  }
  writer.commit();
}

inline std::vector<std::int64_t> values_of(const Batch& batch, const std::string& name) {
  const at::Tensor& tensor = batch.at(name);
  if (tensor.scalar_type() == at::kInt) {
    const auto* data = tensor.const_data_ptr<std::int32_t>();
    return {data, data + tensor.numel()};
  }
  const auto* data = tensor.const_data_ptr<std::int64_t>();
  return {data, data + tensor.numel()};
}

inline std::string file_bytes(const fs::path& path) {
  return read_file(path);
}

}  // namespace loongforge
