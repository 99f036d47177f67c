#include <cstdio>

#include "loongforge/cli/command.h"
#include "loongforge/cli/opened_model.h"

namespace loongforge::cli {
namespace {

struct TemplateArguments {
  std::string model, messages, tools;
  bool ids = false, mask = false, generation_prompt = false;
};

// 1 for each token that training learns: its first byte lies in an assistant's span.
std::vector<int> mask_of(const std::vector<TokenSpan>& tokens, const Rendered& rendered) {
  std::vector<int> mask;
  for (const auto& token : tokens) {
    const bool inside = std::any_of(
        rendered.assistant.begin(), rendered.assistant.end(),
        [&](const AssistantSpan& span) { return token.begin >= span.begin && token.begin < span.end; });
    mask.push_back(inside ? 1 : 0);
  }
  return mask;
}

void render(const TemplateArguments& arguments) {
  const std::filesystem::path folder =
      std::filesystem::exists(arguments.model) && std::filesystem::is_directory(arguments.model)
          ? resolve_model_folder(arguments.model)
          : std::filesystem::path(arguments.model);
  const Tokenizer tokenizer = open_tokenizer(folder);
  const auto chat_template = open_template(tokenizer, folder);
  check<CheckpointError>(chat_template.has_value(), folder.string(),
                         ": has no chat template; add chat_template.jinja");
  RenderOptions options;
  if (!arguments.tools.empty()) options.tools = read_json(arguments.tools);
  options.add_generation_prompt = arguments.generation_prompt;
  options.assistant_spans = arguments.mask;
  const Rendered rendered = chat_template->render(read_json(arguments.messages), options);
  if (!arguments.ids && !arguments.mask) {
    print_json(rendered.text);
    return;
  }
  const auto tokens = tokenizer.encode_spans(rendered.text, true);
  Json ids = Json::array();
  for (const auto& token : tokens) ids.push_back(token.id);
  print_json(arguments.mask ? Json{{"ids", ids}, {"mask", mask_of(tokens, rendered)}} : ids);
}

}  // namespace

void add_template(Command app, Outcome&) {
  Command command = app.subcommand("template", "Render a conversation with a model's chat template, as JSON");
  auto arguments = std::make_shared<TemplateArguments>();
  command.option("--model", arguments->model, "Model folder").required();
  command.option("--messages", arguments->messages, "JSON file with the list of messages").required();
  command.option("--tools", arguments->tools, "JSON file with the list of tools");
  command.flag("--ids", arguments->ids, "Token ids instead of text");
  command.flag("--mask", arguments->mask, "Token ids with the mask of trained tokens");
  command.flag("--add-generation-prompt", arguments->generation_prompt, "End with the opening of the answer");
  command.example("loongforge template --model models/smollm2 --messages chat.json --mask");
  command.action([arguments] { render(*arguments); });
}

}  // namespace loongforge::cli
