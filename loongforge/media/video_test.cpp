#include "loongforge/media/video.h"

#include <gtest/gtest.h>

#include "loongforge/formats/test_folder.h"
#include "loongforge/media/frame_sampling.h"
#include "loongforge/media/orientation.h"
#include "loongforge/media/pictures_for_test.h"
#include "loongforge/media/video_for_test.h"

namespace loongforge {
namespace {

std::vector<Image> frames_for_test(int count) {
  std::vector<Image> frames;
  for (int i = 0; i < count; ++i) {
    frames.push_back(picture_for_test(18, 26));
    std::ranges::fill_n(frames.back().rgb.begin(), 60, static_cast<std::uint8_t>(i));
  }
  return frames;
}

VideoReader reader_of(const std::string& file, const VideoLimits& limits = {}) {
  return VideoReader(std::as_bytes(std::span(file)), "video", limits);
}

std::vector<Image> frames_of(const VideoReader& reader, const std::vector<std::int64_t>& indices) {
  std::vector<Image> frames;
  reader.read(indices, [&](std::int64_t index, Image frame) {
    EXPECT_EQ(index, indices[frames.size()]);
    frames.push_back(std::move(frame));
  });
  return frames;
}

std::string refusal(const std::string& file, const VideoLimits& limits = {}) {
  return message_of<DataError>([&] { reader_of(file, limits); });
}

// The track's matrix, turned clockwise by 90 degrees.
std::string turned(std::string file) {
  const std::string matrix("\0\0\0\0\0\1\0\0\0\0\0\0\xff\xff\0\0\0\0\0\0", 20);
  return file.replace(file.find("tkhd") + 44, matrix.size(), matrix);
}

TEST(Video, FramesComeBackExactly) {
  const std::vector<Image> frames = frames_for_test(9);
  const std::string file = video_of(frames, 5);
  const VideoReader reader = reader_of(file);
  EXPECT_EQ(reader.info().frames, 9);
  EXPECT_DOUBLE_EQ(reader.info().fps, 5);
  EXPECT_DOUBLE_EQ(reader.info().seconds(), 1.8);
  EXPECT_EQ(reader.info().size, (ImageSize{18, 26}));
  for (const auto& indices : {std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}, {8}, {0, 4, 7}, {}}) {
    const std::vector<Image> back = frames_of(reader, indices);
    ASSERT_EQ(back.size(), indices.size());
    for (std::size_t i = 0; i < back.size(); ++i)
      EXPECT_EQ(back[i].rgb, frames[static_cast<std::size_t>(indices[i])].rgb);
  }
}

TEST(Video, FilesAreReadAndTurnedUpright) {
  const TestFolder folder;
  const std::vector<Image> frames = frames_for_test(2);
  const VideoReader reader(folder.put("a.mov", turned(video_of(frames, 5))));
  EXPECT_EQ(reader.info().size, (ImageSize{26, 18}));
  EXPECT_EQ(frames_of(reader, {1})[0].rgb, upright(frames[1], 6).rgb);
}

TEST(Video, WrongIndicesAreABugOfTheCaller) {
  const std::string file = video_of(frames_for_test(3), 5);
  const VideoReader reader = reader_of(file);
  for (const auto& indices : {std::vector<std::int64_t>{3}, {-1}, {1, 1}, {2, 0}}) {
    message_of<InternalError>([&] { frames_of(reader, indices); });
  }
}

TEST(Video, RefusalsNameTheFileAndTheMend) {
  const std::string file = video_of(frames_for_test(9), 5);
  EXPECT_TRUE(contains(refusal(""), "video: expected a video (MP4"));
  EXPECT_TRUE(contains(refusal("hello"), "got what FFmpeg cannot open"));
  EXPECT_TRUE(contains(refusal(png_of(picture_for_test(9, 9))), "got what FFmpeg cannot open"));
  EXPECT_TRUE(contains(refusal(file, {.max_pixels = 467}), "at most 467 pixels, got 18 rows of 26"));
  EXPECT_TRUE(contains(refusal(file, {.max_frames = 8}), "at most 8 frames"));
  EXPECT_TRUE(contains(refusal(file.substr(0, file.size() / 2)), "leave it out"));
}

TEST(Video, DamagedFramesAreFoundWhenTheyAreDecoded) {
  std::string file = video_of(frames_for_test(9), 5);
  const std::size_t third = file.find("IDAT", file.find("IDAT", file.find("IDAT") + 1) + 1);
  file.replace(third + 10, 20, 20, 'x');
  const VideoReader reader = reader_of(file);
  EXPECT_EQ(frames_of(reader, {0, 1}).size(), 2u);
  EXPECT_TRUE(contains(message_of<DataError>([&] { frames_of(reader, {5}); }), "truncated or damaged video"));
}

using Indices = std::vector<std::int64_t>;

TEST(FrameSampling, KnownChoices) {
  // 2 s at 10 frames a second: 4 frames.
  EXPECT_EQ(sample_frames(20, 10, {}, "v"), (Indices{0, 5, 10, 15}));
  EXPECT_EQ(sample_frames_to_last(20, 10, {}, "v"), (Indices{0, 6, 13, 19}));
  EXPECT_EQ(sample_frames(20, 10, {.fps = 10, .max_frames = 7}, "v").size(), 6u);
  EXPECT_EQ(sample_frames(3, 30, {}, "v"), (Indices{0, 1}));
  EXPECT_EQ(sample_frames_to_last(3, 30, {}, "v"), (Indices{0, 1, 2}));
  EXPECT_EQ(sample_frames(1, 30, {}, "v"), (Indices{0}));
  EXPECT_EQ(sample_frames_to_last(1, 30, {}, "v"), (Indices{0}));
}

TEST(FrameSampling, Refusals) {
  EXPECT_TRUE(contains(message_of<DataError>([] { sample_frames(0, 30, {}, "v"); }),
                       "v: expected a video of 1 frame"));
  for (const double rate : {0.0, 1e-300, 1e300, std::nan("")}) {
    EXPECT_TRUE(contains(message_of<DataError>([&] { sample_frames(9, rate, {}, "v"); }),
                         "v: expected a video that names a frame rate"));
  }
}

}  // namespace
}  // namespace loongforge
