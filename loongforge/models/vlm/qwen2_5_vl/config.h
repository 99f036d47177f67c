// The parts of Qwen2.5-VL's config.json.
#pragma once

#include <string>

#include "loongforge/models/llm/decoder.h"
#include "loongforge/models/vision/qwen2_5_vit/config.h"

namespace loongforge::qwen2_5_vl {

struct VlmConfig {
  qwen2_5_vit::TowerConfig tower;
  DecoderOptions language;
  std::int64_t image_token = 0;
  std::int64_t video_token = 0;
};

// Reads the nested form of transformers 5 and the flat form of older files. Throws CheckpointError naming
// `where` and the key that is missing, impossible or not supported.
VlmConfig read_config(const Json& config, const std::string& where);

}  // namespace loongforge::qwen2_5_vl
