// Pre-training rows: the documents one after another, cut every seq_length tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "loongforge/data/document_set.h"
#include "loongforge/data/row_set.h"

namespace loongforge {

// In every pass each token of the data stands in exactly one row, and each but the first of its document is
// the label of exactly one position: where a row ends within a document, its last label is the document's
// next token, and the next row goes on with fresh positions. The last row of a pass is padded.
class DocumentRows final : public RowSet {
 public:
  // With a seed the documents are shuffled anew in every epoch; without, they stay in the order of the files.
  // Working memory: 8 bytes for every 64 documents an epoch, two epochs kept.
  DocumentRows(DocumentSet documents, std::int64_t seq_length, std::optional<std::uint64_t> seed);

  std::int64_t rows() const override { return rows_; }
  void add_row(std::int64_t row, std::int64_t epoch, BatchBuilder& out) const override;
  std::uint64_t fingerprint() const override { return documents_.fingerprint(); }
  Json describe() const override;

 private:
  // Tokens before every 64th document in the order of one epoch.
  struct Epoch {
    std::int64_t number;
    std::vector<std::int64_t> starts;
  };
  std::int64_t document_at(std::int64_t place, std::int64_t epoch) const;
  std::shared_ptr<const Epoch> epoch(std::int64_t number) const;

  DocumentSet documents_;
  std::int64_t seq_length_, rows_;
  std::optional<std::uint64_t> seed_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Epoch>> epochs_;  // newest last
};

}  // namespace loongforge
