#include <limits>

#include "loongforge/formats/indexed_dataset.h"

namespace loongforge {
namespace {

constexpr std::string_view kMagic("MMIDIDX\0\0", 9);

template <typename T>
void write_array(AtomicFile& file, std::span<const T> values) {
  file.write(std::as_bytes(values));
}

template <typename T>
void write_number(AtomicFile& file, T value) {
  file.write(std::as_bytes(std::span(&value, 1)));
}

}  // namespace

IndexedDatasetWriter::IndexedDatasetWriter(const fs::path& prefix, std::int64_t vocab_size)
    : prefix_(prefix),
      vocab_size_(vocab_size),
      type_(token_type_for(vocab_size)),
      bin_(indexed_bin_path(prefix)),
      idx_(indexed_idx_path(prefix)) {}

void IndexedDatasetWriter::add(std::span<const std::int32_t> tokens) {
  const std::string file = prefix_.string();
  check<DataError>(tokens.size() <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), file,
                   ": sequence of ", tokens.size(), " tokens; expected fewer than 2^31, split the document");
  for (const std::int32_t id : tokens) {
    check<DataError>(id >= 0 && id < vocab_size_, file, ": token id ", id, " is outside the vocabulary of ",
                     vocab_size_, "; use the tokenizer that belongs to it");
  }
  if (type_ == TokenType::kU16) {
    const std::vector<std::uint16_t> narrow(tokens.begin(), tokens.end());
    write_array<std::uint16_t>(bin_, narrow);
  } else {
    write_array<std::int32_t>(bin_, tokens);
  }
  lengths_.push_back(static_cast<std::int32_t>(tokens.size()));
  total_tokens_ += static_cast<std::int64_t>(tokens.size());
}

void IndexedDatasetWriter::end_document() {
  documents_.push_back(size());
}

void IndexedDatasetWriter::append(const IndexedDatasetReader& other) {
  check<DataError>(other.token_type() == type_, other.prefix().string(), ": token type ",
                   static_cast<int>(other.token_type()), " differs from ", static_cast<int>(type_), " of ",
                   prefix_.string(), "; prepare it again with the same tokenizer");
  std::vector<std::int32_t> tokens;
  const auto bounds = other.document_bounds();
  for (std::size_t d = 1; d < bounds.size(); ++d) {
    for (std::int64_t i = bounds[d - 1]; i < bounds[d]; ++i) {
      tokens.resize(static_cast<std::size_t>(other.length(i)));
      other.read_into(i, 0, tokens);
      add(tokens);
    }
    end_document();
  }
}

void IndexedDatasetWriter::commit() {
  check(documents_.back() == size(), prefix_.string(), ": ", size() - documents_.back(),
        " sequences stand outside a document");
  std::vector<std::int64_t> pointers;
  pointers.reserve(lengths_.size());
  std::int64_t end = 0;
  for (const std::int32_t length : lengths_) {
    pointers.push_back(end);
    end += length * token_type_size(type_);
  }
  idx_.write(kMagic);
  write_number<std::uint64_t>(idx_, 1);
  write_number<std::uint8_t>(idx_, static_cast<std::uint8_t>(type_));
  write_number<std::uint64_t>(idx_, lengths_.size());
  write_number<std::uint64_t>(idx_, documents_.size());
  write_array<std::int32_t>(idx_, lengths_);
  write_array<std::int64_t>(idx_, pointers);
  write_array<std::int64_t>(idx_, documents_);

  // An older index beside a newer .bin could fit by chance; without an index the pair is plainly incomplete.
  remove_tree(indexed_idx_path(prefix_));
  bin_.commit();
  idx_.commit();
  sync_directory(fs::absolute(indexed_bin_path(prefix_)).parent_path());
}

}  // namespace loongforge
