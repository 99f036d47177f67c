// Turns the pictures and clips of conversations into rows of patches.
#pragma once

#include <memory>

#include "loongforge/base/json.h"
#include "loongforge/data/media_item.h"
#include "loongforge/data/processor_config.h"

namespace loongforge {

// More pixels than any picture that is read has; more frames than a model sees of a clip.
inline constexpr std::int64_t kMostPixels = ImageLimits{}.max_pixels, kMostFrames = 65'536;

// What a run asks for beside the model's processor.
struct MediaOptions {
  std::int64_t min_pixels = 0, max_pixels = 0;  // of a picture or a frame; 0: the processor's
  double video_fps = 0;                         // frames of a clip a second; 0: the processor's
  std::int64_t video_max_frames = 0;            // of a clip; 0: the processor's

  bool operator==(const MediaOptions&) const = default;
};

// How one picture or clip enters the model.
struct MediaGrid {
  std::int64_t t = 0, h = 0, w = 0;  // in patches
  double seconds = 0;      // that one patch of a clip spans: temporal_patch_size / rate of the frames taken
  std::int64_t bytes = 0;  // of its files
  std::uint64_t ends = 0;  // hash of the first and last bytes of its files
  bool reduced = false;    // shown with fewer pixels than it has

  std::int64_t patches() const { return t * h * w; }
  bool operator==(const MediaGrid&) const = default;
};

// Pictures are turned upright; clips are sampled evenly at the wanted rate, frames given one by one are all
// taken up to the greatest number. Calls are thread-safe.
class MediaLoader {
 public:
  // Throws CheckpointError as read_media_processor does, ConfigError for options that do not fit together.
  MediaLoader(const VisualInfo& visual, const ProcessorFiles& processor, const MediaOptions& options = {});

  const VisualInfo& visual() const { return visual_; }
  // The model's, and above it what the run asks for.
  const MediaProcessor& processor() const { return processor_; }
  // Tokens that hold its place.
  std::int64_t tokens(const MediaGrid& grid) const { return visual_.tokens_of(grid.t, grid.h, grid.w); }

  // From the headers alone. Throws DataError naming record and file: missing, empty, of another kind, too
  // large or too narrow, damaged in what was read.
  MediaGrid grid(const MediaItem& item) const;
  // Its patches, which must be those of `grid`. Throws DataError as `grid` does, for damaged pixels, and for
  // files that have changed since.
  PatchRows load(const MediaItem& item, const MediaGrid& grid) const;

 private:
  VisualInfo visual_;
  MediaProcessor processor_;
};

}  // namespace loongforge
