// What the picture decoders of this floor share; not for use above it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "loongforge/media/image.h"

namespace loongforge {

// A compressed picture on its way into pixels.
struct EncodedImage {
  std::span<const std::uint8_t> bytes;
  const std::string& name;
  const ImageLimits& limits;

  // Throws DataError unless an image of this size may be allocated.
  void check_size(std::int64_t height, std::int64_t width) const;
  // Throws DataError for what a decoding library said of the bytes.
  [[noreturn]] void damaged(const char* kind, const std::string& reason) const;
};

// An image as stored and the orientation of its EXIF block.
struct StoredImage {
  Image image;
  int orientation = 1;
};

// Its size as stored, and that orientation.
struct StoredSize {
  ImageSize size;
  int orientation = 1;
};

StoredSize measure_jpeg(const EncodedImage& in);
StoredSize measure_png(const EncodedImage& in);
StoredSize measure_webp(const EncodedImage& in);
StoredImage decode_jpeg(const EncodedImage& in);
StoredImage decode_png(const EncodedImage& in);
StoredImage decode_webp(const EncodedImage& in);

}  // namespace loongforge
