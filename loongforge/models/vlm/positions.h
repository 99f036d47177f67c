// Positions of tokens on the axes of time, height and width (multimodal rotary embedding; Wang et al. 2024).
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "loongforge/nn/model.h"

namespace loongforge {

// ids: int64 (N), cu_seqlens: int32 (S+1), grid_thw: int64 (n, 3), one row a picture or clip in the order of
// their places in ids; seconds: duration of one row of patches on the axis of time, one a grid (empty: 1).
// Each document starts at 0. A text token stands one further on all axes; the tokens of a picture stand at
// (time, row, column) from where it begins, and the text behind it goes on at its longer side, max(rows,
// columns), however long a clip is in time. → int64 (3, N). So it is in transformers 5, and so is what
// differs there: an answer that is generated (generate/decode_loop.h) stands behind the largest position of
// all axes of its prompt, further on than it would in a sequence that holds it, where a clip is longer than
// its sides. Throws DataError when places or seconds do not fit the grids, for seconds that are negative or
// not finite, and for positions of 2^31 and more.
at::Tensor visual_positions(const at::Tensor& ids, const at::Tensor& cu_seqlens, const at::Tensor& grid_thw,
                            std::span<const double> seconds, const VisualInfo& visual);

}  // namespace loongforge
