// The vocabulary inside a GGUF file, written as the files of a Hugging Face tokenizer.
#pragma once

#include <string>

#include "loongforge/base/json.h"
#include "loongforge/text/tokenizer/tokenizer_state.h"

namespace loongforge {

// `metadata`: the keys of the file. Takes tokenizer.ggml.model "gpt2" with the splits that
// tokenizer.ggml.pre names (smollm, llama-bpe, qwen2, gpt-2, ...); control tokens become special ones.
// Throws CheckpointError naming `name` and the key.
TokenizerFiles gguf_tokenizer_files(const Json& metadata, const std::string& name);

}  // namespace loongforge
