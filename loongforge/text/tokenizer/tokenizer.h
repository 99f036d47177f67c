// Text to token ids and back: byte-level BPE tokenizers of Hugging Face directories and GGUF files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loongforge/base/files.h"
#include "loongforge/base/json.h"

namespace loongforge {

class GgufFile;
struct TokenizerState;

// One token and the bytes [begin, end) of the text it came from. Where a normalizer changed the text the
// range covers the source characters; an inserted blank has an empty range.
struct TokenSpan {
  std::int32_t id = 0;
  std::size_t begin = 0, end = 0;
};

// A tokenizer, cheap to copy; every const call may run on many threads at once. The ids are those of the
// Hugging Face library `tokenizers` with add_special_tokens=False.
class Tokenizer {
 public:
  // `path`: a directory with tokenizer.json (and tokenizer_config.json, special_tokens_map.json,
  // chat_template.jinja where present), a tokenizer.json alone, or a .gguf file.
  // Throws CheckpointError naming file and key when something is missing, garbled or of a kind not supported.
  static Tokenizer load(const fs::path& path);
  // From the tokenizer.ggml.* keys of model "gpt2". Throws CheckpointError for other models and for an
  // unknown `tokenizer.ggml.pre`.
  static Tokenizer from_gguf(const GgufFile& file);
  // From the text of a tokenizer.json; `name` stands in messages.
  static Tokenizer from_json(std::string_view tokenizer_json, const std::string& name);

  // UTF-8 text to ids; no bos or eos is ever added. With `special` the names of special tokens inside the
  // text become their ids; without it they are plain text, so a user cannot forge a turn marker.
  // Throws DataError when the text is not UTF-8 (replace_invalid_utf8 of text/unicode.h mends it).
  std::vector<std::int32_t> encode(std::string_view text, bool special = true) const;
  // The same ids with their byte ranges.
  std::vector<TokenSpan> encode_spans(std::string_view text, bool special = true) const;
  // Ids to text; bytes that form no UTF-8 (a character cut in two) become U+FFFD as in Python's
  // errors="replace". Throws DataError for an id outside [0, vocab_size()).
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = false) const;

  // Highest id + 1: the least number of embedding rows.
  std::int32_t vocab_size() const;
  std::optional<std::int32_t> id(std::string_view token) const;
  // The token as it stands in the file ("Ġthe"); empty for an id that no token has.
  const std::string& token(std::int32_t id) const;
  bool is_special(std::int32_t id) const;

  std::optional<std::int32_t> bos_id() const;
  std::optional<std::int32_t> eos_id() const;
  std::optional<std::int32_t> pad_id() const;
  std::optional<std::int32_t> unk_id() const;

  // Source of the chat template, where the files carry one.
  std::optional<std::string> chat_template() const;
  // {"bos_token": "<s>", "eos_token": ...}: what chat templates see.
  Json special_tokens_json() const;

  // Writes tokenizer.json, tokenizer_config.json, special_tokens_map.json and chat_template.jinja into `dir`
  // so that transformers' AutoTokenizer loads it; files that came from a directory stay byte for byte.
  // Throws ResourceError.
  void save(const fs::path& dir) const;

  // A copy that also knows these special tokens, those it lacks under the next free ids.
  Tokenizer with_added_tokens(const std::vector<std::string>& tokens) const;

  // A copy whose chat template is `source`.
  Tokenizer with_chat_template(std::string source) const;

 private:
  explicit Tokenizer(std::shared_ptr<const TokenizerState> state) : state_(std::move(state)) {}
  std::shared_ptr<const TokenizerState> state_;
};

}  // namespace loongforge
