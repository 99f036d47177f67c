// The one training loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/base/progress.h"
#include "loongforge/checkpoint/run_folder.h"
#include "loongforge/checkpoint/writer.h"
#include "loongforge/optim/optimizer.h"
#include "loongforge/train/config.h"
#include "loongforge/train/run.h"
#include "loongforge/train/run_log.h"
#include "loongforge/train/setup.h"
#include "loongforge/train/status.h"
#include "loongforge/train/step.h"

namespace loongforge {

class Trainer {
 public:
  // Restores the last complete checkpoint of `folder` where there is one. Throws ConfigError when a setting
  // that decides the numbers has changed, CheckpointError, DataError.
  Trainer(const RunConfig& config, const RunOptions& options, const RunFolder& folder, RunParts& parts);

  // Trains to the last step and writes summary.json. Returns nothing when Ctrl-C stopped it; then everything
  // up to the last whole step is in a checkpoint. Throws NumericError, ResourceError, DataError.
  std::optional<Json> run();

 private:
  void restore();
  void check_identity(const Json& saved) const;
  std::optional<Json> run_phases();
  // False when Ctrl-C came.
  bool loop();
  StepOptions step_options() const;
  // False when Ctrl-C cut it short; then nothing has changed.
  bool take_step(StepBatches batches, double data_wait_seconds);
  // Counts a step that updated nothing. Throws NumericError where the run must not go on.
  void note_skip(const StepResult& result);
  void report_step();
  void evaluate_at(std::int64_t step);
  void sample_at(std::int64_t step, const std::string& when);
  // Starts a checkpoint of the present step, where none is yet.
  void save(bool training_goes_on);
  void save_and_wait();
  bool due(std::int64_t every) const { return every > 0 && progress_.step % every == 0; }
  std::string last_checkpoint_text() const;
  Json make_summary() const;
  Json identity() const;

  const RunConfig& config_;
  const RunOptions& options_;
  RunFolder folder_;
  RunParts& parts_;
  AdamW optimizer_;
  TrainingProgress progress_;
  std::int64_t first_step_ = 0;  // where this start began
  Status status_;
  CheckpointWriter writer_;
  std::optional<RunLog> log_;
  StatusLine line_;
};

}  // namespace loongforge
