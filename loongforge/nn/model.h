// A model as the floors above see it: ordered segments, parameters in a fixed order, hidden states and a
// head.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/nn/context.h"
#include "loongforge/nn/name_map.h"
#include "loongforge/nn/param.h"

namespace loongforge {

// Named tensors handed from segment to segment ("input_ids" int64 (N), "hidden" (N, C)).
using Flow = std::map<std::string, at::Tensor>;

// One step of a model, e.g. the embedding or one block; what pipelines cut and recompute repeats. Entries of
// the flow that it does not know pass through.
class Segment {
 public:
  virtual ~Segment() = default;
  virtual Flow forward(const Context& context, Flow flow) const = 0;
  // Whether RecomputePolicy::Mode::kLayer applies.
  virtual bool is_layer() const { return false; }
  // Whether anything inside is trained.
  virtual bool has_trainable() const { return false; }
};

// y = (x - mean) / deviation, each channel, of pixels in [0, 1].
struct PixelNormalisation {
  std::array<double, 3> mean, deviation;
};

// How pictures and clips enter a model that reads them.
struct VisualInfo {
  // Tokens that hold the place of one merged patch of a picture or a clip.
  std::int64_t image_token = 0;
  std::int64_t video_token = 0;
  std::int64_t channels = 3;
  // Sides of a patch in pixels and in frames, and of the square of patches that becomes one token.
  std::int64_t patch_size = 0;
  std::int64_t temporal_patch_size = 1;
  std::int64_t merge_size = 1;
  // Tokens of every picture; 0: one a square of patches.
  std::int64_t tokens_a_picture = 0;
  // Visual tokens stand on axes of time, height and width (positions (3, N)); otherwise all tokens in a line.
  bool grid_positions = false;
  // Steps on the axis of time a second of a clip.
  double tokens_per_second = 0;
  // How pictures are prepared where no file of the model says it. Nothing: as Qwen2-VL's are.
  std::optional<PixelNormalisation> normalisation;
  // Side in pixels of the square that every picture is resized to, whatever its shape; 0: none.
  std::int64_t picture_side = 0;

  // Tokens of a picture or clip of (t, h, w) patches.
  std::int64_t tokens_of(std::int64_t t, std::int64_t h, std::int64_t w) const {
    return tokens_a_picture > 0 ? tokens_a_picture : t * h * w / (merge_size * merge_size);
  }
};

// Sizes that tasks, caches and reports need.
struct ModelInfo {
  std::string family;
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  // Longest sequence the model was made for.
  std::int64_t max_positions = 0;
  std::optional<VisualInfo> visual;
};

// Everything a model card builds.
struct ModelParts {
  ModelInfo info;
  // The Hugging Face config.json.
  Json config;
  // Of tensors in files, and of parameters in the upstream implementation (adapters, gradients).
  NameMap names, module_names;
  ParamPlan plan;
  std::vector<ParamRef> params;
  std::vector<std::unique_ptr<Segment>> segments;
  // (V, C); the same parameter where tied.
  ParamRef embedding, head;
};

class Model {
 public:
  explicit Model(ModelParts parts);

  const ModelInfo& info() const { return parts_.info; }
  const Json& config() const { return parts_.config; }
  const NameMap& names() const { return parts_.names; }
  const NameMap& module_names() const { return parts_.module_names; }
  const ParamPlan& plan() const { return parts_.plan; }
  at::ScalarType compute_dtype() const { return parts_.plan.compute; }
  const std::vector<ParamRef>& params() const { return parts_.params; }
  // Null when there is none of that name.
  Param* find(const std::string& name) const;
  const std::vector<std::unique_ptr<Segment>>& segments() const { return parts_.segments; }
  // Weight (V, C) that tokens become hidden states by.
  const ParamRef& embedding() const { return parts_.embedding; }
  // Weight (V, C) that turns hidden states into logits.
  const ParamRef& head() const { return parts_.head; }

  // Runs all segments.
  Flow run(const Context& context, Flow flow) const;
  // input_ids int64 (N) → final hidden states (N, C), normalised, in compute dtype.
  at::Tensor hidden(const Context& context, const at::Tensor& input_ids) const;
  // hidden (n, C) → logits (n, V) in the wider of float32 and compute dtype; not differentiable.
  at::Tensor logits(const at::Tensor& hidden) const;

  // Throws InternalError naming the parameters that were neither loaded nor initialised.
  void check_filled() const;
  std::int64_t parameter_count() const;
  std::int64_t trainable_count() const;
  // Floating-point operations of the matrix products of one forward pass per token without the head,
  // documents of `length` tokens; a training step costs three times as much.
  double flops_per_token(double length) const;
  // The same of the head, for a token whose logits are needed.
  double head_flops_per_token() const;

 private:
  ModelParts parts_;
  std::map<std::string, Param*> by_name_;
};

// Runs one segment, recomputed in backward where the context's policy says so.
Flow run_segment(const Segment& segment, const Context& context, Flow flow);

}  // namespace loongforge
