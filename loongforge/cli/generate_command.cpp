#include <cstdio>
#include <limits>

#include "loongforge/base/files.h"
#include "loongforge/cli/command.h"
#include "loongforge/cli/opened_model.h"
#include "loongforge/generate/generator.h"

namespace loongforge::cli {
namespace {

struct GenerateArguments {
  std::string model, prompt, messages, system;
  bool chat = false, json = false;
  ComputeOptions compute;
  GenerateOptions options;
};

Json conversation_of(const GenerateArguments& arguments) {
  if (!arguments.messages.empty()) {
    Json messages = read_json(arguments.messages);
    check<DataError>(messages.is_array() && !messages.empty(), arguments.messages,
                     ": expected a list of messages {\"role\", \"content\"}");
    return messages;
  }
  Json messages = Json::array();
  if (!arguments.system.empty()) messages.push_back({{"role", "system"}, {"content", arguments.system}});
  messages.push_back({{"role", "user"}, {"content", arguments.prompt}});
  return messages;
}

void generate(GenerateArguments& arguments) {
  check<ConfigError>(arguments.prompt.empty() != arguments.messages.empty(),
                     "generate: expected one of --prompt TEXT and --messages FILE.json");
  arguments.compute.apply();
  OpenedModel opened = open_model(arguments.model, arguments.compute.dtype);
  arguments.options.stop_ids = opened.stop_ids;
  if (arguments.options.max_length == 0) arguments.options.max_length = opened.model->info().max_positions;
  Generator generator(*opened.model, *opened.tokenizer, arguments.options);
  TokenCallback show;
  if (!arguments.json) {
    show = [](std::size_t, std::int32_t, std::string_view piece) {
      std::fwrite(piece.data(), 1, piece.size(), stdout);
      std::fflush(stdout);
    };
  }
  const bool chat = arguments.chat || !arguments.messages.empty() || !arguments.system.empty();
  const Generation made = chat ? generator.chat(opened.require_template(), conversation_of(arguments), show)
                               : generator.continue_text(arguments.prompt, show);
  if (!arguments.json) {
    std::fputc('\n', stdout);
    return;
  }
  print_json({{"text", made.text}, {"ids", made.ids}, {"finish", made.finish}});
}

}  // namespace

void add_generate(Command app, Outcome&) {
  Command command = app.subcommand("generate", "Continue a text or answer a question");
  auto arguments = std::make_shared<GenerateArguments>();
  auto& options = arguments->options;
  command.option("--model", arguments->model, "Model folder, checkpoint or run folder").required();
  command.option("--prompt", arguments->prompt, "Text to continue; with --chat a question to answer");
  command.option("--messages", arguments->messages, "JSON file with a conversation to answer");
  command.option("--system", arguments->system, "System message (implies --chat)");
  command.flag("--chat", arguments->chat, "Use the model's chat template");
  command.option("--max-new-tokens", options.max_new_tokens, "Tokens to make at most")
      .range(1, 1 << 20)
      .show_default();
  command.option("--temperature", options.sampling.temperature, "0: always the likeliest token")
      .show_default();
  command.option("--top-k", options.sampling.top_k, "Only the K likeliest tokens (0: all)").show_default();
  command.option("--top-p", options.sampling.top_p, "Only the likeliest tokens of this total probability")
      .show_default();
  command.option("--seed", options.sampling.seed, "Seed of the draws")
      .range(0, std::numeric_limits<std::int64_t>::max())
      .show_default();
  command.flag("--json", arguments->json, "Print text, ids and why it ended as JSON");
  arguments->compute.add_to(command);
  command.example(
      "loongforge generate --model models/smollm2 --chat --prompt \"What is the capital of "
      "France?\"");
  command.action([arguments] { generate(*arguments); });
}

}  // namespace loongforge::cli
