#include "loongforge/cli/opened_model.h"

#include "loongforge/base/files.h"
#include "loongforge/checkpoint/hf_load.h"
#include "loongforge/checkpoint/peft_adapter.h"
#include "loongforge/checkpoint/processor_files.h"
#include "loongforge/cli/options.h"
#include "loongforge/generate/generator.h"

namespace loongforge::cli {

void add_max_pixels(Command command, MediaOptions& media) {
  command
      .option("--max-pixels", media.max_pixels,
              "Larger pictures and frames are reduced (0: the model's own limit)")
      .range(0, kMostPixels);
}

at::ScalarType parse_dtype(const std::string& name) {
  if (name == "float32") return at::kFloat;
  if (name == "bfloat16") return at::kBFloat16;
  if (name == "float64") return at::kDouble;
  throw ConfigError(concat("dtype: expected float32, bfloat16 or float64, got '", name, "'"));
}

PromptMaker OpenedModel::prompt_maker() const {
  check<CheckpointError>(chat_template.has_value(), folder.string(),
                         ": has no chat template; add chat_template.jinja, or give plain text instead");
  return PromptMaker(*chat_template, *tokenizer, media.get());
}

Tokenizer open_tokenizer(const fs::path& path) {
  const bool of_a_run = fs::is_directory(path) && !fs::exists(path / "tokenizer.json");
  return Tokenizer::load(of_a_run ? resolve_model_folder(path) : path);
}

std::optional<ChatTemplate> open_template(const Tokenizer& tokenizer, const fs::path& folder) {
  const auto source = tokenizer.chat_template();
  if (!source) return std::nullopt;
  return ChatTemplate(*source, (folder / "chat_template").string(), tokenizer.special_tokens_json());
}

OpenedModel open_model(const fs::path& path, const std::string& dtype, const MediaOptions& media) {
  OpenedModel opened;
  opened.folder = resolve_model_folder(path);
  ParamPlan plan;
  plan.compute = parse_dtype(dtype);
  plan.train = false;
  if (is_peft_dir(opened.folder)) {
    const fs::path base = read_peft_base(opened.folder);
    check<CheckpointError>(!base.empty() && fs::is_directory(base),
                           (opened.folder / "adapter_config.json").string(), ": base_model_name_or_path '",
                           base.string(), "' is no folder here; set it to the base model's folder");
    plan.lora = read_peft_options(opened.folder);
    opened.model = load_hf_model(base, plan);
    load_peft(opened.folder, *opened.model);
    opened.processor = read_processor_files(base);
  } else {
    opened.model = load_hf_model(opened.folder, plan);
  }
  if (ProcessorFiles own = read_processor_files(opened.folder); !own.empty()) opened.processor = own;
  opened.tokenizer = Tokenizer::load(opened.folder);
  check<CheckpointError>(
      opened.tokenizer->vocab_size() <= opened.model->info().vocab_size, opened.folder.string(),
      ": the tokenizer has ids up to ", opened.tokenizer->vocab_size() - 1, ", the embedding only ",
      opened.model->info().vocab_size, " rows; use the tokenizer that belongs to the model");
  opened.chat_template = open_template(*opened.tokenizer, opened.folder);
  opened.stop_ids = stop_ids_of(opened.folder, *opened.tokenizer);
  const std::optional<VisualInfo>& visual = opened.model->info().visual;
  check<ConfigError>(visual || media == MediaOptions{}, "--max-pixels: ", opened.folder.string(),
                     " is a model that reads text alone; leave it out");
  if (visual) {
    if (opened.processor.empty()) warn_without_processor(opened.folder);
    opened.media = std::make_shared<MediaLoader>(*visual, opened.processor, media);
  }
  return opened;
}

}  // namespace loongforge::cli
