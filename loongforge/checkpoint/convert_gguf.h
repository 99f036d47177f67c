// GGUF files of Llama-like models to Hugging Face directories.
#pragma once

#include <ATen/core/ScalarType.h>

#include <filesystem>

namespace loongforge {

// Writes config.json, generation_config.json, model.safetensors in `dtype` and the tokenizer's files to
// `dir`. Rows of Q and K are put back into Hugging Face's order (GGUF keeps them pairwise interleaved).
// Throws CheckpointError naming the file and the key or tensor that is missing or not supported.
void convert_gguf(const std::filesystem::path& gguf, const std::filesystem::path& dir,
                  at::ScalarType dtype = at::kFloat);

}  // namespace loongforge
