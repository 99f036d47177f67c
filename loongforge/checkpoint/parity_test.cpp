#include "loongforge/checkpoint/parity.h"

#include <gtest/gtest.h>

#include <limits>

#include "loongforge/base/error.h"
#include "loongforge/formats/safetensors_writer.h"
#include "loongforge/formats/test_folder.h"

namespace loongforge {
namespace {

// What is said of an input with one clip and these seconds, before the model is opened.
std::string refusal(const std::vector<float>& seconds, const std::vector<std::int64_t>& grid = {1, 2, 2}) {
  const TestFolder folder;
  const fs::path input = folder / "in.safetensors";
  const std::vector<std::int64_t> ids = {1, 2};
  const std::vector<float> pixels(4, 0.0F);
  SafetensorsWriter writer(input, {{"input_ids", DType::kI64, {1, 2}},
                                   {"pixel_values_videos", DType::kF32, {4, 1}},
                                   {"video_grid_thw", DType::kI64, {1, 3}},
                                   {"second_per_grid_ts", DType::kF32, {std::ssize(seconds)}}});
  writer.write("input_ids", std::as_bytes(std::span(ids)));
  writer.write("pixel_values_videos", std::as_bytes(std::span(pixels)));
  writer.write("video_grid_thw", std::as_bytes(std::span(grid)));
  writer.write("second_per_grid_ts", std::as_bytes(std::span(seconds)));
  writer.commit();
  ParityOptions options;
  options.model = folder / "none";
  options.input = input;
  try {
    parity(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Parity, SecondsBelongToClips) {
  const std::string name = "in.safetensors: tensor 'second_per_grid_ts': expected ";
  EXPECT_TRUE(contains(refusal({1, 1}), name + "one number for each of 1 clips in 'video_grid_thw', got 2"));
  for (const float second : {-1.0F, std::numeric_limits<float>::infinity()})
    EXPECT_TRUE(contains(refusal({second}), name + "finite numbers of 0 or more")) << second;
  EXPECT_FALSE(contains(refusal({0.5F}), "second_per_grid_ts"));
}

TEST(Parity, SidesOfGridsAreInRange) {
  const std::string name =
      "in.safetensors: tensor 'video_grid_thw': expected 1 to 65536 patches a side, got ";
  EXPECT_TRUE(contains(refusal({1}, {-1, -2, 2}), name + "-2"));
  EXPECT_TRUE(contains(refusal({1}, {std::int64_t{1} << 40, 2, 2}), name + "1099511627776"));
}

}  // namespace
}  // namespace loongforge
