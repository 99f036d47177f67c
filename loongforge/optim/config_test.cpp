#include "loongforge/optim/config.h"

#include <gtest/gtest.h>

namespace loongforge {
namespace {

std::vector<std::string> violations(const OptimConfig& config, std::int64_t steps) {
  std::vector<std::string> out;
  config.violations(steps, out);
  return out;
}

TEST(OptimConfig, DefaultsAreSound) {
  EXPECT_TRUE(violations(OptimConfig{}, 10).empty());
}

TEST(OptimConfig, ListsEveryViolation) {
  OptimConfig config;
  config.warmup_steps = 11;
  config.schedule = "wsd";
  EXPECT_EQ(violations(config, 10).size(), 2U);
}

TEST(OptimConfig, RefusesDecayStepsThatHaveNoEffect) {
  OptimConfig config;
  config.decay_steps = 5;
  ASSERT_EQ(violations(config, 10).size(), 1U);
  EXPECT_NE(violations(config, 10)[0].find("optim.decay_steps"), std::string::npos);
}

}  // namespace
}  // namespace loongforge
