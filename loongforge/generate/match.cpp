#include "loongforge/generate/match.h"

#include <algorithm>
#include <map>
#include <utility>

#include "loongforge/base/process.h"
#include "loongforge/base/random.h"
#include "loongforge/data/media_loader.h"
#include "loongforge/generate/answer_store.h"
#include "loongforge/generate/questions.h"
#include "loongforge/generate/share.h"
#include "loongforge/nn/model.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

// Pictures that are held in memory at the same time.
constexpr std::int64_t kPicturesTogether = 64;

Json check_json(const AnswerCheck& check) {
  return {{"tag", check.tag},
          {"last_line", check.last_line},
          {"trim", check.trim},
          {"ignore_case", check.ignore_case},
          {"collapse_space", check.collapse_space}};
}

// Hash of evenly spaced elements of every parameter: other weights give another one.
std::uint64_t weights_fingerprint(const Model& model) {
  constexpr std::int64_t kElements = 4096;
  std::string all;
  for (const ParamRef& param : model.params()) {
    const at::Tensor flat = param->value.detach().view({-1});
    const std::int64_t stride = std::max<std::int64_t>(1, flat.numel() / kElements);
    const at::Tensor some = flat.slice(0, 0, flat.numel(), stride).contiguous();
    all += param->spec.name;
    all.append(static_cast<const char*>(some.const_data_ptr()), some.nbytes());
  }
  return hash_bytes(all);
}

// Of the words and of the files that are shown.
std::string question_text(const Question& question) {
  std::string out = dump_json(question.conversation.messages);
  out += dump_json(question.conversation.tools);
  for (const MediaItem& item : question.conversation.media) {
    out += concat('\n', item.frame_rate);
    for (const MediaSource& source : item.sources) {
      const MediaBytes file = source.open();
      const std::string_view bytes(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
      out += concat('\n', std::hex, hash_bytes(bytes));
    }
  }
  return out + '\n' + question.expected + '\n' + question.task + '\n';
}

// Everything that an answer depends on; stored answers of another header are not used.
Json header_of(const std::vector<Question>& questions, const Generator& generator, const PromptMaker& maker,
               const MatchOptions& options) {
  std::string all = maker.chat_template().source();
  for (const Question& question : questions) {
    all += question_text(question);
  }
  Json shown;  // how pictures and clips are prepared
  if (const MediaLoader* media = maker.media())
    shown = {{"pictures", picture_settings(media->processor())},
             {"clips", clip_settings(media->processor())}};
  const GenerateOptions& generate = generator.options();
  return {{"kind", "match"},
          {"model", options.model_identity},
          {"weights", concat(std::hex, weights_fingerprint(generator.model()))},
          {"questions", concat(std::hex, hash_bytes(all))},
          {"shown", shown},
          {"check", check_json(options.check)},
          {"max_new_tokens", generate.max_new_tokens},
          {"max_length", generate.max_length},
          {"stop_ids", generate.stop_ids},
          {"temperature", generate.sampling.temperature},
          {"top_k", generate.sampling.top_k},
          {"top_p", generate.sampling.top_p},
          {"seed", generate.sampling.seed}};
}

std::vector<Question> limited(std::vector<Question> questions, std::int64_t limit) {
  if (limit <= 0) return questions;
  std::map<std::string, std::int64_t> seen;
  std::erase_if(questions, [&](const Question& question) { return ++seen[question.task] > limit; });
  return questions;
}

Json answer_line(std::size_t index, const Question& question, const Generation& generation,
                 const AnswerCheck& check) {
  return {{"index", index},
          {"task", question.task},
          {"question", shown_text(question.conversation.messages.back().at("content"))},
          {"expected", question.expected},
          {"answer", generation.text},
          {"right", answer_is_right(generation.text, question.expected, check)},
          {"finish", generation.finish},
          {"tokens", generation.ids.size()}};
}

// Questions of one task that have no answer yet, together: they share the longest beginning.
void answer_task(Generator& generator, const PromptMaker& maker, const std::vector<Question>& questions,
                 const std::string& task, const MatchOptions& options, AnswerStore& store) {
  std::vector<std::size_t> indices;
  std::vector<Prompt> prompts;
  const auto answer = [&] {
    generator.generate_prompts(prompts, {}, [&](std::size_t prompt, const Generation& generation) {
      const std::size_t index = indices[prompt];
      store.add(answer_line(index, questions[index], generation, options.check));
      if (options.on_progress) {
        options.on_progress(static_cast<std::int64_t>(store.answers().size()),
                            static_cast<std::int64_t>(questions.size()));
      }
    });
    indices.clear();
    prompts.clear();
  };
  std::int64_t pictures = 0;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (questions[i].task != task || store.has(static_cast<std::int64_t>(i))) continue;
    indices.push_back(i);
    prompts.push_back(maker.prompt(questions[i].conversation));
    pictures += std::ssize(questions[i].conversation.media);
    if (pictures < kPicturesTogether) continue;
    answer();
    pictures = 0;
  }
  answer();
}

struct Tally {
  std::int64_t questions = 0, right = 0;
  void add(bool is_right) {
    ++questions;
    right += is_right;
  }
  Json json() const {
    Json out = {{"questions", questions}};
    out.update(share_json(right, questions));
    return out;
  }
};

}  // namespace

Json eval_match(Generator& generator, const PromptMaker& maker, const std::filesystem::path& questions_file,
                const MatchOptions& options) {
  const double start = monotonic_seconds();
  const std::vector<Question> questions = limited(read_questions(questions_file), options.limit);
  AnswerStore store(options.answers, header_of(questions, generator, maker, options));

  std::map<std::string, Tally> tasks;
  for (const Question& question : questions) tasks[question.task];
  for (const auto& [task, tally] : tasks) {
    answer_task(generator, maker, questions, task, options, store);
  }
  Tally all;
  for (const auto& [index, answer] : store.answers()) {
    all.add(answer.at("right").get<bool>());
    tasks[answer.at("task").get<std::string>()].add(answer.at("right").get<bool>());
  }
  Json out = {{"kind", "match"}};
  out.update(all.json());
  out["seconds"] = monotonic_seconds() - start;
  out["tasks"] = Json::object();
  for (const auto& [task, tally] : tasks) out["tasks"][task] = tally.json();
  if (!options.answers.empty()) out["answers"] = options.answers.filename().string();
  return out;
}

}  // namespace loongforge
