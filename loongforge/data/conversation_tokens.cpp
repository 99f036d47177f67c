#include <algorithm>
#include <string_view>

#include "loongforge/base/error.h"
#include "loongforge/data/conversation.h"
#include "loongforge/text/template/chat_template.h"
#include "loongforge/text/tokenizer/tokenizer.h"
#include "loongforge/text/unicode.h"

namespace loongforge {
namespace {

// In rendered text, name k of a special token that a message typed is hidden behind this private character +
// k, so that the template's own markers and the typed ones can be told apart. The first four-byte lead shared
// by all of the plane is 0xF3.
constexpr char32_t kHidden = 0xF0000;
constexpr std::size_t kHiddenBytes = 4;

// Index of the hidden name at text[at], or npos.
std::size_t hidden_at(std::string_view text, std::size_t at, std::size_t names) {
  if (text[at] != '\xF3' || at + kHiddenBytes > text.size()) return std::string_view::npos;
  const char32_t code = next_code_point(text, at);
  return code >= kHidden && code < kHidden + names ? code - kHidden : std::string_view::npos;
}

// A piece of rendered text with hidden names written out, and the way back to its positions.
class Restored {
 public:
  Restored(std::string_view hidden, const std::vector<std::string>& names) {
    for (std::size_t at = 0; at < hidden.size();) {
      const std::size_t name = hidden_at(hidden, at, names.size());
      const std::size_t bytes = name == std::string_view::npos ? 1 : kHiddenBytes;
      if (bytes == 1) {
        text_.push_back(hidden[at]);
      } else {
        any_ = true;
        text_ += names[name];
      }
      // All bytes of a name stand for its one hidden character.
      begins_.resize(text_.size(), at);
      ends_.resize(text_.size(), at + bytes);
      at += bytes;
    }
  }

  bool any() const { return any_; }
  const std::string& text() const { return text_; }
  // The token of text() as a range of the text with hidden names that begins at `from`.
  TokenSpan original(const TokenSpan& token, std::size_t from) const {
    if (token.end <= token.begin) return {token.id, from, from};
    return {token.id, from + begins_[token.begin], from + ends_[token.end - 1]};
  }

 private:
  std::string text_;
  std::vector<std::size_t> begins_, ends_;  // of each byte of text_
  bool any_ = false;
};

// Tokens of a text with hidden names: between the template's own special tokens, pieces that hold a hidden
// name are tokenised again as plain text; ranges refer to the text as given.
std::vector<TokenSpan> encode_hidden(const Tokenizer& tokenizer, const std::string& text,
                                     const std::vector<std::string>& names) {
  const std::vector<TokenSpan> first = tokenizer.encode_spans(text, true);
  std::vector<TokenSpan> out;
  for (std::size_t begin = 0; begin < first.size();) {
    if (tokenizer.is_special(first[begin].id)) {
      out.push_back(first[begin++]);
      continue;
    }
    std::size_t end = begin;
    while (end < first.size() && !tokenizer.is_special(first[end].id)) ++end;
    const std::size_t from = first[begin].begin, to = first[end - 1].end;
    const Restored piece(std::string_view(text).substr(from, to - from), names);
    if (piece.any()) {
      for (const TokenSpan& token : tokenizer.encode_spans(piece.text(), false)) {
        out.push_back(piece.original(token, from));
      }
    } else {
      out.insert(out.end(), first.begin() + static_cast<std::ptrdiff_t>(begin),
                 first.begin() + static_cast<std::ptrdiff_t>(end));
    }
    begin = end;
  }
  return out;
}

bool has_weight_zero(const Json& messages, std::size_t index) {
  if (index >= messages.size()) return false;
  const auto weight = messages[index].find("weight");
  return weight != messages[index].end() && weight->is_number() && weight->get<double>() == 0;
}

}  // namespace

std::int64_t TokenisedConversation::trained_tokens() const {
  return std::count(trained.begin(), trained.end(), std::uint8_t{1});
}

ConversationTokeniser::ConversationTokeniser(const ChatTemplate& chat_template, const Tokenizer& tokenizer,
                                             ConversationOptions options)
    : template_(chat_template), tokenizer_(tokenizer), options_(options) {
  if (options_.specials == ContentSpecials::kControl) return;
  for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    if (tokenizer.is_special(id) && !tokenizer.token(id).empty())
      special_names_.push_back(tokenizer.token(id));
  }
  std::sort(special_names_.begin(), special_names_.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  for (const std::string& name : special_names_) {
    if (special_starts_.find(name.front()) == std::string::npos) special_starts_.push_back(name.front());
  }
}

std::string ConversationTokeniser::hide_specials(const std::string& text, bool& found) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find_first_of(special_starts_, at), text.size());
    out.append(text, at, next - at);
    at = next;
    if (at == text.size()) break;
    const auto name = std::find_if(special_names_.begin(), special_names_.end(),
                                   [&](const std::string& n) { return text.compare(at, n.size(), n) == 0; });
    if (name == special_names_.end()) {
      out.push_back(text[at++]);
    } else {
      append_utf8(out, kHidden + static_cast<char32_t>(name - special_names_.begin()));
      at += name->size();
      found = true;
    }
  }
  return out;
}

Json ConversationTokeniser::hide_specials(const Json& value, bool& found) const {
  if (value.is_string()) return hide_specials(value.get<std::string>(), found);
  if (!value.is_structured()) return value;
  Json out = value;
  for (auto& entry : out.items()) entry.value() = hide_specials(entry.value(), found);
  return out;
}

TokenisedConversation ConversationTokeniser::tokenise(const Conversation& conversation) const {
  bool hidden = false;
  const Json messages =
      special_names_.empty() ? conversation.messages : hide_specials(conversation.messages, hidden);
  RenderOptions render;
  render.tools = conversation.tools;
  Rendered rendered;
  try {
    rendered = template_.render(hidden ? messages : conversation.messages, render);
  } catch (const DataError& error) {
    throw DataError(conversation.where + ": " + error.what());
  }
  const std::vector<TokenSpan> tokens = hidden ? encode_hidden(tokenizer_, rendered.text, special_names_)
                                               : tokenizer_.encode_spans(rendered.text, true);
  TokenisedConversation out;
  std::size_t span = 0;
  for (const TokenSpan& token : tokens) {
    while (span < rendered.assistant.size() && rendered.assistant[span].end <= token.begin) ++span;
    const bool inside = span < rendered.assistant.size() && token.begin >= rendered.assistant[span].begin &&
                        token.end <= rendered.assistant[span].end && token.end > token.begin &&
                        !has_weight_zero(conversation.messages, rendered.assistant[span].message);
    out.ids.push_back(token.id);
    out.trained.push_back(inside ? 1 : 0);
  }
  const auto limit = static_cast<std::size_t>(options_.max_tokens);
  if (limit > 0 && out.ids.size() > limit) {
    out.cut_tokens = static_cast<std::int64_t>(out.ids.size() - limit);
    out.ids.resize(limit);
    out.trained.resize(limit);
  }
  return out;
}

}  // namespace loongforge
