#include "loongforge/models/vlm/positions.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

// Walks over the tokens of all documents; the grids go on from document to document.
class Walk {
 public:
  Walk(const at::Tensor& ids, const at::Tensor& grid_thw, std::span<const double> seconds,
       const VisualInfo& visual)
      : ids_(ids.contiguous()),
        grids_(grid_thw.contiguous()),
        seconds_(seconds),
        visual_(visual),
        positions_(at::empty({3, ids.size(0)}, at::TensorOptions().dtype(at::kLong))) {
    check<DataError>(seconds.empty() || std::ssize(seconds) == grid_thw.size(0),
                     "seconds a row of patches: expected one for each of ", grid_thw.size(0),
                     " pictures or clips, got ", seconds.size());
  }

  void document(std::int64_t begin, std::int64_t end) {
    std::int64_t next = 0;
    for (std::int64_t i = begin; i < end;) {
      if (is_place(i)) {
        i = picture(i, end, next);
      } else {
        put(i++, next, next, next);
        ++next;
      }
    }
  }

  at::Tensor finish() const {
    check<DataError>(grid_ == grids_.size(0), "input_ids hold places for ", grid_,
                     " pictures or clips, but there are grids of ", grids_.size(0));
    return positions_;
  }

 private:
  std::int64_t id(std::int64_t i) const { return ids_.const_data_ptr<std::int64_t>()[i]; }
  bool is_place(std::int64_t i) const { return id(i) == visual_.image_token || id(i) == visual_.video_token; }
  void put(std::int64_t i, std::int64_t time, std::int64_t row, std::int64_t column) {
    std::int64_t* at = positions_.mutable_data_ptr<std::int64_t>() + i;
    at[0] = time;
    at[ids_.size(0)] = row;
    at[2 * ids_.size(0)] = column;
  }

  // Between rows of patches of the next grid on the axis of time, of which it has `rows`.
  float step_of(std::int64_t rows, bool clip, std::int64_t start) const {
    if (!clip) return 1;
    const double second = seconds_.empty() ? 1.0 : seconds_[static_cast<std::size_t>(grid_)];
    const float step = static_cast<float>(visual_.tokens_per_second) * static_cast<float>(second);
    // Rotary angles of positions beyond mean nothing.
    constexpr double kEnd = 2147483648.0;
    const double last = static_cast<double>(start) + static_cast<double>(rows) * static_cast<double>(step);
    check<DataError>(std::isfinite(step) && step >= 0 && last < kEnd, "clip ", grid_, ": expected ", rows,
                     " rows of patches of 0 seconds or more each, in all fewer than 2^31 positions of time (",
                     visual_.tokens_per_second, " a second), got ", second,
                     " seconds each; mend the rate of its frames");
    return step;
  }

  // The tokens of the next grid from token i on; returns the token behind them.
  std::int64_t picture(std::int64_t i, std::int64_t end, std::int64_t& next) {
    check<DataError>(grid_ < grids_.size(0), "input_ids hold places for more than ", grids_.size(0),
                     " pictures or clips");
    const std::int64_t* grid = grids_.const_data_ptr<std::int64_t>() + 3 * grid_;
    const std::int64_t rows = grid[1] / visual_.merge_size, columns = grid[2] / visual_.merge_size;
    const std::int64_t place = id(i), last = i + grid[0] * rows * columns;
    const bool clip = place == visual_.video_token;
    bool fits = last <= end;
    for (std::int64_t k = i; fits && k < last; ++k) fits = id(k) == place;
    check<DataError>(fits, "input_ids: picture or clip ", grid_, " of ", grid[0], " x ", rows, " x ", columns,
                     " tokens needs as many equal places in a row, from token ", i, " on");
    // Times are cut to whole numbers in float32, as upstream does.
    const float step = step_of(grid[0], clip, next);
    for (std::int64_t k = 0; i < last; ++i, ++k) {
      const auto time = static_cast<std::int64_t>(static_cast<float>(k / (rows * columns)) * step);
      put(i, next + time, next + k / columns % rows, next + k % columns);
    }
    next += std::max(rows, columns);
    ++grid_;
    return last;
  }

  at::Tensor ids_, grids_;
  std::span<const double> seconds_;
  const VisualInfo& visual_;
  at::Tensor positions_;
  std::int64_t grid_ = 0;
};

}  // namespace

at::Tensor visual_positions(const at::Tensor& ids, const at::Tensor& cu_seqlens, const at::Tensor& grid_thw,
                            std::span<const double> seconds, const VisualInfo& visual) {
  Walk walk(ids, grid_thw, seconds, visual);
  const std::int32_t* bound = cu_seqlens.const_data_ptr<std::int32_t>();
  for (std::int64_t d = 0; d + 1 < cu_seqlens.numel(); ++d) walk.document(bound[d], bound[d + 1]);
  return walk.finish();
}

}  // namespace loongforge
