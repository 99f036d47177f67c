// Likelihood of given text: held-out loss of prepared data, and questions with a choice of answers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/models/vlm/inputs.h"

namespace loongforge {

class BatchSource;
class Model;
class Tokenizer;
class PromptMaker;

// A sequence of tokens whose tokens from `first_counted` (at least 1) on are scored.
struct ScoredSequence {
  std::vector<std::int32_t> ids;
  std::int64_t first_counted = 1;
  VisualInputs visual;  // pictures and clips whose places the tokens hold
};

struct Score {
  double log_likelihood = 0.0;  // sum over counted tokens of log p(token | tokens before it), in nats
  std::int64_t tokens = 0;      // counted tokens
};

// Scores sequences, packed into forwards of up to `batch_tokens` tokens (a longer sequence gets its own).
std::vector<Score> score_sequences(
    const Model& model, std::span<const ScoredSequence> sequences, std::int64_t batch_tokens = 4096,
    const std::function<void(std::int64_t done, std::int64_t total)>& on_progress = {});

// Loss of held-out data and how it is asked for.
struct PplOptions {
  std::int64_t seq_length = 2048;    // longer documents are cut into pieces of this many tokens, scored apart
  std::int64_t max_tokens = 0;       // stop after the document that reaches so many counted tokens; 0: all
  std::int64_t batch_tokens = 4096;  // tokens of one forward
  bool documents = false;            // also list the loss of each document
  // Tokens done and in all.
  std::function<void(std::int64_t done, std::int64_t total)> on_progress;
};

// Held-out loss of a prepared data set (prefix of .bin/.idx), document by document:
// {"kind": "ppl", "loss": mean nats a counted token, "perplexity": exp(loss), "tokens": counted tokens,
//  "documents": counted documents, "pieces": n, "document_loss_mean": mean over documents of their own mean
//  loss, "document_loss_standard_error", "per_document": [{"document", "tokens", "loss"}] with
//  options.documents}. Documents of one token count nothing. Throws DataError when nothing can be counted,
// CheckpointError when a token is outside the model's vocabulary.
Json eval_ppl(const Model& model, const std::filesystem::path& prefix, const PplOptions& options = {});

// The same loss over the batches of a held-out source that ends (make_pretrain_eval_source,
// make_sft_eval_source), exactly as a training run measures it: {"kind": "ppl", "loss", "perplexity",
// "tokens", "rows"}. Throws DataError when the source is endless or counts no token.
Json eval_ppl(const Model& model, const BatchSource& source);

struct ChoiceOptions {
  std::int64_t batch_tokens = 4096;  // tokens of one forward
  std::int64_t limit = 0;            // first N questions; 0: all
  std::string separator = " ";       // stands between a plain question and an option (no chat template)
  std::function<void(std::int64_t done, std::int64_t total)> on_progress;
};

// Questions with options, JSONL lines {"question" or "messages", "choices": [...], "answer": index, letter or
// text of the right one, "task"}, with pictures as in files of conversations. With a maker of prompts the
// options are the assistant's answers, otherwise they continue the question, which is text alone. The chosen
// option is the likeliest one: by the sum of log p ("sum") and by the mean per token ("mean"):
// {"kind": "choice", "questions": N, "sum": {"right", "share", "standard_error"}, "mean": {...},
//  "tasks": {TASK: {"questions", "sum": {...}, "mean": {...}}}}. Throws DataError naming file and line.
Json eval_choice(const Model& model, const Tokenizer& tokenizer, const PromptMaker* maker,
                 const std::filesystem::path& questions_file, const ChoiceOptions& options);

}  // namespace loongforge
