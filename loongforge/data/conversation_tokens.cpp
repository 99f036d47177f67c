#include <algorithm>
#include <string_view>

#include "loongforge/base/error.h"
#include "loongforge/data/conversation.h"
#include "loongforge/nn/model.h"
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

bool is_place(const VisualInfo* visual, std::int32_t id) {
  return visual != nullptr && (id == visual->image_token || id == visual->video_token);
}

// Leaves the first `limit` tokens; those of pictures and clips end at `media_end`.
void cut(TokenisedConversation& out, std::size_t limit, std::size_t media_end) {
  if (out.ids.size() <= limit) return;
  out.cut_tokens = static_cast<std::int64_t>(out.ids.size() - limit);
  out.cuts_media = media_end > limit;
  out.ids.resize(limit);
  out.trained.resize(limit);
}

void check_shown(const Conversation& conversation, std::size_t shown, bool fits) {
  check<DataError>(fits, conversation.where, ": expected the chat template to show the ",
                   conversation.media.size(),
                   " pictures and clips in their order, got another one or none as number ", shown + 1,
                   "; take a template that shows all of them, and keep their token's name out of the texts");
}

}  // namespace

std::int64_t TokenisedConversation::trained_tokens() const {
  return std::count(trained.begin(), trained.end(), std::uint8_t{1});
}

ConversationTokeniser::ConversationTokeniser(const ChatTemplate& chat_template, const Tokenizer& tokenizer,
                                             ConversationOptions options)
    : template_(chat_template), tokenizer_(tokenizer), options_(options) {
  if (options_.visual != nullptr) {
    check_visual_tokens();
    join_parts_ = !knows_parts();
  }
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

void ConversationTokeniser::check_visual_tokens() const {
  for (const std::int64_t id : {options_.visual->image_token, options_.visual->video_token}) {
    const bool known = id < tokenizer_.vocab_size() && tokenizer_.is_special(static_cast<std::int32_t>(id));
    check<CheckpointError>(known, "tokenizer: expected id ", id,
                           ", which holds the place of a picture or clip, to be a special token; take the "
                           "tokenizer that belongs to the model");
  }
}

std::int32_t ConversationTokeniser::place_of(const MediaItem& item) const {
  return static_cast<std::int32_t>(item.is_clip() ? options_.visual->video_token
                                                  : options_.visual->image_token);
}

// Whether the template writes the token of a picture for a part of a content list.
bool ConversationTokeniser::knows_parts() const {
  const Json part = {{"type", "image"}};
  RenderOptions render;
  render.assistant_spans = false;
  try {
    const Rendered rendered =
        template_.render(Json::array({{{"role", "user"}, {"content", Json::array({part})}}}), render);
    return rendered.text.find(tokenizer_.token(place_of({}))) != std::string::npos;
  } catch (const DataError&) {
    return false;
  }
}

Json ConversationTokeniser::joined_parts(const Json& messages) const {
  const auto name = [&](const char* token) { return tokenizer_.id(token) ? token : ""; };
  Json out = messages;
  for (Json& message : out) {
    if (!message.at("content").is_array()) continue;
    std::string text;
    for (const Json& part : message.at("content")) {
      if (part.contains("text")) {
        text += part.at("text").get<std::string>();
      } else {
        const MediaItem item{part.at("type") == "video" ? MediaItem::Kind::kClip : MediaItem::Kind::kPicture};
        text += name("<|vision_start|>") + tokenizer_.token(place_of(item)) + name("<|vision_end|>");
      }
    }
    message["content"] = text;
  }
  return out;
}

std::vector<TokenSpan> ConversationTokeniser::encode(const Conversation& conversation,
                                                     Rendered& rendered) const {
  bool hidden = false;
  Json messages;
  if (!special_names_.empty()) messages = hide_specials(conversation.messages, hidden);
  if (!hidden) messages = conversation.messages;
  if (join_parts_) messages = joined_parts(messages);
  RenderOptions render;
  render.tools = conversation.tools;
  render.add_generation_prompt = options_.open_answer;
  render.assistant_spans = !options_.open_answer;
  try {
    rendered = template_.render(messages, render);
  } catch (const DataError& error) {
    throw DataError(conversation.where + ": " + error.what());
  }
  return hidden ? encode_hidden(tokenizer_, rendered.text, special_names_)
                : tokenizer_.encode_spans(rendered.text, true);
}

TokenisedConversation ConversationTokeniser::tokenise(const Conversation& conversation,
                                                      std::span<const std::int64_t> places) const {
  const auto& media = conversation.media;
  check<DataError>(options_.visual != nullptr || media.empty(), conversation.where, ": shows ", media.size(),
                   " pictures or clips, but the model reads text alone; leave them out or train a "
                   "vision-language model");
  check<InternalError>(places.size() == media.size(), "tokenise: ", media.size(), " media, ", places.size(),
                       " places");
  Rendered rendered;
  const std::vector<TokenSpan> tokens = encode(conversation, rendered);
  TokenisedConversation out;
  std::size_t span = 0, shown = 0, media_end = 0;
  for (const TokenSpan& token : tokens) {
    while (span < rendered.assistant.size() && rendered.assistant[span].end <= token.begin) ++span;
    const bool inside = span < rendered.assistant.size() && token.begin >= rendered.assistant[span].begin &&
                        token.end <= rendered.assistant[span].end && token.end > token.begin &&
                        !has_weight_zero(conversation.messages, rendered.assistant[span].message);
    if (is_place(options_.visual, token.id)) {
      check_shown(conversation, shown, shown < media.size() && token.id == place_of(media[shown]));
      const auto count = static_cast<std::size_t>(places[shown++]);
      out.ids.insert(out.ids.end(), count, token.id);
      out.trained.insert(out.trained.end(), count, 0);
      media_end = out.ids.size();
    } else {
      out.ids.push_back(token.id);
      out.trained.push_back(inside ? 1 : 0);
    }
  }
  check_shown(conversation, shown, shown == media.size());
  if (options_.max_tokens > 0) cut(out, static_cast<std::size_t>(options_.max_tokens), media_end);
  return out;
}

}  // namespace loongforge
