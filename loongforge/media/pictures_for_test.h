// Makes pictures for tests, as files in memory.
#pragma once

// jpeglib.h needs FILE and size_t from those before it.
// clang-format off
#include <cstdio>
#include <cstdlib>
#include <jpeglib.h>
// clang-format on
#include <png.h>
#include <webp/encode.h>

#include <string>

#include "loongforge/media/image.h"

namespace loongforge {

// Smooth ramps, another in each channel.
inline Image picture_for_test(int height, int width) {
  Image image(height, width);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::uint8_t* pixel = image.row(y) + 3 * x;
      pixel[0] = static_cast<std::uint8_t>(10 + 200 * y / height);
      pixel[1] = static_cast<std::uint8_t>(30 + 200 * x / width);
      pixel[2] = static_cast<std::uint8_t>(100 * (x + y) / (height + width));
    }
  }
  return image;
}

// With the EXIF block as its first segment, where one is given.
inline std::string jpeg_of(const Image& image, bool progressive = false, const std::string& exif = "") {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 95, TRUE);
  if (progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  const auto* block = reinterpret_cast<const JOCTET*>(exif.data());
  if (!exif.empty()) jpeg_write_marker(&info, JPEG_APP0 + 1, block, static_cast<unsigned>(exif.size()));
  for (int y = 0; y < image.height; ++y) {
    auto* row = const_cast<JSAMPROW>(image.row(y));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string file(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return file;
}

inline std::string png_of(const Image& image) {
  png_image info{};
  info.version = PNG_IMAGE_VERSION;
  info.width = static_cast<png_uint_32>(image.width);
  info.height = static_cast<png_uint_32>(image.height);
  info.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&info, nullptr, &size, 0, image.rgb.data(), 0, nullptr);
  std::string file(size, '\0');
  png_image_write_to_memory(&info, file.data(), &size, 0, image.rgb.data(), 0, nullptr);
  return file;
}

// Without loss.
inline std::string webp_of(const Image& image) {
  std::uint8_t* bytes = nullptr;
  const int stride = static_cast<int>(image.row_bytes());
  const std::size_t size = WebPEncodeLosslessRGB(image.rgb.data(), image.width, image.height, stride, &bytes);
  std::string file(reinterpret_cast<const char*>(bytes), size);
  WebPFree(bytes);
  return file;
}

}  // namespace loongforge
