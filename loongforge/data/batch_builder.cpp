#include "loongforge/data/batch_builder.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <numeric>

#include "loongforge/base/error.h"
#include "loongforge/data/visual_inputs.h"
#include "loongforge/models/vlm/positions.h"

namespace loongforge {

BatchBuilder::BatchBuilder(std::int64_t tokens, const VisualInfo* visual)
    : tokens_(tokens),
      visual_(visual),
      input_ids_(at::empty({tokens}, at::kLong)),
      labels_(at::empty({tokens}, at::kLong)),
      position_ids_(at::empty({tokens}, at::kLong)) {}

void BatchBuilder::add(std::span<const std::int32_t> ids, std::optional<std::int32_t> next,
                       std::span<const std::uint8_t> trained) {
  const auto n = static_cast<std::int64_t>(ids.size());
  if (n == 0) return;
  check<InternalError>(filled_ + n <= tokens_, "batch of ", tokens_, " tokens given ", filled_ + n);
  std::int64_t* const input = input_ids_.mutable_data_ptr<std::int64_t>() + filled_;
  std::int64_t* const label = labels_.mutable_data_ptr<std::int64_t>() + filled_;
  std::int64_t* const position = position_ids_.mutable_data_ptr<std::int64_t>() + filled_;
  std::copy(ids.begin(), ids.end(), input);
  std::copy(ids.begin() + 1, ids.end(), label);
  label[n - 1] = next ? *next : kIgnoredLabel;
  std::iota(position, position + n, std::int64_t{0});
  if (!trained.empty()) {
    for (std::int64_t i = 0; i + 1 < n; ++i) {
      if (trained[static_cast<std::size_t>(i + 1)] == 0) label[i] = kIgnoredLabel;
    }
  }
  counts_.trained += n - std::count(label, label + n, kIgnoredLabel);
  counts_.tokens += n;
  counts_.documents += 1;
  filled_ += n;
  borders_.push_back(static_cast<std::int32_t>(filled_));
}

void BatchBuilder::add_visual(PatchRows patches, double seconds) {
  check<InternalError>(visual_ != nullptr, "a picture for a model of text alone");
  ++(seconds > 0 ? counts_.clips : counts_.pictures);
  counts_.visual_tokens += visual_->tokens_of(patches.grid_t, patches.grid_h, patches.grid_w);
  patches_.push_back(std::move(patches));
  seconds_.push_back(seconds);
}

// The first id that holds no place of a picture; nothing depends on it, as padding is a document without
// labels.
std::int64_t BatchBuilder::padding_id() const {
  std::int64_t id = 0;
  while (visual_ != nullptr && (id == visual_->image_token || id == visual_->video_token)) ++id;
  return id;
}

void BatchBuilder::pad_to(std::int64_t tokens) {
  check<InternalError>(tokens <= tokens_, "batch of ", tokens_, " tokens padded to ", tokens);
  if (filled_ >= tokens) return;
  const std::int64_t n = tokens - filled_;
  std::fill_n(input_ids_.mutable_data_ptr<std::int64_t>() + filled_, n, padding_id());
  std::fill_n(labels_.mutable_data_ptr<std::int64_t>() + filled_, n, kIgnoredLabel);
  std::int64_t* const position = position_ids_.mutable_data_ptr<std::int64_t>() + filled_;
  std::iota(position, position + n, std::int64_t{0});
  counts_.padding += n;
  filled_ = tokens;
  borders_.push_back(static_cast<std::int32_t>(filled_));
}

Batch BatchBuilder::finish() {
  check<InternalError>(filled_ == tokens_, "batch of ", tokens_, " tokens holds only ", filled_);
  at::Tensor cu_seqlens = at::empty({static_cast<std::int64_t>(borders_.size())}, at::kInt);
  std::copy(borders_.begin(), borders_.end(), cu_seqlens.mutable_data_ptr<std::int32_t>());
  Batch batch;
  batch.tensors = {{"input_ids", input_ids_},
                   {"labels", labels_},
                   {"position_ids", position_ids_},
                   {"cu_seqlens", cu_seqlens}};
  if (visual_ != nullptr) {
    const VisualInputs visual = visual_inputs(patches_, seconds_);
    if (visual_->grid_positions) {
      batch.tensors["position_ids"] =
          visual_positions(input_ids_, cu_seqlens, visual.grid_thw, visual.seconds, *visual_);
    }
    put_visual(batch.tensors, visual);
  }
  batch.counts = counts_;
  return batch;
}

}  // namespace loongforge
