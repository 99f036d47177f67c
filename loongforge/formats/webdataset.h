// Samples of a WebDataset shard: a tar archive in which neighbouring members of one name up to the first dot
// of its last component make a sample (github.com/webdataset/webdataset; Megatron-Energon).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loongforge/formats/tar.h"

namespace loongforge {

// "a/b.seg.png" is the part "seg.png" of the sample "a/b"; offset and size, in bytes, of its content.
struct SamplePart {
  std::string extension;
  std::uint64_t offset = 0, size = 0;
};

struct WebdatasetSample {
  std::string key;
  std::vector<SamplePart> parts;  // in the order of the archive

  // Null when the sample has no such part.
  const SamplePart* find(std::string_view extension) const;
};

// One shard. Samples are found through Energon's index FILE.idx beside it, or by one walk over the headers.
// Members without a dot, with a name that begins with one, and "__meta__" ones belong to no sample.
// Const calls are thread-safe.
class WebdatasetShard {
 public:
  // Throws DataError for what TarFile refuses, for an index that does not fit, for parts of a sample that are
  // no neighbours, and for two parts of one name.
  explicit WebdatasetShard(const fs::path& path);

  const fs::path& path() const { return tar_.path(); }
  std::int64_t size() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
  bool indexed() const { return indexed_; }
  // Throws DataError where the index points elsewhere than at a sample.
  WebdatasetSample sample(std::int64_t i) const;
  // Valid as long as this object.
  std::span<const std::byte> bytes(const SamplePart& part) const {
    return tar_.bytes(part.offset, part.size);
  }
  // Writes FILE.idx: little-endian uint64, where each sample begins and where the last one ends.
  void write_index() const;

 private:
  fs::path index_path() const { return path().string() + ".idx"; }
  void read_index();
  void walk();

  TarFile tar_;
  bool indexed_ = false;
  std::vector<std::uint64_t> offsets_;  // one more than samples
};

}  // namespace loongforge
