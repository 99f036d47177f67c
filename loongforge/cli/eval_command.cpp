#include <cmath>
#include <cstdio>

#include "loongforge/base/files.h"
#include "loongforge/base/progress.h"
#include "loongforge/cli/command.h"
#include "loongforge/cli/opened_model.h"
#include "loongforge/generate/likelihood.h"
#include "loongforge/generate/match.h"

namespace loongforge::cli {
namespace {

struct EvalArguments {
  std::string model, data, questions;
  fs::path out;
  ComputeOptions compute;
  MediaOptions media;
  PplOptions ppl;
  ChoiceOptions choice;
  MatchOptions match;
  GenerateOptions generate;
  bool json = false, plain = false;

  // --model, --out, --json, --dtype and --threads of every kind.
  void add_common(Command app) {
    app.option("--model", model, "Model folder, checkpoint or run folder").required();
    app.option("--out", out, "JSON file for the result");
    app.flag("--json", json, "Print the result as JSON");
    compute.add_to(app);
  }
};

// Reports (done, total) as progress of `unit`.
auto progress_of(const char* what, const char* unit) {
  return [what, unit, last = std::int64_t{0}, line = std::shared_ptr<Progress>()](
             std::int64_t done, std::int64_t total) mutable {
    if (!line) line = std::make_shared<Progress>(what, unit, static_cast<double>(total));
    line->add(static_cast<double>(done - last));
    last = done;
  };
}

void finish(const EvalArguments& arguments, const Json& result, const std::string& line) {
  if (!arguments.out.empty()) {
    if (arguments.out.has_parent_path()) make_directories(arguments.out.parent_path());
    write_file_atomic(arguments.out, dump_json_pretty(result));
  }
  if (arguments.json) return print_json(result);
  std::printf("%s", line.c_str());
}

void eval_ppl_command(EvalArguments& arguments) {
  arguments.compute.apply();
  OpenedModel opened = open_model(arguments.model, arguments.compute.dtype);
  arguments.ppl.on_progress = progress_of("eval ppl", "tokens");
  const Json result = eval_ppl(*opened.model, arguments.data, arguments.ppl);
  const double loss = result.at("loss").get<double>();
  finish(arguments, result,
         concat("loss ", loss, " nats a token, perplexity ", std::exp(loss), ", ", result.at("tokens"),
                " tokens, ", result.at("documents"), " documents\n"));
}

std::string share_line(const std::string& name, const Json& counts) {
  char text[160];
  std::snprintf(text, sizeof text, "%-24s %5.1f %% right of %lld (standard error %.1f points)\n",
                name.c_str(), 100 * counts.at("share").get<double>(), counts.at("questions").get<long long>(),
                100 * counts.at("standard_error").get<double>());
  return text;
}

void eval_match_command(EvalArguments& arguments) {
  arguments.compute.apply();
  OpenedModel opened = open_model(arguments.model, arguments.compute.dtype, arguments.media);
  arguments.generate.stop_ids = opened.stop_ids;
  Generator generator(*opened.model, *opened.tokenizer, arguments.generate);
  if (!arguments.out.empty()) {
    if (arguments.out.has_parent_path()) make_directories(arguments.out.parent_path());
    arguments.match.answers = fs::path(arguments.out).replace_extension(".answers.jsonl");
  }
  arguments.match.model_identity = fs::absolute(opened.folder).string();
  arguments.match.on_progress = progress_of("eval match", "questions");
  const Json result = eval_match(generator, opened.prompt_maker(), arguments.questions, arguments.match);
  std::string lines;
  for (const auto& [task, counts] : result.at("tasks").items()) lines += share_line(task, counts);
  finish(arguments, result, lines + share_line("all", result));
}

void eval_choice_command(EvalArguments& arguments) {
  arguments.compute.apply();
  OpenedModel opened = open_model(arguments.model, arguments.compute.dtype, arguments.media);
  arguments.choice.on_progress = progress_of("eval choice", "questions");
  std::optional<PromptMaker> maker;
  if (!arguments.plain && opened.chat_template) maker.emplace(opened.prompt_maker());
  const Json result = eval_choice(*opened.model, *opened.tokenizer, maker ? &*maker : nullptr,
                                  arguments.questions, arguments.choice);
  std::string lines;
  for (const char* score : {"sum", "mean"}) {
    Json counts = result.at(score);
    counts["questions"] = result.at("questions");
    lines += share_line(concat("by ", score, " of log p"), counts);
  }
  finish(arguments, result, lines);
}

void add_match(Command parent, const std::shared_ptr<EvalArguments>& arguments) {
  Command match = parent.subcommand("match", "Share of questions that the model answers right, greedily");
  arguments->add_common(match);
  auto& check = arguments->match.check;
  match.option("--questions", arguments->questions, "JSONL: messages (or question), answer, task").required();
  add_max_pixels(match, arguments->media);
  match.option("--limit", arguments->match.limit, "First N questions of each task (0: all)");
  match.option("--max-new-tokens", arguments->generate.max_new_tokens, "Tokens of an answer at most")
      .range(1, 1 << 20)
      .show_default();
  match.option("--tag", check.tag, "The answer is what follows this text on its line");
  match.flag("--last-line", check.last_line, "The answer is the last line");
  match.flag("--ignore-case", check.ignore_case, "Case of ASCII letters does not matter");
  match.flag("--collapse-space", check.collapse_space, "Runs of white space count as one blank");
  match.example(
      "loongforge eval match --model models/smollm2 --questions questions.jsonl --out "
      "before.json");
  match.action([arguments] { eval_match_command(*arguments); });
}

}  // namespace

void add_eval(Command app, Outcome&) {
  Command command = app.subcommand("eval", "Judge a model: held-out loss, multiple choice, right answers");
  command.needs_subcommand();
  command.example("loongforge eval ppl --model models/smollm2 --data data/anarchism-heldout");

  auto arguments = std::make_shared<EvalArguments>();
  Command ppl = command.subcommand("ppl", "Mean loss (nats a token) on prepared data");
  arguments->add_common(ppl);
  ppl.option("--data", arguments->data, "Prefix written by `loongforge prepare`").required();
  ppl.option("--seq-length", arguments->ppl.seq_length, "Longer documents are scored in pieces")
      .range(2, 1 << 24)
      .show_default();
  ppl.option("--max-tokens", arguments->ppl.max_tokens, "Stop after so many tokens (0: all)");
  ppl.flag("--documents", arguments->ppl.documents, "Also list the loss of each document");
  ppl.example("loongforge eval ppl --model models/smollm2 --data data/anarchism-heldout --json");
  ppl.action([arguments] { eval_ppl_command(*arguments); });

  arguments = std::make_shared<EvalArguments>();
  Command choice = command.subcommand("choice", "Share of questions whose right option is the likeliest");
  arguments->add_common(choice);
  choice.option("--questions", arguments->questions, "JSONL: question (or messages), choices, answer")
      .required();
  add_max_pixels(choice, arguments->media);
  choice.option("--limit", arguments->choice.limit, "First N questions (0: all)");
  choice.flag("--plain", arguments->plain, "Continue the question as plain text, without the chat template");
  choice.example("loongforge eval choice --model models/smollm2 --questions choices.jsonl");
  choice.action([arguments] { eval_choice_command(*arguments); });

  arguments = std::make_shared<EvalArguments>();
  add_match(command, arguments);
}

}  // namespace loongforge::cli
