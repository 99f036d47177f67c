// One optimizer step: forward and backward of every micro-batch, the norm, the update.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "loongforge/data/batch_source.h"
#include "loongforge/nn/model.h"
#include "loongforge/optim/optimizer.h"
#include "loongforge/train/task.h"

namespace loongforge {

struct StepOptions {
  double lr = 0;
  double clip_norm = 0;  // 0: off
  RecomputePolicy recompute;
  std::uint64_t seed = 0;
  std::int64_t rows_per_micro_batch = 0;  // for messages
  std::int64_t tokens_per_micro_batch = 0;
};

struct StepResult {
  enum class Kind {
    kUpdated,
    kNoTargets,    // nothing in the step counts towards the loss: no update
    kNotFinite,    // loss or gradient is not finite: no update, see `reason`
    kInterrupted,  // Ctrl-C between micro-batches: no update
  };
  Kind kind = Kind::kUpdated;
  double loss = 0;                                    // over the whole global batch, nats a counted token
  std::vector<std::pair<std::string, double>> terms;  // each term's own mean
  double grad_norm = 0;                               // before clipping
  double weight = 0;                                  // of the first term: counted tokens
  std::string reason;                                 // what was not finite, and where
};

// Every term's sum is divided by its weight over the whole step, whatever the split into micro-batches; frees
// each micro-batch as soon as it is done. Gradients are dropped before it returns; unless the step is
// kUpdated neither weights nor moments have changed. Throws DataError for labels outside the vocabulary.
StepResult train_step(const Model& model, const Task& task, AdamW& optimizer, StepBatches batches,
                      const StepOptions& options);

}  // namespace loongforge
