#include <cstdio>
#include <limits>

#include "loongforge/base/files.h"
#include "loongforge/cli/command.h"
#include "loongforge/cli/opened_model.h"
#include "loongforge/generate/questions.h"

namespace loongforge::cli {
namespace {

struct GenerateArguments {
  std::string model, prompt, messages, system;
  std::vector<fs::path> images, videos;
  bool chat = false, json = false;
  MediaOptions media;
  ComputeOptions compute;
  GenerateOptions options;
};

Conversation read_messages(const fs::path& file) {
  const Json json = read_json(file);
  check<DataError>(json.is_structured() && !json.empty(), file.string(),
                   ": expected a list of messages {\"role\", \"content\"}, or {\"messages\": [...]}");
  UnreadColumns unread;
  Conversation out = question_conversation(json.is_array() ? Json{{"messages", json}} : json, file.string(),
                                           file, {}, &unread);
  warn_of_unread(file.string(), unread);
  return out;
}

Conversation conversation_of(const GenerateArguments& arguments) {
  if (!arguments.messages.empty()) return read_messages(arguments.messages);
  Conversation out;
  out.where = "generate";
  out.messages = Json::array();
  if (!arguments.system.empty()) out.messages.push_back({{"role", "system"}, {"content", arguments.system}});
  Json parts = Json::array();
  const auto show = [&](MediaItem::Kind kind, const char* type, const std::vector<fs::path>& files) {
    for (const fs::path& file : files) {
      out.media.push_back({kind, {{file.string(), {}}}, 0, out.where});
      parts.push_back({{"type", type}});
    }
  };
  show(MediaItem::Kind::kPicture, "image", arguments.images);
  show(MediaItem::Kind::kClip, "video", arguments.videos);
  const bool plain = parts.empty();
  if (!arguments.prompt.empty()) parts.push_back({{"type", "text"}, {"text", arguments.prompt}});
  out.messages.push_back({{"role", "user"}, {"content", plain ? Json(arguments.prompt) : parts}});
  return out;
}

void generate(GenerateArguments& arguments) {
  const bool pictures = !arguments.images.empty() || !arguments.videos.empty();
  const bool asked = !arguments.prompt.empty() || pictures;
  check<ConfigError>(asked != !arguments.messages.empty(),
                     "generate: expected either --prompt TEXT, with --image FILE or --video FILE where the "
                     "model sees, or --messages FILE.json, which names its own");
  check<ConfigError>(
      arguments.system.empty() || arguments.messages.empty(),
      "--system: has no effect beside --messages; write it into the file as the first message, "
      "of role system");
  arguments.compute.apply();
  OpenedModel opened = open_model(arguments.model, arguments.compute.dtype, arguments.media);
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
  const bool chat = arguments.chat || pictures || !arguments.messages.empty() || !arguments.system.empty();
  const Prompt prompt = chat ? opened.prompt_maker().prompt(conversation_of(arguments))
                             : Prompt{opened.tokenizer->encode(arguments.prompt), {}};
  const Generation made = generator.generate_prompts({prompt}, show).front();
  if (!arguments.json) {
    std::fputc('\n', stdout);
    return;
  }
  print_json({{"text", made.text}, {"ids", made.ids}, {"finish", made.finish}});
}

}  // namespace

void add_generate(Command app, Outcome&) {
  Command command = app.subcommand("generate", "Continue a text or answer a question, about pictures too");
  auto arguments = std::make_shared<GenerateArguments>();
  auto& options = arguments->options;
  command.option("--model", arguments->model, "Model folder, checkpoint or run folder").required();
  command.option("--prompt", arguments->prompt, "Text to continue; with --chat a question to answer");
  command.option("--messages", arguments->messages,
                 "JSON file with a conversation to answer: a list of messages, or {\"messages\", \"tools\"}");
  command.option("--image", arguments->images,
                 "Picture that the question is about (implies --chat); repeatable");
  command.option("--video", arguments->videos,
                 "Clip that the question is about (implies --chat); repeatable");
  add_max_pixels(command, arguments->media);
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
  command.example("loongforge generate --model my-qwen2.5-vl --image cat.jpg --prompt \"What is this?\"");
  command.action([arguments] { generate(*arguments); });
}

}  // namespace loongforge::cli
