// The training state on disk: every tensor bitwise in one safetensors file, all numbers in state.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/optim/optimizer.h"

namespace loongforge {

// What a run needs beside tensors to go on exactly where it was. There is no random-generator state: every
// draw is a function of (seed, step, index).
struct TrainingProgress {
  std::int64_t step = 0;            // steps taken
  std::int64_t updates = 0;         // optimizer updates (fewer than steps where steps were skipped)
  std::int64_t tokens = 0;          // tokens seen
  std::int64_t counted_tokens = 0;  // tokens that had a part in the loss
  double seconds = 0;               // training time of all starts together
  Json data = Json::object();       // position and counters of the data
  Json counters = Json::object();   // counted warnings by name
  Json identity = Json::object();   // settings that must not change between starts, by key
};

Json to_json(const TrainingProgress& progress);
// Throws CheckpointError naming the file and the key.
TrainingProgress progress_from_json(const Json& json, const std::string& name);

// Writes FOLDER/state.json and FOLDER/state.safetensors. Throws ResourceError.
void save_state(const std::filesystem::path& folder, const TrainingProgress& progress,
                const std::vector<StateTensor>& tensors);
// Reads FOLDER/state.json only. Throws CheckpointError.
TrainingProgress load_progress(const std::filesystem::path& folder);
// Copies the stored tensors bitwise into `tensors`. Throws CheckpointError listing every tensor that is
// missing, left over, or of another shape or dtype; then nothing was copied.
void load_state_tensors(const std::filesystem::path& folder, const std::vector<StateTensor>& tensors);

}  // namespace loongforge
