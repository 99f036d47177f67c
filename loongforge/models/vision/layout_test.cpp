#include "loongforge/models/vision/layout.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

at::Tensor grids(const std::vector<std::int64_t>& numbers) {
  return at::tensor(numbers, at::TensorOptions().dtype(at::kLong)).view({-1, 3});
}
std::vector<std::int64_t> list(const at::Tensor& x) {
  const at::Tensor wide = x.to(at::kLong).contiguous().view({-1});
  return {wide.const_data_ptr<std::int64_t>(), wide.const_data_ptr<std::int64_t>() + wide.numel()};
}
using List = std::vector<std::int64_t>;

TEST(VisionLayout, CutsFramesIntoWindowsRowByRow) {
  // 3 x 5 units in windows of 2 x 2: two rows of windows, the right and lower ones smaller.
  const VisionLayout layout = vision_layout(grids({1, 6, 10}), 2, 2);
  EXPECT_EQ(list(layout.order), (List{0, 1, 5, 6, 2, 3, 7, 8, 4, 9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(list(layout.windows), (List{0, 16, 32, 40, 48, 56, 60}));
  EXPECT_EQ(list(layout.frames), (List{0, 60}));
}

TEST(VisionLayout, NumbersRowsAndColumnsOfTheFourPatchesOfAUnit) {
  const VisionLayout layout = vision_layout(grids({1, 2, 4}), 2, 0);
  EXPECT_EQ(list(layout.positions[0]), (List{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(list(layout.positions[1]), (List{0, 1, 0, 1, 2, 3, 2, 3}));
}

TEST(VisionLayout, KeepsFramesAndPicturesApart) {
  const VisionLayout layout = vision_layout(grids({2, 2, 2, 1, 1, 1}), 1, 4);
  EXPECT_EQ(list(layout.frames), (List{0, 4, 8, 9}));
  EXPECT_EQ(list(layout.windows), (List{0, 4, 8, 9}));
  EXPECT_EQ(list(layout.order), (List{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(VisionLayout, MakesEveryUnitStandSomewhereOnce) {
  const VisionLayout layout = vision_layout(grids({3, 14, 22, 1, 8, 8, 2, 2, 30}), 2, 4);
  const at::Tensor sorted = std::get<0>(layout.order.sort());
  EXPECT_TRUE(sorted.equal(at::arange(sorted.size(0), at::TensorOptions().dtype(at::kLong))));
}

TEST(VisionLayout, RefusesSidesThatDoNotMerge) {
  EXPECT_THROW(vision_layout(grids({1, 3, 4}), 2, 0), DataError);
  EXPECT_THROW(vision_layout(grids({1, 0, 4}), 2, 0), DataError);
}

}  // namespace
}  // namespace loongforge
