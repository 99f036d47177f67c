// Conversations for fine-tuning: reading the usual file forms, and making token ids with the mask of the
// trained ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/data/media_item.h"
#include "loongforge/data/unread_columns.h"

namespace loongforge {

class ChatTemplate;
class Tokenizer;
struct Rendered;
struct TokenSpan;
struct VisualInfo;

// One conversation in the form that chat templates take. Contents with pictures or clips are lists of parts
// {"type": "text", "text"}, {"type": "image"}, {"type": "video"}; all others are texts.
struct Conversation {
  Json messages;                      // [{"role", "content", ...}]
  Json tools;                         // array, or null
  std::string where;                  // "file:record", for messages
  std::vector<MediaItem> media = {};  // in the order of their parts
};

enum class ConversationFormat {
  kAuto,
  kOpenAi,    // {"messages": [{"role", "content", "tool_calls"...}], "tools": [...]}
  kShareGpt,  // {"conversations": [{"from", "value"}], "system", "tools"}
  kAlpaca,    // {"instruction", "input", "output", "history": [[question, answer]...], "system"}
};

// "auto", "openai", "sharegpt", "alpaca". Throws ConfigError.
ConversationFormat conversation_format(const std::string& name);
std::string conversation_format_name(ConversationFormat format);

// One record as a conversation; kAuto looks at the fields. Columns that exist but are not read are counted in
// `unread`; `resolve` finds the pictures and clips (conversation_media.h). Throws DataError naming `where`,
// the field, what was expected and got.
Conversation parse_conversation(const Json& record, ConversationFormat format, const std::string& where,
                                UnreadColumns* unread = nullptr, const MediaResolver& resolve = files_of(""));

// All conversations of a .jsonl(.gz, .zst) or .json (array) file, told apart by content, or of WebDataset
// shards (shard_list.h, webdataset_conversations.h; `format` is not used for these); at most `limit` when
// positive. Paths of pictures and clips begin at the file's folder. Throws DataError for a missing, empty or
// garbled file and for a record of another form.
std::vector<Conversation> read_conversations(const std::string& path, ConversationFormat format,
                                             std::int64_t limit = 0, UnreadColumns* unread = nullptr,
                                             const std::string& caption_prompt = "");

// What names of special tokens inside message contents become.
enum class ContentSpecials {
  kPlain,    // ordinary text: no user can end a turn by typing its marker
  kControl,  // the tokens themselves, as Hugging Face does
};

// A tokenised conversation. ids, trained: (n); trained[i] = 1 where token i is to be learnt.
struct TokenisedConversation {
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> trained;
  std::int64_t cut_tokens = 0;  // left out at the right end
  bool cuts_media = false;      // among them some of a picture or clip: the conversation is of no use

  std::int64_t trained_tokens() const;
};

struct ConversationOptions {
  std::int64_t max_tokens = 0;  // cut at the right beyond this; 0: no limit
  ContentSpecials specials = ContentSpecials::kPlain;
  const VisualInfo* visual = nullptr;  // of a model that reads pictures; must outlive the tokeniser
  bool open_answer = false;            // end with the opening of the assistant's answer; nothing is trained
};

// Renders conversations and tokenises each as one text. A token is trained when all its bytes lie within an
// assistant span (words and end-of-turn marker), so a token that a merge carries over either border is not;
// assistant messages with "weight": 0 are not trained either. Pictures and clips stand where the template
// writes their token, which is repeated; a template that knows no parts gets texts with the token between
// <|vision_start|> and <|vision_end|>, where the tokenizer has these. Const calls are thread-safe.
class ConversationTokeniser {
 public:
  // Both must outlive this object. Throws CheckpointError when the tokenizer lacks the model's tokens for
  // pictures.
  ConversationTokeniser(const ChatTemplate& chat_template, const Tokenizer& tokenizer,
                        ConversationOptions options = {});

  // places: tokens of each of conversation.media. Throws DataError beginning with conversation.where when the
  // template refuses the conversation or does not show just its pictures and clips, and for pictures given to
  // a model that reads none.
  TokenisedConversation tokenise(const Conversation& conversation,
                                 std::span<const std::int64_t> places = {}) const;

 private:
  void check_visual_tokens() const;
  bool knows_parts() const;
  Json joined_parts(const Json& messages) const;
  std::int32_t place_of(const MediaItem& item) const;
  std::vector<TokenSpan> encode(const Conversation& conversation, Rendered& rendered) const;
  Json hide_specials(const Json& value, bool& found) const;
  std::string hide_specials(const std::string& text, bool& found) const;

  const ChatTemplate& template_;
  const Tokenizer& tokenizer_;
  ConversationOptions options_;
  std::vector<std::string> special_names_;  // longest first
  std::string special_starts_;              // their first bytes
  bool join_parts_ = false;                 // the template knows no parts
};

}  // namespace loongforge
