// Vision-language models put together from parts: the configuration of the whole.
#pragma once

#include <string>
#include <vector>

#include "loongforge/nn/model.h"

namespace loongforge {

// What a composition is made of; each configuration in the form of Hugging Face.
struct Composition {
  Json vision, projector, language;
  // Tokens that hold the places of pictures and clips, and those around them.
  std::int64_t image_token = 0, video_token = 0, start_token = 0, end_token = 0;
  // Rows of the embedding: those of the language model, or more for added tokens.
  std::int64_t vocab_size = 0;
  // The shares of time, height and width in the language model's rotary frequencies; empty: tokens stand in a
  // line.
  std::vector<std::int64_t> sections;
};

// The tower's configuration out of that of its folder, which may hold a language model beside it. Throws
// CheckpointError naming `where` when no card serves the folder's model.
Json tower_config(const Json& folder_config, const std::string& where);
// config.json of `model_type: loongforge_vlm`.
Json composed_config(const Composition& parts);
// config.json of Qwen2.5-VL, which transformers reads: for its tower, a patch_merge projector and a language
// model of the Llama kind without other biases. Throws ConfigError naming what does not fit.
Json qwen2_5_vl_config(const Composition& parts);

}  // namespace loongforge
