// Antialiased resizing of pictures, bit for bit as the image processors of transformers do it.
#pragma once

#include "loongforge/media/image.h"

namespace loongforge {

enum class Filter { kBilinear, kBicubic };  // triangle; cubic with a = -0.5

// Whose arithmetic is repeated. They differ by at most one level, but for Pillow's order of passes.
enum class ResizeBackend {
  kTorchvision,  // torchvision.transforms.v2.functional.resize(antialias=True) on uint8: weights of 16 bits
  kPillow,  // Image.resize of Pillow 13: weights of 32 bits; the vertical pass first where that is less work
};

struct ResizeOptions {
  Filter filter = Filter::kBicubic;
  ResizeBackend backend = ResizeBackend::kTorchvision;
};

// The picture at another size: two separable passes, each rounded to whole levels; a side that stays is not
// touched. `size` and the image must not be empty (InternalError).
Image resize(const Image& image, ImageSize size, const ResizeOptions& options = {});

}  // namespace loongforge
