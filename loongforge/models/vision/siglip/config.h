// Sizes of SigLIP's vision tower, read from its config.json.
#pragma once

#include <string>

#include "loongforge/base/json.h"

namespace loongforge::siglip {

struct TowerConfig {
  std::int64_t depth = 0;
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t heads = 0;
  std::int64_t channels = 0;
  // Sides in pixels of the pictures that the tower was made for, and of a patch.
  std::int64_t image_size = 0;
  std::int64_t patch_size = 0;
  double norm_eps = 0;
  // Ours, beside upstream's keys: the side of the square of patches that becomes one token, steps of the
  // temporal position a second of a clip, and the deviation of initial weights.
  std::int64_t merge_size = 0;
  double tokens_per_second = 0;
  double init_std = 0;

  // Positions of the learnt table on each side.
  std::int64_t grid_side() const { return image_size / patch_size; }
};

// Throws CheckpointError naming `where` and the key that is missing, impossible or not supported.
TowerConfig read_config(const Json& config, const std::string& where);

}  // namespace loongforge::siglip
