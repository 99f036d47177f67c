#include "loongforge/data/prepare/unit_reader.h"

#include <algorithm>

#include "loongforge/base/error.h"
#include "loongforge/text/unicode.h"

namespace loongforge {

bool UnitReader::next(Unit& unit) {
  const std::lock_guard lock(mutex_);
  unit = Unit();
  while (file_ < sources_.files.size()) {
    if (sources_.files[file_].format != TextFormat::kJsonl) {
      next_files(unit);
    } else if (!next_records(unit)) {
      continue;
    }
    unit.number = number_++;
    return true;
  }
  return false;
}

std::int64_t UnitReader::given() const {
  const std::lock_guard lock(mutex_);
  return number_;
}

void UnitReader::next_files(Unit& unit) {
  std::uint64_t bytes = 0;
  while (file_ < sources_.files.size() && sources_.files[file_].format != TextFormat::kJsonl &&
         (unit.files.empty() || bytes < static_cast<std::uint64_t>(options_.part_bytes))) {
    bytes += sources_.files[file_].bytes;
    unit.files.push_back(file_++);
  }
  unit.progress_bytes = static_cast<double>(bytes);
}

bool UnitReader::next_records(Unit& unit) {
  const SourceFile& source = sources_.files[file_];
  if (!lines_) {
    lines_ = std::make_unique<LineReader>(source.path);
    left_ = static_cast<double>(source.bytes);
  }
  std::string line;
  std::int64_t bytes = 0;
  bool more = true;
  while (bytes < options_.part_bytes && (more = lines_->next(line))) {
    Unit::Record record;
    if (!parse_record(line, record)) continue;
    // A record costs something even when its text is empty, so that memory stays bounded.
    bytes += static_cast<std::int64_t>(record.text.size()) + 64;
    unit.records.push_back(std::move(record));
  }
  unit.files = {file_};
  // How far the reader is in a compressed file is not known: its text is counted, at most the file's size.
  unit.progress_bytes = more ? std::min(left_, static_cast<double>(bytes)) : left_;
  left_ -= unit.progress_bytes;
  if (!more) {
    lines_.reset();
    ++file_;
  }
  return !unit.records.empty();
}

bool UnitReader::parse_record(std::string& line, Unit::Record& record) const {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return false;
  record.line = lines_->line();
  const std::string where = concat(lines_->path().string(), ":", record.line);
  record.invalid = find_invalid_utf8(line) != std::string_view::npos;
  if (record.invalid) {
    if (options_.invalid_utf8 == InvalidUtf8::kSkip) return true;
    line = replace_invalid_utf8(line);
  }
  record.text = text_of(parse_json<DataError>(line, where), where);
  return true;
}

std::string UnitReader::text_of(const Json& value, const std::string& where) const {
  check<DataError>(value.is_object(), where, ": expected a JSON object a line, got ", value.type_name());
  const std::string& field = options_.text_field;
  const auto found = value.find(field);
  if (found == value.end()) {
    std::string fields;
    for (const auto& entry : value.items()) fields += (fields.empty() ? "" : ", ") + entry.key();
    check<DataError>(false, where, ": expected a field '", field, "', got the fields ",
                     fields.empty() ? "(none)" : fields,
                     "; name the field that holds the text with --text-field");
  }
  check<DataError>(found->is_string(), where, ": field '", field, "': expected text, got ",
                   found->type_name());
  return found->get<std::string>();
}

}  // namespace loongforge
