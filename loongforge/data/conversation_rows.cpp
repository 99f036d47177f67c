#include "loongforge/data/conversation_rows.h"

#include "loongforge/base/error.h"
#include "loongforge/base/random.h"
#include "loongforge/data/manifest.h"
#include "loongforge/data/packing.h"

namespace loongforge {

ConversationRows::ConversationRows(std::shared_ptr<const ConversationSet> conversations,
                                   ConversationRowsOptions options)
    : conversations_(std::move(conversations)), options_(options) {
  rows_ =
      pack_rows(conversations_->lengths(), order(), options_.seq_length, options_.pack ? options_.window : 1);
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
  const std::uint64_t content = hash_bytes({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
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
  for (const std::int64_t item : rows_[static_cast<std::size_t>(row)]) {
    out.add(conversations_->ids(item), std::nullopt, conversations_->trained(item));
  }
  out.pad_to(target);
}

Json ConversationRows::describe() const {
  std::int64_t kept = 0, tokens = 0;
  for (const auto& row : rows_) {
    kept += static_cast<std::int64_t>(row.size());
    for (const std::int64_t item : row) tokens += static_cast<std::int64_t>(conversations_->ids(item).size());
  }
  const ConversationSet::Counts& counts = conversations_->counts();
  Json unread = Json::object();
  for (const auto& [column, count] : counts.unread_columns) unread[column] = count;
  return {{"files", conversations_->files()},
          {"conversations_read", counts.read},
          {"dropped_untrained", counts.dropped_untrained},
          {"cut", counts.cut},
          {"cut_tokens", counts.cut_tokens},
          {"unread_columns", unread},
          {"conversations", kept},
          {"tokens", tokens},
          {"trained_tokens", counts.trained_tokens},
          {"rows", rows()},
          {"padding_a_pass", rows() * options_.seq_length - tokens}};
}

}  // namespace loongforge
