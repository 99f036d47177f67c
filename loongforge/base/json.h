// JSON values (nlohmann, keys in file order) and parsing with errors that name the file and the offset.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "loongforge/base/error.h"
#include "loongforge/base/files.h"

namespace loongforge {

using Json = nlohmann::ordered_json;

// Parses one JSON text. Refuses duplicate keys, nesting beyond 256 levels and trailing characters.
// Throws E: "<name>: not valid JSON at byte N: ...".
template <typename E = DataError>
Json parse_json(std::string_view text, const std::string& name);

// Reads and parses a whole file. Throws E when it is missing, unreadable or no JSON.
template <typename E = DataError>
Json read_json(const fs::path& path);

// One line, UTF-8 kept as it is; invalid bytes become U+FFFD.
std::string dump_json(const Json& value);
// Indented by two blanks, with a final newline.
std::string dump_json_pretty(const Json& value);

namespace detail {
// Returns an empty string on success, the reason otherwise.
std::string parse_json_into(std::string_view text, Json& out);
}  // namespace detail

template <typename E>
Json parse_json(std::string_view text, const std::string& name) {
  Json out;
  const std::string reason = detail::parse_json_into(text, out);
  check<E>(reason.empty(), name, ": not valid JSON ", reason);
  return out;
}

template <typename E>
Json read_json(const fs::path& path) {
  std::string text;
  const std::string reason = detail::read_text_or_reason(path, text);
  check<E>(reason.empty(), path.string(), ": ", reason);
  return parse_json<E>(text, path.string());
}

}  // namespace loongforge
