#include "loongforge/media/patches.h"

#include <gtest/gtest.h>

#include "loongforge/formats/test_folder.h"
#include "loongforge/media/pictures_for_test.h"

namespace loongforge {
namespace {

const PatchConfig kSmall{.patch_size = 2, .do_resize = false, .do_rescale = false, .do_normalize = false};

TEST(Patches, EveryLevelStandsWhereTheTowerExpectsIt) {
  const std::vector<Image> frames = {picture_for_test(8, 12), picture_for_test(8, 12), Image(8, 12)};
  const PatchRows rows = patch_rows(frames, kSmall);
  EXPECT_EQ(rows.grid_t, 2);
  EXPECT_EQ(rows.grid_h, 4);
  EXPECT_EQ(rows.grid_w, 6);
  EXPECT_EQ(rows.row_size, 3 * 2 * 2 * 2);
  std::size_t at = 0;
  for (int t = 0; t < 2; ++t) {
    for (int row = 0; row < 24; ++row) {
      // Row: (h / merge, w / merge, merge, merge).
      const int top = 2 * (row / 12 * 2 + row / 2 % 2), left = 2 * (row / 4 % 3 * 2 + row % 2);
      for (int i = 0; i < 24; ++i, ++at) {
        const Image& frame = frames[static_cast<std::size_t>(std::min(2 * t + i / 4 % 2, 2))];
        EXPECT_EQ(rows.values[at], frame.row(top + i / 2 % 2)[3 * (left + i % 2) + i / 8])
            << t << " " << row << " " << i;
      }
    }
  }
}

TEST(Patches, APictureIsResizedAndNormalised) {
  PatchConfig config;
  const std::vector<Image> white = {Image(100, 150)};
  const PatchRows rows = make_patches(white, config);
  EXPECT_EQ(rows.grid_t, 1);
  EXPECT_EQ(rows.grid_h, 8);
  EXPECT_EQ(rows.grid_w, 10);
  EXPECT_NEAR(rows.values.front(), -0.48145466 / 0.26862954, 1e-6);
  EXPECT_NEAR(rows.values.back(), -0.40821073 / 0.27577711, 1e-6);
  config.count_all_frames = true;
  EXPECT_TRUE(contains(message_of<DataError>([&] { make_patches(white, config); }), "a video of 1 frames"));
}

TEST(Patches, PicturesOfOneSizeLoseWhatIsLessThanAPatch) {
  PatchConfig config = kSmall;
  config.fixed_size = ImageSize{9, 4};
  EXPECT_EQ(patch_image_size({100, 3}, 1, config), (ImageSize{100, 3}));  // nothing is resized
  const PatchRows rows = patch_rows(std::vector<Image>{Image(9, 4)}, config);
  EXPECT_EQ(rows.grid_h, 4);
  EXPECT_EQ(rows.grid_w, 2);
  config.do_resize = true;
  EXPECT_EQ(patch_image_size({100, 3}, 1, config), (ImageSize{9, 4}));
  EXPECT_TRUE(contains(message_of<DataError>([&] {
                         patch_image_size({178'956'970, 1}, 1, config);
                       }),
                       "a factor of at most 200"));
  EXPECT_TRUE(contains(message_of<DataError>([&] { patch_rows(std::vector<Image>{Image(10, 4)}, config); }),
                       "patch_size * merge_size = 4"));
}

TEST(Patches, Refusals) {
  const auto refusal = [](std::vector<Image> frames) {
    return message_of<DataError>([&] { patch_rows(frames, kSmall); });
  };
  EXPECT_TRUE(contains(refusal({}), "no frames"));
  EXPECT_TRUE(contains(refusal({Image(4, 4), Image(4, 8)}), "expected one size"));
  EXPECT_TRUE(contains(refusal({Image(4, 6)}), "patch_size * merge_size = 4"));
}

}  // namespace
}  // namespace loongforge
