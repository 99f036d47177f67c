#include "loongforge/train/samples.h"

#include "loongforge/base/files.h"
#include "loongforge/data/media_loader.h"
#include "loongforge/generate/conversation_prompt.h"
#include "loongforge/generate/questions.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

std::vector<std::int32_t> stop_ids(const RunConfig& config, const Tokenizer& tokenizer) {
  const std::string& folder = config.model.composed() ? config.model.language.path : config.model.path;
  if (!folder.empty()) return stop_ids_of(folder, tokenizer);
  std::vector<std::int32_t> ids;
  if (const auto eos = tokenizer.eos_id()) ids.push_back(*eos);
  return ids;
}

void add_prompts(const RunConfig& config, const Tokenizer& tokenizer, const std::optional<PromptMaker>& maker,
                 std::vector<SamplePrompt>& out) {
  for (const std::string& text : config.sample.prompts) {
    Prompt prompt = maker ? maker->prompt(Json::array({{{"role", "user"}, {"content", text}}}))
                          : Prompt{tokenizer.encode(text), {}};
    out.push_back({std::move(prompt), {{"prompt", text}}});
  }
}

// The file of the first picture; empty when there is none, or it is in an archive.
std::string picture_file(const Conversation& conversation) {
  for (const MediaItem& item : conversation.media)
    if (!item.is_clip() && !item.sources.front().held) return fs::absolute(item.name()).string();
  return "";
}

void add_conversations(const RunConfig& config, const PromptMaker& maker, std::vector<SamplePrompt>& out) {
  if (config.sample.conversations.empty()) return;
  const ConversationFormat format = conversation_format(config.data.format);
  UnreadColumns unread;
  std::vector<Conversation> conversations =
      read_conversations(config.sample.conversations, format, config.sample.max_conversations, &unread,
                         config.data.caption_prompt);
  warn_of_unread(config.sample.conversations, unread);
  for (Conversation& one : conversations) {
    const std::optional<std::string> expected = take_answer(one);
    check<DataError>(expected && !one.messages.empty(), one.where,
                     ": expected a conversation that ends with an answer, for sample.conversations");
    Json shown = {{"prompt", shown_text(one.messages.back().at("content"))}, {"expected", *expected}};
    if (const std::string file = picture_file(one); !file.empty()) shown["picture"] = file;
    out.push_back({maker.prompt(one), std::move(shown)});
  }
}

}  // namespace

std::vector<SamplePrompt> make_sample_prompts(const RunConfig& config, const Tokenizer& tokenizer,
                                              const ChatTemplate* chat_template, const MediaLoader* media) {
  std::optional<PromptMaker> maker;
  if (chat_template != nullptr) maker.emplace(*chat_template, tokenizer, media);
  std::vector<SamplePrompt> out;
  add_prompts(config, tokenizer, maker, out);
  if (maker) add_conversations(config, *maker, out);
  return out;
}

std::vector<Json> generate_samples(const RunConfig& config, const Model& model, const Tokenizer& tokenizer,
                                   const std::vector<SamplePrompt>& prompts, std::int64_t step,
                                   const std::string& when) {
  GenerateOptions options;
  options.max_new_tokens = config.sample.max_new_tokens;
  options.stop_ids = stop_ids(config, tokenizer);
  std::vector<Prompt> questions;
  for (const SamplePrompt& one : prompts) questions.push_back(one.prompt);
  const std::vector<Generation> answers = Generator(model, tokenizer, options).generate_prompts(questions);
  std::vector<Json> samples;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    samples.push_back({{"step", step},
                       {"when", when},
                       {"text", answers[i].text},
                       {"tokens", answers[i].ids.size()},
                       {"finish", answers[i].finish}});
    samples.back().update(prompts[i].shown);
  }
  return samples;
}

}  // namespace loongforge
