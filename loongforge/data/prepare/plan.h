// What decides the bytes of a prepared dataset, as JSON: compared before parts or a finished dataset are used
// again.
#pragma once

#include <cstdint>

#include "loongforge/base/json.h"
#include "loongforge/data/prepare.h"
#include "loongforge/data/prepare/source_files.h"

namespace loongforge {

// Tokenizer fingerprint and all options that have an effect on the tokens.
Json plan_settings(const PrepareOptions& options);
// [{"name", "format", "bytes", "held_out"}].
Json plan_sources(const SourceList& sources);
// Both, and the sources' paths and times of change.
Json plan_of_parts(const PrepareOptions& options, const SourceList& sources);

}  // namespace loongforge
