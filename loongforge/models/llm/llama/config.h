// Habits of a Llama model, read from Hugging Face's config.json.
#pragma once

#include <string>

#include "loongforge/models/llm/decoder.h"

namespace loongforge::llama {

// Throws CheckpointError naming `where` and the key that is missing, impossible or not supported.
DecoderOptions read_config(const Json& config, const std::string& where);

}  // namespace loongforge::llama
