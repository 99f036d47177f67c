// From the bytes of a file to the text of its document.
#pragma once

#include <string>

#include "loongforge/data/prepare/source_files.h"

namespace loongforge {

struct Extracted {
  std::string text;     // valid UTF-8, "\n" line ends, no blanks at the end
  std::string dropped;  // reason when the document is not used: "empty", "invalid_utf8", "binary"
  bool replaced = false;
};

// Byte order marks go; HTML in Windows-1252 or Latin-1 (as its <meta> says) is decoded; the front matter of
// markdown goes, its marks stay.
Extracted extract_text(std::string bytes, TextFormat format, InvalidUtf8 invalid);

// Whole file, decompressed. Throws DataError naming the file.
std::string read_decompressed(const fs::path& path);

}  // namespace loongforge
