// Fine-tuning rows: whole conversations packed into rows, or one a row.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "loongforge/data/conversation_set.h"
#include "loongforge/data/row_set.h"

namespace loongforge {

struct ConversationRowsOptions {
  std::int64_t seq_length = 1024;  // no conversation is longer
  bool pack = true;
  std::int64_t max_patches = 0;       // of all pictures and clips of a row; 0: no limit
  int threads = 0;                    // that read them; 0: all
  std::int64_t window = 1024;         // conversations that are packed together
  std::optional<std::uint64_t> seed;  // conversations are mixed before packing; nothing: order of the files
  // Which side of a split to take; equal conversations fall on the same side.
  double held_out_fraction = 0;
  bool held_out = false;
};

// Rows are packed once, so every pass has the same rows (in another order). Each conversation is a document
// of its own: attention, positions and labels never cross its border. In place of one whose pictures turn out
// to be unreadable, where such are skipped, stands padding.
class ConversationRows final : public RowSet {
 public:
  // Throws DataError when the split leaves nothing.
  ConversationRows(std::shared_ptr<const ConversationSet> conversations, ConversationRowsOptions options);

  std::int64_t rows() const override { return static_cast<std::int64_t>(rows_.size()); }
  void add_row(std::int64_t row, std::int64_t epoch, BatchBuilder& out) const override;
  std::uint64_t fingerprint() const override { return fingerprint_; }
  Json describe() const override;

 private:
  bool is_wanted(std::int64_t item) const;
  // Of the conversations in these rows.
  struct Sums {
    std::int64_t conversations = 0, tokens = 0, trained = 0;
    std::int64_t pictures = 0, clips = 0, visual_tokens = 0, most_visual_tokens = 0, reduced = 0;
  };
  Sums sums() const;
  Json describe_media(const Sums& sums) const;
  std::vector<std::int64_t> order() const;

  std::shared_ptr<const ConversationSet> conversations_;
  ConversationRowsOptions options_;
  std::vector<std::vector<std::int64_t>> rows_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace loongforge
