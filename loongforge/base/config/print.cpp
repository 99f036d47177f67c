#include "loongforge/base/config/print.h"

#include <sstream>

namespace loongforge {
namespace {

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream in(path);
  for (std::string part; std::getline(in, part, '.');) parts.push_back(part);
  return parts;
}

template <typename T>
Json to_json(const T& value) {
  return value;
}
template <typename T>
Json to_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string escape_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

Json config_json(const Fields& fields) {
  Json out = Json::object();
  for (const auto& field : fields.all()) {
    Json* at = &out;
    for (const auto& part : split_path(field.path)) at = &(*at)[part];
    *at = std::visit([](const auto* value) { return to_json(*value); }, field.target);
  }
  return out;
}

std::string print_config(const Fields& fields, bool origins) {
  std::ostringstream out;
  std::vector<std::string> open;
  for (const auto& field : fields.all()) {
    const auto parts = split_path(field.path);
    std::size_t common = 0;
    while (common < open.size() && common + 1 < parts.size() && open[common] == parts[common]) ++common;
    open.resize(common);
    for (; open.size() + 1 < parts.size(); open.push_back(parts[open.size()])) {
      out << std::string(2 * open.size(), ' ') << parts[open.size()] << ":\n";
    }
    std::string line = std::string(2 * open.size(), ' ') + parts.back() + ": " + field.value_text();
    if (origins) line += std::string(line.size() < 40 ? 40 - line.size() : 1, ' ') + "# " + field.origin;
    out << line << "\n";
  }
  return out.str();
}

Json config_origins(const Fields& fields) {
  Json out = Json::object();
  for (const auto& field : fields.all()) out[field.path] = field.origin;
  return out;
}

std::string config_markdown(const Fields& fields) {
  std::ostringstream out;
  std::string block = "?";
  for (const auto& field : fields.all()) {
    const auto dot = field.path.find('.');
    const std::string head = dot == std::string::npos ? "" : field.path.substr(0, dot);
    if (head != block) {
      block = head;
      out << "\n## " << (head.empty() ? "Top level" : head) << "\n\n"
          << "| key | type | default | allowed | meaning |\n|---|---|---|---|---|\n";
    }
    const std::string allowed = field.range_text() + (field.unit_name.empty() ? "" : " " + field.unit_name);
    out << "| `" << field.path << "` | " << field.type_name() << " | "
        << (field.is_required ? "required" : "`" + field.default_text + "`") << " | " << escape_cell(allowed)
        << " | " << escape_cell(field.sentence) << " |\n";
  }
  return out.str();
}

}  // namespace loongforge
