#include "loongforge/media/tiles.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace loongforge {
namespace {

Image crop(const Image& image, int top, int left, ImageSize size) {
  Image out(size.height, size.width);
  for (int y = 0; y < size.height; ++y)
    std::memcpy(out.row(y), image.row(top + y) + 3 * left, out.row_bytes());
  return out;
}

}  // namespace

TileGrid choose_tile_grid(ImageSize size, const TileOptions& options) {
  const double aspect = static_cast<double>(size.width) / size.height;
  const double area = static_cast<double>(size.width) * size.height;
  TileGrid best;
  double best_distance = std::numeric_limits<double>::infinity();
  for (int tiles = options.min_tiles; tiles <= options.max_tiles; ++tiles) {
    for (int columns = 1; columns <= tiles; ++columns) {
      if (tiles % columns != 0) continue;
      const TileGrid grid{tiles / columns, columns};
      const double distance = std::abs(aspect - static_cast<double>(grid.columns) / grid.rows);
      const bool filled = area > 0.5 * options.side * options.side * tiles;
      if (distance < best_distance || (distance == best_distance && filled)) {
        best = grid;
        best_distance = distance;
      }
    }
  }
  return best;
}

std::vector<Image> cut_tiles(const Image& image, const TileOptions& options) {
  const int side = options.side;
  const TileGrid grid = choose_tile_grid(image.size(), options);
  const Image whole = resize(image, {side * grid.rows, side * grid.columns}, options.resize);
  std::vector<Image> tiles;
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      tiles.push_back(crop(whole, side * row, side * column, {side, side}));
    }
  }
  if (options.thumbnail && tiles.size() > 1) tiles.push_back(resize(image, {side, side}, options.resize));
  return tiles;
}

}  // namespace loongforge
