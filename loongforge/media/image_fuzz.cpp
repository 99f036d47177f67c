#include "loongforge/formats/fuzz.h"
#include "loongforge/media/image.h"
#include "loongforge/media/pictures_for_test.h"

namespace loongforge {

std::vector<std::string> fuzz_seeds() {
  const Image small = picture_for_test(5, 9), image = picture_for_test(33, 20);
  const std::string exif("Exif\0\0MM\0*\0\0\0\x8\0\x1\1\x12\0\3\0\0\0\1\0\6\0\0", 28);
  return {png_of(small),        png_of(image),  jpeg_of(small, false, exif),
          jpeg_of(image, true), webp_of(small), webp_of(image)};
}

}  // namespace loongforge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace loongforge;
  expect_read_or<DataError>([&] {
    const Image image = decode_image(std::as_bytes(std::span(data, bytes)), "input", {.max_pixels = 1 << 16});
    touch(std::as_bytes(std::span(image.rgb)));
    const ImageSize size = image_size(std::as_bytes(std::span(data, bytes)), "input");
    if (size != image.size()) __builtin_trap();
  });
  return 0;
}
