#include "loongforge/media/frame_sampling.h"

#include <algorithm>
#include <cmath>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

void check_video(std::int64_t frames, double fps, const std::string& name) {
  check<DataError>(frames > 0, name, ": expected a video of 1 frame or more, got none; leave it out");
  check<DataError>(fps >= kLeastFrameRate && fps <= kMostFrameRate, name,
                   ": expected a video that names a frame rate of ", kLeastFrameRate, " to ", kMostFrameRate,
                   ", got ", fps, "; encode it again or leave it out");
}

}  // namespace

std::vector<std::int64_t> sample_frames(std::int64_t frames, double video_fps, const FrameSampling& sampling,
                                        const std::string& name) {
  check_video(frames, video_fps, name);
  const double total = static_cast<double>(frames), patch = sampling.temporal_patch_size;
  const double most = std::floor(std::min<double>(sampling.max_frames, total) / patch) * patch;
  const double wanted =
      std::min({std::max<double>(total / video_fps * sampling.fps, sampling.min_frames), most, total});
  const double count = std::max(std::floor(wanted / patch) * patch, std::min(patch, total));
  const double step = total / count;
  std::vector<std::int64_t> indices;
  // Through float32, as torch.arange hands them on: in videos of many thousand frames it rounds some up.
  for (double i = 0; i < count; ++i)
    indices.push_back(static_cast<std::int64_t>(static_cast<float>(i * step)));
  return indices;
}

std::vector<std::int64_t> sample_frames_to_last(std::int64_t frames, double video_fps,
                                                const FrameSampling& sampling, const std::string& name) {
  check_video(frames, video_fps, name);
  const double total = static_cast<double>(frames), last = total - 1;
  const double wanted = std::trunc(total / video_fps * sampling.fps);
  const double count = std::min(
      {std::max<double>(wanted, sampling.min_frames), static_cast<double>(sampling.max_frames), total});
  std::vector<std::int64_t> indices;
  for (double i = 0; i < count; ++i) {
    const double at = count > 1 ? i * (last / (count - 1)) : 0;
    indices.push_back(static_cast<std::int64_t>(i + 1 == count && count > 1 ? last : std::nearbyint(at)));
  }
  return indices;
}

}  // namespace loongforge
