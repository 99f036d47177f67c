#include "loongforge/media/patches.h"

#include <algorithm>

#include "loongforge/media/smart_resize.h"

namespace loongforge {
namespace {

using Levels = std::array<std::array<float, 256>, 3>;

// The normalised value of each level of each channel. torchvision's processor computes in float32 and divides
// mean and deviation by the rescaling factor instead of the level; Pillow's rescales in double.
Levels normalised_levels(const PatchConfig& config) {
  const bool in_double = config.resize.backend == ResizeBackend::kPillow;
  const bool fused = config.do_rescale && config.do_normalize && !in_double;
  const float unit = fused ? static_cast<float>(1 / config.rescale_factor) : 1.0f;
  const double factor = in_double ? config.rescale_factor : static_cast<float>(config.rescale_factor);
  Levels levels;
  for (std::size_t c = 0; c < 3; ++c) {
    const float mean = static_cast<float>(config.image_mean[c]) * unit;
    const float deviation = static_cast<float>(config.image_std[c]) * unit;
    for (int level = 0; level < 256; ++level) {
      // A level has 8 bits: its product with a float32 is exact in double, and rounded once.
      const float value = static_cast<float>(config.do_rescale && !fused ? level * factor : level);
      levels[c][static_cast<std::size_t>(level)] = config.do_normalize ? (value - mean) / deviation : value;
    }
  }
  return levels;
}

void check_frames(std::span<const Image> frames, const PatchConfig& config) {
  check<DataError>(!frames.empty(), "a video of no frames: expected 1 or more; leave it out");
  const ImageSize size = frames[0].size();
  for (const Image& frame : frames) {
    check<DataError>(frame.size() == size, "a video with frames of ", size.height, " x ", size.width, " and ",
                     frame.height, " x ", frame.width, " pixels: expected one size; encode it again");
  }
  const int block = config.patch_size * config.merge_size;
  const int rest = config.fixed_size ? config.patch_size - 1 : 0;
  check<DataError>(size.height >= block && size.height % block <= rest && size.width >= block &&
                       size.width % block <= rest,
                   "a picture of ", size.height, " x ", size.width,
                   " pixels: expected multiples of patch_size * merge_size = ", block, "; set do_resize");
}

}  // namespace

ImageSize patch_image_size(ImageSize size, int frames, const PatchConfig& config) {
  if (!config.do_resize) return size;
  if (config.fixed_size) {
    check_aspect(size);
    return *config.fixed_size;
  }
  const PixelBudget budget{config.patch_size * config.merge_size, config.min_pixels, config.max_pixels};
  return config.count_all_frames ? smart_resize_video(size, frames, config.temporal_patch_size, budget)
                                 : smart_resize(size, budget);
}

PatchRows patch_rows(std::span<const Image> frames, const PatchConfig& config) {
  check_frames(frames, config);
  const Levels levels = normalised_levels(config);
  const std::int64_t side = config.patch_size, depth = config.temporal_patch_size, merge = config.merge_size;
  const auto count = static_cast<std::int64_t>(frames.size());
  PatchRows out{(count + depth - 1) / depth, frames[0].height / side, frames[0].width / side,
                3 * depth * side * side};
  out.values.resize(static_cast<std::size_t>(out.rows() * out.row_size));
  float* to = out.values.data();

  const auto write_row = [&](std::int64_t t, std::int64_t top, std::int64_t left) {
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::int64_t k = 0; k < depth; ++k) {
        const Image& frame = frames[static_cast<std::size_t>(std::min(t * depth + k, count - 1))];
        for (std::int64_t y = 0; y < side; ++y) {
          const std::uint8_t* from = frame.row(static_cast<int>(top + y)) + 3 * left + c;
          for (std::int64_t x = 0; x < side; ++x) *to++ = levels[c][from[3 * x]];
        }
      }
    }
  };
  for (std::int64_t t = 0; t < out.grid_t; ++t) {
    for (std::int64_t y = 0; y < out.grid_h; y += merge) {
      for (std::int64_t x = 0; x < out.grid_w; x += merge) {
        for (std::int64_t i = 0; i < merge * merge; ++i)
          write_row(t, (y + i / merge) * side, (x + i % merge) * side);
      }
    }
  }
  return out;
}

PatchRows make_patches(std::span<const Image> frames, const PatchConfig& config) {
  check<DataError>(!frames.empty(), "a video of no frames: expected 1 or more; leave it out");
  if (!config.do_resize) return patch_rows(frames, config);
  const ImageSize size = patch_image_size(frames[0].size(), static_cast<int>(frames.size()), config);
  std::vector<Image> resized;
  for (const Image& frame : frames) resized.push_back(resize(frame, size, config.resize));
  return patch_rows(resized, config);
}

}  // namespace loongforge
