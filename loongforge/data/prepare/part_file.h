// What one unit of work gives: tokens and counts, kept on disk until all parts are there.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loongforge/base/files.h"
#include "loongforge/data/prepare.h"

namespace loongforge {

// Tokens and counts of one side (0: train, 1: held out).
struct PartSide {
  std::vector<std::int32_t> lengths, tokens;  // one length a document
  PreparedSet counts;                         // prefix unused
};

struct SourceCounts {
  std::int64_t documents = 0, tokens = 0;
};

struct Part {
  std::array<PartSide, 2> sides;
  std::map<std::size_t, SourceCounts> sources;  // by index of the source file, both sides together
};

void add_counts(PreparedSet& sum, const PreparedSet& more);
// The counts without prefix: {"documents", "tokens", "text_bytes", "dropped": {...}, ...}, and back.
Json counts_to_json(const PreparedSet& counts);
PreparedSet counts_from_json(const Json& json);

fs::path part_path(const fs::path& folder, std::int64_t number);
// Atomic. Throws ResourceError.
void write_part(const fs::path& path, const Part& part);
// Nothing when the file is missing or not whole, so that the part is made again.
std::optional<Part> read_part(const fs::path& path);

}  // namespace loongforge
