// Learnt positions of patches: a square table, resized to the grid of each picture.
#pragma once

#include "loongforge/nn/embedding.h"

namespace loongforge::siglip {

struct PositionTable {
  std::int64_t side;
  Embedding table;  // (side^2, C), row by row

  // Declares `name`.weight, drawn from a normal distribution of deviation 1 / sqrt(channels).
  PositionTable(ParamBuilder& builder, const std::string& name, std::int64_t side, std::int64_t channels);
  // grid_thw int64 (n, 3) and positions int64 (2, P) as in VisionLayout → (P, C). A grid of another size
  // takes the table resized bicubically without antialiasing, in float32 or wider, as upstream's
  // interpolate_pos_encoding does it.
  at::Tensor forward(const Context& context, const at::Tensor& grid_thw, const at::Tensor& positions) const;
};

}  // namespace loongforge::siglip
