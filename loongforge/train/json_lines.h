// A JSONL file of a run, one object a line with its `step`, that survives kills and resumes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "loongforge/base/files.h"
#include "loongforge/base/json.h"

namespace loongforge {

class JsonLines {
 public:
  // Keeps the lines of an earlier start whose `step` is at most `last_step` (none when negative) and drops
  // the rest, half-written lines included; the file is rewritten in one atomic step. Throws ResourceError.
  JsonLines(std::filesystem::path path, std::int64_t last_step);

  // Appends one line in one write.
  void append(const Json& record);
  // Lines kept from earlier starts, then those appended.
  const std::vector<Json>& records() const { return records_; }
  // The last record of `step`, or null.
  const Json* find(std::int64_t step) const;

 private:
  std::filesystem::path path_;
  std::vector<Json> records_;
  std::unique_ptr<AppendFile> file_;
};

}  // namespace loongforge
