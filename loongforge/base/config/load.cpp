#include "loongforge/base/config/load.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace loongforge {
namespace {

constexpr int kMaxIncludeDepth = 16;

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

// Replaces ${env:NAME} and ${env:NAME:-fallback}; an unset name without fallback is a problem.
std::string expand(const std::string& text, const std::string& where, std::vector<std::string>& problems) {
  std::string out;
  std::size_t at = 0;
  while (true) {
    const auto start = text.find("${env:", at);
    if (start == std::string::npos) return out + text.substr(at);
    const auto end = text.find('}', start);
    if (end == std::string::npos) {
      problems.push_back(concat(where, ": '", text, "': expected '}' after '${env:'; close it"));
      return text;
    }
    const std::string inner = text.substr(start + 6, end - start - 6);
    const auto dash = inner.find(":-");
    const std::string name = inner.substr(0, dash);
    out += text.substr(at, start - at);
    if (const char* value = std::getenv(name.c_str())) {
      out += value;
    } else if (dash != std::string::npos) {
      out += inner.substr(dash + 2);
    } else {
      problems.push_back(concat(where, ": environment variable '", name,
                                "' is not set; set it, or write ${env:", name, ":-fallback}"));
    }
    at = end + 1;
  }
}

struct Reader {
  Fields& fields;
  std::vector<std::string> problems;

  std::string where(const std::string& name, const YAML::Node& node) const {
    if (name == "command line") return name;
    const auto mark = node.Mark();
    return concat(name, ":", mark.line + 1, ":", mark.column + 1);
  }

  void bad(const std::string& at, const Field& field, const std::string& got) {
    problems.push_back(concat(at, ": ", field.path, ": expected ", field.type_name(), ", got ", got));
  }

  bool is_null(const YAML::Node& node) const { return !node || node.IsNull(); }

  // Scalars. Each returns false when the text is not of the type.
  static bool parse(const std::string& text, bool quoted, bool& out) {
    if (quoted || (text != "true" && text != "false")) return false;
    out = text == "true";
    return true;
  }
  static bool parse(const std::string& text, bool quoted, std::int64_t& out) {
    if (quoted || text.empty()) return false;
    char* end = nullptr;
    errno = 0;
    const long long whole = std::strtoll(text.c_str(), &end, 10);
    if (errno == 0 && *end == '\0') return out = whole, true;
    double number = 0;
    // 1e6 is a handy way to write an integer.
    if (!parse(text, false, number) || number != std::floor(number) || std::abs(number) > 9e15) return false;
    out = static_cast<std::int64_t>(number);
    return true;
  }
  static bool parse(const std::string& text, bool quoted, double& out) {
    if (quoted || text.empty()) return false;
    char* end = nullptr;
    out = std::strtod(text.c_str(), &end);
    return *end == '\0' && end != text.c_str() && std::isfinite(out);
  }
  static bool parse(const std::string& text, bool, std::string& out) { return out = text, true; }

  template <typename T>
  bool scalar(const YAML::Node& node, const std::string& at, T& out) {
    if (!node.IsScalar()) return false;
    return parse(expand(node.Scalar(), at, problems), node.Tag() == "!", out);
  }

  template <typename T>
  void assign(const YAML::Node& node, const std::string& at, Field& field, T& target) {
    if (is_null(node)) return bad(at, field, "nothing");
    if (!scalar(node, at, target)) bad(at, field, describe(node));
  }
  template <typename T>
  void assign(const YAML::Node& node, const std::string& at, Field& field, std::optional<T>& target) {
    if (is_null(node)) return target.reset();
    T value{};
    if (!scalar(node, at, value)) return bad(at, field, describe(node));
    target = value;
  }
  template <typename T>
  void assign(const YAML::Node& node, const std::string& at, Field& field, std::vector<T>& target) {
    std::vector<T> values;
    if (node.IsSequence()) {
      for (const auto& item : node) {
        T value{};
        if (!scalar(item, at, value)) return bad(at, field, "the item " + describe(item));
        values.push_back(std::move(value));
      }
    } else if (!is_null(node)) {
      T value{};
      if (!scalar(node, at, value)) return bad(at, field, describe(node));
      values.push_back(std::move(value));
    }
    target = std::move(values);
  }

  static std::string describe(const YAML::Node& node) {
    if (node.IsSequence()) return "a list";
    if (node.IsMap()) return "a block of keys";
    if (node.IsNull()) return "nothing";
    return (node.Tag() == "!" ? "the text '" : "'") + one_line(node.Scalar()) + "'";
  }

  void unknown(const std::string& path, const std::string& at) {
    const std::string near = fields.nearest(path);
    problems.push_back(concat(
        at, ": unknown key '", path, "'",
        near.empty() ? "; docs/configuration.md lists all keys" : concat("; did you mean '", near, "'?")));
  }

  void set(const std::string& path, const YAML::Node& node, const std::string& name) {
    const std::string at = where(name, node);
    if (Field* field = fields.find(path)) {
      std::visit([&](auto* target) { assign(node, at, *field, *target); }, field->target);
      field->origin = at;
      return;
    }
    if (fields.is_block(path)) {
      if (node.IsMap()) return walk(node, path, name);
      if (is_null(node)) return;
      problems.push_back(concat(at, ": ", path, ": expected a block of keys, got ", describe(node)));
      return;
    }
    unknown(path, at);
  }

  void walk(const YAML::Node& map, const std::string& prefix, const std::string& name) {
    std::vector<std::string> seen;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) {
        problems.push_back(concat(where(name, entry.first), ": a key must be a plain word"));
        continue;
      }
      const std::string key = entry.first.Scalar();
      const std::string path = prefix.empty() ? key : prefix + "." + key;
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
        problems.push_back(concat(where(name, entry.first), ": key '", path, "' stands twice; remove one"));
        continue;
      }
      seen.push_back(key);
      if (path == "include") continue;
      // The position of the key names the line better than that of a value further down.
      if (!fields.find(path) && !fields.is_block(path)) {
        unknown(path, where(name, entry.first));
        continue;
      }
      set(path, entry.second, name);
    }
  }

  void file(const fs::path& path, int depth) {
    check<ConfigError>(depth < kMaxIncludeDepth, path.string(), ": includes nest deeper than ",
                       kMaxIncludeDepth, "; does a file include itself?");
    const std::string text = read_file<ConfigError>(path);
    YAML::Node root;
    try {
      const auto documents = YAML::LoadAll(text);
      check<ConfigError>(documents.size() <= 1, path.string(), ": expected one YAML document, got ",
                         documents.size());
      if (!documents.empty()) root = documents.front();
    } catch (const YAML::Exception& e) {
      throw ConfigError(
          concat(path.string(), ":", e.mark.line + 1, ":", e.mark.column + 1, ": not valid YAML: ", e.msg));
    }
    check<ConfigError>(is_null(root) || root.IsMap(), path.string(), ": expected a mapping of keys, got ",
                       describe(root));
    if (is_null(root)) return;
    if (const YAML::Node includes = root["include"]) {
      check<ConfigError>(includes.IsScalar() || includes.IsSequence(), where(path.string(), includes),
                         ": include: expected a file or a list of files");
      const auto include = [&](const YAML::Node& name) {
        check<ConfigError>(name.IsScalar(), where(path.string(), name),
                           ": include: expected the name of a file");
        file(path.parent_path() / name.Scalar(), depth + 1);
      };
      if (includes.IsScalar()) {
        include(includes);
      } else {
        for (const auto& name : includes) include(name);
      }
    }
    walk(root, "", path.string());
  }

  void override_with(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      problems.push_back(concat("command line: '", text, "': expected key.path=value"));
      return;
    }
    try {
      const std::string value = text.substr(equals + 1);
      set(text.substr(0, equals), value.empty() ? YAML::Node("") : YAML::Load(value), "command line");
    } catch (const YAML::Exception& e) {
      problems.push_back(concat("command line: '", text, "': the value is not valid YAML: ", e.msg));
    }
  }

  void finish() {
    for (auto& problem : field_violations(fields)) problems.push_back(std::move(problem));
    throw_if_any(problems);
  }
};

// "file:line:column: " where the value was written.
std::string place(const Field& field) {
  return field.origin == "default" ? "" : field.origin + ": ";
}

void check_number(const Field& field, double value, std::vector<std::string>& problems) {
  const bool low = field.low && (field.low_open ? value <= *field.low : value < *field.low);
  const bool high = field.high && (field.high_open ? value >= *field.high : value > *field.high);
  if (low || high)
    problems.push_back(concat(place(field), field.path, ": expected ", field.range_text(),
                              field.unit_name.empty() ? "" : " " + field.unit_name, ", got ",
                              field.value_text()));
}

void check_text(const Field& field, const std::string& value, std::vector<std::string>& problems) {
  if (field.choices.empty() ||
      std::find(field.choices.begin(), field.choices.end(), value) != field.choices.end())
    return;
  problems.push_back(
      concat(place(field), field.path, ": expected ", field.range_text(), ", got '", value, "'"));
}

template <typename T>
void check_value(const Field& field, const T& value, std::vector<std::string>& problems) {
  if constexpr (std::is_same_v<T, std::string>) {
    check_text(field, value, problems);
  } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    check_number(field, static_cast<double>(value), problems);
  }
}
template <typename T>
void check_value(const Field& field, const std::optional<T>& value, std::vector<std::string>& problems) {
  if (value) check_value(field, *value, problems);
}
template <typename T>
void check_value(const Field& field, const std::vector<T>& values, std::vector<std::string>& problems) {
  for (const auto& value : values) check_value(field, value, problems);
}

}  // namespace

std::vector<std::string> field_violations(const Fields& fields) {
  std::vector<std::string> problems;
  for (const auto& field : fields.all()) {
    // A struct that was filled in code, not from a file, counts as given where it holds something.
    const std::string value = field.value_text();
    const bool empty = value == "0" || value == "\"\"" || value == "[]" || value == "null";
    if (field.is_required && field.origin == "default" && empty) {
      problems.push_back(concat(field.path, ": is missing; ", field.sentence));
      continue;
    }
    std::visit([&](const auto* target) { check_value(field, *target, problems); }, field.target);
  }
  return problems;
}

void throw_if_any(const std::vector<std::string>& problems) {
  if (problems.empty()) return;
  std::string all = problems.front();
  for (std::size_t i = 1; i < problems.size(); ++i) all += "\n" + problems[i];
  throw ConfigError(all);
}

void load_config(Fields& fields, const fs::path& file, const std::vector<std::string>& overrides) {
  Reader reader{fields, {}};
  reader.file(file, 0);
  for (const auto& text : overrides) reader.override_with(text);
  reader.finish();
}

void load_overrides(Fields& fields, const std::vector<std::string>& overrides) {
  Reader reader{fields, {}};
  for (const auto& text : overrides) reader.override_with(text);
  reader.finish();
}

}  // namespace loongforge
