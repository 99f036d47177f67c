#include "loongforge/models/vlm/splice.h"

#include <ATen/ops/nonzero.h>

#include "loongforge/base/error.h"
#include "loongforge/models/vision/tower.h"

namespace loongforge {
namespace {

class SpliceSegment final : public Segment {
 public:
  SpliceSegment(std::unique_ptr<Segment> embedding, const VisualInfo& visual)
      : embedding_(std::move(embedding)), visual_(visual) {}

  Flow forward(const Context& context, Flow flow) const override {
    const at::Tensor ids = flow.at("input_ids");
    const at::Tensor places =
        ids.eq(visual_.image_token).logical_or(ids.eq(visual_.video_token)).nonzero().view({-1});
    flow = embedding_->forward(context, std::move(flow));
    const auto tokens = flow.find(vision_flow::kTokens);
    const std::int64_t given = tokens == flow.end() ? 0 : tokens->second.size(0);
    check<DataError>(given == places.size(0), "input_ids hold ", places.size(0),
                     " places for visual tokens, but the pictures give ", given,
                     "; each picture needs as many places as it has merged patches");
    if (given == 0) return flow;
    const at::Tensor hidden = flow.at("hidden");
    flow["hidden"] = hidden.index_copy(0, places, tokens->second.to(hidden.scalar_type()));
    flow.erase(vision_flow::kTokens);
    return flow;
  }
  bool has_trainable() const override { return embedding_->has_trainable(); }

 private:
  std::unique_ptr<Segment> embedding_;
  VisualInfo visual_;
};

}  // namespace

std::unique_ptr<Segment> splice_into(std::unique_ptr<Segment> embedding, const VisualInfo& visual) {
  return std::make_unique<SpliceSegment>(std::move(embedding), visual);
}

}  // namespace loongforge
