// Pictures and clips of a batch, from the form of Hugging Face processors to ours.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "loongforge/nn/model.h"

namespace loongforge {

// Pictures or clips in the order of their places: rows of pixels (P, R) and int64 (n, 3) grids; seconds: of
// one row of patches on the axis of time, one a grid, or empty. Undefined tensors: there are none.
struct VisualInputs {
  at::Tensor pixel_values, grid_thw;
  std::vector<double> seconds;

  bool empty() const { return !grid_thw.defined() || grid_thw.size(0) == 0; }
};

// Pictures and clips, which processors keep apart, in the one order of their places in ids (N). Throws
// DataError when ids hold places for more or fewer of them, or pixels do not belong to the grids.
VisualInputs in_order_of_places(const at::Tensor& ids, const VisualInputs& pictures,
                                const VisualInputs& clips, const VisualInfo& visual);

// Those of several sequences behind each other.
VisualInputs joined(std::span<const VisualInputs* const> parts);

// Adds them to what the first segment reads.
void put_visual(Flow& flow, const VisualInputs& inputs);

}  // namespace loongforge
