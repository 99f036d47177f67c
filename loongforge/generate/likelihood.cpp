#include "loongforge/generate/likelihood.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/models/vlm/positions.h"
#include "loongforge/nn/model.h"
#include "loongforge/ops/linear_cross_entropy.h"

namespace loongforge {
namespace {

// Sequences [first, last) as one forward.
struct Pack {
  Context context;
  Flow flow;                          // input_ids (N), and pictures where there are some
  std::vector<std::int64_t> rows;     // tokens whose successor is counted
  std::vector<std::int64_t> targets;  // those successors
};

at::Tensor to_tensor(const std::vector<std::int64_t>& values) {
  at::Tensor out = at::empty({static_cast<std::int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), out.mutable_data_ptr<std::int64_t>());
  return out;
}

void check_ids(const ScoredSequence& sequence, std::int64_t vocab_size) {
  for (std::int32_t id : sequence.ids) {
    check<CheckpointError>(id >= 0 && id < vocab_size, "token ", id, " is outside the model's vocabulary of ",
                           vocab_size, "; the data was made with another tokenizer");
  }
}

Pack pack_sequences(const Model& model, std::span<const ScoredSequence> sequences) {
  Pack pack;
  std::vector<std::int64_t> ids;
  at::Tensor bounds = at::empty({static_cast<std::int64_t>(sequences.size()) + 1}, at::kInt);
  std::int32_t* bound = bounds.mutable_data_ptr<std::int32_t>();
  *bound = 0;
  for (const ScoredSequence& sequence : sequences) {
    const auto base = static_cast<std::int64_t>(ids.size());
    ids.insert(ids.end(), sequence.ids.begin(), sequence.ids.end());
    for (auto i = std::max<std::int64_t>(1, sequence.first_counted);
         i < static_cast<std::int64_t>(sequence.ids.size()); ++i) {
      pack.rows.push_back(base + i - 1);
      pack.targets.push_back(sequence.ids[static_cast<std::size_t>(i)]);
    }
    *++bound = static_cast<std::int32_t>(ids.size());
  }
  const at::Tensor all = to_tensor(ids);
  std::vector<const VisualInputs*> parts;
  for (const ScoredSequence& sequence : sequences) parts.push_back(&sequence.visual);
  const VisualInputs visual = joined(parts);
  const std::optional<VisualInfo>& info = model.info().visual;
  check<DataError>(visual.empty() || info, "pictures: this model reads none");
  pack.context.cu_seqlens = bounds;
  pack.context.position_ids = !visual.empty() && info->grid_positions
                                  ? visual_positions(all, bounds, visual.grid_thw, visual.seconds, *info)
                                  : positions_of(bounds);
  pack.flow = {{"input_ids", all}};
  put_visual(pack.flow, visual);
  return pack;
}

// Fills the scores of one forward.
void score_pack(const Model& model, std::span<const ScoredSequence> sequences, std::span<Score> scores) {
  Pack pack = pack_sequences(model, sequences);
  if (pack.rows.empty()) return;
  const at::Tensor hidden =
      at::index_select(model.run(pack.context, std::move(pack.flow)).at("hidden"), 0, to_tensor(pack.rows));
  const at::Tensor losses =
      ops::linear_cross_entropy_per_token(hidden, model.head()->value.detach(), to_tensor(pack.targets))
          .to(at::kDouble)
          .contiguous();
  const double* loss = losses.const_data_ptr<double>();
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const auto length = static_cast<std::int64_t>(sequences[s].ids.size());
    for (auto i = std::max<std::int64_t>(1, sequences[s].first_counted); i < length; ++i) {
      scores[s].log_likelihood -= *loss++;
      ++scores[s].tokens;
    }
  }
}

}  // namespace

std::vector<Score> score_sequences(const Model& model, std::span<const ScoredSequence> sequences,
                                   std::int64_t batch_tokens,
                                   const std::function<void(std::int64_t, std::int64_t)>& on_progress) {
  const c10::NoGradGuard no_grad;
  std::vector<Score> scores(sequences.size());
  for (std::size_t first = 0; first < sequences.size();) {
    throw_if_interrupted();
    std::size_t last = first;
    std::int64_t tokens = 0;
    for (; last < sequences.size(); ++last) {
      check_ids(sequences[last], model.info().vocab_size);
      tokens += static_cast<std::int64_t>(sequences[last].ids.size());
      if (last > first && tokens > batch_tokens) break;
    }
    score_pack(model, sequences.subspan(first, last - first), std::span(scores).subspan(first, last - first));
    first = last;
    if (on_progress)
      on_progress(static_cast<std::int64_t>(first), static_cast<std::int64_t>(sequences.size()));
  }
  return scores;
}

}  // namespace loongforge
