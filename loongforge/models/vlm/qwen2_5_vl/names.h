// Names of Qwen2.5-VL's tensors.
#pragma once

#include "loongforge/nn/name_map.h"

namespace loongforge::qwen2_5_vl {

// In files; those that carry the modules' own names are read as well.
NameMap file_names();
// Of the upstream implementation's modules.
NameMap module_names();

}  // namespace loongforge::qwen2_5_vl
