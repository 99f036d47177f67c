// Where a model stands: its own folder, or that of the run or checkpoint which made it.
#pragma once

#include <filesystem>

namespace loongforge {

// The Hugging Face (or PEFT) folder behind a model folder, a checkpoint (its hf/) or a run (its last complete
// checkpoint). Throws CheckpointError when it is none of these.
std::filesystem::path resolve_model_folder(const std::filesystem::path& path);

// The same for a model whose weights are wanted: a folder of adapters alone is refused.
std::filesystem::path resolve_whole_model(const std::filesystem::path& path);

}  // namespace loongforge
