// The size at which the Qwen vision models see a picture or a video.
#pragma once

#include <cstdint>

#include "loongforge/media/image.h"

namespace loongforge {

// Sides become multiples of `factor` (patch side x merge); the area stays within the two limits.
struct PixelBudget {
  int factor = 28;
  std::int64_t min_pixels = 56 * 56, max_pixels = 28 * 28 * 1280;
};

// Throws DataError when one side is more than 200 times the other.
void check_aspect(ImageSize size);

// The size to resize a picture to, near its own shape (transformers' qwen2_vl smart_resize). Throws DataError
// as check_aspect does.
ImageSize smart_resize(ImageSize size, const PixelBudget& budget);

// The same for the frames of a Qwen3-VL video, whose budget counts the pixels of all frames together,
// `frames` rounded to a multiple of `temporal_factor`. Throws DataError also for fewer frames than that.
ImageSize smart_resize_video(ImageSize size, int frames, int temporal_factor, const PixelBudget& budget);

}  // namespace loongforge
