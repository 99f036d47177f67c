// A model opened for use rather than training: weights, tokenizer, template and stop tokens of one folder.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loongforge/checkpoint/model_folder.h"
#include "loongforge/data/media_loader.h"
#include "loongforge/generate/conversation_prompt.h"
#include "loongforge/nn/model.h"
#include "loongforge/text/template/chat_template.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge::cli {

class Command;

struct OpenedModel {
  std::filesystem::path folder;  // the Hugging Face folder in the end
  std::unique_ptr<Model> model;
  std::optional<Tokenizer> tokenizer;
  std::optional<ChatTemplate> chat_template;
  std::vector<std::int32_t> stop_ids;
  ProcessorFiles processor;                  // how it wants pictures; may be empty
  std::shared_ptr<const MediaLoader> media;  // null: the model reads text alone

  // For conversations; must not outlive this object. Throws CheckpointError when the model's tokenizer has no
  // chat template.
  PromptMaker prompt_maker() const;
};

// Opens for inference in `dtype` ("float32", "bfloat16", "float64"); a PEFT folder is applied to its base.
// Throws CheckpointError naming what is missing, also when the tokenizer has more ids than the embedding
// rows, and ConfigError for options of pictures given to a model of text.
OpenedModel open_model(const std::filesystem::path& path, const std::string& dtype,
                       const MediaOptions& media = {});

// Only tokenizer and template.
Tokenizer open_tokenizer(const std::filesystem::path& path);
std::optional<ChatTemplate> open_template(const Tokenizer& tokenizer, const std::filesystem::path& folder);

// --max-pixels of commands that show pictures.
void add_max_pixels(Command command, MediaOptions& media);

at::ScalarType parse_dtype(const std::string& name);

}  // namespace loongforge::cli
