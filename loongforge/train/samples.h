// Answers of the model to a few prompts, so that people see what training does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/generate/generator.h"
#include "loongforge/train/config.h"

namespace loongforge {

class ChatTemplate;
class MediaLoader;

// A prompt, and what its sample shows beside the answer: {"prompt"}, of a conversation also {"expected"} and,
// where it shows a file, {"picture"}.
struct SamplePrompt {
  Prompt prompt;
  Json shown;
};

// sample.prompts (continuations without a template, otherwise questions) and the first of
// sample.conversations, with their pictures. Null: the run has none. Throws DataError for a conversation that
// ends without an answer or cannot be shown.
std::vector<SamplePrompt> make_sample_prompts(const RunConfig& config, const Tokenizer& tokenizer,
                                              const ChatTemplate* chat_template, const MediaLoader* media);

// Greedy answers: each {"step", "when", "text", "tokens", "finish"} and what the prompt shows. Throws
// Interrupted.
std::vector<Json> generate_samples(const RunConfig& config, const Model& model, const Tokenizer& tokenizer,
                                   const std::vector<SamplePrompt>& prompts, std::int64_t step,
                                   const std::string& when);

}  // namespace loongforge
