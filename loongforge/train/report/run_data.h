// What a run folder holds, as the JSON that the report's page reads.
#pragma once

#include <cstdint>
#include <filesystem>

#include "loongforge/base/json.h"
#include "loongforge/train/report.h"

namespace loongforge {

// {"name", "path", "curves", "eval", "summary", "config", "samples", "match", "checkpoints", "warnings",
// "machine"}; what is missing is empty or null. Throws DataError when the folder is no run.
Json run_data(const std::filesystem::path& folder, const ReportOptions& options);

// Lines of a JSONL file that are whole JSON objects; `damaged` counts the others, except a last line without
// a line break, which is being written. A missing file has no lines.
std::vector<Json> whole_lines(const std::filesystem::path& file, std::int64_t* damaged = nullptr);

// Curves of a JSONL file with `step`: {"steps": [...], "columns": {KEY: [number or null, ...]}, "note"}. Of
// steps that come again (a resumed run) the last line counts. More than `max_points` steps are thinned
// evenly.
Json read_curves(const std::filesystem::path& file, std::int64_t max_points);

// Right answers before and after: {"before", "after", "questions": [{"task", "question", "expected",
// "before": {"answer", "right"}, "after"}]}, `count` questions drawn by seed, as many of each task; null when
// the run has neither.
Json read_match(const std::filesystem::path& folder, std::uint64_t seed, std::int64_t count);

// [{"prompt", "states": [{"step", "text"}], "picture": data: address, "expected"}] of samples.jsonl; the last
// two where a sample has them.
Json read_samples(const std::filesystem::path& folder);

// {"entries": [{"key", "value", "origin", "changed"}], "text"} of config.yaml: entries where this program
// understands the file, its text always.
Json read_configuration(const std::filesystem::path& folder);

}  // namespace loongforge
