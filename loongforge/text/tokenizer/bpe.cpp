#include "loongforge/text/tokenizer/bpe.h"

#include <bit>
#include <mutex>
#include <queue>

#include "loongforge/base/error.h"
#include "loongforge/text/tokenizer/byte_alphabet.h"

namespace loongforge {
namespace {

constexpr std::size_t kCachedBytes = 48;

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
         static_cast<std::uint32_t>(right);
}

// A part of the word while it is being merged; parts form a doubly linked list by index.
struct Symbol {
  std::int32_t id = 0;
  std::int32_t before = -1, next = -1;
  std::uint32_t length = 0;  // 0: merged into its left neighbour
};

struct Candidate {
  std::uint32_t rank = 0;
  std::int32_t position = 0;
  std::int32_t id = 0;
  // The top of the heap is the lowest rank, then the leftmost place.
  bool operator<(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : position > other.position;
  }
};

// Merges the list in `symbols` to its end.
void merge_symbols(std::vector<Symbol>& symbols, const MergeTable& merges) {
  std::vector<Candidate> storage;
  storage.reserve(symbols.size());
  const auto consider = [&](std::int32_t left) -> std::optional<Candidate> {
    const Symbol& symbol = symbols[static_cast<std::size_t>(left)];
    if (symbol.next < 0) return std::nullopt;
    const Merge* merge = merges.find(symbol.id, symbols[static_cast<std::size_t>(symbol.next)].id);
    if (merge == nullptr) return std::nullopt;
    return Candidate{merge->rank, left, merge->id};
  };
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
    if (const auto c = consider(static_cast<std::int32_t>(i))) storage.push_back(*c);
  }
  std::priority_queue<Candidate> heap(std::less<Candidate>{}, std::move(storage));
  while (!heap.empty()) {
    const Candidate top = heap.top();
    heap.pop();
    Symbol& left = symbols[static_cast<std::size_t>(top.position)];
    if (left.length == 0 || left.next < 0) continue;
    Symbol& right = symbols[static_cast<std::size_t>(left.next)];
    const Merge* now = merges.find(left.id, right.id);
    // The pair that was here may have gone into another merge.
    if (now == nullptr || now->id != top.id) continue;
    left.id = top.id;
    left.length += right.length;
    right.length = 0;
    left.next = right.next;
    if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].before = top.position;
    if (left.before >= 0) {
      if (const auto c = consider(left.before)) heap.push(*c);
    }
    if (const auto c = consider(top.position)) heap.push(*c);
  }
}

}  // namespace

MergeTable::MergeTable(std::size_t entries)
    : slots_(std::bit_ceil(std::max<std::size_t>(16, entries * 2))), mask_(slots_.size() - 1) {}

std::size_t MergeTable::slot_of(std::uint64_t key) const {
  std::uint64_t h = key * 0x9E3779B97F4A7C15ull;
  std::size_t i = static_cast<std::size_t>(h ^ (h >> 32)) & mask_;
  while (slots_[i].key != kEmpty && slots_[i].key != key) i = (i + 1) & mask_;
  return i;
}

void MergeTable::insert(std::int32_t left, std::int32_t right, Merge merge) {
  const std::uint64_t key = pair_key(left, right);
  slots_[slot_of(key)] = {key, merge};
}

const Merge* MergeTable::find(std::int32_t left, std::int32_t right) const {
  const Slot& slot = slots_[slot_of(pair_key(left, right))];
  return slot.key == kEmpty ? nullptr : &slot.merge;
}

bool WordCache::get(std::string_view word, std::vector<WordToken>& out) const {
  const Part& part = parts_[StringHash{}(word) % kParts];
  const std::shared_lock lock(part.mutex);
  const auto found = part.words.find(word);
  if (found == part.words.end()) return false;
  out.insert(out.end(), found->second.begin(), found->second.end());
  return true;
}

void WordCache::put(std::string_view word, const WordToken* tokens, std::size_t count) {
  Part& part = parts_[StringHash{}(word) % kParts];
  const std::unique_lock lock(part.mutex);
  if (part.words.size() < kWordsPerPart) part.words.try_emplace(std::string(word), tokens, tokens + count);
}

Bpe::Bpe(const Vocabulary& vocabulary, const std::vector<std::pair<std::string, std::string>>& merges,
         BpeOptions options, const std::string& name)
    : options_(options), merges_(merges.size()), cache_(std::make_unique<WordCache>()) {
  const auto id_of = [&](const std::string& token, std::size_t rank) {
    const auto found = vocabulary.find(token);
    check<CheckpointError>(found != vocabulary.end(), name, ": merge ", rank, ": token '", token,
                           "' is not in the vocabulary; take the file from its source again");
    return found->second;
  };
  for (std::size_t b = 0; b < byte_id_.size(); ++b) {
    const auto found = vocabulary.find(byte_character(static_cast<unsigned char>(b)));
    byte_id_[b] = found == vocabulary.end() ? -1 : found->second;
  }
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    const std::int32_t left_id = id_of(left, rank), right_id = id_of(right, rank);
    merges_.insert(left_id, right_id, {static_cast<std::uint32_t>(rank), id_of(left + right, rank)});
  }
  if (!options_.ignore_merges) return;
  for (const auto& [token, id] : vocabulary) {
    if (auto bytes = bytes_of_token(token)) whole_words_.emplace(std::move(*bytes), id);
  }
}

void Bpe::encode(std::string_view word, std::vector<WordToken>& out, const std::vector<bool>* refused) const {
  if (word.empty()) return;
  if (options_.ignore_merges) {
    const auto found = whole_words_.find(word);
    if (found != whole_words_.end() &&
        (refused == nullptr || !(*refused)[static_cast<std::size_t>(found->second)])) {
      out.push_back({found->second, static_cast<std::uint32_t>(word.size())});
      return;
    }
  }
  if (word.size() > kCachedBytes) {
    merge(word, out);
    return;
  }
  if (cache_->get(word, out)) return;
  const std::size_t before = out.size();
  merge(word, out);
  cache_->put(word, out.data() + before, out.size() - before);
}

void Bpe::merge(std::string_view word, std::vector<WordToken>& out) const {
  check<DataError>(word.size() < (std::size_t{1} << 31), "tokenizer: a word of ", word.size(),
                   " bytes is longer than 2 GiB; split the text");
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  // A dropped byte is counted with the symbol before it, so that lengths always add up to the word's.
  std::uint32_t dropped = 0;
  bool last_unknown = false;
  for (const char c : word) {
    std::int32_t id = byte_id_[static_cast<unsigned char>(c)];
    const bool unknown = id < 0;
    if (unknown && (!options_.unk || (options_.fuse_unk && last_unknown))) {
      (symbols.empty() ? dropped : symbols.back().length) += 1;
      continue;
    }
    if (unknown) id = *options_.unk;
    last_unknown = unknown;
    const auto index = static_cast<std::int32_t>(symbols.size());
    if (!symbols.empty()) symbols.back().next = index;
    symbols.push_back({id, index - 1, -1, 1 + dropped});
    dropped = 0;
  }
  if (symbols.empty()) return;
  merge_symbols(symbols, merges_);
  for (std::int32_t i = 0; i >= 0; i = symbols[static_cast<std::size_t>(i)].next) {
    const Symbol& symbol = symbols[static_cast<std::size_t>(i)];
    out.push_back({symbol.id, symbol.length});
  }
}

}  // namespace loongforge
