#include "loongforge/base/config/fields.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace loongforge {
namespace {

// Shortest text that reads back to the same number, always recognisable as a number.
std::string number_text(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

// True when YAML would read the bare word as something other than this text.
bool needs_quotes(const std::string& text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ') return true;
  static const char* const kWords[] = {"null", "Null",  "NULL",  "~",     "true", "True",
                                       "TRUE", "false", "False", "FALSE", "yes",  "no",
                                       "on",   "off",   "y",     "n",     "Yes",  "No"};
  if (std::any_of(std::begin(kWords), std::end(kWords), [&](const char* word) { return text == word; }))
    return true;
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/' || c == '-';
  };
  if (!std::all_of(text.begin(), text.end(), plain)) return true;
  return std::isalpha(static_cast<unsigned char>(text.front())) == 0 && text.front() != '/' &&
         text.front() != '_';
}

std::string text_text(const std::string& text) {
  if (!needs_quotes(text)) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string yaml_text(bool value) {
  return value ? "true" : "false";
}
std::string yaml_text(std::int64_t value) {
  return std::to_string(value);
}
std::string yaml_text(double value) {
  return number_text(value);
}
std::string yaml_text(const std::string& value) {
  return text_text(value);
}
template <typename T>
std::string yaml_text(const std::vector<T>& values) {
  std::string out = "[";
  for (const auto& value : values) out += (out.size() > 1 ? ", " : "") + yaml_text(value);
  return out + "]";
}
template <typename T>
std::string yaml_text(const std::optional<T>& value) {
  return value ? yaml_text(*value) : "null";
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Field::type_name() const {
  static const char* const kNames[] = {
      "true or false",   "integer",         "number",         "text",        "list of texts",
      "list of numbers", "integer or null", "number or null", "text or null"};
  return kNames[target.index()];
}

std::string Field::value_text() const {
  return std::visit([](const auto* value) { return yaml_text(*value); }, target);
}

std::string Field::range_text() const {
  if (!choices.empty()) {
    std::string out;
    for (const auto& choice : choices) out += (out.empty() ? "" : " | ") + choice;
    return out;
  }
  std::string out;
  if (low) out += (low_open ? "> " : ">= ") + number_text(*low);
  if (high) out += (out.empty() ? "" : ", ") + std::string(high_open ? "< " : "<= ") + number_text(*high);
  return out;
}

Field& Fields::add(std::string path, Field::Target target, std::string sentence) {
  check(find(path) == nullptr, "field '", path, "' is declared twice");
  Field& field = fields_.emplace_back(Field{std::move(path), target, std::move(sentence)});
  field.default_text = field.value_text();
  return field;
}

Field* Fields::find(const std::string& path) {
  for (auto& field : fields_) {
    if (field.path == path) return &field;
  }
  return nullptr;
}

std::string Fields::nearest(const std::string& path) const {
  std::string best;
  std::size_t least = std::max<std::size_t>(3, path.size() / 2);
  const std::string leaf = path.substr(path.rfind('.') + 1);
  for (const auto& field : fields_) {
    std::size_t distance = edit_distance(path, field.path);
    // The right word in the wrong block is the likeliest slip of all.
    if (field.path.substr(field.path.rfind('.') + 1) == leaf) distance = std::min<std::size_t>(distance, 1);
    if (distance < least) {
      least = distance;
      best = field.path;
    }
  }
  return best;
}

bool Fields::is_block(const std::string& path) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const Field& field) { return field.path.rfind(path + ".", 0) == 0; });
}

}  // namespace loongforge
