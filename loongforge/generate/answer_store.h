// The file of answers of an evaluation, kept so that an interrupted one goes on where it stopped.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "loongforge/base/files.h"
#include "loongforge/base/json.h"

namespace loongforge {

// JSONL: a first line that says what is answered by whom, then one line an answer in the order of finishing.
class AnswerStore {
 public:
  // Keeps the answers of an earlier run whose first line equals `header`; otherwise, and for lines that are
  // only half written, starts the file anew. An empty path keeps everything in memory only.
  AnswerStore(const fs::path& path, const Json& header);

  bool has(std::int64_t index) const { return answers_.count(index) != 0; }
  // Answers by the index of their question.
  const std::map<std::int64_t, Json>& answers() const { return answers_; }
  // Adds an answer, {"index": i, ...}, and writes it at once.
  void add(const Json& answer);

 private:
  void load(const fs::path& path, const Json& header);
  std::map<std::int64_t, Json> answers_;
  std::unique_ptr<AppendFile> file_;
};

}  // namespace loongforge
