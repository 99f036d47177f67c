#include "loongforge/generate/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

const std::vector<float> kLogits = {0.0f, 2.0f, 1.0f, -1.0f, 2.0f};

std::map<int, double> frequencies(const SamplingOptions& options, int draws = 20000) {
  const Sampler sampler(options);
  std::map<int, double> seen;
  for (int i = 0; i < draws; ++i) seen[sampler.sample(std::span(kLogits), i / 100, i % 100)] += 1.0 / draws;
  return seen;
}

TEST(Sampler, GreedyTakesTheFirstOfTheLargest) {
  const Sampler sampler(SamplingOptions{});
  EXPECT_EQ(sampler.sample(std::span(kLogits), 3, 7), 1);
}

TEST(Sampler, FrequenciesFollowTheSoftmax) {
  SamplingOptions options;
  options.temperature = 0.5;
  const auto seen = frequencies(options);
  double total = 0;
  for (float x : kLogits) total += std::exp(x / 0.5);
  for (int i = 0; i < 5; ++i) {
    const double p = std::exp(kLogits[i] / 0.5) / total;
    const double found = seen.count(i) ? seen.at(i) : 0.0;
    EXPECT_NEAR(found, p, 4.5 * std::sqrt(p * (1 - p) / 20000) + 1e-9) << i;
  }
}

TEST(Sampler, TopKKeepsTheLikeliest) {
  SamplingOptions options;
  options.temperature = 10.0;
  options.top_k = 3;
  const auto seen = frequencies(options);
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_TRUE(seen.count(1) && seen.count(2) && seen.count(4));
}

TEST(Sampler, TopPKeepsTheSmallestSetThatReachesIt) {
  SamplingOptions options;
  options.temperature = 1.0;
  // p = .0545 .4026 .1481 .0200 .4026 (approximately .39): two tokens reach 0.7, three are needed for 0.85.
  options.top_p = 0.7;
  EXPECT_EQ(frequencies(options).size(), 2u);
  options.top_p = 0.85;
  EXPECT_EQ(frequencies(options).size(), 3u);
}

TEST(Sampler, DrawIsAFunctionOfSeedSequenceAndPosition) {
  SamplingOptions options;
  options.temperature = 1.0;
  const Sampler a(options), b(options);
  options.seed = 1;
  const Sampler other(options);
  int same = 0;
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(a.sample(std::span(kLogits), 5, i), b.sample(std::span(kLogits), 5, i));
    same += a.sample(std::span(kLogits), 5, i) == other.sample(std::span(kLogits), 5, i);
  }
  EXPECT_LT(same, 150);
}

TEST(Sampler, MinusInfinityIsNeverDrawn) {
  SamplingOptions options;
  options.temperature = 100.0;
  const float minus = -std::numeric_limits<float>::infinity();
  const std::vector<float> logits = {minus, 1.0f, minus};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Sampler(options).sample(std::span(logits), 0, i), 1);
}

TEST(Sampler, RefusesWhatCannotBeSampled) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> logits = {0.0f, nan};
  EXPECT_THROW(Sampler(SamplingOptions{}).sample(std::span(logits), 0, 0), NumericError);
  SamplingOptions options;
  options.temperature = -1.0;
  EXPECT_THROW(Sampler{options}, ConfigError);
  options.temperature = 1.0;
  options.top_p = 0.0;
  EXPECT_THROW(Sampler{options}, ConfigError);
}

}  // namespace
}  // namespace loongforge
