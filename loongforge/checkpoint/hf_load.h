// Reading Hugging Face model directories.
#pragma once

#include <filesystem>
#include <memory>

#include "loongforge/nn/model.h"

namespace loongforge {

// `dir`/config.json as JSON. Throws CheckpointError.
Json read_hf_config(const std::filesystem::path& dir);

// Fills the model's weights (not its adapters) from `path`: a directory with model.safetensors (or its index
// and shards), or one .safetensors file. Floating dtypes are converted. Throws CheckpointError listing ALL
// tensors that are missing, extra or of the wrong shape or dtype; the model is unchanged then.
void load_hf(const std::filesystem::path& path, Model& model);

// Fills the parameters whose names start with `prefix` from a folder that holds that part alone, under the
// names of its own card. Rows beyond those of the file (added tokens) and biases that the file lacks keep
// their initial values, which the parameters must have. Throws CheckpointError listing all that does not fit.
void load_part(const std::filesystem::path& folder, Model& model, const std::string& prefix);

// Reads config.json, builds and fills the model; adapters get their initial values from `seed`.
std::unique_ptr<Model> load_hf_model(const std::filesystem::path& dir, const ParamPlan& plan,
                                     std::uint64_t seed = 0);

}  // namespace loongforge
