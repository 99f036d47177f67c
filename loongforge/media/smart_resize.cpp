#include "loongforge/media/smart_resize.h"

#include <algorithm>
#include <cmath>

namespace loongforge {
namespace {

constexpr double kMostAspect = 200;

// `frames` and `rounded_frames` are 1 for pictures.
ImageSize fit(ImageSize size, double frames, double rounded_frames, const PixelBudget& budget) {
  check_aspect(size);
  const double factor = budget.factor, height = size.height, width = size.width;
  // Half to even, as Python rounds.
  double h = std::nearbyint(height / factor) * factor, w = std::nearbyint(width / factor) * factor;
  const double volume = frames * height * width, rounded = rounded_frames * h * w;
  if (rounded > static_cast<double>(budget.max_pixels)) {
    const double beta = std::sqrt(volume / static_cast<double>(budget.max_pixels));
    h = std::max(factor, std::floor(height / beta / factor) * factor);
    w = std::max(factor, std::floor(width / beta / factor) * factor);
  } else if (rounded < static_cast<double>(budget.min_pixels)) {
    const double beta = std::sqrt(static_cast<double>(budget.min_pixels) / volume);
    h = std::ceil(height * beta / factor) * factor;
    w = std::ceil(width * beta / factor) * factor;
  }
  return {static_cast<int>(h), static_cast<int>(w)};
}

}  // namespace

void check_aspect(ImageSize size) {
  const double longer = std::max(size.height, size.width), shorter = std::min(size.height, size.width);
  check<DataError>(shorter > 0 && longer / shorter <= kMostAspect, "a picture of ", size.height, " rows of ",
                   size.width, " pixels: expected sides that differ by a factor of at most ", kMostAspect,
                   "; leave it out or crop it");
}

ImageSize smart_resize(ImageSize size, const PixelBudget& budget) {
  return fit(size, 1, 1, budget);
}

ImageSize smart_resize_video(ImageSize size, int frames, int temporal_factor, const PixelBudget& budget) {
  check<DataError>(frames >= temporal_factor, "a video of ", frames, " frames: expected at least ",
                   temporal_factor, "; sample more frames or leave it out");
  if (std::min(size.height, size.width) < budget.factor) {
    const double factor = budget.factor, scale = std::max(factor / size.height, factor / size.width);
    // Beyond these sides the aspect is refused in any case; what is cast must fit.
    const double most = 2 * kMostAspect * factor;
    if (std::max(size.height, size.width) * scale > most) check_aspect(size);
    size = {static_cast<int>(size.height * scale), static_cast<int>(size.width * scale)};
  }
  const double step = temporal_factor;
  return fit(size, frames, std::nearbyint(frames / step) * step, budget);
}

}  // namespace loongforge
