#include "loongforge/models/vlm/projector.h"

#include <optional>

#include "loongforge/models/vision/tower.h"
#include "loongforge/nn/mlp.h"
#include "loongforge/nn/rms_norm.h"

namespace loongforge {
namespace {

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
    const at::Tensor given = patches->second.to(mlp_.up.weight->value.scalar_type());
    const at::Tensor x = norm_ ? norm_->forward(context, given) : given;
    const at::Tensor tokens = mlp_.forward(context, joined_units(x, unit_));
    const at::Tensor in_order = in_picture_order(tokens, flow.at(vision_flow::kOrder));
    replace_patches(flow, in_order);
    return flow;
  }
  bool has_trainable() const override { return trainable_; }

 private:
  PatchMerge(ParamBuilder& builder, const PatchMergeOptions& options, std::int64_t in, std::size_t first)
      : unit_(options.unit),
        norm_(norm_of(builder, options)),
        mlp_(builder, "",
             {.in = in,
              .hidden = options.hidden > 0 ? options.hidden : in,
              .out = options.out,
              .init_std = options.init_std}),
        trainable_(builder.any_trainable(first)) {}

  std::int64_t unit_;
  std::optional<RmsNorm> norm_;
  Mlp mlp_;
  bool trainable_;
};

}  // namespace

std::unique_ptr<Segment> build_patch_merge(ParamBuilder& builder, const PatchMergeOptions& options) {
  return std::make_unique<PatchMerge>(builder, options);
}

}  // namespace loongforge
