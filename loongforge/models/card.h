// Model cards: how a family's config.json becomes a model, and the registry that finds the right card.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/nn/model.h"

namespace loongforge {

// What a decoder-only language model is made of, alone or as one part of a larger model. The first segment
// reads "input_ids" (N) and gives "hidden" (N, C), the others turn "hidden" into "hidden"; other entries of a
// Flow pass through.
struct LanguagePart {
  // Without the family's name.
  ModelInfo info;
  std::vector<std::unique_ptr<Segment>> segments;
  // (V, C); the same parameter where tied.
  ParamRef embedding, head;
  // Axes that positions may have: 1, or 3 of time, height and width.
  std::int64_t position_axes = 1;
};

// What a vision tower is made of: segments from pixels to patches (models/vision/tower.h).
struct VisionPart {
  std::vector<std::unique_ptr<Segment>> segments;
  // Of a patch behind the last segment.
  std::int64_t channels = 0;
  // Sizes of patches; the tokens are not the tower's to say.
  VisualInfo visual;
};

// One family of models.
struct Card {
  // "llama"
  std::string family;
  // Values of config.json's `model_type` and `architectures` that the card serves.
  std::vector<std::string> model_types;
  std::vector<std::string> architectures;
  // Names of the tensors in files; later rules for the same parameter are read but not written.
  std::function<NameMap(const Json& config)> names;
  // What the names of tensors begin with that files may hold and the card has no use for, e.g. of a pooling
  // head.
  std::vector<std::string> unused_tensors;
  // Names of the parameters in the upstream implementation, where they are other ones.
  std::function<NameMap(const Json& config)> module_names;
  // Builds the whole model or its one part with unfilled parameters; a card has one of the three. Throws
  // CheckpointError naming the key of `config` that is missing, ill-typed or not supported; `where` starts
  // the message (the config's file).
  std::function<ModelParts(const Json& config, ParamBuilder& builder, const std::string& where)> whole;
  std::function<LanguagePart(const Json& config, ParamBuilder& builder, const std::string& where)> language;
  std::function<VisionPart(const Json& config, ParamBuilder& builder, const std::string& where)> vision;
};

class Registry {
 public:
  // Throws InternalError when a model_type is taken.
  void add(Card card);
  // The card that serves config's `model_type`, else one of its `architectures`. Throws CheckpointError
  // naming what was found and what is known.
  const Card& find(const Json& config, const std::string& where) const;
  std::vector<std::string> families() const;

 private:
  std::vector<Card> cards_;
};

// All cards of this build.
const Registry& model_registry();

// Finds the card and builds the model with unfilled parameters.
std::unique_ptr<Model> build_model(const Json& config, const ParamPlan& plan, const std::string& where);

// config.json of a preset (configs/models/NAME.yaml, embedded in the program). Throws ConfigError listing the
// presets there are.
Json preset_config(const std::string& name);
std::vector<std::string> preset_names();

}  // namespace loongforge
