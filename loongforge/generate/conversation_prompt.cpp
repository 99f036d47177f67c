#include "loongforge/generate/conversation_prompt.h"

#include <algorithm>

#include "loongforge/base/error.h"
#include "loongforge/data/media_loader.h"
#include "loongforge/data/visual_inputs.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

ConversationOptions options_of(const MediaLoader* media, bool open_answer) {
  ConversationOptions options;
  options.specials = ContentSpecials::kControl;
  options.visual = media != nullptr ? &media->visual() : nullptr;
  options.open_answer = open_answer;
  return options;
}

// The tokens of the last answer: what is trained without a gap up to the last trained token.
ScoredSequence last_answer(TokenisedConversation conversation, const std::string& where) {
  const auto& trained = conversation.trained;
  const auto end = std::find(trained.rbegin(), trained.rend(), std::uint8_t{1});
  check<DataError>(end != trained.rend(), where, ": the chat template shows no word of the answer");
  const auto begin = std::find(end, trained.rend(), std::uint8_t{0});
  ScoredSequence out;
  out.first_counted = std::max<std::int64_t>(1, trained.rend() - begin);
  conversation.ids.resize(static_cast<std::size_t>(trained.rend() - end));
  out.ids = std::move(conversation.ids);
  return out;
}

}  // namespace

PromptMaker::PromptMaker(const ChatTemplate& chat_template, const Tokenizer& tokenizer,
                         const MediaLoader* media)
    : template_(chat_template),
      media_(media),
      open_(chat_template, tokenizer, options_of(media, true)),
      closed_(chat_template, tokenizer, options_of(media, false)) {}

PromptMaker::Pictures PromptMaker::pictures(const Conversation& conversation) const {
  Pictures out;
  // A model of text refuses them by name when the conversation is tokenised.
  if (media_ == nullptr) out.places.resize(conversation.media.size());
  if (media_ == nullptr || conversation.media.empty()) return out;
  std::vector<PatchRows> patches;
  std::vector<double> seconds;
  for (const MediaItem& item : conversation.media) {
    const MediaGrid grid = media_->grid(item);
    out.places.push_back(media_->tokens(grid));
    patches.push_back(media_->load(item, grid));
    seconds.push_back(grid.seconds);
  }
  out.inputs = visual_inputs(patches, std::move(seconds));
  return out;
}

Prompt PromptMaker::prompt(const Conversation& conversation) const {
  Pictures shown = pictures(conversation);
  return {open_.tokenise(conversation, shown.places).ids, std::move(shown.inputs)};
}

Prompt PromptMaker::prompt(const Json& messages) const {
  return prompt(Conversation{messages, nullptr, "messages"});
}

std::vector<ScoredSequence> PromptMaker::answered(const Conversation& conversation,
                                                  const std::vector<std::string>& answers) const {
  const Pictures shown = pictures(conversation);
  std::vector<ScoredSequence> out;
  Conversation whole = conversation;
  whole.messages.push_back({{"role", "assistant"}, {"content", ""}});
  for (const std::string& answer : answers) {
    whole.messages.back()["content"] = answer;
    out.push_back(last_answer(closed_.tokenise(whole, shown.places), conversation.where));
    out.back().visual = shown.inputs;
  }
  return out;
}

std::string shown_text(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string out;
  for (const Json& part : content) {
    const std::string type = part.value("type", "");
    if (!out.empty() && out.back() != '\n') out += '\n';
    out += type == "text" ? part.value("text", "") : type == "video" ? "[clip]" : "[picture]";
  }
  return out;
}

}  // namespace loongforge
