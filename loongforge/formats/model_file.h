// Mapping of files whose faults count as faults of a model.
#pragma once

#include "loongforge/base/files.h"

namespace loongforge {

// Maps a whole file. Throws CheckpointError naming it when it is missing, unreadable or empty.
MappedFile map_model_file(const fs::path& path);

}  // namespace loongforge
