// Lines of a text file that is plain, gzip or Zstandard, told apart by its first bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "loongforge/base/files.h"
#include "loongforge/formats/byte_source.h"

namespace loongforge {

// Throws DataError naming file and line: unreadable, truncated or garbled archive, a line beyond 1 GiB.
class LineReader {
 public:
  explicit LineReader(const fs::path& path);

  // Next line without its "\n" or "\r\n"; false at the end. A UTF-8 byte order mark at the start is dropped.
  bool next(std::string& line);
  // Number of the line that `next` gave last, from 1; 0 before the first.
  std::int64_t line() const { return line_; }
  const fs::path& path() const { return path_; }

 private:
  bool fill();

  fs::path path_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::int64_t line_ = 0;
};

}  // namespace loongforge
