// Fills a language-model batch piece by piece.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "loongforge/data/batch.h"

namespace loongforge {

class BatchBuilder {
 public:
  // Room for `tokens` positions in all.
  explicit BatchBuilder(std::int64_t tokens);

  // Appends a document or a piece of one with positions from 0. `next` is the token that follows the piece in
  // its document, where the document goes on. With `trained` (one flag a token of `ids`), only tokens whose
  // flag is 1 become labels.
  void add(std::span<const std::int32_t> ids, std::optional<std::int32_t> next = std::nullopt,
           std::span<const std::uint8_t> trained = {});
  // Pads with ignored positions until `tokens` positions are filled.
  void pad_to(std::int64_t tokens);
  void end_row() { ++counts_.rows; }

  std::int64_t filled() const { return filled_; }
  // The batch; throws InternalError unless all positions are filled.
  Batch finish();

 private:
  std::int64_t tokens_, filled_ = 0;
  at::Tensor input_ids_, labels_, position_ids_;
  std::vector<std::int32_t> borders_{0};
  BatchCounts counts_;
};

}  // namespace loongforge
