#include "loongforge/media/orientation.h"

#include <algorithm>
#include <cstring>

namespace loongforge {
namespace {

// Numbers of a TIFF structure in its byte order; 0 outside of it.
struct Tiff {
  std::span<const std::uint8_t> bytes;
  bool big_endian;

  std::uint64_t number(std::uint64_t at, int width) const {
    if (at > bytes.size() || bytes.size() - at < static_cast<std::size_t>(width)) return 0;
    std::uint64_t value = 0;
    for (int i = 0; i < width; ++i)
      value |= std::uint64_t{bytes[at + i]} << 8 * (big_endian ? width - 1 - i : i);
    return value;
  }
};

constexpr std::uint64_t kOrientationTag = 0x112, kShort = 3, kLong = 4;

}  // namespace

int exif_orientation(std::span<const std::uint8_t> exif) {
  if (exif.size() >= 6 && std::memcmp(exif.data(), "Exif\0\0", 6) == 0) exif = exif.subspan(6);
  if (exif.size() < 8) return 1;
  const Tiff tiff{exif, exif[0] == 'M'};
  const std::uint64_t directory = tiff.number(4, 4), entries = tiff.number(directory, 2);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = directory + 2 + 12 * i;
    if (tiff.number(entry, 2) != kOrientationTag) continue;
    const std::uint64_t type = tiff.number(entry + 2, 2), count = tiff.number(entry + 4, 4);
    if (count != 1 || (type != kShort && type != kLong)) return 1;
    const std::uint64_t value = tiff.number(entry + 8, type == kShort ? 2 : 4);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Image upright(Image image, int orientation) {
  if (orientation < 2 || orientation > 8) return image;
  const bool transposed = orientation >= 5;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  // Steps in the source to the pixel on its right and to the one below, then as the target walks.
  std::ptrdiff_t along = 3, down = static_cast<std::ptrdiff_t>(image.row_bytes());
  const std::uint8_t* first = image.rgb.data() + (from_right ? along * (image.width - 1) : 0) +
                              (from_below ? down * (image.height - 1) : 0);
  if (from_right) along = -along;
  if (from_below) down = -down;
  if (transposed) std::swap(along, down);
  Image out(transposed ? image.width : image.height, transposed ? image.height : image.width);
  for (int y = 0; y < out.height; ++y) {
    const std::uint8_t* from = first + y * down;
    std::uint8_t* to = out.row(y);
    for (int x = 0; x < out.width; ++x, from += along, to += 3) std::memcpy(to, from, 3);
  }
  return out;
}

ImageSize upright(ImageSize size, int orientation) {
  return orientation >= 5 && orientation <= 8 ? ImageSize{size.width, size.height} : size;
}

}  // namespace loongforge
