// Learning-rate schedules: pure functions of the step, so a resumed run has exactly the rates of an unbroken
// one.
#pragma once

#include <cstdint>

#include "loongforge/optim/config.h"

namespace loongforge {

// Rate of step `step` (the first is 1) of a run of `total_steps`.
//   warm-up:  lr * step / warmup_steps                            for step <= warmup_steps
//   then with t = (step - 1 - warmup_steps) / (total_steps - warmup_steps) in [0, 1) and floor =
//   min_lr_ratio: constant: lr linear:   lr * (1 - (1 - floor) * t) cosine:   lr * (floor + (1 - floor) * (1
//   + cos(pi * t)) / 2)     (Loshchilov and Hutter 2017) wsd:      lr until the last decay_steps steps, then
//   linear to floor   (Hu et al. 2024, MiniCPM)
// No step has the rate 0 while min_lr_ratio or t leave one. Throws InternalError for an unknown schedule.
double learning_rate(const OptimConfig& config, std::int64_t step, std::int64_t total_steps);

}  // namespace loongforge
