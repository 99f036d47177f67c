// The one batch source of language models: rows of one or several row sets, shuffled and blended, or read
// once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "loongforge/data/batch_source.h"
#include "loongforge/data/blend.h"
#include "loongforge/data/row_set.h"

namespace loongforge {

struct RowSourceOptions {
  BatchShape shape;
  std::uint64_t seed = 0;
  // Endless, rows shuffled in every pass; otherwise one pass in order over a single set, one micro-batch a
  // step (shape.global_batch_size is not used).
  bool endless = true;
  std::vector<double> weights;         // shares of rows of the sets; may be empty for a single set
  std::int64_t embedding_rows = 0;     // token ids from here on are refused; 0: not checked
  const VisualInfo* visual = nullptr;  // of a model that reads pictures; must outlive the source
};

class RowSource final : public BatchSource {
 public:
  RowSource(std::vector<std::unique_ptr<RowSet>> sets, RowSourceOptions options);

  Batch batch(std::int64_t step, std::int64_t index) const override;
  std::int64_t micro_batches(std::int64_t step) const override;
  std::optional<std::int64_t> steps() const override;
  Json describe() const override;
  double epochs(std::int64_t step) const override;
  Json state(std::int64_t step) const override;

 private:
  std::int64_t rows_a_step() const;
  void add_row(std::int64_t row, BatchBuilder& out) const;
  void check_ids(const Batch& batch) const;

  std::vector<std::unique_ptr<RowSet>> sets_;
  RowSourceOptions options_;
  Blend blend_;
};

}  // namespace loongforge
