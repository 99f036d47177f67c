#include "loongforge/models/vision/tower.h"

#include <ATen/ops/argsort.h>

namespace loongforge {

void put_layout(Flow& flow, const VisionLayout& layout) {
  flow[vision_flow::kFrames] = layout.frames;
  flow[vision_flow::kWindows] = layout.windows;
  flow[vision_flow::kOrder] = layout.order;
}

at::Tensor joined_units(const at::Tensor& patches, std::int64_t merge) {
  return patches.reshape({patches.size(0) / merge, merge * patches.size(1)});
}

at::Tensor in_picture_order(const at::Tensor& rows, const at::Tensor& order) {
  return rows.index_select(0, order.argsort());
}

}  // namespace loongforge
