#include "loongforge/media/image.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "loongforge/formats/test_folder.h"
#include "loongforge/media/orientation.h"
#include "loongforge/media/pictures_for_test.h"

namespace loongforge {
namespace {

Image decoded(const std::string& file, const ImageLimits& limits = {}) {
  return decode_image(std::as_bytes(std::span(file)), "picture", limits);
}

std::string refusal(const std::string& file, const ImageLimits& limits = {}) {
  return message_of<DataError>([&] { decoded(file, limits); });
}

// An EXIF block with a maker's name before the orientation.
std::string exif_block(int orientation) {
  const auto entry = [](std::uint16_t tag, std::uint16_t type, std::uint32_t value) {
    return raw(tag) + raw(type) + raw(std::uint32_t{1}) + raw(value);
  };
  return std::string("Exif\0\0II*\0", 10) + raw(std::uint32_t{8}) + raw(std::uint16_t{2}) +
         entry(0x10f, 2, 'x') + entry(0x112, 3, static_cast<std::uint32_t>(orientation)) +
         raw(std::uint32_t{0});
}

TEST(Image, LosslessKindsComeBackExactly) {
  for (const ImageSize size : {ImageSize{1, 1}, {7, 300}, {64, 48}}) {
    const Image image = picture_for_test(size.height, size.width);
    for (const std::string& file : {png_of(image), webp_of(image)}) {
      const Image back = decoded(file);
      EXPECT_EQ(back.size(), size);
      EXPECT_EQ(back.rgb, image.rgb);
    }
  }
}

TEST(Image, JpegComesBackNearly) {
  const Image image = picture_for_test(50, 70);
  for (const bool progressive : {false, true}) {
    const Image back = decoded(jpeg_of(image, progressive));
    ASSERT_EQ(back.size(), image.size());
    for (std::size_t i = 0; i < image.rgb.size(); ++i) EXPECT_LE(std::abs(back.rgb[i] - image.rgb[i]), 6);
  }
}

TEST(Image, ExifTurnsThePictureUpright) {
  const Image image = picture_for_test(16, 24);
  const Image plain = decoded(jpeg_of(image));
  for (int orientation = 0; orientation <= 9; ++orientation) {
    const Image turned = decoded(jpeg_of(image, false, exif_block(orientation)));
    EXPECT_EQ(turned.rgb, upright(plain, orientation).rgb) << orientation;
    EXPECT_EQ(turned.height, orientation >= 5 && orientation <= 8 ? 24 : 16) << orientation;
  }
}

TEST(Image, SizesAreReadFromHeadersAlone) {
  const Image image = picture_for_test(16, 24);
  const auto size_of = [](const std::string& file, const ImageLimits& limits = {}) {
    return image_size(std::as_bytes(std::span(file)), "picture", limits);
  };
  for (const std::string& file : {jpeg_of(image), jpeg_of(image, true), png_of(image), webp_of(image)}) {
    EXPECT_EQ(size_of(file), image.size());
    EXPECT_TRUE(
        contains(message_of<DataError>([&] { size_of(file, {.max_pixels = 383}); }), "1 to 383 pixels"));
  }
  for (int orientation = 0; orientation <= 9; ++orientation) {
    const std::string turned = jpeg_of(image, false, exif_block(orientation));
    EXPECT_EQ(size_of(turned), decoded(turned).size()) << orientation;
  }
  const std::string png = png_of(image);
  EXPECT_EQ(size_of(png.substr(0, png.size() / 2)), image.size());
  // An eXIf chunk before the last one, IEND of 12 bytes.
  const std::string exif = exif_block(6).substr(6);
  const std::string chunk =
      raw(__builtin_bswap32(static_cast<std::uint32_t>(exif.size()))) + "eXIf" + exif + "sums";
  EXPECT_EQ(size_of(png.substr(0, png.size() - 12) + chunk + png.substr(png.size() - 12)),
            (ImageSize{24, 16}));
  EXPECT_TRUE(contains(message_of<DataError>([&] { size_of("GIF89a"); }), "got a GIF picture"));
}

TEST(Image, AGarbledExifBlockIsPassedOver) {
  const std::string exif = exif_block(6);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(exif.data());
  EXPECT_EQ(exif_orientation({bytes, exif.size()}), 6);
  for (std::size_t size = 0; size < 38; ++size) EXPECT_EQ(exif_orientation({bytes, size}), 1) << size;
}

TEST(Image, EveryTruncationIsRefused) {
  const Image image = picture_for_test(9, 11);
  for (const std::string& file : {jpeg_of(image), jpeg_of(image, true), png_of(image), webp_of(image)}) {
    for (std::size_t size = 0; size + 2 < file.size(); ++size) {
      EXPECT_TRUE(contains(refusal(file.substr(0, size)), "picture: ")) << size;
    }
  }
}

TEST(Image, MessagesNameTheFileAndWhatItIs) {
  EXPECT_TRUE(contains(refusal(""), "picture: is empty"));
  EXPECT_TRUE(contains(refusal("GIF89a"), "got a GIF picture; convert it or leave it out"));
  EXPECT_TRUE(contains(refusal("<!DOCTYPE html>"), "got a web page"));
  EXPECT_TRUE(contains(refusal(std::string("\0\0\0\x18", 4) + "ftypheic"), "got a HEIC picture"));
  EXPECT_TRUE(contains(refusal("hello"), "expected a JPEG, PNG or WebP picture, got no picture"));
  const std::string png = png_of(picture_for_test(9, 11));
  EXPECT_TRUE(contains(refusal(png.substr(0, 60)), "truncated or damaged PNG picture"));
}

TEST(Image, LimitsHoldBeforeAnythingIsDecoded) {
  const Image image = picture_for_test(9, 11);
  for (const std::string& file : {jpeg_of(image), png_of(image), webp_of(image)}) {
    EXPECT_EQ(decoded(file, {.max_pixels = 99}).rgb.size(), 297u);
    EXPECT_TRUE(contains(refusal(file, {.max_pixels = 98}), "1 to 98 pixels, got 9 rows of 11"));
    EXPECT_TRUE(contains(refusal(file, {.max_bytes = 30}), "at most 30 bytes"));
  }
}

TEST(Image, FilesAreRead) {
  const TestFolder folder;
  const Image image = picture_for_test(9, 11);
  EXPECT_EQ(read_image(folder.put("misnamed.gif", png_of(image))).rgb, image.rgb);
  EXPECT_TRUE(
      contains(message_of<DataError>([&] { read_image(folder / "none.png"); }), "none.png: no such file"));
}

}  // namespace
}  // namespace loongforge
