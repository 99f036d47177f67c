// Sizes of the vision tower of Qwen2.5-VL, read from config.json's vision_config.
#pragma once

#include <string>
#include <vector>

#include "loongforge/base/json.h"

namespace loongforge::qwen2_5_vit {

struct TowerConfig {
  std::int64_t depth = 0;
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t heads = 0;
  std::int64_t in_channels = 0;
  std::int64_t patch_size = 0;
  std::int64_t temporal_patch_size = 0;
  // Side of the square of patches that becomes one token.
  std::int64_t merge_size = 0;
  // Side of an attention window in tokens.
  std::int64_t window = 0;
  // Blocks whose patches see the whole frame instead of their window.
  std::vector<std::int64_t> full_blocks;
  // Channels of the tokens that the merger gives.
  std::int64_t out_hidden_size = 0;
  // Steps of the temporal position a second of video.
  double tokens_per_second = 0;
  double rope_theta = 0;
  double init_std = 0;
};

// Throws CheckpointError naming `where` and the key that is missing, impossible or not supported.
TowerConfig read_config(const Json& config, const std::string& where);

}  // namespace loongforge::qwen2_5_vit
