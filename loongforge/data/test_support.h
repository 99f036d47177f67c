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
#include "loongforge/text/tokenizer/byte_tokenizer_for_test.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {

inline constexpr std::int32_t kTestEos = 256, kTestStart = 257, kTestEnd = 258, kTestMerged = 259;

// Id b for byte b, three special tokens, and one merge: "\n" + "A" = 259. With `more` further special tokens
// behind them.
inline Tokenizer test_tokenizer(int more = 0) {
  ByteTokenizerForTest bytes;
  bytes.special = {{kTestEos, "<|endoftext|>"}, {kTestStart, "<|im_start|>"}, {kTestEnd, "<|im_end|>"}};
  for (int i = 0; i < more; ++i) bytes.special[kTestMerged + 1 + i] = concat("<|extra_", i, "|>");
  bytes.merges = {{"\n", "A", kTestMerged}};
  bytes.split_words = false;
  const TestFolder folder;
  folder.put("tokenizer.json", dump_json(to_json(bytes)));
  folder.put("tokenizer_config.json", dump_json({{"tokenizer_class", "PreTrainedTokenizerFast"},
                                                 {"eos_token", "<|endoftext|>"},
                                                 {"chat_template", kChatTemplateForTest}}));
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
