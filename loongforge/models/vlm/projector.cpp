#include "loongforge/models/vlm/projector.h"

#include <ATen/ops/gelu.h>

#include "loongforge/models/vision/tower.h"
#include "loongforge/nn/linear.h"
#include "loongforge/nn/rms_norm.h"

namespace loongforge {
namespace {

LinearOptions linear_options(double init_std, LinearOptions::Split split) {
  LinearOptions options;
  options.bias = true;
  options.init_std = init_std;
  options.split = split;
  return options;
}

std::optional<RmsNorm> norm_of(ParamBuilder& builder, const PatchMergeOptions& options) {
  if (!options.norm) return std::nullopt;
  return RmsNorm(builder, "norm", options.channels, options.norm_eps);
}

class PatchMerge final : public Segment {
 public:
  PatchMerge(ParamBuilder& builder, const PatchMergeOptions& options)
      : PatchMerge(builder, options, options.channels * options.unit, builder.params().size()) {}

  Flow forward(const Context& context, Flow flow) const override {
    const auto patches = flow.find(vision_flow::kPatches);
    if (patches == flow.end()) return flow;
    const at::Tensor x = norm_ ? norm_->forward(context, patches->second) : patches->second;
    const at::Tensor inner = at::gelu(up_.forward(context, joined_units(x, unit_)));
    const at::Tensor tokens = in_picture_order(down_.forward(context, inner), flow.at(vision_flow::kOrder));
    for (const char* name : {vision_flow::kPatches, vision_flow::kCos, vision_flow::kSin,
                             vision_flow::kFrames, vision_flow::kWindows, vision_flow::kOrder})
      flow.erase(name);
    flow[vision_flow::kTokens] = tokens;
    return flow;
  }
  bool has_trainable() const override { return trainable_; }

 private:
  PatchMerge(ParamBuilder& builder, const PatchMergeOptions& options, std::int64_t in, std::size_t first)
      : unit_(options.unit),
        norm_(norm_of(builder, options)),
        up_(builder, "up", in, options.hidden > 0 ? options.hidden : in,
            linear_options(options.init_std, LinearOptions::Split::kOutputs)),
        down_(builder, "down", options.hidden > 0 ? options.hidden : in, options.out,
              linear_options(options.init_std, LinearOptions::Split::kInputs)),
        trainable_(builder.any_trainable(first)) {}

  std::int64_t unit_;
  std::optional<RmsNorm> norm_;
  Linear up_, down_;
  bool trainable_;
};

}  // namespace

std::unique_ptr<Segment> build_patch_merge(ParamBuilder& builder, const PatchMergeOptions& options) {
  return std::make_unique<PatchMerge>(builder, options);
}

}  // namespace loongforge
