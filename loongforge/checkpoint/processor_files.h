// Files by which other tools prepare pictures for a model: kept beside its weights.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "loongforge/nn/model.h"

namespace loongforge {

// Texts of files by name.
using ProcessorFiles = std::map<std::string, std::string>;

// preprocessor_config.json, video_preprocessor_config.json and processor_config.json of a model's folder,
// those that there are. Throws CheckpointError.
ProcessorFiles read_processor_files(const std::filesystem::path& folder);
// Those of Qwen2.5-VL's processor for a model that cuts pictures as its tower does, so that transformers'
// AutoProcessor loads; the sizes of pictures are upstream's.
ProcessorFiles make_processor_files(const VisualInfo& visual);
// Throws ResourceError.
void write_processor_files(const ProcessorFiles& files, const std::filesystem::path& folder);

}  // namespace loongforge
