// Text from a model: many prompts decoded together over one key-value cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/generate/sampler.h"
#include "loongforge/models/vlm/inputs.h"

namespace loongforge {

class Model;
class Tokenizer;

struct GenerateOptions {
  std::int64_t max_new_tokens = 256;   // tokens made for each prompt at most, the stop token included
  std::int64_t max_length = 0;         // prompt and answer together at most; 0: no limit
  std::vector<std::int32_t> stop_ids;  // any of these ends the answer; it is no part of the text
  SamplingOptions sampling;            // greedy unless a temperature is given
  std::int64_t max_sequences = 256;    // prompts decoded together at most
  // Prompt tokens packed into one forward at most (one prompt may be longer).
  std::int64_t prefill_tokens = 4096;
  std::int64_t cache_bytes = 2LL << 30;  // memory of the key-value cache at most (one prompt may need more)
  bool share_prefix = true;              // compute the beginning that all prompts have in common only once
};

// What a model goes on from: tokens, and the pictures and clips whose places they hold, in their order.
struct Prompt {
  std::vector<std::int32_t> ids;
  VisualInputs visual;
};

// What one prompt led to.
struct Generation {
  std::vector<std::int32_t> ids;  // new tokens, the stop token excluded
  std::string text;               // their text, special tokens left out
  std::string finish;             // "stop" (a stop token came) or "length"
  std::int32_t stop_id = -1;      // the stop token that ended it, -1 for none
};

// Called for each new token, in order within one sequence. `piece` is the text that became certain with it:
// always whole UTF-8 characters, possibly empty.
using TokenCallback = std::function<void(std::size_t sequence, std::int32_t id, std::string_view piece)>;

// Called once for each prompt as soon as its answer is whole.
using FinishedCallback = std::function<void(std::size_t sequence, const Generation& generation)>;

// Decodes with `model`, whose parameters may change between calls. Not for several threads at once.
class Generator {
 public:
  Generator(const Model& model, const Tokenizer& tokenizer, GenerateOptions options);

  // One generation a prompt, in the order of the prompts; greedy answers do not depend on what else is in
  // the batch (up to rounding). Empty prompts throw DataError. Ctrl-C throws Interrupted.
  std::vector<Generation> generate(const std::vector<std::vector<std::int32_t>>& prompts,
                                   const TokenCallback& on_token = {},
                                   const FinishedCallback& on_finished = {});
  // The same for prompts with pictures. Throws DataError when places and pictures do not fit, or the model
  // reads none.
  std::vector<Generation> generate_prompts(const std::vector<Prompt>& prompts,
                                           const TokenCallback& on_token = {},
                                           const FinishedCallback& on_finished = {});

  const GenerateOptions& options() const { return options_; }
  const Model& model() const { return model_; }

 private:
  const Model& model_;
  const Tokenizer& tokenizer_;
  GenerateOptions options_;
};

// Stop tokens of a Hugging Face directory: eos_token_id (number or list) of generation_config.json, else of
// config.json, joined with the tokenizer's own end token. Throws CheckpointError on ill-typed values.
std::vector<std::int32_t> stop_ids_of(const std::filesystem::path& model_dir, const Tokenizer& tokenizer);

}  // namespace loongforge
