#include "loongforge/models/vision/siglip/position_table.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/upsample_bicubic2d.h>

#include <cmath>
#include <map>
#include <vector>

#include "loongforge/ops/embedding.h"

namespace loongforge::siglip {
namespace {

at::TensorOptions whole_numbers() {
  return at::TensorOptions().dtype(at::kLong);
}

// (side^2, C) → (height · width, C).
at::Tensor resized(const at::Tensor& table, std::int64_t side, std::int64_t height, std::int64_t width) {
  if (height == side && width == side) return table;
  const at::Tensor planes =
      table.to(wide_dtype(table.scalar_type())).view({1, side, side, table.size(1)}).permute({0, 3, 1, 2});
  const at::Tensor out = at::upsample_bicubic2d(planes, {height, width}, /*align_corners=*/false);
  return out.permute({0, 2, 3, 1}).reshape({height * width, table.size(1)}).to(table.scalar_type());
}

// The table at every size of grid that was asked for, one behind the other.
class SizedTables {
 public:
  SizedTables(at::Tensor table, std::int64_t side) : table_(std::move(table)), side_(side) {}

  // Where the rows for grids of that size begin.
  std::int64_t first_row(std::int64_t height, std::int64_t width) {
    const auto [place, is_new] = first_rows_.try_emplace({height, width}, rows_);
    if (is_new) {
      tables_.push_back(resized(table_, side_, height, width));
      rows_ += height * width;
    }
    return place->second;
  }
  at::Tensor joined() const { return at::cat(tables_); }

 private:
  at::Tensor table_;
  std::int64_t side_, rows_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> first_rows_;
  std::vector<at::Tensor> tables_;
};

// Row of each patch in `tables`.
at::Tensor rows_of(const at::Tensor& grid_thw, const at::Tensor& positions, SizedTables& tables) {
  const at::Tensor grids = grid_thw.contiguous(), rows = at::empty({positions.size(1)}, whole_numbers());
  const std::int64_t* grid = grids.const_data_ptr<std::int64_t>();
  const std::int64_t* height = positions.const_data_ptr<std::int64_t>();
  const std::int64_t* width = height + positions.size(1);
  std::int64_t* row = rows.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < grids.size(0); ++i, grid += 3) {
    const std::int64_t first = tables.first_row(grid[1], grid[2]);
    for (std::int64_t p = 0; p < grid[0] * grid[1] * grid[2]; ++p)
      *row++ = first + *height++ * grid[2] + *width++;
  }
  return rows;
}

}  // namespace

PositionTable::PositionTable(ParamBuilder& builder, const std::string& name, std::int64_t side,
                             std::int64_t channels)
    : side(side),
      table(builder, name, side * side, channels, 1.0 / std::sqrt(static_cast<double>(channels))) {}

at::Tensor PositionTable::forward(const Context& context, const at::Tensor& grid_thw,
                                  const at::Tensor& positions) const {
  // The whole table as activations: what is made of it sends its gradient to the parameter's one place.
  SizedTables tables(table.forward(context, at::arange(side * side, whole_numbers())), side);
  const at::Tensor rows = rows_of(grid_thw, positions, tables);
  return ops::embedding(rows, tables.joined());
}

}  // namespace loongforge::siglip
