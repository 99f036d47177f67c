// Token files of Megatron-LM: PREFIX.bin holds the ids, PREFIX.idx lengths, byte offsets and document borders
// (megatron-core, datasets/indexed_dataset.py, version 1).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loongforge/base/files.h"

namespace loongforge {

// Element type of the .bin file; numbers as in the .idx file.
enum class TokenType : std::uint8_t { kU8 = 1, kI8 = 2, kI16 = 3, kI32 = 4, kI64 = 5, kU16 = 8 };
std::int64_t token_type_size(TokenType type);
// uint16 when every id of the vocabulary fits by Megatron's rule (vocab_size < 65500), int32 otherwise.
TokenType token_type_for(std::int64_t vocab_size);

// PREFIX + ".bin" / ".idx"; a prefix that already ends so is accepted.
fs::path indexed_bin_path(const fs::path& prefix);
fs::path indexed_idx_path(const fs::path& prefix);

// Mapped pair of files. The constructor checks the whole index against the .bin file. Throws DataError naming
// the file. Const calls are thread-safe.
class IndexedDatasetReader {
 public:
  explicit IndexedDatasetReader(const fs::path& prefix);

  // Number of sequences.
  std::int64_t size() const { return static_cast<std::int64_t>(lengths_.size()); }
  // Tokens of sequence i.
  std::int64_t length(std::int64_t i) const { return lengths_[static_cast<std::size_t>(i)]; }
  // Tokens [offset, offset + count) of sequence i; count -1: to its end. Throws InternalError when outside,
  // DataError when an int64 id does not fit int32.
  std::vector<std::int32_t> read(std::int64_t i, std::int64_t offset = 0, std::int64_t count = -1) const;
  // The same into the caller's memory: out.size() tokens.
  void read_into(std::int64_t i, std::int64_t offset, std::span<std::int32_t> out) const;
  std::int64_t total_tokens() const { return total_tokens_; }
  // Documents: document d is the sequences [document_bounds()[d], document_bounds()[d + 1]).
  std::int64_t document_count() const { return static_cast<std::int64_t>(documents_.size()) - 1; }
  std::span<const std::int64_t> document_bounds() const { return documents_; }
  TokenType token_type() const { return type_; }
  const fs::path& prefix() const { return prefix_; }
  // The .bin file.
  std::span<const std::byte> bin_bytes() const { return bin_.bytes(); }

 private:
  void parse_index(const fs::path& idx_path);
  void check_ranges(const fs::path& idx_path);

  fs::path prefix_;
  MappedFile idx_, bin_;
  TokenType type_ = TokenType::kI32;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> pointers_, documents_;
  std::int64_t total_tokens_ = 0;
};

// Streams sequences; both files appear only in `commit`, the .idx last, after an older pair's .idx is
// removed. Throws ResourceError on disk errors, DataError for an id outside [0, vocab_size). Not thread-safe.
class IndexedDatasetWriter {
 public:
  IndexedDatasetWriter(const fs::path& prefix, std::int64_t vocab_size);

  // Appends one sequence to the current document.
  void add(std::span<const std::int32_t> tokens);
  // Ends the current document (one without sequences is allowed, as in Megatron).
  void end_document();
  // Appends all documents of another pair. Throws DataError when its token type or an id does not fit.
  void append(const IndexedDatasetReader& other);
  // Throws InternalError when sequences were added after the last end_document.
  void commit();

  std::int64_t size() const { return static_cast<std::int64_t>(lengths_.size()); }
  std::int64_t total_tokens() const { return total_tokens_; }

 private:
  fs::path prefix_;
  std::int64_t vocab_size_;
  TokenType type_;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> documents_{0};
  std::int64_t total_tokens_ = 0;
  AtomicFile bin_, idx_;
};

}  // namespace loongforge
