#include "loongforge/data/media_loader.h"

#include <algorithm>
#include <numeric>

#include "loongforge/base/error.h"
#include "loongforge/base/random.h"
#include "loongforge/data/manifest.h"
#include "loongforge/media/video.h"

namespace loongforge {
namespace {

// Tells files of one size apart without reading all of them.
std::uint64_t hash_of_ends(std::span<const std::byte> bytes) {
  constexpr std::size_t kEnd = 4096;
  const auto hash = [](std::span<const std::byte> part) {
    return hash_bytes({reinterpret_cast<const char*>(part.data()), part.size()});
  };
  const std::size_t n = std::min(kEnd, bytes.size());
  return mix_hash(hash(bytes.first(n)), hash(bytes.last(n)));
}

// One picture or clip with its files open: what is known without its pixels, and its pixels.
class OpenMedium {
 public:
  OpenMedium(const MediaItem& item, const MediaProcessor& processor)
      : item_(item), config_(item.is_clip() ? processor.clip : processor.picture) {
    for (const MediaSource& source : item.sources) {
      files_.push_back(source.open());
      check<DataError>(!files_.back().bytes.empty(), source.name,
                       ": is empty, expected a picture or clip; fetch it again or leave it out");
    }
    if (item.is_clip()) {
      choose_frames(processor.sampling);
      share_pixels(processor.clip_pixels);
    } else {
      from_ = image_size(files_[0].bytes, item.name());
    }
    to_ = patch_image_size(from_, static_cast<int>(std::max<std::size_t>(1, frames_.size())), config_);
  }

  MediaGrid grid() const {
    const std::int64_t depth = config_.temporal_patch_size,
                       count = std::max<std::int64_t>(1, std::ssize(frames_));
    MediaGrid grid{(count + depth - 1) / depth, to_.height / config_.patch_size,
                   to_.width / config_.patch_size};
    grid.seconds = rate_ > 0 ? static_cast<double>(depth) / rate_ : 0;
    for (const MediaBytes& file : files_) {
      grid.bytes += std::ssize(file.bytes);
      grid.ends = mix_hash(grid.ends, hash_of_ends(file.bytes));
    }
    grid.reduced = std::int64_t{to_.height} * to_.width < std::int64_t{from_.height} * from_.width;
    return grid;
  }

  PatchRows rows() const {
    std::vector<Image> frames;
    const auto take = [&](std::int64_t, const Image& image) {
      check<DataError>(image.size() == from_, item_.name(), ": expected frames of ", from_.height, " x ",
                       from_.width, " pixels, got ", image.height, " x ", image.width,
                       "; make them of one size");
      frames.push_back(resize(image, to_, config_.resize));
    };
    if (video_) {
      video_->read(frames_, take);
    } else if (item_.is_clip()) {
      for (const std::int64_t i : frames_) take(i, picture(i));
    } else {
      take(0, picture(0));
    }
    return patch_rows(frames, config_);
  }

 private:
  Image picture(std::int64_t i) const {
    const auto n = static_cast<std::size_t>(i);
    return decode_image(files_[n].bytes, item_.sources[n].name);
  }

  void choose_frames(const FrameSampling& sampling) {
    std::int64_t count = std::ssize(files_);
    double rate = item_.frame_rate;
    if (rate > 0) {
      from_ = image_size(files_[0].bytes, item_.name());
      frames_.resize(files_.size());
      std::iota(frames_.begin(), frames_.end(), 0);
      FrameSampling dense = sampling;
      dense.fps = 2 * rate;
      if (count > sampling.max_frames) frames_ = sample_frames(count, rate, dense, item_.name());
    } else {
      video_.emplace(files_[0].bytes, item_.name());
      from_ = video_->info().size;
      count = video_->info().frames;
      rate = video_->info().fps;
      frames_ = sample_frames(count, rate, sampling, item_.name());
    }
    rate_ = static_cast<double>(frames_.size()) / static_cast<double>(count) * rate;
  }

  // An even share of a clip's pixels bounds each frame, but not below what a frame must have.
  void share_pixels(std::int64_t all) {
    if (all == 0) return;
    const std::int64_t share = all * config_.temporal_patch_size / std::ssize(frames_);
    config_.max_pixels = std::max(std::min(config_.max_pixels, share),
                                  static_cast<std::int64_t>(static_cast<double>(config_.min_pixels) * 1.05));
  }

  const MediaItem& item_;
  PatchConfig config_;
  std::vector<MediaBytes> files_;
  std::optional<VideoReader> video_;
  ImageSize from_, to_;
  std::vector<std::int64_t> frames_;  // of a clip
  double rate_ = 0;                   // of these
};

// What `action` gives, with record and file at the head of its errors.
template <typename Action>
auto named(const MediaItem& item, const Action& action) {
  try {
    return action();
  } catch (const DataError& error) {
    const std::string message = error.what();
    const bool has_file =
        std::ranges::any_of(item.sources, [&](const MediaSource& s) { return message.starts_with(s.name); });
    throw DataError(concat(item.where, ": ", has_file ? "" : item.name() + ": ", message));
  }
}

// Positions on the axis of time end at 2^31; half of them are for what stands before a clip.
void check_duration(const MediaItem& item, const MediaGrid& grid, const VisualInfo& visual) {
  constexpr double kMostPositions = 1 << 30;
  const double seconds = static_cast<double>(grid.t) * grid.seconds;
  check<DataError>(seconds * visual.tokens_per_second <= kMostPositions, item.name(),
                   ": expected a clip of at most ", kMostPositions / visual.tokens_per_second,
                   " seconds, got ", seconds, "; mend its frame rate");
}

void set_limits(const MediaOptions& options, PatchConfig& config) {
  if (options.min_pixels > 0) config.min_pixels = options.min_pixels;
  if (options.max_pixels > 0) config.max_pixels = options.max_pixels;
  // A limit of the processor gives way to one of the run.
  if (options.min_pixels == 0) config.min_pixels = std::min(config.min_pixels, config.max_pixels);
  if (options.max_pixels == 0) config.max_pixels = std::max(config.min_pixels, config.max_pixels);
}

}  // namespace

MediaLoader::MediaLoader(const VisualInfo& visual, const ProcessorFiles& processor,
                         const MediaOptions& options)
    : visual_(visual), processor_(read_media_processor(processor, visual)) {
  check<ConfigError>(
      options.min_pixels == 0 || options.max_pixels == 0 || options.min_pixels <= options.max_pixels,
      "data.min_pixels: expected at most data.max_pixels (", options.max_pixels, "), got ",
      options.min_pixels);
  const std::optional<ImageSize>& fixed = processor_.picture.fixed_size;
  check<ConfigError>(
      !fixed || (options.min_pixels == 0 && options.max_pixels == 0),
      "--max-pixels, data.min_pixels, data.max_pixels: have no effect on a model whose pictures all have ",
      fixed ? fixed->height : 0, " x ", fixed ? fixed->width : 0, " pixels; leave them out");
  set_limits(options, processor_.picture);
  set_limits(options, processor_.clip);
  FrameSampling& sampling = processor_.sampling;
  const std::int64_t frames = options.video_max_frames;
  check<ConfigError>(frames == 0 || (frames >= sampling.temporal_patch_size && frames <= kMostFrames),
                     "data.video_max_frames: expected the model's temporal_patch_size, ",
                     sampling.temporal_patch_size, ", to ", kMostFrames, ", or 0, got ", frames);
  if (options.video_fps > 0) sampling.fps = options.video_fps;
  if (frames > 0) sampling.max_frames = static_cast<int>(frames);
  sampling.min_frames = std::min(sampling.min_frames, sampling.max_frames);
}

MediaGrid MediaLoader::grid(const MediaItem& item) const {
  return named(item, [&] {
    const MediaGrid grid = OpenMedium(item, processor_).grid();
    check_duration(item, grid, visual_);
    return grid;
  });
}

PatchRows MediaLoader::load(const MediaItem& item, const MediaGrid& grid) const {
  return named(item, [&] {
    const OpenMedium medium(item, processor_);
    check<DataError>(medium.grid() == grid, item.name(),
                     ": has changed since the data was read; start the run again");
    return medium.rows();
  });
}

}  // namespace loongforge
