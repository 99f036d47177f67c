#include "loongforge/formats/fuzz.h"
#include "loongforge/media/pictures_for_test.h"
#include "loongforge/media/video_for_test.h"

namespace loongforge {

std::vector<std::string> fuzz_seeds() {
  return {video_of({picture_for_test(4, 6)}, 1),
          video_of(std::vector<Image>(3, picture_for_test(16, 16)), 25)};
}

}  // namespace loongforge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loongforge;
  expect_read_or<DataError>([&] {
    const VideoLimits limits{.max_pixels = 1 << 16, .max_frames = 100};
    const VideoReader reader(std::as_bytes(std::span(data, size)), "input", limits);
    const std::int64_t last = reader.info().frames - 1;
    reader.read({&last, 1},
                [](std::int64_t, const Image& image) { touch(std::as_bytes(std::span(image.rgb))); });
  });
  return 0;
}
