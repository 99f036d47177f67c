// Byte-pair merging (Sennrich et al. 2016) over bytes: one word to token ids.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace loongforge {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
// Token to id.
using Vocabulary = std::unordered_map<std::string, std::int32_t, StringHash, std::equal_to<>>;

// A token and the number of bytes of the word that it covers.
struct WordToken {
  std::int32_t id = 0;
  std::uint32_t length = 0;
};

struct BpeOptions {
  // A word that is a token as a whole is taken without merging (Llama 3).
  bool ignore_merges = false;
  // Stands for bytes that the vocabulary lacks; without it such bytes are dropped.
  std::optional<std::int32_t> unk;
  // Neighbouring unknown bytes make one token.
  bool fuse_unk = false;
};

// What two tokens become, and how early.
struct Merge {
  std::uint32_t rank = 0;
  std::int32_t id = 0;
};

// Open-addressing table from a pair of ids to its merge.
class MergeTable {
 public:
  explicit MergeTable(std::size_t entries);
  // A later entry of the same pair replaces the earlier one.
  void insert(std::int32_t left, std::int32_t right, Merge merge);
  const Merge* find(std::int32_t left, std::int32_t right) const;

 private:
  struct Slot {
    std::uint64_t key = kEmpty;
    Merge merge;
  };
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  std::size_t slot_of(std::uint64_t key) const;
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
};

// Results of short words, shared by all threads; a full part takes no more.
class WordCache {
 public:
  // Appends the tokens of `word` when they are known.
  bool get(std::string_view word, std::vector<WordToken>& out) const;
  void put(std::string_view word, const WordToken* tokens, std::size_t count);

 private:
  static constexpr std::size_t kParts = 32, kWordsPerPart = 4096;
  struct Part {
    mutable std::shared_mutex mutex;
    std::unordered_map<std::string, std::vector<WordToken>, StringHash, std::equal_to<>> words;
  };
  std::array<Part, kParts> parts_;
};

// The model: O(n log n) in the length of a word; const calls may run on many threads at once.
class Bpe {
 public:
  // `vocabulary`: tokens as they stand in the file (in the byte alphabet); `merges`: in order of their rank.
  // Throws CheckpointError naming `name` when a merge speaks of a token that is not in the vocabulary.
  Bpe(const Vocabulary& vocabulary, const std::vector<std::pair<std::string, std::string>>& merges,
      BpeOptions options, const std::string& name);

  // Appends the tokens of `word`, plain bytes. A token in `refused` never comes from ignore_merges.
  void encode(std::string_view word, std::vector<WordToken>& out, const std::vector<bool>* refused) const;

 private:
  void merge(std::string_view word, std::vector<WordToken>& out) const;

  BpeOptions options_;
  std::array<std::int32_t, 256> byte_id_;
  MergeTable merges_;
  Vocabulary whole_words_;  // by plain bytes; only with ignore_merges
  std::unique_ptr<WordCache> cache_;
};

}  // namespace loongforge
