#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/data/batch_source.h"
#include "loongforge/formats/indexed_dataset.h"
#include "loongforge/generate/likelihood.h"
#include "loongforge/nn/head_loss.h"
#include "loongforge/nn/model.h"

namespace loongforge {
namespace {

// Forwards between two progress calls.
constexpr std::int64_t kForwards = 8;

struct DocumentScore {
  std::int64_t document = 0, tokens = 0;
  double loss_sum = 0.0;
};

// Documents read and cut, their pieces scored a few forwards at a time.
class DocumentScorer {
 public:
  DocumentScorer(const Model& model, const PplOptions& options) : model_(model), options_(options) {}

  void add(std::int64_t document, const std::vector<std::int32_t>& ids) {
    for (std::size_t at = 0; at + 1 < ids.size(); at += static_cast<std::size_t>(options_.seq_length)) {
      const std::size_t end = std::min(ids.size(), at + static_cast<std::size_t>(options_.seq_length));
      if (end - at < 2) break;
      ScoredSequence piece;
      piece.ids.assign(ids.begin() + static_cast<std::ptrdiff_t>(at),
                       ids.begin() + static_cast<std::ptrdiff_t>(end));
      counted_ += static_cast<std::int64_t>(end - at) - 1;
      waiting_tokens_ += static_cast<std::int64_t>(end - at);
      waiting_.push_back(std::move(piece));
      owners_.push_back(document);
    }
    if (waiting_tokens_ >= kForwards * options_.batch_tokens) flush();
  }

  void flush() {
    const std::vector<Score> scores = score_sequences(model_, waiting_, options_.batch_tokens);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (documents_.empty() || documents_.back().document != owners_[i])
        documents_.push_back({owners_[i], 0, 0.0});
      documents_.back().tokens += scores[i].tokens;
      documents_.back().loss_sum -= scores[i].log_likelihood;
    }
    pieces_ += static_cast<std::int64_t>(scores.size());
    waiting_.clear();
    owners_.clear();
    waiting_tokens_ = 0;
  }

  std::int64_t counted() const { return counted_; }
  std::int64_t pieces() const { return pieces_; }
  const std::vector<DocumentScore>& documents() const { return documents_; }

 private:
  const Model& model_;
  const PplOptions& options_;
  std::vector<ScoredSequence> waiting_;
  std::vector<std::int64_t> owners_;
  std::vector<DocumentScore> documents_;
  std::int64_t waiting_tokens_ = 0, counted_ = 0, pieces_ = 0;
};

std::vector<std::int32_t> read_document(const IndexedDatasetReader& reader, std::int64_t document) {
  const auto bounds = reader.document_bounds();
  std::vector<std::int32_t> ids;
  for (auto i = bounds[static_cast<std::size_t>(document)];
       i < bounds[static_cast<std::size_t>(document) + 1]; ++i) {
    const std::vector<std::int32_t> part = reader.read(i);
    ids.insert(ids.end(), part.begin(), part.end());
  }
  return ids;
}

Json summarize(const DocumentScorer& scorer, const PplOptions& options) {
  double sum = 0.0, mean = 0.0, square = 0.0;
  std::int64_t tokens = 0;
  Json list = Json::array();
  for (const DocumentScore& document : scorer.documents()) {
    const double loss = document.loss_sum / static_cast<double>(document.tokens);
    sum += document.loss_sum;
    tokens += document.tokens;
    mean += loss;
    square += loss * loss;
    if (options.documents) {
      list.push_back({{"document", document.document}, {"tokens", document.tokens}, {"loss", loss}});
    }
  }
  const auto n = static_cast<double>(scorer.documents().size());
  mean /= n;
  const double variance = n > 1 ? std::max(0.0, (square - n * mean * mean) / (n - 1)) : 0.0;
  const double loss = sum / static_cast<double>(tokens);
  Json out = {{"kind", "ppl"},
              {"loss", loss},
              {"perplexity", std::exp(loss)},
              {"tokens", tokens},
              {"documents", scorer.documents().size()},
              {"pieces", scorer.pieces()},
              {"seq_length", options.seq_length},
              {"document_loss_mean", mean},
              {"document_loss_standard_error", std::sqrt(variance / n)}};
  if (options.documents) out["per_document"] = std::move(list);
  return out;
}

}  // namespace

Json eval_ppl(const Model& model, const std::filesystem::path& prefix, const PplOptions& options) {
  check<ConfigError>(options.seq_length >= 2, "seq_length: expected 2 or more, got ", options.seq_length);
  const IndexedDatasetReader reader(prefix);
  DocumentScorer scorer(model, options);
  std::int64_t read = 0;
  for (std::int64_t document = 0; document < reader.document_count(); ++document) {
    if (options.max_tokens > 0 && scorer.counted() >= options.max_tokens) break;
    const std::vector<std::int32_t> ids = read_document(reader, document);
    scorer.add(document, ids);
    read += static_cast<std::int64_t>(ids.size());
    if (options.on_progress) options.on_progress(read, reader.total_tokens());
  }
  scorer.flush();
  check<DataError>(!scorer.documents().empty(), prefix.string(),
                   ": expected a document of at least 2 tokens, got none; nothing can be counted");
  return summarize(scorer, options);
}

Json eval_ppl(const Model& model, const BatchSource& source) {
  const c10::NoGradGuard no_grad;
  const auto steps = source.steps();
  check<DataError>(steps.has_value(), "held-out data: expected a source that ends, got an endless one");
  double sum = 0.0;
  BatchCounts counts;
  for (std::int64_t step = 0; step < *steps; ++step) {
    for (std::int64_t index = 0; index < source.micro_batches(step); ++index) {
      throw_if_interrupted();
      const Batch batch = source.batch(step, index);
      Context context;
      context.cu_seqlens = batch.at("cu_seqlens");
      context.position_ids = batch.at("position_ids");
      const at::Tensor hidden = model.run(context, flow_of(batch)).at("hidden");
      sum += head_cross_entropy(context, model.head(), hidden, batch.at("labels")).item<double>();
      counts += batch.counts;
    }
  }
  check<DataError>(counts.trained > 0, "held-out data: expected tokens that count, got none");
  const double loss = sum / static_cast<double>(counts.trained);
  return {{"kind", "ppl"},
          {"loss", loss},
          {"perplexity", std::exp(loss)},
          {"tokens", counts.trained},
          {"rows", counts.rows}};
}

}  // namespace loongforge
