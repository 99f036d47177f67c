// A picture in memory, and its decoding from JPEG, PNG and WebP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loongforge/base/files.h"

namespace loongforge {

// In pixels.
struct ImageSize {
  int height = 0, width = 0;
  bool operator==(const ImageSize&) const = default;
};

// Levels 0 to 255, rgb: (height, width, 3) row by row.
struct Image {
  Image() = default;
  Image(int height, int width)
      : height(height),
        width(width),
        rgb(std::size_t{3} * static_cast<std::size_t>(height) * static_cast<std::size_t>(width)) {}

  ImageSize size() const { return {height, width}; }
  std::size_t row_bytes() const { return std::size_t{3} * static_cast<std::size_t>(width); }
  std::uint8_t* row(int y) { return rgb.data() + static_cast<std::size_t>(y) * row_bytes(); }
  const std::uint8_t* row(int y) const { return rgb.data() + static_cast<std::size_t>(y) * row_bytes(); }

  int height = 0, width = 0;
  std::vector<std::uint8_t> rgb;
};

// What is refused before anything of its size is allocated.
struct ImageLimits {
  std::int64_t max_pixels = 178'956'970;           // where Pillow sees a decompression bomb
  std::int64_t max_bytes = std::int64_t{1} << 30;  // of the compressed picture
};

// Decodes a picture, its kind told by its first bytes, and turns it upright by its EXIF orientation: the
// pixels of Pillow's ImageOps.exif_transpose(Image.open(f)).convert("RGB"), so alpha is dropped, not blended,
// and grey of 16 bits is clipped at 255. Of an animation the first frame. `name` stands in messages. Throws
// DataError: another kind of file, truncated or damaged, beyond the limits.
Image decode_image(std::span<const std::byte> bytes, const std::string& name, const ImageLimits& limits = {});

// The size of the picture that decode_image gives, read from its headers alone: damaged pixels go unnoticed.
ImageSize image_size(std::span<const std::byte> bytes, const std::string& name,
                     const ImageLimits& limits = {});

// Decodes a file.
Image read_image(const fs::path& path, const ImageLimits& limits = {});

}  // namespace loongforge
