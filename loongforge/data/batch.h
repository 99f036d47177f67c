// What one forward and backward pass reads: named tensors and the counts of what they hold.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>

#include "loongforge/nn/model.h"

namespace loongforge {

// Label of a position that takes no part in the loss (as in Hugging Face data).
inline constexpr std::int64_t kIgnoredLabel = -100;

struct BatchCounts {
  std::int64_t rows = 0;       // rows of seq_length tokens
  std::int64_t tokens = 0;     // real tokens, without padding
  std::int64_t trained = 0;    // positions whose label is not ignored
  std::int64_t padding = 0;    // filled-up positions
  std::int64_t documents = 0;  // real documents or pieces of documents
  std::int64_t pictures = 0, clips = 0;
  std::int64_t visual_tokens = 0;  // among the tokens, those that hold the places of pictures and clips

  BatchCounts& operator+=(const BatchCounts& other);
  bool operator==(const BatchCounts&) const = default;
};

// One micro-batch. For language models, with N tokens in S documents, all on the CPU:
//   input_ids     (N) int64
//   labels        (N) int64, the next token of the same document, kIgnoredLabel where there is none
//   position_ids  (N) int64, from 0 in each document; (3, N) for models with positions in a grid
//   cu_seqlens    (S + 1) int32, cuts the N tokens into documents (padding is a document of its own)
//   loss_weights  (N) float32, only when a source weighs tokens differently
//   pixel_values  (P, R) float32, rows of patches of all pictures and clips in the order of their places, and
//   grid_thw      (n, 3) int64, their grids; only when there are some
struct Batch {
  std::map<std::string, at::Tensor> tensors;
  BatchCounts counts;

  // Throws InternalError naming the tensor that is missing.
  const at::Tensor& at(const std::string& name) const;
  bool has(const std::string& name) const { return tensors.count(name) != 0; }
};

// What the first segment of a model reads of it.
Flow flow_of(const Batch& batch);

}  // namespace loongforge
