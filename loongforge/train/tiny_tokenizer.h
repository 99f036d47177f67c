// For tests: a byte-level tokenizer with the turn markers of ChatML, and its chat template.
#pragma once

#include "loongforge/base/files.h"
#include "loongforge/base/json.h"
#include "loongforge/text/tokenizer/byte_tokenizer_for_test.h"

namespace loongforge {

// Ids: 0 <|endoftext|>, 1 <|im_start|>, 2 <|im_end|>, 3 + byte.
inline void write_tiny_tokenizer(const fs::path& folder) {
  ByteTokenizerForTest bytes;
  bytes.first_byte = 3;
  bytes.special = {{0, "<|endoftext|>"}, {1, "<|im_start|>"}, {2, "<|im_end|>"}};
  make_directories(folder);
  write_file_atomic(folder / "tokenizer.json", dump_json(to_json(bytes)));
  write_file_atomic(folder / "tokenizer_config.json",
                    dump_json({{"tokenizer_class", "PreTrainedTokenizerFast"},
                               {"bos_token", "<|endoftext|>"},
                               {"eos_token", "<|im_end|>"},
                               {"chat_template", kChatTemplateForTest}}));
}

}  // namespace loongforge
