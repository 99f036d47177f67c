#include "loongforge/media/resize.h"

#include <gtest/gtest.h>

#include "loongforge/formats/test_folder.h"
#include "loongforge/media/smart_resize.h"
#include "loongforge/media/tiles.h"

namespace loongforge {
namespace {

Image grey(int height, int width, const std::vector<int>& levels) {
  Image image(height, width);
  for (std::size_t i = 0; i < image.rgb.size(); ++i)
    image.rgb[i] = static_cast<std::uint8_t>(levels[i / 3 % levels.size()]);
  return image;
}

constexpr ResizeOptions kAll[] = {{Filter::kBilinear, ResizeBackend::kTorchvision},
                                  {Filter::kBilinear, ResizeBackend::kPillow},
                                  {Filter::kBicubic, ResizeBackend::kTorchvision},
                                  {Filter::kBicubic, ResizeBackend::kPillow}};

TEST(Resize, AFlatPictureStaysFlat) {
  for (const ResizeOptions& options : kAll) {
    for (const ImageSize size : {ImageSize{1, 1}, {13, 90}, {200, 7}}) {
      const Image out = resize(grey(31, 44, {173}), size, options);
      EXPECT_EQ(out.size(), size);
      EXPECT_EQ(out.rgb, grey(size.height, size.width, {173}).rgb);
    }
  }
}

TEST(Resize, BilinearToHalfWeighsByATriangle) {
  // Of four pixels the inner ones count 3/8, the outer 1/8; at the border 3/7, 3/7, 1/7.
  for (const ResizeBackend backend : {ResizeBackend::kTorchvision, ResizeBackend::kPillow}) {
    const Image out = resize(grey(1, 6, {0, 0, 80, 240, 0, 0}), {1, 3}, {Filter::kBilinear, backend});
    EXPECT_EQ(out.rgb[0], 11);
    EXPECT_EQ(out.rgb[3], 120);
    EXPECT_EQ(out.rgb[6], 34);
  }
}

TEST(Resize, ChannelsAndSidesStayApart) {
  Image image(40, 60);
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 60; ++x) {
      image.row(y)[3 * x] = static_cast<std::uint8_t>(2 * y);
      image.row(y)[3 * x + 1] = static_cast<std::uint8_t>(3 * x);
    }
  }
  for (const ResizeOptions& options : kAll) {
    const Image out = resize(image, {20, 30}, options);
    EXPECT_NEAR(out.row(10)[3 * 15], 41, 1);
    EXPECT_NEAR(out.row(10)[3 * 15 + 1], 91, 1);
    EXPECT_EQ(out.row(10)[3 * 15 + 2], 0);
  }
}

TEST(SmartResize, KnownSizes) {
  const PixelBudget budget{28, 3136, 1003520};
  EXPECT_EQ(smart_resize({1024, 1024}, budget), (ImageSize{980, 980}));  // 1036 x 1036 is over the limit
  EXPECT_EQ(smart_resize({42, 70}, budget), (ImageSize{56, 56}));        // 1.5 and 2.5 both go to 2
  EXPECT_EQ(smart_resize({1, 1}, budget), (ImageSize{56, 56}));
  EXPECT_EQ(smart_resize_video({480, 640}, 8, 2, {32, 4096, 2457600}), (ImageSize{480, 640}));
  EXPECT_EQ(smart_resize_video({480, 640}, 16, 2, {32, 4096, 2457600}), (ImageSize{320, 448}));
}

TEST(SmartResize, Refusals) {
  EXPECT_TRUE(contains(message_of<DataError>([] {
                         smart_resize({10, 2001}, {});
                       }),
                       "a factor of at most 200"));
  // At a height of 28 it would be wider than an int.
  EXPECT_TRUE(contains(message_of<DataError>([] {
                         smart_resize_video({1, 178'956'970}, 8, 2, {});
                       }),
                       "1 rows of 178956970 pixels: expected sides that differ by a factor of at most 200"));
  EXPECT_TRUE(contains(message_of<DataError>([] {
                         smart_resize_video({64, 64}, 1, 2, {});
                       }),
                       "a video of 1 frames"));
}

TEST(Tiles, TheGridFollowsTheShape) {
  EXPECT_EQ(choose_tile_grid({448, 448}), (TileGrid{1, 1}));
  EXPECT_EQ(choose_tile_grid({2000, 2000}), (TileGrid{3, 3}));
  EXPECT_EQ(choose_tile_grid({600, 800}), (TileGrid{3, 4}));
  EXPECT_EQ(choose_tile_grid({100, 5000}), (TileGrid{1, 12}));
  EXPECT_EQ(choose_tile_grid({600, 800}, {.max_tiles = 1}), (TileGrid{1, 1}));
}

TEST(Tiles, RowByRowThenTheWhole) {
  const std::vector<Image> tiles = cut_tiles(grey(2, 4, {0, 0, 200, 200}), {.side = 4, .max_tiles = 2});
  ASSERT_EQ(tiles.size(), 3u);
  EXPECT_EQ(tiles[0].size(), (ImageSize{4, 4}));
  EXPECT_LT(tiles[0].rgb[0], 20);
  EXPECT_GT(tiles[1].row(3)[9], 180);
  EXPECT_EQ(cut_tiles(grey(4, 4, {9}), {.side = 4}).size(), 1u);
  EXPECT_EQ(cut_tiles(grey(2, 4, {9}), {.side = 4, .thumbnail = false}).size(), 2u);
}

}  // namespace
}  // namespace loongforge
