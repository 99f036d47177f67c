// Writes checkpoints beside the training: a copy is taken first, a thread puts it on disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "loongforge/checkpoint/run_folder.h"
#include "loongforge/checkpoint/state.h"

namespace loongforge {

// Everything that one checkpoint holds, independent of the live model.
struct CheckpointJob {
  TrainingProgress progress;
  std::vector<StateTensor> state;                              // copies, see `copy_tensors`
  std::function<void(const std::filesystem::path&)> write_hf;  // writes the folder hf/; runs in the thread
};

// Deep copies of the live tensors.
std::vector<StateTensor> copy_tensors(const std::vector<StateTensor>& live);

// Writes the whole checkpoint of `job` now: into step-N.partial, renamed to step-N, COMPLETE last, then the
// oldest beyond `keep` go. Throws ResourceError (also when the disk has no room); then nothing of step-N is
// left and the earlier checkpoints stand.
void write_checkpoint(const RunFolder& folder, const CheckpointJob& job, std::int64_t keep);

// At most one checkpoint is under way. Not thread-safe.
class CheckpointWriter {
 public:
  // `keep`: complete checkpoints that stay (0: all). `in_background` false writes within `save`.
  CheckpointWriter(RunFolder folder, std::int64_t keep, bool in_background);
  // Waits; an error that nobody asked for is logged.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Waits for the one before, then starts this one. Throws the error of the one before.
  void save(CheckpointJob job);
  // Throws the error of a save that has ended meanwhile; does not wait.
  void poll();
  // Waits for the last save. Throws its error.
  void finish();
  // Step of the last save that was started.
  std::optional<std::int64_t> last_step() const { return last_step_; }

 private:
  RunFolder folder_;
  std::int64_t keep_;
  bool in_background_;
  std::thread thread_;
  std::atomic<bool> ended_{false};
  std::exception_ptr error_;  // written by the thread before `ended_`
  std::optional<std::int64_t> last_step_;
};

}  // namespace loongforge
