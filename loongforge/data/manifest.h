// PREFIX.json beside a prepared dataset: which tokenizer, sources and options made it, and its counts.
#pragma once

#include <cstdint>
#include <string>

#include "loongforge/base/files.h"
#include "loongforge/base/json.h"

namespace loongforge {

class Tokenizer;

std::uint64_t mix_hash(std::uint64_t a, std::uint64_t b);
// 16 hexadecimal digits.
std::string hex_hash(std::uint64_t hash);

// Same for tokenizers with the same tokens, special ones and the same ids for a probe text, whatever file
// they were read from.
std::string tokenizer_fingerprint(const Tokenizer& tokenizer);

// PREFIX.json of a prefix (which may end in .bin or .idx).
fs::path manifest_path(const std::string& prefix);
// Null when there is none, as for datasets made by Megatron-LM. Throws DataError when it is garbled.
Json read_manifest(const std::string& prefix);
// Hash of all tokens and document borders as `prepare` wrote it; 0 without manifest.
std::uint64_t manifest_content_hash(const std::string& prefix);

// Throws DataError unless PREFIX.bin and PREFIX.idx exist; the message tells raw text, an interrupted
// `prepare` and a wrong path apart and names the command that mends it.
void require_prepared(const std::string& prefix);

// Throws CheckpointError when the dataset was made with another tokenizer, or one that knows more ids than
// the embedding has rows (0: not checked). Without manifest nothing is known.
void check_tokenizer_fits(const std::string& prefix, const Tokenizer* tokenizer, std::int64_t embedding_rows);

}  // namespace loongforge
