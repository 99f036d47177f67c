#include "loongforge/models/vision/layout.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <vector>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

struct Grid {
  std::int64_t frames, rows, columns;
};

class LayoutWriter {
 public:
  LayoutWriter(std::int64_t merge, std::int64_t window) : merge_(merge), window_(window) {}

  void add(const Grid& grid) {
    const std::int64_t rows = grid.rows / merge_, columns = grid.columns / merge_;
    const std::int64_t side = window_ > 0 ? window_ : std::max(rows, columns);
    for (std::int64_t frame = 0; frame < grid.frames; ++frame) {
      for (std::int64_t top = 0; top < rows; top += side)
        for (std::int64_t left = 0; left < columns; left += side)
          add_window(top, std::min(top + side, rows), left, std::min(left + side, columns), columns);
      first_unit_ += rows * columns;
      frames_.push_back(patches());
    }
  }

  VisionLayout finish() const {
    const at::TensorOptions wide = at::TensorOptions().dtype(at::kLong), narrow = wide.dtype(at::kInt);
    VisionLayout out;
    out.order = at::tensor(order_, wide);
    out.positions = at::empty({2, patches()}, wide);
    std::copy(heights_.begin(), heights_.end(), out.positions.mutable_data_ptr<std::int64_t>());
    std::copy(widths_.begin(), widths_.end(), out.positions.mutable_data_ptr<std::int64_t>() + patches());
    out.frames = at::tensor(frames_, narrow);
    out.windows = at::tensor(windows_, narrow);
    return out;
  }

 private:
  std::int32_t patches() const { return static_cast<std::int32_t>(heights_.size()); }

  void add_window(std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right,
                  std::int64_t columns) {
    for (std::int64_t row = top; row < bottom; ++row)
      for (std::int64_t column = left; column < right; ++column) {
        order_.push_back(first_unit_ + row * columns + column);
        for (std::int64_t i = 0; i < merge_ * merge_; ++i) {
          heights_.push_back(row * merge_ + i / merge_);
          widths_.push_back(column * merge_ + i % merge_);
        }
      }
    windows_.push_back(patches());
  }

  std::int64_t merge_, window_, first_unit_ = 0;
  std::vector<std::int64_t> order_, heights_, widths_;
  std::vector<std::int32_t> frames_{0}, windows_{0};
};

}  // namespace

VisionLayout vision_layout(const at::Tensor& grid_thw, std::int64_t merge, std::int64_t window) {
  check(grid_thw.dim() == 2 && grid_thw.size(1) == 3 && grid_thw.scalar_type() == at::kLong &&
            grid_thw.is_cpu(),
        "grid_thw: expected int64 (n, 3) on the CPU, got ", grid_thw.sizes());
  LayoutWriter writer(merge, window);
  const at::Tensor grids = grid_thw.contiguous();
  const std::int64_t* at = grids.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < grids.size(0); ++i, at += 3) {
    check<DataError>(at[0] > 0 && at[1] > 0 && at[2] > 0 && at[1] % merge == 0 && at[2] % merge == 0,
                     "grid_thw: row ", i, ": expected positive numbers, height and width multiples of ",
                     merge, ", got ", at[0], ", ", at[1], ", ", at[2]);
    writer.add({at[0], at[1], at[2]});
  }
  return writer.finish();
}

}  // namespace loongforge
