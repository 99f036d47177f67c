#include "loongforge/optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace loongforge {
namespace {

OptimConfig make(const std::string& schedule, std::int64_t warmup = 0) {
  OptimConfig config;
  config.lr = 2.0;
  config.schedule = schedule;
  config.warmup_steps = warmup;
  config.min_lr_ratio = 0.1;
  config.decay_steps = 4;
  return config;
}

TEST(Schedule, WarmsUpLinearlyFromTheFirstStep) {
  for (const char* name : {"constant", "linear", "cosine", "wsd"}) {
    const OptimConfig config = make(name, 4);
    EXPECT_DOUBLE_EQ(learning_rate(config, 1, 20), 0.5) << name;
    EXPECT_DOUBLE_EQ(learning_rate(config, 4, 20), 2.0) << name;
    EXPECT_DOUBLE_EQ(learning_rate(config, 5, 20), 2.0) << name;
  }
}

TEST(Schedule, ConstantStays) {
  EXPECT_DOUBLE_EQ(learning_rate(make("constant"), 1, 10), 2.0);
  EXPECT_DOUBLE_EQ(learning_rate(make("constant"), 10, 10), 2.0);
}

TEST(Schedule, LinearFallsByEqualParts) {
  const OptimConfig config = make("linear");
  EXPECT_DOUBLE_EQ(learning_rate(config, 1, 10), 2.0);
  EXPECT_DOUBLE_EQ(learning_rate(config, 6, 10), 2.0 * (1 - 0.9 * 0.5));
  EXPECT_DOUBLE_EQ(learning_rate(config, 10, 10), 2.0 * (1 - 0.9 * 0.9));
}

TEST(Schedule, CosineIsHalfWayInTheMiddle) {
  const OptimConfig config = make("cosine", 2);
  EXPECT_NEAR(learning_rate(config, 8, 12), 2.0 * (0.1 + 0.9 * 0.5), 1e-12);
  EXPECT_GT(learning_rate(config, 12, 12), 2.0 * 0.1);
}

TEST(Schedule, WsdHoldsThenDecays) {
  const OptimConfig config = make("wsd");
  EXPECT_DOUBLE_EQ(learning_rate(config, 6, 10), 2.0);
  EXPECT_DOUBLE_EQ(learning_rate(config, 7, 10), 2.0);
  EXPECT_DOUBLE_EQ(learning_rate(config, 9, 10), 2.0 * (1 - 0.9 * 0.5));
}

TEST(Schedule, NeverGoesUpAfterWarmUp) {
  for (const char* name : {"constant", "linear", "cosine", "wsd"}) {
    const OptimConfig config = make(name, 3);
    for (std::int64_t step = 4; step < 30; ++step) {
      EXPECT_LE(learning_rate(config, step + 1, 30), learning_rate(config, step, 30)) << name << " " << step;
    }
  }
}

TEST(Schedule, StaysAtTheFloorBeyondTheEnd) {
  EXPECT_DOUBLE_EQ(learning_rate(make("cosine"), 1000, 10), 2.0 * 0.1);
}

}  // namespace
}  // namespace loongforge
