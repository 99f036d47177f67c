// Normalizers of tokenizer.json: what happens to a text before it is cut.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loongforge/text/tokenizer/aligned_text.h"
#include "nlohmann/json.hpp"

namespace loongforge {

// One step of normalization; const calls may run on many threads at once.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(AlignedText& text) const = 0;
};

// Reads NFC, NFD, NFKC, NFKD, Lowercase, Replace, Prepend and Sequence; null gives no step.
// Throws CheckpointError naming `name` and the kind for any other.
std::vector<std::unique_ptr<Normalizer>> parse_normalizer(const nlohmann::json& spec,
                                                          const std::string& name);

}  // namespace loongforge
