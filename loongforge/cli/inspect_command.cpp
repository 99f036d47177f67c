#include <cstdio>
#include <map>

#include "loongforge/base/config/print.h"
#include "loongforge/base/files.h"
#include "loongforge/base/progress.h"
#include "loongforge/checkpoint/hf_load.h"
#include "loongforge/checkpoint/run_folder.h"
#include "loongforge/checkpoint/state.h"
#include "loongforge/cli/command.h"
#include "loongforge/cli/opened_model.h"
#include "loongforge/data/describe.h"
#include "loongforge/formats/safetensors.h"
#include "loongforge/models/card.h"
#include "loongforge/train/config.h"

namespace loongforge::cli {
namespace {

struct InspectArguments {
  std::string path, tokenizer, format = "auto";
  std::int64_t samples = 3;
  bool json = false, tensors = false, markdown = false;
};

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string out = "(";
  for (const auto size : shape) out += concat(out.size() > 1 ? ", " : "", size);
  return out + ")";
}

// How pictures enter the model, and the parameters of each of its components.
Json describe_visual(const VisualInfo& visual, const Model& model) {
  std::map<std::string, std::int64_t> parameters;
  for (const ParamRef& param : model.params())
    parameters[param->spec.name.substr(0, param->spec.name.find('.'))] += param->spec.numel();
  return {{"image_token", visual.image_token},       {"video_token", visual.video_token},
          {"patch_size", visual.patch_size},         {"temporal_patch_size", visual.temporal_patch_size},
          {"merge_size", visual.merge_size},         {"tokens_a_picture", visual.tokens_a_picture},
          {"grid_positions", visual.grid_positions}, {"component_parameters", parameters}};
}

Json describe_model(const fs::path& folder) {
  ParamPlan plan;
  plan.train = false;
  const auto model = build_model(read_hf_config(folder), plan, (folder / "config.json").string());
  const auto& info = model->info();
  Json out = {{"folder", folder.string()},
              {"family", info.family},
              {"parameters", model->parameter_count()},
              {"layers", info.layers},
              {"hidden_size", info.hidden_size},
              {"heads", info.heads},
              {"kv_heads", info.kv_heads},
              {"head_dim", info.head_dim},
              {"vocab_size", info.vocab_size},
              {"max_positions", info.max_positions}};
  if (info.visual) out["visual"] = describe_visual(*info.visual, *model);
  Json tensors = Json::array();
  const SafetensorsSet file(folder);
  for (const auto& tensor : file.tensors())
    tensors.push_back(
        {{"name", tensor.name}, {"dtype", std::string(dtype_name(tensor.dtype))}, {"shape", tensor.shape}});
  out["tensors"] = tensors;
  return out;
}

// Scalars as "key: value" lines; lists and blocks as JSON behind their key.
void print_lines(const Json& value) {
  for (const auto& [key, item] : value.items())
    std::printf("%-18s %s\n", key.c_str(),
                item.is_string() ? item.get<std::string>().c_str() : dump_json(item).c_str());
}

void inspect_model(const InspectArguments& arguments) {
  Json out = describe_model(resolve_model_folder(arguments.path));
  if (arguments.json) return print_json(out);
  const Json tensors = out.at("tensors");
  out["tensors"] = tensors.size();
  print_lines(out);
  if (!arguments.tensors) return;
  for (const auto& tensor : tensors)
    std::printf("  %-60s %-5s %s\n", tensor.at("name").get<std::string>().c_str(),
                tensor.at("dtype").get<std::string>().c_str(),
                shape_text(tensor.at("shape").get<std::vector<std::int64_t>>()).c_str());
}

void inspect_data(const InspectArguments& arguments) {
  std::optional<Tokenizer> tokenizer;
  std::optional<ChatTemplate> chat_template;
  DescribeOptions options;
  options.format = arguments.format;
  options.samples = arguments.samples;
  if (!arguments.tokenizer.empty()) {
    tokenizer = open_tokenizer(arguments.tokenizer);
    chat_template = open_template(*tokenizer, arguments.tokenizer);
    options.tokenizer = &*tokenizer;
    if (chat_template) options.chat_template = &*chat_template;
  }
  const Json out = describe_data(arguments.path, options);
  if (arguments.json) return print_json(out);
  print_lines(out);
}

Json describe_checkpoint(const fs::path& folder) {
  check<CheckpointError>(
      fs::is_directory(folder / "state"), folder.string(),
      ": is no checkpoint; expected hf/ and state/ in it, e.g. RUN/checkpoints/step-00000100");
  Json out = to_json(load_progress(folder / "state"));
  out["complete"] = fs::exists(folder / "COMPLETE");
  return out;
}

void inspect_checkpoint(const InspectArguments& arguments) {
  const Json out = describe_checkpoint(arguments.path);
  if (arguments.json) return print_json(out);
  print_lines(out);
}

void inspect_run(const InspectArguments& arguments) {
  const RunFolder run(arguments.path);
  check<DataError>(run.used(), arguments.path,
                   ": is no run folder; expected config.yaml and metrics.jsonl in it");
  Json out = {{"folder", arguments.path}};
  if (fs::exists(run.summary())) out["summary"] = read_json(run.summary());
  Json checkpoints = Json::array();
  for (const auto& checkpoint : run.complete()) checkpoints.push_back(checkpoint.path.filename().string());
  out["checkpoints"] = checkpoints;
  if (arguments.json) return print_json(out);
  print_lines(out);
}

void inspect_config(const InspectArguments& arguments) {
  RunConfig config;
  Fields fields;
  config.fields(fields);
  if (arguments.json) return print_json(config_json(fields));
  if (arguments.markdown) {
    std::printf(
        "# Configuration\n\nMade by `loongforge inspect config --markdown`. A run is one YAML file; "
        "`include:` "
        "reads another first, `${env:NAME}` and `${env:NAME:-fallback}` are replaced, and `key.path=value` "
        "on "
        "the command line wins. `loongforge train CONFIG --print-config` shows every value and where it came "
        "from.\n");
  }
  std::printf("%s", (arguments.markdown ? config_markdown(fields) : print_config(fields, false)).c_str());
}

using Action = void (*)(const InspectArguments&);

Command add_kind(Command parent, const char* name, const char* what, const char* example, Action action,
                 const std::shared_ptr<InspectArguments>& arguments) {
  Command command = parent.subcommand(name, what);
  command.flag("--json", arguments->json, "Print as JSON");
  command.example(concat("loongforge inspect ", example));
  command.action([arguments, action] { action(*arguments); });
  return command;
}

}  // namespace

void add_inspect(Command app, Outcome&) {
  Command command =
      app.subcommand("inspect", "Look into models, data, checkpoints, runs and the configuration");
  command.needs_subcommand();
  command.example("loongforge inspect model models/smollm2 --tensors");

  auto arguments = std::make_shared<InspectArguments>();
  Command kind = add_kind(command, "model", "Sizes and tensors of a model folder",
                          "model models/smollm2 --tensors", inspect_model, arguments);
  kind.option("MODEL", arguments->path, "Model folder, checkpoint or run folder").required();
  kind.flag("--tensors", arguments->tensors, "List every tensor");

  arguments = std::make_shared<InspectArguments>();
  kind = add_kind(command, "data", "Counts, lengths and first samples of prepared data or conversations",
                  "data data/anarchism --tokenizer models/smollm2", inspect_data, arguments);
  kind.option("DATA", arguments->path, "Prefix of prepared data, or a file of conversations").required();
  kind.option("--tokenizer", arguments->tokenizer, "Model folder: decodes the samples");
  kind.option("--format", arguments->format, "Form of the conversations: auto, openai, sharegpt, alpaca");
  kind.option("--samples", arguments->samples, "Samples to show");

  add_inspect_batches(command);

  arguments = std::make_shared<InspectArguments>();
  kind = add_kind(command, "checkpoint", "Progress stored in a checkpoint",
                  "checkpoint runs/a/checkpoints/step-00000100", inspect_checkpoint, arguments);
  kind.option("CHECKPOINT", arguments->path, "Checkpoint folder").required();

  arguments = std::make_shared<InspectArguments>();
  kind = add_kind(command, "run", "Summary and checkpoints of a run", "run runs/quickstart/sft", inspect_run,
                  arguments);
  kind.option("RUN", arguments->path, "Run folder").required();

  arguments = std::make_shared<InspectArguments>();
  kind = add_kind(command, "config", "Every key with its default",
                  "config --markdown > docs/configuration.md", inspect_config, arguments);
  kind.flag("--markdown", arguments->markdown, "As the reference page");
}

}  // namespace loongforge::cli
