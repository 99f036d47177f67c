#include "loongforge/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loongforge/base/error.h"

namespace loongforge {

double learning_rate(const OptimConfig& config, std::int64_t step, std::int64_t total_steps) {
  const std::int64_t warmup = config.warmup_steps;
  if (step <= warmup) return config.lr * static_cast<double>(step) / static_cast<double>(warmup);

  const double floor = config.min_lr_ratio;
  const auto passed = [step](std::int64_t start, std::int64_t length) {
    if (length <= 0) return 1.0;
    return std::clamp(static_cast<double>(step - 1 - start) / static_cast<double>(length), 0.0, 1.0);
  };
  if (config.schedule == "constant") return config.lr;
  if (config.schedule == "linear") {
    return config.lr * (1 - (1 - floor) * passed(warmup, total_steps - warmup));
  }
  if (config.schedule == "cosine") {
    const double t = passed(warmup, total_steps - warmup);
    return config.lr * (floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * t)));
  }
  check(config.schedule == "wsd", "optim.schedule: expected constant, linear, cosine or wsd, got ",
        config.schedule);
  const std::int64_t start = std::max(warmup, total_steps - config.decay_steps);
  if (step <= start) return config.lr;
  return config.lr * (1 - (1 - floor) * passed(start, total_steps - start));
}

}  // namespace loongforge
