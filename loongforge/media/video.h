// Reading the frames of a video through FFmpeg: MP4, MOV, Matroska, WebM, AVI, MPEG, FLV, ASF, Ogg.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "loongforge/media/image.h"

namespace loongforge {

struct VideoInfo {
  std::int64_t frames = 0;  // counted in the file, not taken from its header
  double fps = 0;           // mean rate; 0 where the file does not say
  ImageSize size;           // as shown, after the file's rotation

  double seconds() const { return fps > 0 ? static_cast<double>(frames) / fps : 0; }
};

// What is refused.
struct VideoLimits {
  std::int64_t max_pixels = std::int64_t{1} << 26;  // of a frame
  std::int64_t max_frames = std::int64_t{1} << 20;
};

// One video. The constructors read the file's packets once, without decoding, and throw DataError: no video
// in it, an unknown codec, no frame, truncated or damaged, beyond the limits. (Only MP4 and MOV list their
// frames: another file that ends between two of them is a shorter video.) Const calls are thread-safe.
class VideoReader {
 public:
  explicit VideoReader(const fs::path& path, const VideoLimits& limits = {});
  // Bytes that outlive the reader; `name` stands in messages.
  VideoReader(std::span<const std::byte> bytes, std::string name, const VideoLimits& limits = {});

  const VideoInfo& info() const { return info_; }
  const std::string& name() const { return name_; }

  // Hands the frames of these strictly ascending indices over, one after the other, upright, in RGB by the
  // file's own matrix and range. Decodes from the first frame on and keeps one frame at a time. Throws
  // DataError where the video cannot be decoded up to the last index without error or changes its size;
  // InternalError for other indices.
  void read(std::span<const std::int64_t> indices,
            const std::function<void(std::int64_t, Image)>& sink) const;

 private:
  void inspect();

  std::shared_ptr<const MappedFile> file_;  // null for bytes in memory
  std::span<const std::byte> bytes_;
  std::string name_;
  VideoLimits limits_;
  VideoInfo info_;
};

}  // namespace loongforge
