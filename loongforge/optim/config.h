// Settings of the optimizer and its learning-rate schedule (block `optim:`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loongforge {

class Fields;

struct OptimConfig {
  std::string name = "adamw";
  double lr = 3e-4;
  std::string schedule = "cosine";
  std::int64_t warmup_steps = 0;
  double min_lr_ratio = 0.1;
  std::int64_t decay_steps = 0;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;
  double clip_norm = 1.0;

  void fields(Fields& f);
  // Appends every violation that concerns more than one setting, one sentence each.
  void violations(std::int64_t total_steps, std::vector<std::string>& out) const;
};

}  // namespace loongforge
