#include "loongforge/text/tokenizer/added_tokens.h"

#include <algorithm>

#include "loongforge/text/unicode.h"

namespace loongforge {
namespace {

// Start of the code point that ends at `end`.
std::size_t previous_start(std::string_view text, std::size_t end) {
  do {
    --end;
  } while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  return end;
}

bool word_before(std::string_view text, std::size_t at) {
  if (at == 0) return false;
  std::size_t i = previous_start(text, at);
  return is_word_character(next_code_point(text, i));
}

bool word_behind(std::string_view text, std::size_t at) {
  return at < text.size() && is_word_character(next_code_point(text, at));
}

std::size_t skip_space_back(std::string_view text, std::size_t at, std::size_t least) {
  while (at > least) {
    const std::size_t start = previous_start(text, at);
    std::size_t i = start;
    if (!is_white_space(next_code_point(text, i))) break;
    at = start;
  }
  return std::max(at, least);
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    std::size_t next = at;
    if (!is_white_space(next_code_point(text, next))) break;
    at = next;
  }
  return at;
}

}  // namespace

void AddedTokenFinder::add(std::string_view name, const AddedToken& token) {
  if (name.empty()) return;
  std::uint32_t node = 0;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const auto found = nodes_[node].next.find(byte);
    if (found != nodes_[node].next.end()) {
      node = found->second;
      continue;
    }
    const auto fresh = static_cast<std::uint32_t>(nodes_.size());
    nodes_[node].next.emplace(byte, fresh);
    nodes_.emplace_back();
    node = fresh;
  }
  // The first of two tokens with one name is found.
  if (nodes_[node].token < 0) nodes_[node].token = static_cast<std::int32_t>(tokens_.size());
  tokens_.push_back(&token);
  starts_[static_cast<unsigned char>(name.front())] = true;
}

std::int32_t AddedTokenFinder::longest(std::string_view text, std::size_t begin, std::size_t& end) const {
  std::int32_t best = -1;
  std::uint32_t node = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const auto found = nodes_[node].next.find(static_cast<unsigned char>(text[i]));
    if (found == nodes_[node].next.end()) break;
    node = found->second;
    if (nodes_[node].token >= 0) {
      best = nodes_[node].token;
      end = i + 1;
    }
  }
  return best;
}

std::vector<TextPart> AddedTokenFinder::split(std::string_view text, bool special) const {
  std::vector<TextPart> parts;
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size() && !tokens_.empty();) {
    std::size_t end = 0;
    const std::int32_t index = starts_[static_cast<unsigned char>(text[i])] ? longest(text, i, end) : -1;
    if (index < 0) {
      ++i;
      continue;
    }
    const AddedToken& token = *tokens_[static_cast<std::size_t>(index)];
    std::size_t begin = i;
    i = end;
    if (token.special && !special) continue;
    if (token.single_word && (word_before(text, begin) || word_behind(text, end))) continue;
    if (token.lstrip) begin = skip_space_back(text, begin, std::min(done, begin));
    if (token.rstrip) end = skip_space(text, end);
    begin = std::max(begin, done);
    end = std::max(end, begin);
    if (begin > done) parts.push_back({{done, begin}, -1});
    parts.push_back({{begin, end}, token.id});
    done = end;
  }
  if (done < text.size()) parts.push_back({{done, text.size()}, -1});
  return parts;
}

}  // namespace loongforge
