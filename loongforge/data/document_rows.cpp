#include "loongforge/data/document_rows.h"

#include <algorithm>

#include "loongforge/base/random.h"

namespace loongforge {
namespace {

constexpr std::int64_t kStride = 64;
constexpr std::size_t kEpochsKept = 2;

}  // namespace

DocumentRows::DocumentRows(DocumentSet documents, std::int64_t seq_length, std::optional<std::uint64_t> seed)
    : documents_(std::move(documents)),
      seq_length_(seq_length),
      rows_((documents_.total_tokens() + seq_length - 1) / seq_length),
      seed_(seed) {}

std::int64_t DocumentRows::document_at(std::int64_t place, std::int64_t epoch) const {
  if (!seed_) return place;
  return static_cast<std::int64_t>(permute_index(static_cast<std::uint64_t>(place),
                                                 static_cast<std::uint64_t>(documents_.size()), *seed_,
                                                 "document order", static_cast<std::uint64_t>(epoch)));
}

std::shared_ptr<const DocumentRows::Epoch> DocumentRows::epoch(std::int64_t number) const {
  const std::lock_guard lock(mutex_);
  // The order of the files is the same in every epoch.
  if (!seed_) number = 0;
  for (const auto& known : epochs_) {
    if (known->number == number) return known;
  }
  auto made = std::make_shared<Epoch>();
  made->number = number;
  std::int64_t tokens = 0;
  for (std::int64_t place = 0; place < documents_.size(); ++place) {
    if (place % kStride == 0) made->starts.push_back(tokens);
    tokens += documents_.length(document_at(place, number));
  }
  if (epochs_.size() == kEpochsKept) epochs_.erase(epochs_.begin());
  epochs_.push_back(made);
  return made;
}

void DocumentRows::add_row(std::int64_t row, std::int64_t number, BatchBuilder& out) const {
  const auto order = epoch(number);
  const std::int64_t target = out.filled() + seq_length_;
  std::int64_t wanted = row * seq_length_;
  const std::int64_t block =
      std::upper_bound(order->starts.begin(), order->starts.end(), wanted) - order->starts.begin() - 1;
  // From here on `wanted` counts from the start of the document at `place`.
  wanted -= order->starts[static_cast<std::size_t>(block)];
  std::vector<std::int32_t> ids;
  for (std::int64_t place = block * kStride; place < documents_.size() && out.filled() < target; ++place) {
    const std::int64_t document = document_at(place, number);
    const std::int64_t length = documents_.length(document);
    if (wanted >= length) {
      wanted -= length;
      continue;
    }
    const std::int64_t count = std::min(length - wanted, target - out.filled());
    const bool goes_on = wanted + count < length;
    ids.resize(static_cast<std::size_t>(count + (goes_on ? 1 : 0)));
    documents_.read_into(document, wanted, ids);
    std::optional<std::int32_t> next;
    if (goes_on) next = ids.back();
    out.add(std::span(ids).first(static_cast<std::size_t>(count)), next);
    wanted = 0;
  }
  out.pad_to(target);
}

Json DocumentRows::describe() const {
  return {{"prefixes", documents_.prefixes()},
          {"documents", documents_.size()},
          {"tokens", documents_.total_tokens()},
          {"rows", rows_},
          {"padding_a_pass", rows_ * seq_length_ - documents_.total_tokens()}};
}

}  // namespace loongforge
