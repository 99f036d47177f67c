// Conversations for fine-tuning: reading the usual file forms, and making token ids with the mask of the
// trained ones.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "loongforge/base/json.h"

namespace loongforge {

class ChatTemplate;
class Tokenizer;

// One conversation in the form that chat templates take.
struct Conversation {
  Json messages;      // [{"role", "content", ...}]
  Json tools;         // array, or null
  std::string where;  // "file:record", for messages
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
// `unread`. Throws DataError naming `where`, the field, what was expected and got.
Conversation parse_conversation(const Json& record, ConversationFormat format, const std::string& where,
                                std::map<std::string, std::int64_t>* unread = nullptr);

// All conversations of a .jsonl(.gz, .zst) or .json (array) file, told apart by content; at most `limit` when
// positive. Throws DataError for a missing, empty or garbled file and for a record of another form.
std::vector<Conversation> read_conversations(const std::string& path, ConversationFormat format,
                                             std::int64_t limit = 0,
                                             std::map<std::string, std::int64_t>* unread = nullptr);

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

  std::int64_t trained_tokens() const;
};

struct ConversationOptions {
  std::int64_t max_tokens = 0;  // cut at the right beyond this; 0: no limit
  ContentSpecials specials = ContentSpecials::kPlain;
};

// Renders conversations and tokenises each as one text. A token is trained when all its bytes lie within an
// assistant span (words and end-of-turn marker), so a token that a merge carries over either border is not;
// assistant messages with "weight": 0 are not trained either. Const calls are thread-safe.
class ConversationTokeniser {
 public:
  // Both must outlive this object.
  ConversationTokeniser(const ChatTemplate& chat_template, const Tokenizer& tokenizer,
                        ConversationOptions options = {});

  // Throws DataError beginning with conversation.where when the template refuses it.
  TokenisedConversation tokenise(const Conversation& conversation) const;

 private:
  Json hide_specials(const Json& value, bool& found) const;
  std::string hide_specials(const std::string& text, bool& found) const;

  const ChatTemplate& template_;
  const Tokenizer& tokenizer_;
  ConversationOptions options_;
  std::vector<std::string> special_names_;  // longest first
  std::string special_starts_;              // their first bytes
};

}  // namespace loongforge
