#include "loongforge/generate/decode_loop.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

// Below this many tokens a shared beginning is not worth its own forward.
constexpr std::int64_t kShortestPrefix = 8;

std::int64_t common_prefix(const std::vector<std::vector<std::int32_t>>& prompts) {
  std::size_t length = prompts[0].size();
  for (const auto& prompt : prompts) {
    const auto end = prompt.begin() + static_cast<std::ptrdiff_t>(std::min(length, prompt.size()));
    length = static_cast<std::size_t>(std::mismatch(prompt.begin(), end, prompts[0].begin()).first -
                                      prompt.begin());
    // Every prompt keeps at least one token of its own: its logits are needed.
    length = std::min(length, prompt.size() - 1);
  }
  return static_cast<std::int64_t>(length);
}

}  // namespace

DecodeLoop::DecodeLoop(const Model& model, const Tokenizer& tokenizer, const GenerateOptions& options,
                       const std::vector<std::vector<std::int32_t>>& prompts, const TokenCallback& on_token,
                       const FinishedCallback& on_finished)
    : model_(model),
      tokenizer_(tokenizer),
      options_(options),
      prompts_(prompts),
      on_token_(on_token),
      on_finished_(on_finished),
      sampler_(options.sampling),
      cache_(model.info(), model.compute_dtype()),
      results_(prompts.size()) {
  check_prompts();
}

std::int64_t DecodeLoop::limit_of(std::size_t prompt) const {
  std::int64_t limit = static_cast<std::int64_t>(prompts_[prompt].size()) + options_.max_new_tokens;
  if (options_.max_length > 0) limit = std::min(limit, options_.max_length);
  if (model_.info().max_positions > 0) limit = std::min(limit, model_.info().max_positions);
  return limit;
}

void DecodeLoop::check_prompts() const {
  for (std::size_t i = 0; i < prompts_.size(); ++i) {
    const auto length = static_cast<std::int64_t>(prompts_[i].size());
    check<DataError>(length > 0, "prompt ", i, ": expected at least one token, got none; give a prompt");
    check<DataError>(limit_of(i) > length, "prompt ", i, ": expected fewer than ", limit_of(i),
                     " tokens (room for an answer), got ", length, "; shorten it");
    for (std::int32_t id : prompts_[i]) {
      check<CheckpointError>(id >= 0 && id < model_.info().vocab_size, "prompt ", i, ": token ", id,
                             " is outside the model's vocabulary of ", model_.info().vocab_size,
                             "; the tokenizer does not belong to this model");
    }
  }
}

at::Tensor DecodeLoop::forward(const std::vector<std::int64_t>& slots,
                               const std::vector<std::vector<std::int32_t>>& feeds, bool with_logits) {
  const auto count = static_cast<std::int64_t>(slots.size());
  at::Tensor bounds = at::empty({count + 1}, at::kInt), last = at::empty({count}, at::kLong);
  std::int32_t* bound = bounds.mutable_data_ptr<std::int32_t>();
  std::int64_t* last_row = last.mutable_data_ptr<std::int64_t>();
  bound[0] = 0;
  for (std::int64_t s = 0; s < count; ++s) {
    bound[s + 1] = bound[s] + static_cast<std::int32_t>(feeds[static_cast<std::size_t>(s)].size());
    last_row[s] = bound[s + 1] - 1;
  }
  at::Tensor ids = at::empty({bound[count]}, at::kLong), positions = at::empty({bound[count]}, at::kLong);
  std::int64_t *id = ids.mutable_data_ptr<std::int64_t>(),
               *position = positions.mutable_data_ptr<std::int64_t>();
  for (std::size_t s = 0; s < slots.size(); ++s) {
    std::int64_t at = cache_.length(slots[s]);
    for (std::int32_t token : feeds[s]) {
      *id++ = token;
      *position++ = at++;
    }
  }
  Context context;
  context.cu_seqlens = bounds;
  context.position_ids = positions;
  context.cache = &cache_;
  cache_.begin(slots);
  const at::Tensor hidden = model_.hidden(context, ids);
  cache_.end();
  if (!with_logits) return {};
  return model_.logits(at::index_select(hidden, 0, last)).contiguous();
}

void DecodeLoop::compute_shared_prefix() {
  if (!options_.share_prefix || prompts_.size() < 2) return;
  const std::int64_t length = common_prefix(prompts_);
  if (length < kShortestPrefix) return;
  prefix_slot_ = cache_.open(length);
  forward({prefix_slot_}, {{prompts_[0].begin(), prompts_[0].begin() + length}}, false);
  prefix_length_ = length;
  reserved_tokens_ += length;
}

void DecodeLoop::start(std::size_t prompt) {
  Active active;
  active.prompt = prompt;
  active.limit = limit_of(prompt);
  active.slot = cache_.open(active.limit);
  reserved_tokens_ += active.limit;
  if (prefix_slot_ >= 0) cache_.copy_prefix(prefix_slot_, active.slot, prefix_length_);
  active.feed.assign(prompts_[prompt].begin() + prefix_length_, prompts_[prompt].end());
  if (on_token_) {
    active.stream = std::make_unique<TextStream>(
        [this](std::span<const std::int32_t> ids) { return tokenizer_.decode(ids, true); });
  }
  active_.push_back(std::move(active));
}

void DecodeLoop::admit() {
  std::vector<Active> going_on = std::exchange(active_, {});
  std::int64_t packed = 0;
  for (; next_ < prompts_.size(); ++next_) {
    const auto tokens = static_cast<std::int64_t>(prompts_[next_].size()) - prefix_length_;
    const auto open = static_cast<std::int64_t>(going_on.size() + active_.size());
    const bool fits = open < options_.max_sequences && packed + tokens <= options_.prefill_tokens &&
                      (reserved_tokens_ + limit_of(next_)) * cache_.bytes_per_token() <= options_.cache_bytes;
    // A prompt beyond the limits goes alone, so that every job comes to its end.
    if (!fits && !(open == 0 && packed == 0)) break;
    start(next_);
    packed += tokens;
  }
  // New sequences stand first: the cache serves those that begin here by a faster operator.
  active_.insert(active_.end(), std::make_move_iterator(going_on.begin()),
                 std::make_move_iterator(going_on.end()));
}

bool DecodeLoop::take(Active& active, std::int32_t id) {
  Generation& result = results_[active.prompt];
  if (std::find(options_.stop_ids.begin(), options_.stop_ids.end(), id) != options_.stop_ids.end()) {
    result.stop_id = id;
    result.finish = "stop";
    return true;
  }
  result.ids.push_back(id);
  if (on_token_) on_token_(active.prompt, id, active.stream->add(id));
  active.feed.assign(1, id);
  const auto length = static_cast<std::int64_t>(prompts_[active.prompt].size() + result.ids.size());
  if (length >= active.limit) result.finish = "length";
  return length >= active.limit;
}

void DecodeLoop::finish(Active& active) {
  Generation& result = results_[active.prompt];
  if (on_token_) {
    const std::string rest = active.stream->finish();
    if (!rest.empty()) on_token_(active.prompt, result.ids.back(), rest);
  }
  result.text = tokenizer_.decode(result.ids, true);
  cache_.close(active.slot);
  reserved_tokens_ -= active.limit;
  if (on_finished_) on_finished_(active.prompt, result);
}

void DecodeLoop::step() {
  std::vector<std::int64_t> slots;
  std::vector<std::vector<std::int32_t>> feeds;
  for (Active& active : active_) {
    slots.push_back(active.slot);
    feeds.push_back(std::move(active.feed));
  }
  const at::Tensor logits = forward(slots, feeds, true);
  std::vector<std::int32_t> chosen(active_.size());
  const auto row = static_cast<std::size_t>(logits.size(1));
  // Rows that only fill up the embedding stand for no token.
  const std::size_t tokens = std::min(row, static_cast<std::size_t>(tokenizer_.vocab_size()));
  const auto choose = [&](const auto* rows, std::int64_t begin, std::int64_t end) {
    for (auto s = static_cast<std::size_t>(begin); s < static_cast<std::size_t>(end); ++s) {
      const std::size_t prompt = active_[s].prompt;
      chosen[s] = sampler_.sample(std::span(rows + s * row, tokens), prompt,
                                  prompts_[prompt].size() + results_[prompt].ids.size());
    }
  };
  at::parallel_for(0, static_cast<std::int64_t>(active_.size()), 1,
                   [&](std::int64_t begin, std::int64_t end) {
                     if (logits.scalar_type() == at::kDouble)
                       return choose(logits.const_data_ptr<double>(), begin, end);
                     choose(logits.const_data_ptr<float>(), begin, end);
                   });
  std::vector<Active> left;
  for (std::size_t s = 0; s < active_.size(); ++s) {
    if (take(active_[s], chosen[s])) {
      finish(active_[s]);
    } else {
      left.push_back(std::move(active_[s]));
    }
  }
  active_ = std::move(left);
}

std::vector<Generation> DecodeLoop::run() {
  const c10::NoGradGuard no_grad;
  if (prompts_.empty()) return {};
  compute_shared_prefix();
  while (next_ < prompts_.size() || !active_.empty()) {
    throw_if_interrupted();
    admit();
    step();
  }
  return std::move(results_);
}

}  // namespace loongforge
