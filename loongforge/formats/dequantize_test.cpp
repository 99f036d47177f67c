// Hand-made blocks; every type against the gguf package is in tests/formats/gguf_test.py.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loongforge/base/error.h"
#include "loongforge/formats/ggml_type.h"
#include "loongforge/formats/test_folder.h"

namespace loongforge {
namespace {

constexpr std::uint16_t kHalfOne = 0x3c00, kHalfTwo = 0x4000;

std::vector<float> dequantized(GgmlType type, const std::string& block, std::size_t count) {
  std::vector<float> out(count);
  dequantize_blocks(type, std::as_bytes(std::span(block.data(), block.size())), out);
  return out;
}

TEST(Dequantize, SplitsNibblesIntoHalves) {
  std::string block = raw(kHalfTwo) + std::string(16, '\x88');
  block[2] = '\x70';  // value 0 is 0 - 8, value 16 is 7 - 8
  const auto values = dequantized(GgmlType::kQ4_0, block, 32);
  EXPECT_EQ(values[0], -16.0f);
  EXPECT_EQ(values[16], -2.0f);
  EXPECT_EQ(values[1], 0.0f);
}

TEST(Dequantize, AddsTheMinimum) {
  const auto values =
      dequantized(GgmlType::kQ4_1, raw(kHalfTwo) + raw(kHalfOne) + std::string(16, '\x31'), 32);
  EXPECT_EQ(values[0], 3.0f);
  EXPECT_EQ(values[31], 7.0f);
}

TEST(Dequantize, TakesTheFifthBit) {
  const std::string high = raw(std::uint32_t{0x80000001u});
  const auto signed_values = dequantized(GgmlType::kQ5_0, raw(kHalfOne) + high + std::string(16, '\0'), 32);
  EXPECT_EQ(signed_values[0], 0.0f);
  EXPECT_EQ(signed_values[1], -16.0f);
  EXPECT_EQ(signed_values[31], 0.0f);
  const auto values =
      dequantized(GgmlType::kQ5_1, raw(kHalfOne) + raw(kHalfTwo) + high + std::string(16, '\x21'), 32);
  EXPECT_EQ(values[0], 19.0f);
  EXPECT_EQ(values[30], 4.0f);
  EXPECT_EQ(values[31], 20.0f);
}

TEST(Dequantize, ReadsSignedBytes) {
  const auto values = dequantized(GgmlType::kQ8_0, raw(kHalfTwo) + std::string(32, '\x80'), 32);
  EXPECT_EQ(values, std::vector<float>(32, -256.0f));
}

TEST(Dequantize, ReadsPlainFloats) {
  EXPECT_EQ(dequantized(GgmlType::kF32, raw(0.5f), 1)[0], 0.5f);
  EXPECT_EQ(dequantized(GgmlType::kF16, raw(kHalfTwo), 1)[0], 2.0f);
  EXPECT_EQ(dequantized(GgmlType::kBF16, raw(std::uint16_t{0xbf80}), 1)[0], -1.0f);
}

TEST(Dequantize, ReadsManyBlocks) {
  const std::string block = raw(kHalfOne) + std::string(16, '\x99');
  EXPECT_EQ(dequantized(GgmlType::kQ4_0, block + block + block, 96), std::vector<float>(96, 1.0f));
}

TEST(Dequantize, RefusesSizesThatDoNotMatch) {
  EXPECT_THROW(dequantized(GgmlType::kQ4_0, std::string(17, 'x'), 32), InternalError);
  EXPECT_THROW(dequantized(GgmlType::kQ4_0, std::string(18, 'x'), 31), InternalError);
  EXPECT_THROW(dequantized(static_cast<GgmlType>(16), std::string(66, 'x'), 256), InternalError);
}

TEST(GgmlType, NamesAndSizes) {
  EXPECT_EQ(ggml_type_name(GgmlType::kQ4_K), "Q4_K");
  EXPECT_EQ(ggml_type_name(static_cast<GgmlType>(77)), "type 77");
  EXPECT_EQ(ggml_type_from_name("BF16"), GgmlType::kBF16);
  EXPECT_EQ(ggml_type_from_name("IQ1_S"), std::nullopt);
  EXPECT_EQ(ggml_type_info(14)->block_bytes, 210);
  EXPECT_EQ(ggml_type_info(5), nullptr);
}

}  // namespace
}  // namespace loongforge
