// Bounds-checked reading of GGUF's little-endian scalars, strings and values.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "loongforge/base/json.h"

namespace loongforge {

// Reads forward through a file that may be hostile: no count is believed before the bytes it stands for are
// known to be there. Throws CheckpointError naming file and offset.
class GgufCursor {
 public:
  GgufCursor(std::string file, std::span<const std::byte> bytes) : file_(std::move(file)), bytes_(bytes) {}

  template <typename T>
  T scalar() {
    T value;
    std::memcpy(&value, take(sizeof(T), "a number").data(), sizeof(T));
    return value;
  }
  // u64 length and that many bytes; the view points into the file.
  std::string_view string();
  // Value of GGUF type number `type` (0 u8 ... 12 f64); numbers, true/false, strings, nested arrays.
  Json value(std::uint32_t type, const std::string& key, int depth = 0);

  std::size_t offset() const { return offset_; }
  std::size_t left() const { return bytes_.size() - offset_; }

 private:
  std::span<const std::byte> take(std::uint64_t count, const char* what);
  Json array(const std::string& key, int depth);

  std::string file_;
  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
  std::uint64_t values_ = 0;
};

}  // namespace loongforge
