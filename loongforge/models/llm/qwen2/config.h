// Habits of a Qwen2 model, read from Hugging Face's config.json.
#pragma once

#include <string>

#include "loongforge/models/llm/decoder.h"

namespace loongforge::qwen2 {

// Throws CheckpointError naming `where` and the key that is missing, impossible or not supported.
DecoderOptions read_config(const Json& config, const std::string& where);

}  // namespace loongforge::qwen2
