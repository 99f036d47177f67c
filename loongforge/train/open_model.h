// Builds and fills the model of a run.
#pragma once

#include <memory>
#include <optional>

#include "loongforge/checkpoint/processor_files.h"
#include "loongforge/nn/model.h"
#include "loongforge/text/tokenizer/tokenizer.h"
#include "loongforge/train/config.h"

namespace loongforge {

// The model, and its tokenizer where the configuration names one: that of a composition knows the tokens of
// pictures too.
struct OpenedRunModel {
  std::unique_ptr<Model> model;
  std::optional<Tokenizer> tokenizer;
  // Of a model that reads pictures.
  ProcessorFiles processor;
};

// With the folders of models behind runs and checkpoints in place of these. Throws CheckpointError.
RunConfig with_model_folders(RunConfig config);

// Throws CheckpointError, ConfigError.
OpenedRunModel open_run_model(const RunConfig& config);

// The files by which a run prepares its pictures and clips, for its checkpoints. Throws CheckpointError,
// ConfigError.
ProcessorFiles processor_files(const RunConfig& config, const VisualInfo& visual);

ParamPlan param_plan(const RunConfig& config);
at::ScalarType scalar_type_of(const std::string& name);

}  // namespace loongforge
