#include "loongforge/generate/answer_store.h"

#include <string_view>
#include <utility>

namespace loongforge {
namespace {

// The answer on a line, or null for one that is not whole.
Json whole_answer(std::string_view line) {
  Json value = Json::parse(line, nullptr, false);
  const bool whole = value.is_object() && value.contains("index") && value["index"].is_number_integer() &&
                     value.contains("right") && value["right"].is_boolean() && value.contains("task") &&
                     value["task"].is_string();
  return whole ? value : Json();
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
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (std::exchange(first, false)) {
      if (Json::parse(line, nullptr, false) != header) return;
    } else if (const Json answer = whole_answer(line); !answer.is_null()) {
      answers_[answer["index"].get<std::int64_t>()] = answer;
    }
  }
}

void AnswerStore::add(const Json& answer) {
  if (file_ != nullptr) file_->append(dump_json(answer) + "\n");
  answers_[answer.at("index").get<std::int64_t>()] = answer;
}

}  // namespace loongforge
