// Which frames of a video a model sees.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loongforge {

// Frames a second of a clip; others are mistakes, and would carry positions on the axis of time out of range.
inline constexpr double kLeastFrameRate = 1e-5, kMostFrameRate = 1e6;

struct FrameSampling {
  double fps = 2;  // wanted frames a second
  int min_frames = 4, max_frames = 768;
  int temporal_patch_size = 2;  // Qwen2-VL alone: the number of frames is a multiple of it
};

// Ascending indices out of `frames` frames shown at `video_fps`, evenly spaced from frame 0: the rule of the
// Qwen2-VL and Qwen2.5-VL processors of transformers; all frames where a temporal patch has more. `name`
// stands in messages. Throws DataError for no frames or no frame rate in range.
std::vector<std::int64_t> sample_frames(std::int64_t frames, double video_fps, const FrameSampling& sampling,
                                        const std::string& name);

// The rule of Qwen3-VL: from the first frame to the last.
std::vector<std::int64_t> sample_frames_to_last(std::int64_t frames, double video_fps,
                                                const FrameSampling& sampling, const std::string& name);

}  // namespace loongforge
