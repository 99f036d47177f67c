// Pictures and videos as rows of patches, the input of the Qwen vision towers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "loongforge/media/resize.h"

namespace loongforge {

// The keys of preprocessor_config.json under their names there; the defaults are Qwen2-VL's.
struct PatchConfig {
  int patch_size = 14, temporal_patch_size = 2, merge_size = 2;
  std::int64_t min_pixels = 56 * 56, max_pixels = 28 * 28 * 1280;  // size.shortest_edge, size.longest_edge
  // `size` with height and width: every frame is resized to it, whatever its shape, and what is left beyond
  // whole patches is cut off; nothing: a size near the frame's own within the limits.
  std::optional<ImageSize> fixed_size;
  bool count_all_frames = false;  // the limits hold for all frames together (Qwen3-VL videos), not for each
  bool do_resize = true, do_rescale = true, do_normalize = true;
  double rescale_factor = 1.0 / 255;
  std::array<double, 3> image_mean = {0.48145466, 0.4578275, 0.40821073};
  std::array<double, 3> image_std = {0.26862954, 0.26130258, 0.27577711};
  ResizeOptions resize;  // `resample`; the backend also decides how levels are normalised
};

// values: (grid_t * grid_h * grid_w, row_size) float32, a row being (3, temporal_patch_size, patch_size,
// patch_size). Rows are ordered (t, h / merge, w / merge, merge, merge), so that merge * merge neighbours
// make one token.
struct PatchRows {
  std::int64_t grid_t = 0, grid_h = 0, grid_w = 0;  // in patches
  std::int64_t row_size = 0;
  std::vector<float> values;

  std::int64_t rows() const { return grid_t * grid_h * grid_w; }
};

// The size that frames of `size` are resized to. Throws DataError as smart_resize does, with fixed_size too:
// resizing costs as much as the longer side has pixels for each of the result.
ImageSize patch_image_size(ImageSize size, int frames, const PatchConfig& config);

// Normalises frames that have that size and cuts them; the last frame is repeated to fill a temporal patch,
// so a picture is a video of one frame. Throws DataError when there is none, sizes differ or are no multiples
// of patch_size * merge_size (with fixed_size: hold no whole multiple of merge_size patches).
PatchRows patch_rows(std::span<const Image> frames, const PatchConfig& config);

// All of it: resize (if do_resize), normalise, cut.
PatchRows make_patches(std::span<const Image> frames, const PatchConfig& config);

}  // namespace loongforge
