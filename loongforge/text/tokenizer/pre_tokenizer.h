// Pre-tokenizers of tokenizer.json: where a text is cut into words before the merges.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loongforge/text/tokenizer/aligned_text.h"
#include "nlohmann/json.hpp"

namespace loongforge {

// A text and the words it has been cut into, in order; what no word covers has been removed.
struct Words {
  AlignedText text;
  std::vector<ByteRange> ranges;
};

// One step; const calls may run on many threads at once.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(Words& words) const = 0;
};

// Reads ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit and Sequence. The words come out
// as plain bytes (the alphabet of ByteLevel is undone at the end where later steps needed it). Throws
// CheckpointError naming `name` for other kinds, and when there is no ByteLevel.
std::vector<std::unique_ptr<PreTokenizer>> parse_pre_tokenizer(const nlohmann::json& spec,
                                                               const std::string& name);

}  // namespace loongforge
