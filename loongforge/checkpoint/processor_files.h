// Files by which other tools prepare pictures for a model: kept beside its weights.
#pragma once

#include <filesystem>

#include "loongforge/data/processor_config.h"

namespace loongforge {

// preprocessor_config.json, video_preprocessor_config.json and processor_config.json of a model's folder,
// those that there are. Throws CheckpointError.
ProcessorFiles read_processor_files(const std::filesystem::path& folder);
// Those of Qwen2.5-VL's processor for a model that cuts pictures as its tower does, so that transformers'
// AutoProcessor loads. For a model whose pictures all have one size, the file of SigLIP's image processor.
ProcessorFiles make_processor_files(const VisualInfo& visual);
// The same files, saying what `used` does, so that other tools show a model what it was trained on. A file
// for clips is added where there is none. Throws CheckpointError.
ProcessorFiles with_settings(const ProcessorFiles& files, const MediaProcessor& used);
// That pictures are prepared as upstream's processor does by default, because `folder` has no such files.
void warn_without_processor(const std::filesystem::path& folder);
// Throws ResourceError.
void write_processor_files(const ProcessorFiles& files, const std::filesystem::path& folder);

}  // namespace loongforge
