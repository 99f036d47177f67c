// Joins the parts into the final files.
#pragma once

#include <cstdint>

#include "loongforge/data/prepare.h"
#include "loongforge/data/prepare/source_files.h"

namespace loongforge {

// PREFIX-heldout.
std::string held_out_prefix(const std::string& prefix);
bool wants_held_out(const PrepareOptions& options);

// Writes .bin, .idx and .json of both sides from parts 0..parts-1 in `folder`; the manifest of PREFIX comes
// last and marks the whole as complete. Fills train and held_out of `result`. Throws DataError when a side
// that was asked for has no document, ResourceError for the disk.
void assemble(const PrepareOptions& options, const SourceList& sources, const fs::path& folder,
              std::int64_t parts, PrepareResult& result);

}  // namespace loongforge
