#include "loongforge/train/open_model.h"

#include "loongforge/base/error.h"
#include "loongforge/base/files.h"
#include "loongforge/base/log.h"
#include "loongforge/checkpoint/compose.h"
#include "loongforge/checkpoint/hf_load.h"
#include "loongforge/checkpoint/model_folder.h"
#include "loongforge/data/media_loader.h"
#include "loongforge/models/card.h"
#include "loongforge/models/config_reader.h"

namespace loongforge {
namespace {

std::unique_ptr<Model> open_single(const RunConfig& config, const ParamPlan& plan) {
  const ModelConfig& m = config.model;
  const auto seed = static_cast<std::uint64_t>(config.train.seed);
  if (!m.path.empty() && m.init != "random") return load_hf_model(m.path, plan, seed);
  const bool preset = m.path.empty();
  const Json json = preset ? preset_config(m.preset) : read_hf_config(m.path);
  std::unique_ptr<Model> model =
      build_model(json, plan, preset ? "model.preset " + m.preset : m.path + "/config.json");
  initialize(model->params(), seed);
  return model;
}

std::optional<Tokenizer> open_tokenizer(const RunConfig& config) {
  const std::string& path = config.model.tokenizer_path();
  if (path.empty()) return std::nullopt;
  if (!config.model.tokenizer.empty() || config.model.composed()) return Tokenizer::load(path);
  // A model directory without a tokenizer is enough for data that is already tokenised.
  const bool needed = config.task == "sft" || config.sample.any();
  if (!needed && !fs::exists(fs::path(path) / "tokenizer.json")) return std::nullopt;
  return Tokenizer::load(path);
}

Json config_of(const PartConfig& part) {
  return part.path.empty() ? preset_config(part.preset) : read_hf_config(part.path);
}

// What a composition reads of its language model's configuration, and writes anew, is of the right types;
// keys without a value are left out.
Json language_config(const PartConfig& part) {
  const Json config = config_of(part);
  check<CheckpointError>(!config.contains("vision_config"), "model.language: ", part.path,
                         " reads pictures already; name a model of text, or train it whole by model.path");
  ConfigReader reader(config, part.path.empty() ? "preset " + part.preset : part.path + "/config.json");
  for (const char* key : {"vocab_size", "hidden_size", "num_attention_heads"}) reader.integer(key, 1);
  reader.integer("head_dim", 1, 1);
  for (const char* key : {"attention_bias", "mlp_bias", "tie_word_embeddings"}) reader.flag(key, false);
  reader.text("model_type", "");
  reader.number("rope_theta", 0.0, 1.0);
  Json out = Json::object();
  for (const auto& [key, value] : config.items())
    if (!value.is_null()) out[key] = value;
  return out;
}

Json projector_config(const ProjectorConfig& projector) {
  Json out = {{"kind", projector.kind}};
  if (projector.hidden_size > 0) out["hidden_size"] = projector.hidden_size;
  if (projector.kind != "resampler") return out;
  out["depth"] = projector.depth;
  out["num_heads"] = projector.heads;
  out["num_tokens"] = projector.tokens;
  return out;
}

// Time, height and width in the proportion of Qwen2.5-VL's 16, 24, 24.
std::vector<std::int64_t> sections_of(const Json& language) {
  const auto heads = language.at("num_attention_heads").get<std::int64_t>();
  const std::int64_t dim = language.value("head_dim", language.at("hidden_size").get<std::int64_t>() / heads);
  const std::int64_t side = dim / 2 * 3 / 8;
  return {dim / 2 - 2 * side, side, side};
}

Composition composition_of(const ModelConfig& m, const Tokenizer& tokenizer) {
  Composition parts;
  parts.vision = tower_config(config_of(m.vision), m.vision.path + "/config.json");
  if (m.projector.merge_size > 0) parts.vision["spatial_merge_size"] = m.projector.merge_size;
  parts.projector = projector_config(m.projector);
  parts.language = language_config(m.language);
  parts.image_token = *tokenizer.id(m.image_token);
  parts.video_token = *tokenizer.id(m.video_token);
  parts.start_token = *tokenizer.id(m.start_token);
  parts.end_token = *tokenizer.id(m.end_token);
  const auto rows = parts.language.at("vocab_size").get<std::int64_t>();
  parts.vocab_size = std::max(rows, static_cast<std::int64_t>(tokenizer.vocab_size()));
  if (m.grid_positions) parts.sections = sections_of(parts.language);
  return parts;
}

// This program puts pictures into any template; other tools need one that writes their places.
void warn_of_plain_template(const RunConfig& config, const Tokenizer& tokenizer) {
  const auto source = tokenizer.chat_template();
  if (config.data.chat_template.empty() && source &&
      source->find(config.model.image_token) == std::string::npos)
    log_warning(config.model.tokenizer_path(), ": its chat template writes no ", config.model.image_token,
                ", so other tools cannot show pictures to the trained model; set data.chat_template");
}

OpenedRunModel open_composed(const RunConfig& config, const ParamPlan& plan) {
  const ModelConfig& m = config.model;
  OpenedRunModel out;
  out.tokenizer = open_tokenizer(config);
  check<ConfigError>(
      out.tokenizer.has_value(),
      "model.tokenizer: a composition needs a tokenizer; name one, or set model.language.path");
  out.tokenizer =
      out.tokenizer->with_added_tokens({m.start_token, m.end_token, m.image_token, m.video_token});
  warn_of_plain_template(config, *out.tokenizer);
  const Composition parts = composition_of(m, *out.tokenizer);
  const Json json = m.form == "qwen2_5_vl" ? qwen2_5_vl_config(parts) : composed_config(parts);
  out.model = build_model(json, plan, "model");
  initialize(out.model->params(), static_cast<std::uint64_t>(config.train.seed));
  if (!m.language.path.empty()) load_part(m.language.path, *out.model, "language.");
  if (!m.vision.path.empty()) load_part(m.vision.path, *out.model, "vision.");
  return out;
}

void add_component(const RunConfig& config, const ComponentConfig& component, const std::string& name,
                   ParamPlan& plan) {
  if (component == ComponentConfig{}) return;
  ComponentPlan out;
  out.prefix = name + ".";
  out.frozen = !component.train;
  out.rate = component.lr_scale;
  if (component.compute != "auto") out.compute = scalar_type_of(component.compute);
  if (component.lora_rank > 0)
    out.lora = LoraOptions{.rank = component.lora_rank,
                           .alpha = component.lora_alpha,
                           .dropout = config.lora.dropout,
                           .targets = component.lora_targets};
  plan.components.push_back(std::move(out));
}

}  // namespace

RunConfig with_model_folders(RunConfig config) {
  ModelConfig& m = config.model;
  for (std::string* path : {&m.path, &m.vision.path, &m.language.path})
    if (!path->empty()) *path = resolve_whole_model(*path).string();
  if (fs::is_directory(m.tokenizer) && !fs::exists(fs::path(m.tokenizer) / "tokenizer.json"))
    m.tokenizer = resolve_model_folder(m.tokenizer).string();
  return config;
}

ProcessorFiles processor_files(const RunConfig& config, const VisualInfo& visual) {
  const ModelConfig& m = config.model;
  const std::string& folder = m.composed() ? m.vision.path : m.path;
  const ProcessorFiles given = folder.empty() ? ProcessorFiles{} : read_processor_files(folder);
  if (given.empty() && !folder.empty()) warn_without_processor(folder);
  const MediaOptions options = config.data.media_options();
  const bool kept = !given.empty() && (!m.composed() || m.form == "composed");
  const ProcessorFiles files = kept ? given : make_processor_files(visual);
  if (options == MediaOptions{} && (kept || given.empty())) return files;
  const MediaProcessor used = MediaLoader(visual, given, options).processor();
  check<ConfigError>(
      kept || used.picture.fixed_size.has_value() == (visual.picture_side > 0), folder,
      ": its processor gives all pictures one size, which Qwen2.5-VL's does not; take model.form: "
      "composed");
  return with_settings(files, used);
}

OpenedRunModel open_run_model(const RunConfig& config) {
  const ParamPlan plan = param_plan(config);
  OpenedRunModel out;
  if (config.model.composed()) {
    out = open_composed(config, plan);
  } else {
    out.model = open_single(config, plan);
    out.tokenizer = open_tokenizer(config);
  }
  check<ConfigError>(
      out.model->info().visual || plan.components.empty(),
      "vision, projector, language: have no effect on a model that reads no pictures; leave them "
      "out");
  if (!out.model->info().visual) return out;
  out.processor = processor_files(config, *out.model->info().visual);
  return out;
}

at::ScalarType scalar_type_of(const std::string& name) {
  if (name == "float32") return at::kFloat;
  if (name == "bfloat16") return at::kBFloat16;
  if (name == "float16") return at::kHalf;
  check(name == "float64", "unknown dtype ", name);
  return at::kDouble;
}

ParamPlan param_plan(const RunConfig& config) {
  ParamPlan plan;
  plan.compute = scalar_type_of(config.precision.compute);
  plan.master = plan.compute == at::kDouble ? at::kDouble : scalar_type_of(config.precision.master);
  if (config.lora.rank > 0) {
    plan.lora = LoraOptions{.rank = config.lora.rank,
                            .alpha = config.lora.alpha,
                            .dropout = config.lora.dropout,
                            .targets = config.lora.targets};
  }
  add_component(config, config.vision, "vision", plan);
  add_component(config, config.projector, "projector", plan);
  add_component(config, config.language, "language", plan);
  return plan;
}

}  // namespace loongforge
