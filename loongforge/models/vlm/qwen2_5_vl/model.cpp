#include "loongforge/models/vlm/qwen2_5_vl/model.h"

#include "loongforge/models/vision/qwen2_5_vit/model.h"
#include "loongforge/models/vlm/assemble.h"
#include "loongforge/models/vlm/projector.h"
#include "loongforge/models/vlm/qwen2_5_vl/config.h"
#include "loongforge/models/vlm/qwen2_5_vl/names.h"

namespace loongforge {
namespace qwen2_5_vl {
namespace {

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
  VisionPart vision = [&] {
    const ParamBuilder::Scope scope(builder, "vision.");
    return qwen2_5_vit::build(config.tower, builder);
  }();
  std::unique_ptr<Segment> merger = build_merger(builder, config.tower);
  const ParamBuilder::Scope scope(builder, "language.");
  LanguagePart language = build_decoder(builder, config.language);
  VisualInfo visual = vision.visual;
  visual.image_token = config.image_token;
  visual.video_token = config.video_token;
  visual.grid_positions = true;
  return assemble(std::move(vision), std::move(merger), std::move(language), visual);
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
