#include "loongforge/nn/rope_frequencies.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

TEST(RopeFrequencies, FollowsTheDefinition) {
  RopeOptions options;
  options.theta = 500000.0;
  const at::Tensor f = rope_frequencies(options, 64, at::kDouble);
  ASSERT_EQ(f.numel(), 32);
  for (std::int64_t i = 0; i < 32; ++i) {
    const double expected = std::pow(500000.0, -2.0 * static_cast<double>(i) / 64.0);
    EXPECT_NEAR(f[i].item<double>(), expected, 1e-15);
  }
}

TEST(RopeFrequencies, StretchesLongWavesOnlyInLlama3) {
  RopeOptions plain, scaled;
  plain.theta = scaled.theta = 500000.0;
  scaled.llama3 = Llama3Scaling{};
  const at::Tensor before = rope_frequencies(plain, 128, at::kDouble);
  const at::Tensor after = rope_frequencies(scaled, 128, at::kDouble);
  int between = 0;
  for (std::int64_t i = 0; i < 64; ++i) {
    const double wave = 2.0 * std::numbers::pi / before[i].item<double>();
    const double ratio = before[i].item<double>() / after[i].item<double>();
    if (wave < 8192.0 / 4.0) {
      EXPECT_DOUBLE_EQ(ratio, 1.0);
    } else if (wave > 8192.0) {
      EXPECT_NEAR(ratio, 8.0, 1e-12);
    } else {
      const double share = (8192.0 / wave - 1.0) / 3.0;
      EXPECT_NEAR(1.0 / ratio, (1.0 - share) / 8.0 + share, 1e-12);
      ++between;
    }
  }
  EXPECT_GT(between, 0);
}

TEST(RopeFrequencies, IsFloat32ForBfloat16) {
  EXPECT_EQ(rope_frequencies({}, 8, at::kBFloat16).scalar_type(), at::kFloat);
}

TEST(RopeFrequencies, RefusesOddHeads) {
  EXPECT_THROW(rope_frequencies({}, 7, at::kFloat), InternalError);
}

}  // namespace
}  // namespace loongforge
