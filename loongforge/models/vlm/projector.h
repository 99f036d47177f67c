// From patches to tokens of the language model.
#pragma once

#include <memory>

#include "loongforge/nn/model.h"

namespace loongforge {

// norm(each patch) → the patches of a unit side by side → linear → GELU → linear.
struct PatchMergeOptions {
  // Channels of a patch, and patches of a unit.
  std::int64_t channels = 0;
  std::int64_t unit = 1;
  // Between the two linears; 0: as many as come in.
  std::int64_t hidden = 0;
  // Of a token.
  std::int64_t out = 0;
  // Root-mean-square norm before all; without it a plain MLP.
  bool norm = true;
  double norm_eps = 1e-6;
  double init_std = 0.02;
};

// Segment from patches to tokens (models/vision/tower.h). Parameters norm, up, down.
std::unique_ptr<Segment> build_patch_merge(ParamBuilder& builder, const PatchMergeOptions& options);

}  // namespace loongforge
