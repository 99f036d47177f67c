#include "loongforge/data/blend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loongforge/base/random.h"
#include "loongforge/data/test_support.h"

namespace loongforge {
namespace {

TEST(Blend, WeightsLikeSizesHitEveryRowOnce) {
  const Blend blend({10, 20});
  EXPECT_EQ(blend.counts(30), (std::vector<std::int64_t>{10, 20}));
}

TEST(Blend, ExtremeWeightsGiveTheirShare) {
  const Blend blend({0.001, 0.999});
  EXPECT_EQ(blend.counts(1000), (std::vector<std::int64_t>{1, 999}));
}

TEST(Blend, EachSetIsReadInOrderWithoutGaps) {
  const CounterRandom random(7, "blend test");
  for (std::uint64_t round = 0; round < 30; ++round) {
    std::vector<double> weights(1 + random.below(6, round, 0));
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::exp(8 * random.uniform(round, i + 1));
    const Blend blend(weights);
    std::vector<std::int64_t> next(weights.size(), 0);
    for (std::int64_t g = 0; g < 500; ++g) {
      ASSERT_EQ(blend.counts(g), next);
      const Blend::Place place = blend.locate(g);
      ASSERT_EQ(place.index, next[place.set]++);
    }
  }
}

TEST(Blend, SharesStayExactInLongRuns) {
  const Blend blend({1, 2, 3});
  const std::int64_t g = 6'000'000'000'000;
  const auto counts = blend.counts(g);
  EXPECT_EQ(counts[0] + counts[1] + counts[2], g);
  EXPECT_NEAR(static_cast<double>(counts[0]), 1e12, 1);
  EXPECT_NEAR(static_cast<double>(counts[2]), 3e12, 1);
}

TEST(Blend, RefusesWeightsThatAreNotAboveZero) {
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { Blend({1, bad}); }), "data.train_weights"));
  }
}

}  // namespace
}  // namespace loongforge
