// How the patches of a batch of pictures and clips lie in memory while a vision tower works on them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace loongforge {

// One row (t, h, w) a picture or clip, counted in patches before merging: int64 (n, 3) on the CPU, h and w
// multiples of `merge`. Its patches come as (t, h / merge, w / merge, merge, merge): the merge * merge
// patches that become one token are neighbours, a "unit".
struct VisionLayout {
  // int64 (P / merge^2): the unit that stands at each place. Neighbours in a window are neighbours here.
  at::Tensor order;
  // int64 (2, P): height and width of the patch at each place, within its picture.
  at::Tensor positions;
  // int32 (frames + 1) and (windows + 1): cut the P patches into frames, and into windows within the frames.
  at::Tensor frames, windows;
};

// `window`: side of a window in units; 0: one window a frame. Throws DataError for sides that are not
// multiples of `merge` or below 1.
VisionLayout vision_layout(const at::Tensor& grid_thw, std::int64_t merge, std::int64_t window);

}  // namespace loongforge
