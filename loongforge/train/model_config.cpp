#include "loongforge/train/model_config.h"

#include <set>

#include "loongforge/base/config/fields.h"

namespace loongforge {

void ModelConfig::fields(Fields& f) {
  f.field("model.path", path,
          "Model to train: a Hugging Face directory, or a run or checkpoint of this program.");
  f.field("model.preset", preset, "Named model of configs/models, trained from random weights.");
  f.field("model.init", init, "Where weights come from; auto: the directory of model.path, else random.")
      .one_of({"auto", "pretrained", "random"});
  f.field("model.tokenizer", tokenizer,
          "Directory or file of the tokenizer; empty: model.path or model.language.path.");
  f.field("model.vision.path", vision.path,
          "Directory (or run) of the vision tower of a composition, with its weights.");
  f.field("model.vision.preset", vision.preset, "Named vision tower of configs/models, random weights.");
  f.field("model.projector.kind", projector.kind,
          "From patches to tokens: mlp; patch_merge (a norm before it); resampler (queries that look at all "
          "patches of a picture).")
      .one_of({"mlp", "patch_merge", "resampler"});
  f.field("model.projector.hidden_size", projector.hidden_size,
          "Inner channels of the projector; 0: as many as come in (resampler: as the language model has).")
      .at_least(0)
      .at_most(1 << 20);
  f.field("model.projector.merge_size", projector.merge_size,
          "Side of the square of patches that becomes one token; 0: as the tower's configuration says.")
      .at_least(0)
      .at_most(64)
      .unit("patches");
  f.field("model.projector.depth", projector.depth, "Layers of the resampler.").at_least(1).at_most(1024);
  f.field("model.projector.heads", projector.heads, "Attention heads of the resampler.")
      .at_least(1)
      .at_most(4096);
  f.field("model.projector.tokens", projector.tokens, "Tokens of every picture that the resampler gives.")
      .at_least(1)
      .at_most(65536)
      .unit("tokens");
  f.field("model.language.path", language.path, "Directory (or run) of the language model of a composition.");
  f.field("model.language.preset", language.preset,
          "Named language model of configs/models, random weights.");
  f.field("model.form", form,
          "How a composition is written: as a model of this program, or as Qwen2.5-VL where it is one, which "
          "transformers reads.")
      .one_of({"composed", "qwen2_5_vl"});
  f.field("model.grid_positions", grid_positions,
          "Tokens of a composition stand on axes of time, height and width, not in a line.");
  f.field("model.image_token", image_token, "Token of a composition that holds the places of a picture.");
  f.field("model.video_token", video_token, "Token of a composition that holds the places of a clip.");
  f.field("model.start_token", start_token, "Token of a composition before a picture or clip.");
  f.field("model.end_token", end_token, "Token of a composition behind a picture or clip.");
}

const std::string& ModelConfig::tokenizer_path() const {
  if (!tokenizer.empty()) return tokenizer;
  return composed() ? language.path : path;
}

std::vector<std::string> ModelConfig::violations() const {
  std::vector<std::string> out;
  if (composed()) {
    if (!path.empty() || !preset.empty())
      out.push_back(
          "model: expected either one model (model.path or model.preset) or parts (model.vision and "
          "model.language), got both");
    for (const auto& [name, part] :
         {std::pair("model.vision", &vision), std::pair("model.language", &language)})
      if (part->path.empty() == part->preset.empty())
        out.push_back(concat(name, ": expected either ", name, ".path or ", name, ".preset, got ",
                             part->path.empty() ? "neither" : "both"));
    if (init == "pretrained") out.push_back("model.init: has no effect on parts; leave it out");
    if (form == "qwen2_5_vl" && !grid_positions)
      out.push_back("model.form: qwen2_5_vl needs model.grid_positions: true");
    const std::set<std::string> tokens = {image_token, video_token, start_token, end_token};
    if (tokens.size() < 4 || tokens.contains(""))
      out.push_back(
          "model.image_token, model.video_token, model.start_token, model.end_token: expected four different "
          "tokens");
    return out;
  }
  if (path.empty() == preset.empty())
    out.push_back(
        concat("model: expected either model.path or model.preset, got ", path.empty() ? "neither" : "both"));
  if (init == "pretrained" && path.empty())
    out.push_back("model.init: pretrained weights need model.path, a preset has none");
  ModelConfig kept = *this;
  Fields mine, plain;
  ModelConfig defaults;
  kept.fields(mine);
  defaults.fields(plain);
  for (const char* block : {"model.projector.", "model.form", "model.grid_positions", "model.image_token",
                            "model.video_token", "model.start_token", "model.end_token"})
    for (std::size_t i = 0; i < mine.all().size(); ++i) {
      const Field& field = mine.all()[i];
      if (field.path.starts_with(block) && field.value_text() != plain.all()[i].value_text())
        out.push_back(
            concat(field.path, ": has no effect without model.vision and model.language; leave it out"));
    }
  return out;
}

void ComponentConfig::fields(Fields& f, const std::string& name) {
  f.field(name + ".train", train, "Whether the weights of this part are trained.");
  f.field(name + ".lr_scale", lr_scale, "Factor of the learning rate of this part.").at_least(0);
  f.field(name + ".compute", compute, "Type of this part's weights and activations; auto: precision.compute.")
      .one_of({"auto", "float32", "bfloat16"});
  f.field(name + ".lora_rank", lora_rank,
          "Rank of this part's adapters, whose other weights are then frozen; 0: none.")
      .at_least(0)
      .at_most(65536);
  f.field(name + ".lora_alpha", lora_alpha, "Their output is scaled by alpha / rank.").above(0).at_most(1e6);
  f.field(name + ".lora_targets", lora_targets,
          "This part's linears with an adapter, by the last part of their name, or all-linear.");
}

}  // namespace loongforge
