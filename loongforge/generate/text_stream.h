// Text of tokens that arrive one by one, cut only at whole characters.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loongforge {

// Number of leading bytes of `text` that are whole UTF-8 characters: text without a character at its end that
// more bytes could still complete. Invalid bytes elsewhere count as whole.
std::size_t whole_characters(std::string_view text);

// Turns tokens into pieces of text. A piece holds back the bytes of an unfinished character, and a
// replacement character (U+FFFD) at the end, which stands for such bytes where the decoder replaces them.
class TextStream {
 public:
  using Decode = std::function<std::string(std::span<const std::int32_t>)>;
  explicit TextStream(Decode decode) : decode_(std::move(decode)) {}

  // The text that became certain with `id`; may be empty.
  std::string add(std::int32_t id);
  // What was held back, as the decoder gives it.
  std::string finish();

 private:
  // Only tokens from `context_` on are decoded again: those of the last piece (decoders may look one piece
  // back, e.g. for a leading blank) and the ones held back.
  Decode decode_;
  std::vector<std::int32_t> ids_;
  std::size_t context_ = 0, shown_ = 0;
};

}  // namespace loongforge
