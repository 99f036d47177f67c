#include "loongforge/data/conversation_rows.h"

#include <algorithm>
#include <ranges>

#include "loongforge/base/error.h"
#include "loongforge/base/parallel.h"
#include "loongforge/base/random.h"
#include "loongforge/data/manifest.h"
#include "loongforge/data/packing.h"

namespace loongforge {

ConversationRows::ConversationRows(std::shared_ptr<const ConversationSet> conversations,
                                   ConversationRowsOptions options)
    : conversations_(std::move(conversations)), options_(options) {
  rows_ = pack_rows(conversations_->lengths(), order(), options_.seq_length,
                    options_.pack ? options_.window : 1, {conversations_->patches(), options_.max_patches});
  check<DataError>(!rows_.empty(), conversations_->files().front(),
                   ": data.eval_fraction leaves no conversation ",
                   options_.held_out ? "for evaluation" : "for training", "; change it");
  fingerprint_ = mix_hash(conversations_->fingerprint(),
                          hash_bytes(concat(options_.pack, " ", options_.window, " ",
                                            options_.held_out_fraction, " ", options_.held_out)));
}

bool ConversationRows::is_wanted(std::int64_t item) const {
  if (options_.held_out_fraction <= 0) return true;
  const auto ids = conversations_->ids(item);
  std::uint64_t content = hash_bytes({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
  // Many pictures have the same question and answer.
  if (!conversations_->media(item).empty()) content = mix_hash(content, conversations_->media_hash(item));
  const double draw = CounterRandom(0, "held-out conversations").uniform(content, 0);
  return (draw < options_.held_out_fraction) == options_.held_out;
}

std::vector<std::int64_t> ConversationRows::order() const {
  const auto n = static_cast<std::uint64_t>(conversations_->size());
  std::vector<std::int64_t> out;
  for (std::uint64_t place = 0; place < n; ++place) {
    const std::uint64_t item =
        options_.seed ? permute_index(place, n, *options_.seed, "conversation order", 0) : place;
    if (is_wanted(static_cast<std::int64_t>(item))) out.push_back(static_cast<std::int64_t>(item));
  }
  return out;
}

void ConversationRows::add_row(std::int64_t row, std::int64_t, BatchBuilder& out) const {
  const std::int64_t target = out.filled() + options_.seq_length;
  const std::vector<std::int64_t>& items = rows_[static_cast<std::size_t>(row)];
  std::vector<std::optional<std::vector<PatchRows>>> media(items.size());
  parallel_for(
      std::ssize(items),
      [&](std::int64_t i) {
        const auto n = static_cast<std::size_t>(i);
        media[n] = conversations_->load_media(items[n]);
      },
      conversations_->reads_media() ? options_.threads : 1);
  for (std::size_t n = 0; n < items.size(); ++n) {
    if (!media[n]) continue;
    out.add(conversations_->ids(items[n]), std::nullopt, conversations_->trained(items[n]));
    const auto placed = conversations_->media(items[n]);
    for (std::size_t k = 0; k < placed.size(); ++k)
      out.add_visual(std::move((*media[n])[k]), placed[k].grid.seconds);
  }
  out.pad_to(target);
}

ConversationRows::Sums ConversationRows::sums() const {
  Sums out;
  for (const std::int64_t item : std::views::join(rows_)) {
    const auto trained = conversations_->trained(item).subspan(1);  // the first token is never a label
    ++out.conversations;
    out.tokens += std::ssize(conversations_->ids(item));
    out.trained += std::ranges::count(trained, std::uint8_t{1});
    for (const PlacedMedium& one : conversations_->media(item)) {
      const std::int64_t tokens = conversations_->tokens_of(one);
      ++(one.item.is_clip() ? out.clips : out.pictures);
      out.visual_tokens += tokens;
      out.most_visual_tokens = std::max(out.most_visual_tokens, tokens);
      out.reduced += one.grid.reduced ? 1 : 0;
    }
  }
  return out;
}

Json ConversationRows::describe_media(const Sums& sums) const {
  const ConversationSet::Counts& counts = conversations_->counts();
  return {{"pictures", sums.pictures},
          {"clips", sums.clips},
          {"visual_tokens", sums.visual_tokens},
          {"most_visual_tokens", sums.most_visual_tokens},
          {"reduced", sums.reduced},
          {"dropped_bad_media", counts.dropped_bad_media + conversations_->skipped()},
          {"dropped_oversize", counts.dropped_oversize}};
}

Json ConversationRows::describe() const {
  const ConversationSet::Counts& counts = conversations_->counts();
  const Sums own = sums();
  Json unread = Json::object();
  for (const auto& [column, count] : counts.unread_columns) unread[column] = count;
  Json out = {{"files", conversations_->files()},
              {"conversations_read", counts.read},
              {"dropped_untrained", counts.dropped_untrained},
              {"cut", counts.cut},
              {"cut_tokens", counts.cut_tokens},
              {"unread_columns", unread},
              {"conversations", own.conversations},
              {"tokens", own.tokens},
              {"trained_tokens", own.trained},
              {"rows", rows()},
              {"padding_a_pass", rows() * options_.seq_length - own.tokens}};
  if (conversations_->reads_media()) out["media"] = describe_media(own);
  return out;
}

}  // namespace loongforge
