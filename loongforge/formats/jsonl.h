// One JSON value a line, plain, .gz or .zst.
#pragma once

#include <cstdint>
#include <string>

#include "loongforge/base/json.h"
#include "loongforge/formats/line_reader.h"

namespace loongforge {

// Throws DataError "FILE:LINE: ..." for a line that is no JSON, and what LineReader throws.
class JsonlReader {
 public:
  explicit JsonlReader(const fs::path& path) : lines_(path) {}

  // Next value; lines of blanks are passed over. False at the end.
  bool next(Json& value);
  // Number of the line that `next` gave last, from 1.
  std::int64_t line() const { return lines_.line(); }
  // "FILE:LINE", for messages about the value.
  std::string where() const { return lines_.path().string() + ":" + std::to_string(lines_.line()); }

 private:
  LineReader lines_;
  std::string text_;
};

}  // namespace loongforge
