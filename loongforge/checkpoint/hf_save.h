// Writing Hugging Face model directories that transformers loads without a warning.
#pragma once

#include <cstdint>
#include <filesystem>

#include "loongforge/nn/model.h"

namespace loongforge {

// How weights are written.
struct HfSaveOptions {
  // Dtype of the file's weights; config.json says the same.
  at::ScalarType dtype = at::kFloat;
  // Files larger than this are split into shards with an index.
  std::int64_t max_shard_bytes = 5'000'000'000;
  // Adds scaling·B·A of each adapter to its weight.
  bool merge_adapters = false;
};

// A copy of what is to be written, so that a writer thread can work while training goes on.
struct HfSnapshot {
  Json config, generation_config;
  // File's name → CPU tensor in the file's dtype.
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  std::int64_t max_shard_bytes = 0;
};

// Takes the copy. Throws InternalError when a parameter is unfilled.
HfSnapshot snapshot_hf(const Model& model, const HfSaveOptions& options);
// Writes config.json, generation_config.json and the weights into `dir` (made if missing; shards of an
// earlier save are removed). Tokenizer files are the caller's. Throws ResourceError.
void write_hf(const HfSnapshot& snapshot, const std::filesystem::path& dir);
// Both in one.
void save_hf(const Model& model, const std::filesystem::path& dir, const HfSaveOptions& options = {});

}  // namespace loongforge
