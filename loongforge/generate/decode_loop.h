// The loop behind Generator: sequences enter, are fed together in one forward a step, and leave when done.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "loongforge/generate/generator.h"
#include "loongforge/generate/kv_cache.h"
#include "loongforge/generate/text_stream.h"

namespace loongforge {

// One job: made, run once, thrown away. Waiting prompts enter as soon as the limits of the options allow, so
// prompts and single new tokens are packed into the same forward.
class DecodeLoop {
 public:
  DecodeLoop(const Model& model, const Tokenizer& tokenizer, const GenerateOptions& options,
             const std::vector<Prompt>& prompts, const TokenCallback& on_token,
             const FinishedCallback& on_finished);
  std::vector<Generation> run();

 private:
  // Tokens that one sequence gives to the next forward.
  struct Feed {
    std::int64_t slot = 0;
    std::vector<std::int32_t> ids;
    // (3, n); undefined: in a line behind what the cache holds.
    at::Tensor positions;
    // What positions of the line lie beyond the number of cached tokens.
    std::int64_t shift = 0;
    // Null: none.
    const VisualInputs* visual = nullptr;
  };
  struct Active {
    std::size_t prompt = 0;
    Feed feed;
    std::int64_t limit = 0;  // prompt and answer together at most
    std::unique_ptr<TextStream> stream;
  };

  void check_prompts() const;
  // Length of the answer's end for a prompt: options and the model's positions.
  std::int64_t limit_of(std::size_t prompt) const;
  void compute_shared_prefix();
  void admit();
  void start(std::size_t prompt);
  // One forward over everything that is to be fed -> logits (S, V) of the last token of each sequence.
  at::Tensor forward(const std::vector<Feed>& feeds, bool with_logits);
  // Positions of all tokens: (N), or (3, N) where some stand on axes.
  at::Tensor positions_of_feeds(const std::vector<Feed>& feeds, std::int64_t tokens) const;
  // The first feed of a prompt, behind `skipped` tokens that the cache has already.
  Feed first_feed(std::size_t prompt, std::int64_t slot, std::int64_t skipped) const;
  void step();
  // Takes the chosen token in; true when the sequence is done.
  bool take(Active& active, std::int32_t id);
  void finish(Active& active);

  const Model& model_;
  const Tokenizer& tokenizer_;
  const GenerateOptions& options_;
  const std::vector<Prompt>& prompts_;
  const TokenCallback& on_token_;
  const FinishedCallback& on_finished_;
  Sampler sampler_;
  KvCache cache_;
  std::int64_t prefix_slot_ = -1, prefix_length_ = 0;
  std::int64_t reserved_tokens_ = 0;  // capacity of all open sequences
  std::size_t next_ = 0;              // first prompt that waits
  std::vector<Active> active_;
  std::vector<Generation> results_;
};

}  // namespace loongforge
