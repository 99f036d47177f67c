// Python's ways of putting values into text: %, str.format, json.dumps, HTML escapes.
#pragma once

#include <string>

#include "loongforge/text/template/value.h"

namespace loongforge::jinja {

// text % value.
Value format_percent(const MarkedString& text, const Value& value);
// text.format(...).
Value format_braces(const MarkedString& text, const Arguments& arguments);
// format(value, spec).
MarkedString format_value(const Value& value, const std::string& spec);

// &, <, >, " and ' as entities; the result counts as safe.
MarkedString escape_html(const MarkedString& text);

struct JsonStyle {
  bool ensure_ascii = false;
  // Indentation of one level; not `indented`: all on one line.
  bool indented = false;
  std::string indent;
  std::string item_separator = ", ", key_separator = ": ";
  bool sort_keys = false;
};

// json.dumps; fails for values that JSON does not have.
MarkedString dump_python_json(const Value& value, const JsonStyle& style);

}  // namespace loongforge::jinja
