// Which files `prepare` reads, in which order and as what.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "loongforge/base/files.h"
#include "loongforge/data/prepare.h"

namespace loongforge {

enum class TextFormat { kText, kMarkdown, kHtml, kJsonl };
std::string text_format_name(TextFormat format);

struct SourceFile {
  fs::path path;
  std::string name;  // path below the input directory, or the file's own name
  TextFormat format = TextFormat::kText;
  std::uint64_t bytes = 0;  // on disk
  std::int64_t modified_ns = 0;
  bool held_out = false;  // by a glob
};

struct SourceList {
  std::vector<SourceFile> files;
  std::map<std::string, std::int64_t> ignored;  // files of directories that are not read, by extension

  std::uint64_t total_bytes() const;
};

// True when a glob of `globs` matches the name or its last part.
bool matches_any(const std::vector<std::string>& globs, const std::string& name);

// Inputs in their order, directories in the order of their names. Throws DataError for an input that is
// missing, unreadable or holds nothing to read, ConfigError for an unknown format.
SourceList find_sources(const PrepareOptions& options);

}  // namespace loongforge
