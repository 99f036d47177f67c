#include "loongforge/data/document_set.h"

#include <algorithm>

#include "loongforge/base/error.h"
#include "loongforge/base/random.h"
#include "loongforge/data/manifest.h"

namespace loongforge {

DocumentSet::DocumentSet(const std::vector<std::string>& prefixes, DocumentSplit split)
    : prefixes_(prefixes), split_(split.held_out_fraction > 0) {
  const CounterRandom random(0, "held-out documents");
  fingerprint_ = hash_bytes(concat("documents ", split.held_out_fraction, split.held_out));
  for (std::size_t r = 0; r < prefixes.size(); ++r) {
    require_prepared(prefixes[r]);
    readers_.push_back(std::make_unique<IndexedDatasetReader>(prefixes[r]));
    const IndexedDatasetReader& reader = *readers_.back();
    const std::int64_t before = ends_.empty() ? 0 : ends_.back();
    std::vector<std::int64_t> lengths;
    // By content, so that a data set is split alike wherever it lies, alone or among others.
    const std::uint64_t content = manifest_content_hash(prefixes[r]);
    for (std::int64_t i = 0; i < reader.size(); ++i) {
      lengths.push_back(reader.length(i));
      if (split_) {
        const bool out = random.uniform(content, static_cast<std::uint64_t>(i)) < split.held_out_fraction;
        if (out != split.held_out) continue;
        kept_.push_back(before + i);
      }
      total_tokens_ += reader.length(i);
    }
    ends_.push_back(before + reader.size());
    const auto bytes = std::as_bytes(std::span(lengths));
    fingerprint_ =
        mix_hash(fingerprint_, hash_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    fingerprint_ = mix_hash(fingerprint_, content);
  }
  const std::string what = split.held_out ? "the held-out side of data.eval_fraction" : "the training data";
  check<DataError>(size() > 0 && total_tokens_ > 0, prefixes.empty() ? "data.train" : prefixes.front(),
                   ": expected at least one token in ", what, ", got none",
                   split_ ? "; change data.eval_fraction" : "; prepare it again from files that hold text");
}

std::int64_t DocumentSet::size() const {
  if (split_) return static_cast<std::int64_t>(kept_.size());
  return ends_.empty() ? 0 : ends_.back();
}

DocumentSet::Place DocumentSet::locate(std::int64_t document) const {
  if (split_) document = kept_[static_cast<std::size_t>(document)];
  const auto reader =
      static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), document) - ends_.begin());
  return {reader, document - (reader == 0 ? 0 : ends_[reader - 1])};
}

std::int64_t DocumentSet::length(std::int64_t document) const {
  const Place place = locate(document);
  return readers_[place.reader]->length(place.sequence);
}

void DocumentSet::read_into(std::int64_t document, std::int64_t offset, std::span<std::int32_t> out) const {
  const Place place = locate(document);
  readers_[place.reader]->read_into(place.sequence, offset, out);
}

}  // namespace loongforge
