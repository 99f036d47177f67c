// InternVL's way with large pictures: a grid of square tiles of the picture, and the whole as one more.
#pragma once

#include <vector>

#include "loongforge/media/resize.h"

namespace loongforge {

struct TileOptions {
  int side = 448;                     // of a tile, in pixels
  int min_tiles = 1, max_tiles = 12;  // without the thumbnail
  bool thumbnail = true;              // the whole picture as last tile, where it has more than one
  ResizeOptions resize{Filter::kBicubic, ResizeBackend::kPillow};
};

struct TileGrid {
  int rows = 1, columns = 1;
  bool operator==(const TileGrid&) const = default;
};

// The grid of min_tiles to max_tiles whose shape is nearest to the picture's; of two equally near the larger
// where the picture fills half of it (OpenGVLab/InternVL, dynamic_preprocess).
TileGrid choose_tile_grid(ImageSize size, const TileOptions& options = {});

// The tiles row by row, each (side, side), then the thumbnail.
std::vector<Image> cut_tiles(const Image& image, const TileOptions& options = {});

}  // namespace loongforge
