// A model opened for use rather than training: weights, tokenizer, template and stop tokens of one folder.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loongforge/nn/model.h"
#include "loongforge/text/template/chat_template.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge::cli {

struct OpenedModel {
  std::filesystem::path folder;  // the Hugging Face folder in the end
  std::unique_ptr<Model> model;
  std::optional<Tokenizer> tokenizer;
  std::optional<ChatTemplate> chat_template;
  std::vector<std::int32_t> stop_ids;

  // Throws CheckpointError when the model's tokenizer has no chat template.
  const ChatTemplate& require_template() const;
};

// The Hugging Face (or PEFT) folder behind a model folder, a checkpoint (its hf/) or a run (its last complete
// checkpoint). Throws CheckpointError when it is none of these.
std::filesystem::path resolve_model_folder(const std::filesystem::path& path);

// Opens for inference in `dtype` ("float32", "bfloat16", "float64"); a PEFT folder is applied to its base.
// Throws CheckpointError naming what is missing, also when the tokenizer has more ids than the embedding
// rows.
OpenedModel open_model(const std::filesystem::path& path, const std::string& dtype);

// Only tokenizer and template.
Tokenizer open_tokenizer(const std::filesystem::path& path);
std::optional<ChatTemplate> open_template(const Tokenizer& tokenizer, const std::filesystem::path& folder);

at::ScalarType parse_dtype(const std::string& name);

}  // namespace loongforge::cli
