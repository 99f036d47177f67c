#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "loongforge/base/error.h"
#include "loongforge/data/conversation_media.h"
#include "loongforge/formats/jsonl.h"
#include "loongforge/generate/conversation_prompt.h"
#include "loongforge/generate/likelihood.h"
#include "loongforge/generate/questions.h"
#include "loongforge/generate/share.h"
#include "loongforge/nn/model.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

// Forwards for which sequences are made at the same time.
constexpr std::int64_t kTogether = 4;

struct ChoiceQuestion {
  std::string task;
  Conversation conversation;  // without a template: messages is the question's text
  std::vector<std::string> choices;
  std::size_t right = 0;
};

// Index of the right option: its number from 0, its text, or its letter.
std::size_t right_option(const Json& line, const std::vector<std::string>& choices,
                         const std::string& where) {
  check<DataError>(line.contains("answer"), where, ": expected \"answer\", which is missing");
  const Json& answer = line["answer"];
  if (answer.is_number_integer()) {
    const auto index = answer.get<std::int64_t>();
    check<DataError>(index >= 0 && index < static_cast<std::int64_t>(choices.size()), where,
                     ": answer: expected 0 to ", choices.size() - 1, ", got ", index);
    return static_cast<std::size_t>(index);
  }
  check<DataError>(answer.is_string(), where, ": answer: expected number, letter or text, got ",
                   answer.type_name());
  const auto text = answer.get<std::string>();
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  const bool letter = text.size() == 1 && text[0] >= 'A' && text[0] < 'A' + static_cast<int>(choices.size());
  check<DataError>(letter, where, ": answer: expected one of the choices or its letter, got '", text, "'");
  return static_cast<std::size_t>(text[0] - 'A');
}

std::vector<std::string> choices_of(const Json& line, const std::string& where) {
  check<DataError>(line.contains("choices") && line["choices"].is_array() && line["choices"].size() >= 2,
                   where, ": choices: expected a list of at least two texts");
  std::vector<std::string> choices;
  for (const Json& choice : line["choices"]) {
    check<DataError>(choice.is_string() && !choice.get<std::string>().empty(), where,
                     ": choices: expected texts that are not empty, got ", dump_json(choice));
    choices.push_back(choice.get<std::string>());
  }
  return choices;
}

// Makes the token sequences of a question with its options.
class SequenceMaker {
 public:
  SequenceMaker(const Tokenizer& tokenizer, const PromptMaker* maker, const std::string& separator)
      : tokenizer_(tokenizer), maker_(maker), separator_(separator) {}

  // Nothing is read but the conversation, for which `line` is checked.
  void prepare(const Json& line, const std::string& where, const fs::path& file, UnreadColumns& unread,
               ChoiceQuestion& out) const {
    std::set<std::string_view> read = {"task", "choices", "answer"};
    if (maker_ != nullptr) {
      out.conversation = question_conversation(line, where, file, read, &unread);
      return;
    }
    read.insert("question");
    count_unread(line, read, &unread);
    check<DataError>(line.contains("question") && line["question"].is_string(), where,
                     ": expected \"question\" (text): the model has no chat template for \"messages\"");
    for (const std::string_view column : kMediaColumns) {
      check<DataError>(!line.contains(column), where, ": ", column,
                       ": pictures and clips need the model's chat template, and no --plain");
    }
    out.conversation.messages = line["question"];
  }

  std::vector<ScoredSequence> make(const ChoiceQuestion& question) const {
    if (maker_ != nullptr) return maker_->answered(question.conversation, question.choices);
    std::vector<ScoredSequence> out;
    const auto text = question.conversation.messages.get<std::string>();
    for (const std::string& choice : question.choices) out.push_back(continued(text, separator_ + choice));
    return out;
  }

 private:
  // Counts the tokens that reach beyond the question.
  ScoredSequence continued(const std::string& question, const std::string& choice) const {
    ScoredSequence sequence;
    sequence.first_counted = 0;
    for (const TokenSpan& span : tokenizer_.encode_spans(question + choice)) {
      if (span.end <= question.size()) ++sequence.first_counted;
      sequence.ids.push_back(span.id);
    }
    sequence.first_counted = std::max<std::int64_t>(1, sequence.first_counted);
    return sequence;
  }

  const Tokenizer& tokenizer_;
  const PromptMaker* maker_;
  const std::string& separator_;
};

std::vector<ChoiceQuestion> read_choices(const fs::path& path, const SequenceMaker& maker,
                                         std::int64_t limit) {
  JsonlReader reader(path);
  std::vector<ChoiceQuestion> questions;
  UnreadColumns unread;
  for (Json line; reader.next(line);) {
    const std::string where = reader.where();
    check<DataError>(line.is_object(), where, ": expected a JSON object, got ", line.type_name());
    ChoiceQuestion question;
    question.task = task_field(line, where);
    question.choices = choices_of(line, where);
    question.right = right_option(line, question.choices, where);
    maker.prepare(line, where, path, unread, question);
    questions.push_back(std::move(question));
    if (limit > 0 && static_cast<std::int64_t>(questions.size()) == limit) break;
  }
  check<DataError>(!questions.empty(), path.string(), ": expected questions, got an empty file");
  warn_of_unread(path.string(), unread);
  return questions;
}

// Right answers by the two ways of comparing options.
struct Tally {
  std::int64_t questions = 0, by_sum = 0, by_mean = 0;

  void add(std::span<const Score> scores, std::size_t right) {
    std::size_t sum = 0, mean = 0;
    const auto per_token = [&](std::size_t i) {
      return scores[i].log_likelihood / static_cast<double>(std::max<std::int64_t>(1, scores[i].tokens));
    };
    for (std::size_t i = 1; i < scores.size(); ++i) {
      if (scores[i].log_likelihood > scores[sum].log_likelihood) sum = i;
      if (per_token(i) > per_token(mean)) mean = i;
    }
    ++questions;
    by_sum += sum == right;
    by_mean += mean == right;
  }
  Json json() const {
    return {{"questions", questions},
            {"sum", share_json(by_sum, questions)},
            {"mean", share_json(by_mean, questions)}};
  }
};

}  // namespace

Json eval_choice(const Model& model, const Tokenizer& tokenizer, const PromptMaker* prompt_maker,
                 const std::filesystem::path& questions_file, const ChoiceOptions& options) {
  const SequenceMaker maker(tokenizer, prompt_maker, options.separator);
  const std::vector<ChoiceQuestion> questions = read_choices(questions_file, maker, options.limit);
  Tally all;
  std::map<std::string, Tally> tasks;
  // Some questions together, so that few pictures are in memory.
  for (std::size_t first = 0; first < questions.size();) {
    std::vector<ScoredSequence> sequences;
    std::size_t last = first;
    for (std::int64_t tokens = 0; last < questions.size() && tokens < kTogether * options.batch_tokens;
         ++last) {
      for (ScoredSequence& one : maker.make(questions[last])) {
        tokens += std::ssize(one.ids);
        sequences.push_back(std::move(one));
      }
    }
    const std::vector<Score> scores = score_sequences(model, sequences, options.batch_tokens);
    for (std::size_t at = 0; first < last; ++first) {
      const ChoiceQuestion& question = questions[first];
      const std::span<const Score> own(scores.data() + at, question.choices.size());
      all.add(own, question.right);
      tasks[question.task].add(own, question.right);
      at += question.choices.size();
    }
    if (options.on_progress) options.on_progress(all.questions, std::ssize(questions));
  }
  Json out = {{"kind", "choice"}};
  out.update(all.json());
  out["tasks"] = Json::object();
  for (const auto& [task, tally] : tasks) out["tasks"][task] = tally.json();
  return out;
}

}  // namespace loongforge
