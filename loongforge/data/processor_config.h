// How a model wants its pictures and clips: the files of its Hugging Face processor.
#pragma once

#include <map>
#include <string>

#include "loongforge/base/json.h"
#include "loongforge/media/frame_sampling.h"
#include "loongforge/media/patches.h"
#include "loongforge/nn/model.h"

namespace loongforge {

struct MediaProcessor {
  PatchConfig picture, clip;
  FrameSampling sampling;
  std::int64_t clip_pixels = 0;  // all frames of a clip share so many; 0: each frame has its own limit only
};

// Texts of files by name.
using ProcessorFiles = std::map<std::string, std::string>;

// From processor_config.json, video_preprocessor_config.json and preprocessor_config.json, in transformers'
// order; what they leave out, or all of it without them, is transformers' default for the model's patches. Of
// Qwen2-VL's processors, or SigLIP's, which gives every picture one size.
// Throws CheckpointError naming file and key for what is ill-typed, of another kind of processor, or does not
// fit the model.
MediaProcessor read_media_processor(const ProcessorFiles& files, const VisualInfo& visual);

// What these files say of pictures and of clips: sizes, levels, filter, and of clips the sampling.
Json picture_settings(const MediaProcessor& processor);
Json clip_settings(const MediaProcessor& processor);

}  // namespace loongforge
