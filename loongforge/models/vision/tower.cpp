#include "loongforge/models/vision/tower.h"

#include <ATen/ops/argsort.h>

namespace loongforge {

void put_layout(Flow& flow, const VisionLayout& layout) {
  flow[vision_flow::kFrames] = layout.frames;
  flow[vision_flow::kWindows] = layout.windows;
  flow[vision_flow::kOrder] = layout.order;
}

void replace_patches(Flow& flow, const at::Tensor& tokens) {
  for (const char* name : {vision_flow::kGrid, vision_flow::kPatches, vision_flow::kCos, vision_flow::kSin,
                           vision_flow::kFrames, vision_flow::kWindows, vision_flow::kOrder})
    flow.erase(name);
  flow[vision_flow::kTokens] = tokens;
}

at::Tensor joined_units(const at::Tensor& patches, std::int64_t merge) {
  return patches.reshape({patches.size(0) / merge, merge * patches.size(1)});
}

at::Tensor in_picture_order(const at::Tensor& rows, const at::Tensor& order) {
  return rows.index_select(0, order.argsort());
}

}  // namespace loongforge
