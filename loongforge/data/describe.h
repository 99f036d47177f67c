// What `inspect data` shows: a prepared dataset or a file of conversations as one JSON object.
#pragma once

#include <cstdint>
#include <string>

#include "loongforge/base/json.h"

namespace loongforge {

class ChatTemplate;
class Tokenizer;

struct DescribeOptions {
  const Tokenizer* tokenizer = nullptr;         // decodes the samples
  const ChatTemplate* chat_template = nullptr;  // conversations: token lengths and trained share
  std::string format = "auto";                  // of conversations
  std::int64_t samples = 3;                     // first documents shown
  std::int64_t sample_tokens = 64;              // tokens shown of each
};

// {"kind": "prepared", "documents", "tokens", "lengths": {min, median, mean, p90, max, histogram},
// "manifest", "samples"} or {"kind": "conversations", "format", "conversations", "turns", ...}. Throws
// DataError.
Json describe_data(const std::string& path, const DescribeOptions& options = {});

}  // namespace loongforge
