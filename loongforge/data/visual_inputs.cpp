#include "loongforge/data/visual_inputs.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "loongforge/base/error.h"

namespace loongforge {

VisualInputs visual_inputs(std::span<const PatchRows> media, std::vector<double> seconds) {
  check<InternalError>(media.size() == seconds.size(), "visual_inputs: ", media.size(), " media, ",
                       seconds.size(), " durations");
  VisualInputs out;
  out.seconds = std::move(seconds);
  out.grid_thw = at::empty({std::ssize(media), 3}, at::kLong);
  std::int64_t rows = 0;
  std::int64_t* grid = out.grid_thw.mutable_data_ptr<std::int64_t>();
  for (const PatchRows& one : media) {
    for (const std::int64_t side : {one.grid_t, one.grid_h, one.grid_w}) *grid++ = side;
    rows += one.rows();
  }
  if (media.empty()) return out;
  out.pixel_values = at::empty({rows, media.front().row_size}, at::kFloat);
  float* to = out.pixel_values.mutable_data_ptr<float>();
  for (const PatchRows& one : media) to = std::copy(one.values.begin(), one.values.end(), to);
  return out;
}

}  // namespace loongforge
