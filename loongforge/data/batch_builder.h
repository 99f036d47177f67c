// Fills a language-model batch piece by piece.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "loongforge/data/batch.h"
#include "loongforge/media/patches.h"

namespace loongforge {

class BatchBuilder {
 public:
  // Room for `tokens` positions in all; `visual`: of a model that reads pictures, must outlive the builder.
  explicit BatchBuilder(std::int64_t tokens, const VisualInfo* visual = nullptr);

  // Appends a document or a piece of one with positions from 0. `next` is the token that follows the piece in
  // its document, where the document goes on. With `trained` (one flag a token of `ids`), only tokens whose
  // flag is 1 become labels.
  void add(std::span<const std::int32_t> ids, std::optional<std::int32_t> next = std::nullopt,
           std::span<const std::uint8_t> trained = {});
  // Appends a picture or clip, whose places are in the documents added last, in their order; seconds:
  // MediaGrid's.
  void add_visual(PatchRows patches, double seconds);
  // Pads with ignored positions until `tokens` positions are filled.
  void pad_to(std::int64_t tokens);
  void end_row() { ++counts_.rows; }

  std::int64_t filled() const { return filled_; }
  // The batch; throws InternalError unless all positions are filled, DataError when places and grids differ.
  Batch finish();

 private:
  std::int64_t padding_id() const;

  std::int64_t tokens_, filled_ = 0;
  const VisualInfo* visual_;
  std::vector<PatchRows> patches_;
  std::vector<double> seconds_;
  at::Tensor input_ids_, labels_, position_ids_;
  std::vector<std::int32_t> borders_{0};
  BatchCounts counts_;
};

}  // namespace loongforge
