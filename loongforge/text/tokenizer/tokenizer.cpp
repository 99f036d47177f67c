// GCC 12 takes the empty optional inside AlignedText for uninitialised when the sanitizers are on.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "loongforge/text/tokenizer/tokenizer.h"

#include "loongforge/base/error.h"
#include "loongforge/text/tokenizer/tokenizer_state.h"
#include "loongforge/text/unicode.h"

namespace loongforge {
namespace {

// Calls sink(id, begin, end) for every token of a section without added tokens.
template <typename Sink>
void encode_section(const TokenizerCore& core, AlignedText section, bool special, Sink& sink) {
  const std::size_t size = section.size();
  Words words{std::move(section), {{0, size}}};
  for (const auto& step : core.pre_tokenizers) step->apply(words);
  std::vector<WordToken> tokens;
  const std::string_view text = words.text.text();
  for (const ByteRange& range : words.ranges) {
    tokens.clear();
    core.model->encode(text.substr(range.begin, range.end - range.begin), tokens,
                       special ? nullptr : &core.special);
    std::size_t at = range.begin;
    for (const WordToken& token : tokens) {
      sink(token.id, words.text, at, at + token.length);
      at += token.length;
    }
  }
}

template <typename Sink>
void encode_text(const TokenizerCore& core, std::string_view text, bool special, Sink sink) {
  const std::size_t bad = find_invalid_utf8(text);
  check<DataError>(bad == std::string_view::npos, "text to encode: not UTF-8 at byte ", bad,
                   "; convert it to UTF-8");
  for (const TextPart& part : core.in_source.split(text, special)) {
    AlignedText section(text.substr(part.range.begin, part.range.end - part.range.begin), part.range.begin);
    if (part.id >= 0) {
      sink(part.id, section, 0, section.size());
      continue;
    }
    for (const auto& step : core.normalizers) step->apply(section);
    if (core.in_normalized.empty()) {
      encode_section(core, std::move(section), special, sink);
      continue;
    }
    for (const TextPart& inner : core.in_normalized.split(section.text(), special)) {
      if (inner.id >= 0) {
        sink(inner.id, section, inner.range.begin, inner.range.end);
      } else {
        encode_section(core, section.part(inner.range.begin, inner.range.end), special, sink);
      }
    }
  }
}

}  // namespace

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, bool special) const {
  std::vector<std::int32_t> ids;
  encode_text(*state_->core, text, special,
              [&](std::int32_t id, const AlignedText&, std::size_t, std::size_t) { ids.push_back(id); });
  return ids;
}

std::vector<TokenSpan> Tokenizer::encode_spans(std::string_view text, bool special) const {
  std::vector<TokenSpan> spans;
  encode_text(*state_->core, text, special,
              [&](std::int32_t id, const AlignedText& source, std::size_t begin, std::size_t end) {
                const ByteRange range = source.source_of(begin, end);
                spans.push_back({id, range.begin, range.end});
              });
  return spans;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
  const TokenizerCore& core = *state_->core;
  std::string bytes;
  for (const std::int32_t id : ids) {
    check<DataError>(id >= 0 && id < vocab_size(), core.name, ": decode: expected ids from 0 to ",
                     vocab_size() - 1, ", got ", id, "; use the tokenizer that made them");
    const auto i = static_cast<std::size_t>(id);
    if (skip_special && core.special[i]) continue;
    bytes += core.bytes[i];
  }
  return replace_invalid_utf8(bytes);
}

std::int32_t Tokenizer::vocab_size() const {
  return static_cast<std::int32_t>(state_->core->tokens.size());
}

std::optional<std::int32_t> Tokenizer::id(std::string_view token) const {
  const auto found = state_->core->vocabulary.find(token);
  if (found == state_->core->vocabulary.end()) return std::nullopt;
  return found->second;
}

const std::string& Tokenizer::token(std::int32_t id) const {
  static const std::string none;
  return id < 0 || id >= vocab_size() ? none : state_->core->tokens[static_cast<std::size_t>(id)];
}

bool Tokenizer::is_special(std::int32_t id) const {
  return id >= 0 && id < vocab_size() && state_->core->special[static_cast<std::size_t>(id)];
}

namespace {

std::optional<std::int32_t> named_id(const Tokenizer& tokenizer, const Json& special_tokens,
                                     const char* key) {
  const auto found = special_tokens.find(key);
  if (found == special_tokens.end()) return std::nullopt;
  return tokenizer.id(found->get_ref<const std::string&>());
}

}  // namespace

std::optional<std::int32_t> Tokenizer::bos_id() const {
  return named_id(*this, state_->special_tokens, "bos_token");
}
std::optional<std::int32_t> Tokenizer::eos_id() const {
  return named_id(*this, state_->special_tokens, "eos_token");
}
std::optional<std::int32_t> Tokenizer::pad_id() const {
  return named_id(*this, state_->special_tokens, "pad_token");
}
std::optional<std::int32_t> Tokenizer::unk_id() const {
  return named_id(*this, state_->special_tokens, "unk_token");
}

std::optional<std::string> Tokenizer::chat_template() const {
  return state_->chat_template;
}
Json Tokenizer::special_tokens_json() const {
  return state_->special_tokens;
}

}  // namespace loongforge
