#include "loongforge/formats/dtype.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "loongforge/base/error.h"
#include "loongforge/formats/half.h"
#include "loongforge/formats/tensor_info.h"
#include "loongforge/formats/test_folder.h"

namespace loongforge {
namespace {

TEST(DType, EveryNameLeadsBackToItsType) {
  for (int i = 0; i <= static_cast<int>(DType::kF6E3M2); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype) << dtype_name(dtype);
  }
  EXPECT_EQ(dtype_from_name("F128"), std::nullopt);
  EXPECT_EQ(dtype_from_name("f32"), std::nullopt);
}

TEST(DType, SizesAreBytesOfOneElement) {
  EXPECT_EQ(dtype_size(DType::kBool), 1u);
  EXPECT_EQ(dtype_size(DType::kBF16), 2u);
  EXPECT_EQ(dtype_size(DType::kF32), 4u);
  EXPECT_EQ(dtype_size(DType::kU64), 8u);
  EXPECT_EQ(dtype_bits(DType::kF4), 4);
  EXPECT_THROW(dtype_size(DType::kF4), InternalError);
}

TEST(TensorInfo, CountsElementsAndBytes) {
  EXPECT_EQ((TensorInfo{"w", DType::kBF16, {3, 5}}.nbytes()), 30);
  EXPECT_EQ((TensorInfo{"s", DType::kF64, {}}.numel()), 1);
  EXPECT_EQ((TensorInfo{"e", DType::kF64, {4, 0, 2}}.nbytes()), 0);
  EXPECT_EQ((TensorInfo{"q", DType::kF6E2M3, {4}}.nbytes()), 3);
}

TEST(TensorInfo, RefusesShapesWithoutASize) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(contains(message_of<CheckpointError>([] {
                         TensorInfo{"w", DType::kF32, {-1}}.numel();
                       }),
                       "tensor w"));
  EXPECT_THROW((TensorInfo{"w", DType::kF32, {kMost, 2}}.numel()), CheckpointError);
  EXPECT_THROW((TensorInfo{"w", DType::kF32, {kMost, 2, 0}}.numel()), CheckpointError);
  EXPECT_THROW((TensorInfo{"w", DType::kF32, {kMost}}.nbytes()), CheckpointError);
  EXPECT_THROW((TensorInfo{"w", DType::kF4, {3}}.nbytes()), CheckpointError);
}

TEST(Half, ConvertsExactly) {
  EXPECT_EQ(half_to_float(0x3c00), 1.0f);
  EXPECT_EQ(half_to_float(0xc000), -2.0f);
  EXPECT_EQ(half_to_float(0x0001), 0x1p-24f);
  EXPECT_EQ(half_to_float(0x83ff), -0x3ffp-24f);
  EXPECT_EQ(half_to_float(0x7bff), 65504.0f);
  EXPECT_EQ(half_to_float(0x7c00), std::numeric_limits<float>::infinity());
  EXPECT_NE(half_to_float(0x7e00), half_to_float(0x7e00));
  EXPECT_EQ(bfloat16_to_float(0x3f80), 1.0f);
}

}  // namespace
}  // namespace loongforge
