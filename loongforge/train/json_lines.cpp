#include "loongforge/train/json_lines.h"

#include <sstream>

namespace loongforge {
namespace {

// The record of a whole, well-formed line with a step up to `last_step`; null otherwise.
Json kept_record(const std::string& line, std::int64_t last_step) {
  Json record = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!record.is_object()) return nullptr;
  const auto step = record.find("step");
  if (step == record.end() || !step->is_number_integer()) return nullptr;
  return step->get<std::int64_t>() <= last_step ? record : Json(nullptr);
}

}  // namespace

JsonLines::JsonLines(fs::path path, std::int64_t last_step) : path_(std::move(path)) {
  std::string text;
  if (fs::exists(path_)) {
    std::istringstream old(read_file<ResourceError>(path_));
    for (std::string line; std::getline(old, line);) {
      Json record = kept_record(line, last_step);
      if (record.is_null()) continue;
      text += line + "\n";
      records_.push_back(std::move(record));
    }
  }
  write_file_atomic(path_, text);
  file_ = std::make_unique<AppendFile>(path_);
}

void JsonLines::append(const Json& record) {
  file_->append(dump_json(record) + "\n");
  records_.push_back(record);
}

const Json* JsonLines::find(std::int64_t step) const {
  for (auto it = records_.rbegin(); it != records_.rend(); ++it) {
    if (it->at("step").get<std::int64_t>() == step) return &*it;
  }
  return nullptr;
}

}  // namespace loongforge
