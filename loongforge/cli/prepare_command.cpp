#include <cstdio>

#include "loongforge/base/progress.h"
#include "loongforge/cli/command.h"
#include "loongforge/cli/opened_model.h"
#include "loongforge/data/prepare.h"

namespace loongforge::cli {
namespace {

struct PrepareArguments {
  PrepareOptions options;
  std::string tokenizer;
  std::string held_out_list;
  bool replace_invalid = false, no_eos = false, json = false;
};

void describe(const char* what, const PreparedSet& set) {
  std::printf("%s %s: %lld documents, %lld tokens\n", what, set.prefix.c_str(),
              static_cast<long long>(set.documents), static_cast<long long>(set.tokens));
  for (const auto& [reason, count] : set.dropped)
    std::printf("  dropped (%s): %lld documents\n", reason.c_str(), static_cast<long long>(count));
  if (set.replaced > 0)
    std::printf("  with replaced bytes: %lld documents\n", static_cast<long long>(set.replaced));
  if (set.cut > 0)
    std::printf("  cut: %lld documents, %lld tokens left out\n", static_cast<long long>(set.cut),
                static_cast<long long>(set.cut_tokens));
}

void prepare_data(PrepareArguments& arguments) {
  const Tokenizer tokenizer = open_tokenizer(arguments.tokenizer);
  auto& options = arguments.options;
  options.tokenizer = &tokenizer;
  options.append_eos = !arguments.no_eos;
  options.invalid_utf8 = arguments.replace_invalid ? InvalidUtf8::kReplace : InvalidUtf8::kSkip;
  if (!arguments.held_out_list.empty()) {
    for (auto& glob : read_glob_list(arguments.held_out_list)) options.held_out.push_back(std::move(glob));
  }
  const PrepareResult result = prepare(options);
  if (arguments.json) return print_json(result.to_json());
  describe(result.already_done ? "already prepared" : "prepared", result.train);
  if (result.held_out) describe("held out", *result.held_out);
  for (const auto& [extension, count] : result.ignored_files)
    std::printf("  not read: %lld files '%s'\n", static_cast<long long>(count), extension.c_str());
  if (!result.already_done) std::printf("  %s\n", format_duration(result.seconds).c_str());
}

}  // namespace

void add_prepare(Command app, Outcome&) {
  Command command = app.subcommand("prepare", "Turn files of text into tokenised data for pre-training");
  auto arguments = std::make_shared<PrepareArguments>();
  auto& options = arguments->options;
  command.option("IN", options.inputs, "Files or folders: text, Markdown, HTML, JSONL; also .gz, .zst")
      .required();
  command.option("--tokenizer", arguments->tokenizer, "Model folder or tokenizer.json").required();
  command.option("--out", options.out, "PREFIX: writes PREFIX.bin, PREFIX.idx, PREFIX.json").required();
  command.option("--format", options.format, "auto, text, markdown, html or jsonl").show_default();
  command.option("--text-field", options.text_field, "Field of a JSONL record that holds the text")
      .show_default();
  command.option("--include", options.include, "Only files that match one of these patterns");
  command.option("--exclude", options.exclude, "No files that match one of these patterns");
  command.option("--held-out", options.held_out, "Files that go to PREFIX-heldout instead");
  command.option("--held-out-list", arguments->held_out_list, "File with one such pattern a line");
  command
      .option("--held-out-fraction", options.held_out_fraction, "Share of the other documents held out too")
      .fraction();
  command.option("--min-tokens", options.min_tokens, "Drop shorter documents").range(0);
  command.option("--max-tokens", options.max_tokens, "Cut longer documents (0: never)").range(0);
  command.option("--threads", options.threads, "Threads (0: all CPUs); never changes the result")
      .range(0, 4096);
  command.option("--eos-token", options.eos_token,
                 "Token behind each document (default: the tokenizer's end of sequence)");
  command.flag("--no-eos", arguments->no_eos, "No end-of-document token behind each document");
  command.flag("--special-tokens", options.special_tokens,
               "Names of special tokens in the text become those tokens");
  command.flag("--replace-invalid", arguments->replace_invalid,
               "Keep documents that are not UTF-8, with U+FFFD");
  command.flag("--overwrite", options.overwrite, "Replace a dataset that was made otherwise");
  command.flag("--json", arguments->json, "Print the counts as JSON");
  command.example(
      "loongforge prepare /usr/share/doc/anarchism/html --tokenizer model --out data/anarchism "
      "--held-out secB6.html");
  command.action([arguments] { prepare_data(*arguments); });
}

}  // namespace loongforge::cli
