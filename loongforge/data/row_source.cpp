#include "loongforge/data/row_source.h"

#include <algorithm>

#include "loongforge/base/error.h"
#include "loongforge/base/random.h"
#include "loongforge/data/manifest.h"

namespace loongforge {
namespace {

std::vector<double> weights_or_single(const RowSourceOptions& options, std::size_t sets) {
  if (options.weights.empty() && sets == 1) return {1.0};
  check<ConfigError>(options.weights.size() == sets, "data.train_weights: expected ", sets,
                     " weights, one for each entry of data.train, got ", options.weights.size());
  return options.weights;
}

}  // namespace

RowSource::RowSource(std::vector<std::unique_ptr<RowSet>> sets, RowSourceOptions options)
    : sets_(std::move(sets)),
      options_(std::move(options)),
      blend_(weights_or_single(options_, sets_.size())) {
  check<InternalError>(options_.endless || sets_.size() == 1, "a source that is read once has one set");
  if (!options_.endless) options_.shape.global_batch_size = options_.shape.micro_batch_size;
  options_.shape.validate();
}

std::int64_t RowSource::rows_a_step() const {
  return options_.shape.global_batch_size;
}

std::int64_t RowSource::micro_batches(std::int64_t step) const {
  if (const auto end = steps(); end && step >= *end) return 0;
  return options_.shape.micro_batches();
}

std::optional<std::int64_t> RowSource::steps() const {
  if (options_.endless) return std::nullopt;
  return (sets_.front()->rows() + rows_a_step() - 1) / rows_a_step();
}

void RowSource::add_row(std::int64_t row, BatchBuilder& out) const {
  if (!options_.endless) {
    sets_.front()->add_row(row, 0, out);
  } else {
    const Blend::Place place = blend_.locate(row);
    const std::int64_t rows = sets_[place.set]->rows();
    const std::int64_t epoch = place.index / rows;
    const auto shuffled =
        permute_index(static_cast<std::uint64_t>(place.index % rows), static_cast<std::uint64_t>(rows),
                      options_.seed, concat("row order ", place.set), static_cast<std::uint64_t>(epoch));
    sets_[place.set]->add_row(static_cast<std::int64_t>(shuffled), epoch, out);
  }
  out.end_row();
}

Batch RowSource::batch(std::int64_t step, std::int64_t index) const {
  const std::int64_t first = step * rows_a_step() + index * options_.shape.micro_batch_size;
  std::int64_t rows = options_.shape.micro_batch_size;
  if (!options_.endless) rows = std::min(rows, sets_.front()->rows() - first);
  check<InternalError>(step >= 0 && index >= 0 && index < options_.shape.micro_batches() && rows > 0,
                       "no micro-batch ", index, " in step ", step);
  BatchBuilder builder(rows * options_.shape.seq_length, options_.visual);
  for (std::int64_t row = first; row < first + rows; ++row) add_row(row, builder);
  Batch batch = builder.finish();
  check_ids(batch);
  return batch;
}

void RowSource::check_ids(const Batch& batch) const {
  if (options_.embedding_rows <= 0) return;
  const at::Tensor& input = batch.at("input_ids");
  const at::Tensor& labels = batch.at("labels");
  std::int64_t low = 0, high = 0;
  for (const at::Tensor* ids : {&input, &labels}) {
    const auto* data = ids->const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < ids->numel(); ++i) {
      if (data[i] == kIgnoredLabel) continue;
      low = std::min(low, data[i]);
      high = std::max(high, data[i]);
    }
  }
  check<DataError>(low >= 0 && high < options_.embedding_rows, "training data: expected token ids below ",
                   options_.embedding_rows, " (rows of the model's embedding), got ", low < 0 ? low : high,
                   "; prepare the data with the model's own tokenizer");
}

Json RowSource::describe() const {
  Json sets = Json::array();
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    Json entry = sets_[i]->describe();
    if (sets_.size() > 1) entry["weight"] = blend_.weights()[i];
    sets.push_back(std::move(entry));
  }
  return {{"rows_a_step", rows_a_step()}, {"seq_length", options_.shape.seq_length}, {"sets", sets}};
}

double RowSource::epochs(std::int64_t step) const {
  const std::vector<std::int64_t> rows = blend_.counts(step * rows_a_step());
  double most = 0;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    most = std::max(most, static_cast<double>(rows[i]) / static_cast<double>(sets_[i]->rows()));
  }
  return most;
}

Json RowSource::state(std::int64_t step) const {
  std::uint64_t fingerprint = 0;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    fingerprint = mix_hash(fingerprint, sets_[i]->fingerprint());
    fingerprint = mix_hash(fingerprint, hash_bytes(concat(blend_.weights()[i])));
  }
  return {{"step", step},
          {"rows", step * rows_a_step()},
          {"rows_a_step", rows_a_step()},
          {"seed", options_.seed},
          {"seq_length", options_.shape.seq_length},
          {"fingerprint", fingerprint}};
}

}  // namespace loongforge
