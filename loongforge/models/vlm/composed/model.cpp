#include "loongforge/models/vlm/composed/model.h"

#include "loongforge/base/error.h"
#include "loongforge/models/config_reader.h"
#include "loongforge/models/vlm/assemble.h"
#include "loongforge/models/vlm/projector.h"

namespace loongforge {
namespace composed {
namespace {

// Tokens of a picture where the configuration says nothing.
constexpr std::int64_t kResamplerTokens = 64;

const Json& part_of(const Json& config, const char* key, std::string_view where) {
  const auto it = config.find(key);
  check<CheckpointError>(it != config.end() && it->is_object(), where, ": key '", key,
                         "': expected an object, got ", it == config.end() ? "nothing" : it->type_name());
  return *it;
}

// The card of a part. Throws where it is no card of that kind.
const Card& card_of(const Json& part, bool vision, std::string_view where) {
  const Card& card = model_registry().find(part, std::string(where));
  check<CheckpointError>(vision ? bool(card.vision) : bool(card.language), where,
                         ": key 'model_type': ", card.family, " is no ",
                         vision ? "vision tower" : "language model");
  return card;
}

std::unique_ptr<Segment> patch_merge(ConfigReader& reader, bool norm, const VisionPart& vision,
                                     std::int64_t out, ParamBuilder& builder) {
  PatchMergeOptions options;
  options.channels = vision.channels;
  options.unit = vision.visual.merge_size * vision.visual.merge_size;
  options.hidden = reader.integer("hidden_size", 0, 0);
  options.out = out;
  options.norm = norm;
  options.init_std = reader.number("initializer_range", 0.0, 0.02);
  reader.finish();
  return build_patch_merge(builder, options);
}

std::unique_ptr<Segment> resampler(ConfigReader& reader, const VisionPart& vision, std::int64_t out,
                                   ParamBuilder& builder) {
  ResamplerOptions options;
  options.channels = vision.channels;
  options.width = reader.integer("hidden_size", 1, out);
  options.heads = reader.integer("num_heads", 1, 8);
  options.depth = reader.integer("depth", 1, 2);
  options.tokens = reader.integer("num_tokens", 1, kResamplerTokens);
  options.out = out;
  options.init_std = reader.number("initializer_range", 0.0, 0.02);
  if (options.width % (2 * options.heads) != 0)
    reader.refuse("hidden_size", concat("a multiple of 2 * num_heads = ", 2 * options.heads));
  reader.finish();
  return build_resampler(builder, options);
}

std::int64_t tokens_a_picture(const Json& projector, const std::string& where) {
  ConfigReader reader(projector, where);
  return reader.text("kind", "") == "resampler" ? reader.integer("num_tokens", 1, kResamplerTokens) : 0;
}

std::unique_ptr<Segment> build_projector(const Json& config, const VisionPart& vision, std::int64_t out,
                                         ParamBuilder& builder, const std::string& where) {
  const ParamBuilder::Scope scope(builder, "projector.");
  ConfigReader reader(config, where);
  const std::string kind = reader.text("kind", "patch_merge");
  if (kind == "resampler") return resampler(reader, vision, out, builder);
  if (kind != "mlp" && kind != "patch_merge") reader.refuse("kind", "mlp, patch_merge or resampler");
  return patch_merge(reader, kind == "patch_merge", vision, out, builder);
}

// The language model's width, before it is built.
std::int64_t width_of(const Json& text, const std::string& where) {
  return ConfigReader(text, where).integer("hidden_size", 1);
}

}  // namespace

// Declared in the order of the forward pass: tower, projector, language model.
ModelParts build(const Json& config, ParamBuilder& builder, const std::string& where) {
  const std::string vision_where = where + ": vision_config", text_where = where + ": text_config",
                    projector_where = where + ": projector_config";
  const Json& text = part_of(config, "text_config", where);
  const Json& projector_config = part_of(config, "projector_config", where);
  const Json& vision_config = part_of(config, "vision_config", where);
  const Card& tower = card_of(vision_config, true, vision_where);
  const Card& decoder = card_of(text, false, text_where);
  VisionPart vision = [&] {
    const ParamBuilder::Scope scope(builder, "vision.");
    return tower.vision(vision_config, builder, vision_where);
  }();
  std::unique_ptr<Segment> projector =
      build_projector(projector_config, vision, width_of(text, text_where), builder, projector_where);
  const ParamBuilder::Scope scope(builder, "language.");
  LanguagePart language = decoder.language(text, builder, text_where);
  ConfigReader reader(config, where);
  VisualInfo visual = vision.visual;
  visual.image_token = reader.integer("image_token_id", 0);
  visual.video_token = reader.integer("video_token_id", 0);
  visual.tokens_a_picture = tokens_a_picture(projector_config, projector_where);
  visual.grid_positions = language.position_axes == 3 && visual.tokens_a_picture == 0;
  for (const std::int64_t token : {visual.image_token, visual.video_token})
    check<CheckpointError>(token < language.info.vocab_size, where,
                           ": keys 'image_token_id' and 'video_token_id': expected ids below vocab_size ",
                           language.info.vocab_size, ", got ", token);
  return assemble(std::move(vision), std::move(projector), std::move(language), visual);
}

NameMap names(const Json& config) {
  const Json& vision = part_of(config, "vision_config", "config.json");
  const Json& text = part_of(config, "text_config", "config.json");
  const Card& tower = card_of(vision, true, "vision_config");
  const Card& decoder = card_of(text, false, "text_config");
  NameMap names = tower.names(vision).under("vision.", "vision_tower.");
  names += decoder.names(text).under("language.", "language_model.");
  std::vector<std::pair<std::string, std::string>> projector = {{"norm.weight", "norm.weight"},
                                                                {"queries.weight", "queries.weight"}};
  for (const char* linear : {"up", "down", "in", "out", "layers.{}.attention.qkv", "layers.{}.attention.o",
                             "layers.{}.mlp.up", "layers.{}.mlp.down"})
    for (const char* part : {".weight", ".bias"})
      projector.emplace_back(std::string(linear) + part, std::string(linear) + part);
  for (const char* norm : {"layers.{}.attention_norm.weight", "layers.{}.mlp_norm.weight"})
    projector.emplace_back(norm, norm);
  names += NameMap(std::move(projector)).under("projector.", "projector.");
  return names;
}

}  // namespace composed

void register_composed(Registry& registry) {
  Card card;
  card.family = "composed";
  card.model_types = {composed::kModelType};
  card.names = composed::names;
  card.whole = composed::build;
  registry.add(std::move(card));
}

}  // namespace loongforge
