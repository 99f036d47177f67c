#include "loongforge/data/media_loader.h"

#include <gtest/gtest.h>

#include "loongforge/data/visual_for_test.h"

namespace loongforge {
namespace {

class Loader : public ::testing::Test {
 protected:
  MediaItem item(const std::string& name, MediaItem::Kind kind = MediaItem::Kind::kPicture) const {
    return {kind, {{(folder_ / name).string(), {}}}, 0, "f:7"};
  }
  MediaItem put_picture(const std::string& name, int height, int width) const {
    folder_.put(name, png_of(picture_for_test(height, width)));
    return item(name);
  }
  MediaItem put_clip(const std::string& name, int frames, int fps) const {
    folder_.put(name, clip_for_test(frames, 16, 24, fps));
    return item(name, MediaItem::Kind::kClip);
  }
  MediaLoader loader(const MediaOptions& options = {}) const {
    return MediaLoader(test_visual(), test_processor(), options);
  }
  std::string refusal(const MediaItem& one) const {
    return message_of<DataError>([&] { loader().grid(one); });
  }
  const TestFolder folder_;
};

TEST_F(Loader, GridsAreThoseOfThePatches) {
  const MediaItem picture = put_picture("a.png", 33, 20);
  const MediaGrid grid = loader().grid(picture);
  EXPECT_EQ(grid, (MediaGrid{1, 8, 4, 0, static_cast<std::int64_t>(fs::file_size(picture.name())), grid.ends,
                             true}));
  EXPECT_NE(grid.ends, 0U);
  EXPECT_EQ(loader().tokens(grid), 8);
  const PatchRows rows = loader().load(picture, grid);
  EXPECT_EQ(rows.rows(), grid.patches());
  EXPECT_EQ(rows.row_size, 3 * 2 * 4 * 4);
  const std::vector<Image> image = {picture_for_test(33, 20)};
  PatchConfig config{.patch_size = 4, .min_pixels = 256, .max_pixels = 2304};
  EXPECT_EQ(rows.values, make_patches(image, config).values);
}

// VLM-4: 1024 x 1024 pixels under the documented limits.
TEST_F(Loader, LimitsReduceAndEnlarge) {
  const MediaItem large = put_picture("a.png", 1024, 1024), small = put_picture("b.png", 8, 8);
  const auto tokens = [&](const MediaItem& one, const MediaOptions& options) {
    return loader(options).tokens(loader(options).grid(one));
  };
  EXPECT_EQ(tokens(large, {}), 36);
  EXPECT_TRUE(loader().grid(large).reduced);
  EXPECT_EQ(tokens(large, {.max_pixels = 1 << 20}), 128 * 128);
  EXPECT_FALSE(loader({.max_pixels = 1 << 20}).grid(large).reduced);
  EXPECT_EQ(tokens(large, {.max_pixels = 64}), 1);  // below the processor's least
  EXPECT_EQ(tokens(small, {}), 4);
  EXPECT_EQ(tokens(small, {.min_pixels = 1024}), 16);
  EXPECT_EQ(tokens(small, {.min_pixels = 64}), 1);
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { loader({.min_pixels = 9, .max_pixels = 8}); }),
                       "data.min_pixels: expected at most data.max_pixels (8), got 9"));
}

// VLM-3: 20 s at 10 frames a second, 2 a second wanted, 16 at most.
TEST_F(Loader, ClipsKeepTheirRealRate) {
  const MediaItem clip = put_clip("a.mov", 200, 10);
  EXPECT_EQ(loader().grid(clip).t, 20);
  EXPECT_DOUBLE_EQ(loader().grid(clip).seconds, 1.0);
  EXPECT_DOUBLE_EQ(loader({.video_fps = 10}).grid(clip).seconds, 0.2);
  const MediaGrid capped = loader({.video_max_frames = 16}).grid(clip);
  EXPECT_EQ(capped.t, 8);
  EXPECT_DOUBLE_EQ(capped.seconds, 2 / 0.8);
  EXPECT_EQ(loader({.video_max_frames = 16}).load(clip, capped).grid_t, 8);
}

TEST_F(Loader, AClipHasAtLeastOnePatchOfTimeAndNoMoreFramesThanTheMost) {
  const MediaItem clip = put_clip("a.mov", 20, 10);
  EXPECT_EQ(loader({.video_max_frames = 2}).grid(clip).t, 1);
  for (const std::int64_t frames : {std::int64_t{1}, (std::int64_t{1} << 32) + 8}) {
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { loader({.video_max_frames = frames}); }),
                         concat("data.video_max_frames: expected the model's temporal_patch_size, 2, to "
                                "65536, or 0, got ",
                                frames)));
  }
}

TEST_F(Loader, FramesGivenOneByOneAreAllTaken) {
  MediaItem frames{MediaItem::Kind::kClip, {}, 4, "f:7"};
  for (int i = 0; i < 7; ++i) frames.sources.push_back(put_picture(concat(i, ".png"), 16, 24).sources[0]);
  const MediaGrid grid = loader().grid(frames);
  EXPECT_EQ(grid.t, 4);
  EXPECT_DOUBLE_EQ(grid.seconds, 0.5);
  EXPECT_EQ(loader().load(frames, grid).rows(), grid.patches());
  EXPECT_DOUBLE_EQ(loader({.video_max_frames = 4}).grid(frames).seconds, 2 / (4.0 / 7 * 4));
  VisualInfo fine = test_visual();
  fine.tokens_per_second = 1 << 30;
  EXPECT_TRUE(contains(message_of<DataError>([&] { MediaLoader(fine, test_processor()).grid(frames); }),
                       "0.png: expected a clip of at most 1 seconds, got 2"));
  frames.sources.push_back(put_picture("8.png", 8, 8).sources[0]);
  EXPECT_TRUE(contains(message_of<DataError>([&] { loader().load(frames, loader().grid(frames)); }),
                       "expected frames of 16 x 24 pixels, got 8 x 8"));
}

// VLM-2: each message names record and file.
TEST_F(Loader, BadFilesAreNamed) {
  const auto check_names = [&](const std::string& message, const char* file, const char* part) {
    EXPECT_TRUE(contains(message, concat("f:7: ", (folder_ / file).string(), ": "))) << message;
    EXPECT_TRUE(contains(message, part));
  };
  check_names(refusal(item("none.png")), "none.png", "no such file");
  folder_.put("empty.png", "");
  check_names(refusal(item("empty.png")), "empty.png", "is empty");
  folder_.put("text.jpg", "hello");
  check_names(refusal(item("text.jpg")), "text.jpg", "got no picture");
  const std::string png = png_of(picture_for_test(64, 64));
  std::string huge = png;
  huge.replace(16, 8, std::string("\0\0\xea\x60\0\0\xea\x60", 8));  // 60000 x 60000 in its header
  folder_.put("huge.png", huge);
  EXPECT_TRUE(contains(refusal(item("huge.png")), "huge.png"));
  check_names(refusal(put_picture("narrow.png", 1, 300)), "narrow.png", "at most 200");
  folder_.put("text.mp4", "hello");
  EXPECT_TRUE(contains(refusal(item("text.mp4", MediaItem::Kind::kClip)), "text.mp4"));

  folder_.put("cut.png", png.substr(0, png.size() / 2));  // its header is sound
  const MediaItem cut = item("cut.png");
  check_names(message_of<DataError>([&] { loader().load(cut, loader().grid(cut)); }), "cut.png",
              "truncated or damaged PNG picture");
}

TEST_F(Loader, ChangedFilesAreRefused) {
  const MediaItem picture = put_picture("a.png", 33, 20);
  const MediaGrid grid = loader().grid(picture);
  put_picture("a.png", 40, 40);
  EXPECT_TRUE(contains(message_of<DataError>([&] { loader().load(picture, grid); }), "has changed"));
}

TEST(MediaProcessor, FilesAreReadInTheOrderOfTransformers) {
  const VisualInfo visual = test_visual();
  const MediaProcessor plain = read_media_processor({}, visual);
  EXPECT_EQ(plain.picture.min_pixels, 4 * 64);
  EXPECT_EQ(plain.picture.max_pixels, 1280 * 64);
  EXPECT_EQ(plain.clip.min_pixels, 128 * 64);
  EXPECT_EQ(plain.clip.max_pixels, 768 * 64);
  ProcessorFiles files = {{"preprocessor_config.json",
                           R"({"size": {"shortest_edge": 100, "longest_edge": 1000}, "max_pixels": 900,
                               "image_processor_type": "Qwen2VLImageProcessorPil", "do_rescale": false,
                               "image_mean": [0, 0, 0], "fps": 1, "resample": 2})"}};
  const MediaProcessor one = read_media_processor(files, visual);
  EXPECT_EQ(one.picture.min_pixels, 100);
  EXPECT_EQ(one.clip.max_pixels, 900);
  EXPECT_FALSE(one.picture.do_rescale);
  EXPECT_EQ(one.picture.image_mean[2], 0);
  EXPECT_EQ(one.picture.resize.filter, Filter::kBilinear);
  EXPECT_EQ(one.picture.resize.backend, ResizeBackend::kPillow);
  EXPECT_EQ(one.sampling.fps, 1);
  files["video_preprocessor_config.json"] = R"({"max_pixels": 200000, "max_frames": 8})";
  EXPECT_EQ(read_media_processor(files, visual).clip.max_pixels, 200000);
  EXPECT_EQ(read_media_processor(files, visual).sampling.max_frames, 8);
  files["processor_config.json"] = R"({"video_processor": {"max_pixels": 300000}, "image_processor": {}})";
  EXPECT_EQ(read_media_processor(files, visual).clip.max_pixels, 300000);
  EXPECT_EQ(read_media_processor(files, visual).picture.min_pixels, 4 * 64);
}

TEST(MediaProcessor, OneSizeOfAllPicturesIsTheFilesOrTheModels) {
  VisualInfo visual = test_visual();
  visual.normalisation = {.mean = {0.5, 0.5, 0.5}, .deviation = {0.5, 0.5, 0.25}};
  visual.picture_side = 24;
  const MediaProcessor plain = read_media_processor({}, visual);
  EXPECT_EQ(plain.picture.fixed_size, (ImageSize{24, 24}));
  EXPECT_EQ(plain.clip.image_std, visual.normalisation->deviation);
  const ProcessorFiles files = {{"preprocessor_config.json",
                                 R"({"image_processor_type": "SiglipImageProcessor", "image_mean": [0, 0, 0],
                                     "size": {"height": 19, "width": 8}})"}};
  const MediaProcessor given = read_media_processor(files, visual);
  EXPECT_EQ(given.picture.fixed_size, (ImageSize{19, 8}));
  EXPECT_EQ(given.clip.fixed_size, (ImageSize{19, 8}));
  EXPECT_EQ(given.picture.image_mean[0], 0);
  EXPECT_EQ(given.picture.image_std[2], 0.25);
  const ProcessorFiles free = {{"preprocessor_config.json", R"({"size": {"shortest_edge": 64}})"}};
  EXPECT_FALSE(read_media_processor(free, visual).picture.fixed_size);
}

TEST_F(Loader, PicturesOfOneSizeAreSquashedAndCutToWholePatches) {
  VisualInfo visual = test_visual();
  visual.picture_side = 19;
  const MediaLoader square(visual, {});
  const MediaItem wide = put_picture("wide.png", 10, 90);
  const MediaGrid grid = square.grid(wide);
  EXPECT_EQ(grid.h, 4);
  EXPECT_EQ(grid.w, 4);
  const PatchRows rows = square.load(wide, grid);
  EXPECT_EQ(rows.rows(), 16);
  // The picture at 19 x 19 without its last columns and rows.
  const Image whole = resize(picture_for_test(10, 90), {19, 19});
  Image cut(16, 16);
  for (int y = 0; y < 16; ++y) std::copy_n(whole.row(y), cut.row_bytes(), cut.row(y));
  PatchConfig config{.patch_size = 4, .do_resize = false};
  EXPECT_EQ(rows.values, patch_rows(std::vector<Image>{cut}, config).values);
  const MediaItem narrow = put_picture("narrow.png", 1, 300);
  EXPECT_TRUE(
      contains(message_of<DataError>([&] { square.grid(narrow); }), "narrow.png: a picture of 1 rows"));
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { MediaLoader(visual, {}, {.max_pixels = 100}); }),
                       "data.max_pixels: have no effect"));
}

TEST(MediaProcessor, OtherProcessorsAreRefused) {
  const std::vector<std::array<const char*, 2>> rows = {
      {R"({"image_processor_type": "CLIPImageProcessor"})", "key 'image_processor_type'"},
      {R"({"patch_size": 14})", "key 'patch_size': expected the model's 4, got 14"},
      {R"({"min_pixels": 500, "max_pixels": 400})", "key 'max_pixels'"},
      {R"({"min_frames": 1, "max_frames": 1})", "key 'max_frames': expected a whole number of at least 2"},
      {R"({"image_mean": [1]})", "key 'image_mean': expected three numbers"},
      {R"({"resample": 1})", "key 'resample'"},
      {R"({"image_processor_type": "Siglip2ImageProcessor"})", "key 'image_processor_type'"},
      {R"({"image_processor_type": "SiglipImageProcessor"})", "key 'size'"},
      {R"({"image_std": [0.5, 0, 0.5]})", "key 'image_std'"},
      {R"({"size": {"height": 16}})", "size: key 'width'"},
      {R"({"size": {"height": 16, "width": 12}})", "key 'width': expected as many patches of 4 pixels"},
      {"[]", "expected an object, got array"},
      {"{", "not valid JSON"},
  };
  for (const auto& [text, part] : rows) {
    const std::string message = message_of<CheckpointError>([&] {
      read_media_processor({{"preprocessor_config.json", text}}, test_visual());
    });
    EXPECT_TRUE(contains(message, "preprocessor_config.json")) << message;
    EXPECT_TRUE(contains(message, part));
  }
}

}  // namespace
}  // namespace loongforge
