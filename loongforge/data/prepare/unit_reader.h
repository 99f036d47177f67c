// Cuts the sources into units of work of about one size, always the same ones for the same sources.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/data/prepare/source_files.h"
#include "loongforge/formats/line_reader.h"

namespace loongforge {

// Either whole files, or records of one jsonl file (the texts are then here).
struct Unit {
  struct Record {
    std::int64_t line;
    std::string text;
    bool invalid = false;  // the line was not UTF-8: without text, or with it when bytes were replaced
  };
  std::int64_t number = 0;
  std::vector<std::size_t> files;  // indices of the sources; one for records
  std::vector<Record> records;
  double progress_bytes = 0;  // share of the sources' bytes on disk
};

// Gives the units in order, to any number of threads.
class UnitReader {
 public:
  UnitReader(const SourceList& sources, const PrepareOptions& options)
      : sources_(sources), options_(options) {}

  // False when all are given. Throws DataError for a jsonl line that is no JSON object with the text field.
  bool next(Unit& unit);
  // Units given so far.
  std::int64_t given() const;

 private:
  void next_files(Unit& unit);
  bool next_records(Unit& unit);
  // False for a line of blanks.
  bool parse_record(std::string& line, Unit::Record& record) const;
  std::string text_of(const Json& value, const std::string& where) const;

  const SourceList& sources_;
  const PrepareOptions& options_;
  mutable std::mutex mutex_;
  std::size_t file_ = 0;
  std::int64_t number_ = 0;
  std::unique_ptr<LineReader> lines_;
  double left_ = 0;  // bytes of the open file not yet shown as progress
};

}  // namespace loongforge
