#include "loongforge/models/vlm/qwen2_5_vl/model.h"

#include "loongforge/models/vision/qwen2_5_vit/tower.h"
#include "loongforge/models/vlm/projector.h"
#include "loongforge/models/vlm/qwen2_5_vl/config.h"
#include "loongforge/models/vlm/qwen2_5_vl/names.h"
#include "loongforge/models/vlm/splice.h"

namespace loongforge {
namespace qwen2_5_vl {
namespace {

VisualInfo visual_of(const VlmConfig& config) {
  VisualInfo visual;
  visual.image_token = config.image_token;
  visual.video_token = config.video_token;
  visual.channels = config.tower.in_channels;
  visual.patch_size = config.tower.patch_size;
  visual.temporal_patch_size = config.tower.temporal_patch_size;
  visual.merge_size = config.tower.merge_size;
  visual.grid_positions = true;
  visual.tokens_per_second = config.tower.tokens_per_second;
  return visual;
}

std::unique_ptr<Segment> build_merger(ParamBuilder& builder, const qwen2_5_vit::TowerConfig& tower) {
  const ParamBuilder::Scope scope(builder, "projector.");
  PatchMergeOptions options;
  options.channels = tower.hidden_size;
  options.unit = tower.merge_size * tower.merge_size;
  options.out = tower.out_hidden_size;
  options.init_std = tower.init_std;
  return build_patch_merge(builder, options);
}

}  // namespace

ModelParts build(const Json& json, ParamBuilder& builder, const std::string& where) {
  const VlmConfig config = read_config(json, where);
  ModelParts parts;
  {
    const ParamBuilder::Scope scope(builder, "vision.");
    parts.segments = qwen2_5_vit::build(builder, config.tower);
  }
  parts.segments.push_back(build_merger(builder, config.tower));
  const ParamBuilder::Scope scope(builder, "language.");
  LanguagePart language = build_decoder(builder, config.language);
  parts.info = language.info;
  parts.info.visual = visual_of(config);
  language.segments.front() = splice_into(std::move(language.segments.front()), *parts.info.visual);
  for (auto& segment : language.segments) parts.segments.push_back(std::move(segment));
  parts.embedding = language.embedding;
  parts.head = language.head;
  return parts;
}

}  // namespace qwen2_5_vl

void register_qwen2_5_vl(Registry& registry) {
  Card card;
  card.family = "qwen2_5_vl";
  card.model_types = {"qwen2_5_vl"};
  card.architectures = {"Qwen2_5_VLForConditionalGeneration"};
  card.names = [](const Json&) { return qwen2_5_vl::file_names(); };
  card.module_names = [](const Json&) { return qwen2_5_vl::module_names(); };
  card.whole = qwen2_5_vl::build;
  registry.add(std::move(card));
}

}  // namespace loongforge
