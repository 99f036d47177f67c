// What a model reads of a conversation: the chat template applied, its pictures and clips read and put in
// their places.
#pragma once

#include <string>
#include <vector>

#include "loongforge/data/conversation.h"
#include "loongforge/generate/generator.h"
#include "loongforge/generate/likelihood.h"

namespace loongforge {

class MediaLoader;

// Const calls are thread-safe.
class PromptMaker {
 public:
  // All must outlive this object; media: null for a model of text. Names of special tokens in the messages
  // become these tokens. Throws CheckpointError when the tokenizer lacks the model's tokens for pictures.
  PromptMaker(const ChatTemplate& chat_template, const Tokenizer& tokenizer,
              const MediaLoader* media = nullptr);

  // Up to the opening of the assistant's answer. Throws DataError naming the conversation for what the
  // template refuses, and for pictures that cannot be read or that the model does not read.
  Prompt prompt(const Conversation& conversation) const;
  // Of messages [{"role", "content"}] without pictures.
  Prompt prompt(const Json& messages) const;

  // The conversation with each of the answers behind it, whose tokens, the end of the turn included, are
  // counted. Throws DataError as above.
  std::vector<ScoredSequence> answered(const Conversation& conversation,
                                       const std::vector<std::string>& answers) const;

  const ChatTemplate& chat_template() const { return template_; }
  // Null: of a model of text.
  const MediaLoader* media() const { return media_; }

 private:
  struct Pictures {
    std::vector<std::int64_t> places;  // tokens of each
    VisualInputs inputs;
  };
  Pictures pictures(const Conversation& conversation) const;

  const ChatTemplate& template_;
  const MediaLoader* media_;
  ConversationTokeniser open_, closed_;
};

// The words of a message's content, "[picture]" and "[clip]" where these stand.
std::string shown_text(const Json& content);

}  // namespace loongforge
