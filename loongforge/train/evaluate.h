// Loss on held-out data.
#pragma once

#include <cstdint>
#include <functional>

#include "loongforge/data/batch_source.h"
#include "loongforge/nn/model.h"
#include "loongforge/train/task.h"

namespace loongforge {

struct EvalResult {
  double loss = 0;    // sum over the terms of coefficient * mean over all counted tokens, in nats
  double weight = 0;  // counted tokens
  double seconds = 0;
};

// Runs a source that is read once, or its first `max_batches` micro-batches (0: all), without gradients.
// `on_progress` gets micro-batches done and in all. Throws DataError when nothing counts, NumericError naming
// the micro-batch when a loss is not finite, Interrupted.
EvalResult evaluate(const Model& model, const Task& task, const BatchSource& source,
                    std::int64_t max_batches = 0,
                    const std::function<void(std::int64_t, std::int64_t)>& on_progress = {});

}  // namespace loongforge
