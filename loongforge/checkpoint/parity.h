// One forward and backward pass on given tensors, so that users can compare with their other tools.
#pragma once

#include <ATen/core/ScalarType.h>

#include <cstdint>
#include <filesystem>

#include "loongforge/nn/context.h"

namespace loongforge {

// What to run.
struct ParityOptions {
  // A Hugging Face directory, or a PEFT one whose base is a directory.
  std::filesystem::path model;
  // Safetensors with input_ids (B, T) or (N), optional labels, position_ids, cu_seqlens, and of pictures and
  // clips pixel_values, image_grid_thw, pixel_values_videos, video_grid_thw, second_per_grid_ts.
  std::filesystem::path input;
  // Safetensors that get logits, loss and grad.<Hugging Face name>.
  std::filesystem::path output;
  at::ScalarType dtype = at::kFloat;
  RecomputePolicy recompute;
  // Loss and gradients by the fused linear + cross-entropy of training, instead of libtorch's cross-entropy
  // of the logits, which is what other tools use and less exact in float32.
  bool fused = false;
};

// labels are Hugging Face's: -100 is ignored and they are shifted inside, each document by itself; without
// labels the inputs are the labels. loss is the mean over counted tokens, logits has the shape of input_ids
// plus V. Throws DataError naming the tensor of the input that does not fit.
void parity(const ParityOptions& options);

}  // namespace loongforge
