// From patches to tokens of the language model.
#pragma once

#include <memory>

#include "loongforge/nn/model.h"

namespace loongforge {

// norm(each patch) → the patches of a unit side by side → linear → GELU → linear: one token a unit.
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

// Perceiver resampler (Alayrac et al. 2022): so many learnt queries a picture look at its patches and at each
// other, layer after layer, whatever the number of patches.
struct ResamplerOptions {
  // Channels of a patch.
  std::int64_t channels = 0;
  // Of the queries; a multiple of heads.
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t depth = 0;
  // Tokens of every picture.
  std::int64_t tokens = 0;
  std::int64_t out = 0;
  double norm_eps = 1e-6;
  double init_std = 0.02;
};

// Segment from patches to tokens. Parameters in, queries, layers.N.{attention_norm, attention, mlp_norm,
// mlp}, norm, out.
std::unique_ptr<Segment> build_resampler(ParamBuilder& builder, const ResamplerOptions& options);

}  // namespace loongforge
