// Names of Llama's tensors in Hugging Face checkpoints.
#pragma once

#include "loongforge/nn/name_map.h"

namespace loongforge::llama {

NameMap names();

}  // namespace loongforge::llama
