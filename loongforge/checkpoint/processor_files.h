// Files by which other tools prepare pictures for a model: kept beside its weights.
#pragma once

#include <filesystem>

#include "loongforge/data/processor_config.h"

namespace loongforge {

// preprocessor_config.json, video_preprocessor_config.json and processor_config.json of a model's folder,
// those that there are. Throws CheckpointError.
ProcessorFiles read_processor_files(const std::filesystem::path& folder);
// Those of Qwen2.5-VL's processor for a model that cuts pictures as its tower does, so that transformers'
// AutoProcessor loads. Pixels of a picture or a frame that the model was trained with; 0: upstream's sizes.
// For a model whose pictures all have one size, the file of SigLIP's image processor.
ProcessorFiles make_processor_files(const VisualInfo& visual, std::int64_t min_pixels = 0,
                                    std::int64_t max_pixels = 0);
// Throws ResourceError.
void write_processor_files(const ProcessorFiles& files, const std::filesystem::path& folder);

}  // namespace loongforge
