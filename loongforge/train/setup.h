// Opens everything that a run needs: model, tokenizer, chat template, data.
#pragma once

#include <memory>
#include <optional>

#include "loongforge/checkpoint/processor_files.h"
#include "loongforge/data/batch_source.h"
#include "loongforge/nn/model.h"
#include "loongforge/text/template/chat_template.h"
#include "loongforge/text/tokenizer/tokenizer.h"
#include "loongforge/train/config.h"
#include "loongforge/train/samples.h"
#include "loongforge/train/task.h"

namespace loongforge {

struct RunParts {
  std::unique_ptr<Model> model;
  std::optional<Tokenizer> tokenizer;
  ProcessorFiles processor;
  std::optional<ChatTemplate> chat_template;
  std::unique_ptr<Task> task;
  std::unique_ptr<BatchSource> train;
  std::unique_ptr<BatchSource> eval;  // null: no held-out data
  std::vector<SamplePrompt> samples;
};

// Threads and determinism of the computation, for the whole process. Returns the number of threads.
int configure_computation(const TrainConfig& config);

// Opens all parts in the order model, tokenizer, data; writes nothing. Throws CheckpointError, DataError,
// ConfigError.
RunParts open_run(const RunConfig& config);

}  // namespace loongforge
