// Added tokens: names that are found in a text before it is cut into words.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "loongforge/text/tokenizer/aligned_text.h"

namespace loongforge {

struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  // Only where no letter or digit touches it.
  bool single_word = false;
  // Takes the white space before or behind it along.
  bool lstrip = false, rstrip = false;
  // Searched in the normalized text instead of the source.
  bool normalized = true;
  // A control token, such as a turn marker.
  bool special = false;
};

// A part of a text: plain (id < 0) or a token.
struct TextPart {
  ByteRange range;
  std::int32_t id = -1;
};

// Finds the longest name at each place, from left to right.
class AddedTokenFinder {
 public:
  // `name`: what is searched for `token`, which must outlive the finder.
  void add(std::string_view name, const AddedToken& token);
  bool empty() const { return tokens_.empty(); }

  // Cuts `text` at the tokens found; without `special` the special ones stay plain text.
  std::vector<TextPart> split(std::string_view text, bool special) const;

 private:
  struct Node {
    std::unordered_map<unsigned char, std::uint32_t> next;
    std::int32_t token = -1;  // index into tokens_
  };
  // The longest name that starts at `begin`: its index and end; -1 when there is none.
  std::int32_t longest(std::string_view text, std::size_t begin, std::size_t& end) const;

  std::vector<const AddedToken*> tokens_;
  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::array<bool, 256> starts_{};
};

}  // namespace loongforge
