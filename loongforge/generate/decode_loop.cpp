#include "loongforge/generate/decode_loop.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/models/vlm/positions.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

// Below this many tokens a shared beginning is not worth its own forward.
constexpr std::int64_t kShortestPrefix = 8;

// 0 where pictures stand in some prompt: equal places do not mean equal pictures.
std::int64_t common_prefix(const std::vector<Prompt>& prompts) {
  const std::vector<std::int32_t>& first = prompts[0].ids;
  std::size_t length = first.size();
  for (const auto& [prompt, visual] : prompts) {
    if (!visual.empty()) return 0;
    const auto end = prompt.begin() + static_cast<std::ptrdiff_t>(std::min(length, prompt.size()));
    length =
        static_cast<std::size_t>(std::mismatch(prompt.begin(), end, first.begin()).first - prompt.begin());
    // Every prompt keeps at least one token of its own: its logits are needed.
    length = std::min(length, prompt.size() - 1);
  }
  return static_cast<std::int64_t>(length);
}

at::Tensor as_tensor(const std::vector<std::int32_t>& ids) {
  const at::Tensor out = at::empty({static_cast<std::int64_t>(ids.size())}, at::kLong);
  std::copy(ids.begin(), ids.end(), out.mutable_data_ptr<std::int64_t>());
  return out;
}

}  // namespace

DecodeLoop::DecodeLoop(const Model& model, const Tokenizer& tokenizer, const GenerateOptions& options,
                       const std::vector<Prompt>& prompts, const TokenCallback& on_token,
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
  std::int64_t limit = static_cast<std::int64_t>(prompts_[prompt].ids.size()) + options_.max_new_tokens;
  if (options_.max_length > 0) limit = std::min(limit, options_.max_length);
  if (model_.info().max_positions > 0) limit = std::min(limit, model_.info().max_positions);
  return limit;
}

void DecodeLoop::check_prompts() const {
  for (std::size_t i = 0; i < prompts_.size(); ++i) {
    const auto length = static_cast<std::int64_t>(prompts_[i].ids.size());
    check<DataError>(length > 0, "prompt ", i, ": expected at least one token, got none; give a prompt");
    check<DataError>(prompts_[i].visual.empty() || model_.info().visual, "prompt ", i,
                     ": has pictures, which this model does not read");
    check<DataError>(limit_of(i) > length, "prompt ", i, ": expected fewer than ", limit_of(i),
                     " tokens (room for an answer), got ", length, "; shorten it");
    for (std::int32_t id : prompts_[i].ids) {
      check<CheckpointError>(id >= 0 && id < model_.info().vocab_size, "prompt ", i, ": token ", id,
                             " is outside the model's vocabulary of ", model_.info().vocab_size,
                             "; the tokenizer does not belong to this model");
    }
  }
}

at::Tensor DecodeLoop::positions_of_feeds(const std::vector<Feed>& feeds, std::int64_t tokens) const {
  const bool axes = std::any_of(feeds.begin(), feeds.end(),
                                [](const Feed& feed) { return feed.positions.defined() || feed.shift != 0; });
  const at::Tensor out = axes ? at::empty({3, tokens}, at::kLong) : at::empty({tokens}, at::kLong);
  std::int64_t at = 0;
  for (const Feed& feed : feeds) {
    const auto n = static_cast<std::int64_t>(feed.ids.size());
    const std::int64_t first = cache_.length(feed.slot) + feed.shift;
    const at::Tensor place = out.narrow(-1, at, n);
    place.copy_(feed.positions.defined() ? feed.positions : at::arange(first, first + n, at::kLong));
    at += n;
  }
  return out;
}

at::Tensor DecodeLoop::forward(const std::vector<Feed>& feeds, bool with_logits) {
  const auto count = static_cast<std::int64_t>(feeds.size());
  const at::Tensor bounds = at::empty({count + 1}, at::kInt), last = at::empty({count}, at::kLong);
  std::int32_t* bound = bounds.mutable_data_ptr<std::int32_t>();
  *bound = 0;
  std::vector<std::int32_t> ids;
  std::vector<std::int64_t> slots;
  std::vector<const VisualInputs*> visual;
  for (std::int64_t s = 0; s < count; ++s) {
    const Feed& feed = feeds[static_cast<std::size_t>(s)];
    ids.insert(ids.end(), feed.ids.begin(), feed.ids.end());
    slots.push_back(feed.slot);
    if (feed.visual != nullptr) visual.push_back(feed.visual);
    bound[s + 1] = static_cast<std::int32_t>(ids.size());
    last.mutable_data_ptr<std::int64_t>()[s] = bound[s + 1] - 1;
  }
  Context context;
  context.cu_seqlens = bounds;
  context.position_ids = positions_of_feeds(feeds, bound[count]);
  context.cache = &cache_;
  Flow flow{{"input_ids", as_tensor(ids)}};
  put_visual(flow, joined(visual));
  cache_.begin(slots);
  const at::Tensor hidden = model_.run(context, std::move(flow)).at("hidden");
  cache_.end();
  if (!with_logits) return {};
  return model_.logits(at::index_select(hidden, 0, last)).contiguous();
}

DecodeLoop::Feed DecodeLoop::first_feed(std::size_t prompt, std::int64_t slot, std::int64_t skipped) const {
  const auto& [ids, visual] = prompts_[prompt];
  Feed feed;
  feed.slot = slot;
  feed.ids.assign(ids.begin() + skipped, ids.end());
  if (visual.empty()) return feed;
  feed.visual = &visual;
  const VisualInfo& info = *model_.info().visual;
  if (!info.grid_positions) return feed;
  const auto n = static_cast<std::int64_t>(ids.size());
  const std::int32_t whole[] = {0, static_cast<std::int32_t>(n)};
  feed.positions =
      visual_positions(as_tensor(ids), at::tensor(at::ArrayRef<std::int32_t>(whole, 2), at::kInt),
                       visual.grid_thw, visual.seconds, info);
  feed.shift = feed.positions.max().item<std::int64_t>() + 1 - n;
  return feed;
}

void DecodeLoop::compute_shared_prefix() {
  if (!options_.share_prefix || prompts_.size() < 2) return;
  const std::int64_t length = common_prefix(prompts_);
  if (length < kShortestPrefix) return;
  prefix_slot_ = cache_.open(length);
  Feed feed;
  feed.slot = prefix_slot_;
  feed.ids.assign(prompts_[0].ids.begin(), prompts_[0].ids.begin() + length);
  forward({std::move(feed)}, false);
  prefix_length_ = length;
  reserved_tokens_ += length;
}

void DecodeLoop::start(std::size_t prompt) {
  Active active;
  active.prompt = prompt;
  active.limit = limit_of(prompt);
  const std::int64_t slot = cache_.open(active.limit);
  reserved_tokens_ += active.limit;
  if (prefix_slot_ >= 0) cache_.copy_prefix(prefix_slot_, slot, prefix_length_);
  active.feed = first_feed(prompt, slot, prefix_length_);
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
    const auto tokens = static_cast<std::int64_t>(prompts_[next_].ids.size()) - prefix_length_;
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
  active.feed.ids.assign(1, id);
  active.feed.positions = at::Tensor();
  active.feed.visual = nullptr;
  const auto length = static_cast<std::int64_t>(prompts_[active.prompt].ids.size() + result.ids.size());
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
  cache_.close(active.feed.slot);
  reserved_tokens_ -= active.limit;
  if (on_finished_) on_finished_(active.prompt, result);
}

void DecodeLoop::step() {
  std::vector<Feed> feeds;
  for (const Active& active : active_) feeds.push_back(active.feed);
  const at::Tensor logits = forward(feeds, true);
  // An answer holds no places of pictures, as there are none to fill them.
  if (const auto& visual = model_.info().visual)
    for (const std::int64_t place : {visual->image_token, visual->video_token})
      logits.select(1, place).fill_(-std::numeric_limits<double>::infinity());
  std::vector<std::int32_t> chosen(active_.size());
  const auto row = static_cast<std::size_t>(logits.size(1));
  // Rows that only fill up the embedding stand for no token.
  const std::size_t tokens = std::min(row, static_cast<std::size_t>(tokenizer_.vocab_size()));
  const auto choose = [&](const auto* rows, std::int64_t begin, std::int64_t end) {
    for (auto s = static_cast<std::size_t>(begin); s < static_cast<std::size_t>(end); ++s) {
      const std::size_t prompt = active_[s].prompt;
      chosen[s] = sampler_.sample(std::span(rows + s * row, tokens), prompt,
                                  prompts_[prompt].ids.size() + results_[prompt].ids.size());
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
