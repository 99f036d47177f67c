// A stream of bytes out of a file that may be compressed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "loongforge/base/files.h"

namespace loongforge {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills up to out.size() (> 0) bytes; 0 means the end. Throws DataError naming the file.
  virtual std::size_t read(std::span<char> out) = 0;
};

// Opens a plain, gzip or Zstandard file by its first bytes; archives of several members are read through.
// Throws DataError: no such file, no right to read it, truncated or garbled archive.
std::unique_ptr<ByteSource> open_decompressed(const fs::path& path);

}  // namespace loongforge
