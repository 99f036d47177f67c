#include "loongforge/generate/answer_store.h"

#include <string_view>

namespace loongforge {
namespace {

// The value of a line, or null for one that is no whole JSON object.
Json object_of(std::string_view line) {
  const Json value = Json::parse(line, nullptr, false);
  return value.is_object() ? value : Json();
}

}  // namespace

AnswerStore::AnswerStore(const fs::path& path, const Json& header) {
  if (path.empty()) return;
  make_directories(path.has_parent_path() ? path.parent_path() : fs::path("."));
  if (fs::exists(path)) load(path, header);
  std::string text = dump_json(header) + "\n";
  for (const auto& [index, answer] : answers_) text += dump_json(answer) + "\n";
  write_file_atomic(path, text);
  file_ = std::make_unique<AppendFile>(path);
}

void AnswerStore::load(const fs::path& path, const Json& header) {
  const std::string text = read_file<DataError>(path);
  std::string_view rest = text;
  bool first = true;
  for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const Json value = object_of(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    if (first && value != header) return;
    if (!first && value.contains("index") && value["index"].is_number_integer()) {
      answers_[value["index"].get<std::int64_t>()] = value;
    }
    first = false;
  }
}

void AnswerStore::add(const Json& answer) {
  if (file_ != nullptr) file_->append(dump_json(answer) + "\n");
  answers_[answer.at("index").get<std::int64_t>()] = answer;
}

}  // namespace loongforge
