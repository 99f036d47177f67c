// The documents of one or several prepared datasets as one list.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loongforge/formats/indexed_dataset.h"

namespace loongforge {

// Which documents to take: all, or one side of a split that depends on the prefix and their place in it
// alone.
struct DocumentSplit {
  double held_out_fraction = 0;  // share of documents in the held-out side
  bool held_out = false;         // take that side
};

// Each sequence of the .bin/.idx pair counts as one document. Const calls are thread-safe.
class DocumentSet {
 public:
  // Throws DataError: a prefix that is missing, raw text (naming the command `prepare`), garbled, or no
  // document at all.
  explicit DocumentSet(const std::vector<std::string>& prefixes, DocumentSplit split = {});

  std::int64_t size() const;
  std::int64_t length(std::int64_t document) const;
  // Tokens [offset, offset + out.size()) of the document.
  void read_into(std::int64_t document, std::int64_t offset, std::span<std::int32_t> out) const;
  std::int64_t total_tokens() const { return total_tokens_; }
  // Hash of all lengths and of the manifests' content hashes.
  std::uint64_t fingerprint() const { return fingerprint_; }
  const std::vector<std::string>& prefixes() const { return prefixes_; }

 private:
  struct Place {
    std::size_t reader;
    std::int64_t sequence;
  };
  Place locate(std::int64_t document) const;

  std::vector<std::string> prefixes_;
  std::vector<std::unique_ptr<IndexedDatasetReader>> readers_;
  std::vector<std::int64_t> ends_;  // documents up to and with each reader
  std::vector<std::int64_t> kept_;  // with a split: numbers among all documents
  bool split_ = false;
  std::int64_t total_tokens_ = 0;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace loongforge
