// Answers of the model to a few prompts, so that people see what training does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/train/config.h"
#include "loongforge/train/setup.h"

namespace loongforge {

// Greedy answers to sample.prompts: continuations for task pretrain, chat answers for sft. Each is
// {"step", "when", "prompt", "text", "tokens", "finish"}. Throws Interrupted.
std::vector<Json> generate_samples(const RunConfig& config, const RunParts& parts, std::int64_t step,
                                   const std::string& when);

}  // namespace loongforge
