// Layout of a run folder: where its checkpoints stand, which of them are complete, which are left-overs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace loongforge {

// Written last into a checkpoint: without it the folder counts as half-written.
inline constexpr const char* kCompleteMarker = "COMPLETE";
// Ends the name of a checkpoint folder that is being written.
inline constexpr const char* kPartialSuffix = ".partial";

// checkpoints/step-00000100, holding hf/ (Hugging Face or PEFT files), state/ and, written last, COMPLETE.
struct CheckpointRef {
  std::int64_t step = 0;
  std::filesystem::path path;
};

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path config() const { return root_ / "config.yaml"; }
  std::filesystem::path metrics() const { return root_ / "metrics.jsonl"; }
  std::filesystem::path log() const { return root_ / "log.txt"; }
  std::filesystem::path summary() const { return root_ / "summary.json"; }
  std::filesystem::path tensorboard() const { return root_ / "tensorboard"; }
  std::filesystem::path checkpoints() const { return root_ / "checkpoints"; }
  std::filesystem::path checkpoint(std::int64_t step) const;

  // True when a run has left results here: metrics, a summary or a checkpoint, whole or not.
  bool used() const;
  // Complete checkpoints, oldest first.
  std::vector<CheckpointRef> complete() const;
  std::optional<CheckpointRef> last_complete() const;
  // Removes folders of checkpoints/ that a killed writer left incomplete; returns their names. Never touches
  // a complete one or a name that is not a checkpoint's.
  std::vector<std::string> remove_partial() const;
  // Removes the oldest complete checkpoints until `keep` are left (0 keeps all).
  void keep_last(std::int64_t keep) const;

 private:
  std::filesystem::path root_;
};

}  // namespace loongforge
