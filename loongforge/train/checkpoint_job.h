// What a checkpoint of a run holds, copied from the live model.
#pragma once

#include "loongforge/checkpoint/writer.h"
#include "loongforge/optim/optimizer.h"
#include "loongforge/train/config.h"
#include "loongforge/train/setup.h"

namespace loongforge {

// With `copy` the state is copied, so that training may go on while it is written; without, the live tensors
// are written and must not change meanwhile. hf/ holds the model (with lora the PEFT adapter) and its
// tokenizer. Throws NumericError when a weight is not finite: such a checkpoint would push out a good one.
CheckpointJob make_checkpoint_job(const RunConfig& config, const RunParts& parts, const AdamW& optimizer,
                                  const TrainingProgress& progress, bool copy);

}  // namespace loongforge
