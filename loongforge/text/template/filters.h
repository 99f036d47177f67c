// Filters of jinja2, by the groups they are written in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loongforge/text/template/interpreter.h"

namespace loongforge::jinja {

using FilterFunction = Value (*)(Interpreter& interpreter, const Value& input, const Arguments& arguments);

struct NamedFilter {
  std::string_view name;
  FilterFunction function;
};

const std::vector<NamedFilter>& text_filters();
const std::vector<NamedFilter>& number_filters();
const std::vector<NamedFilter>& sequence_filters();
const std::vector<NamedFilter>& choice_filters();

// Null when there is no such filter.
FilterFunction find_filter(std::string_view name);

// "a.b.0" as a path into values; a whole number is an index; null takes the value itself.
class AttributePath {
 public:
  explicit AttributePath(const Value& attribute);
  // `fallback`, where given, stands in for what is missing.
  Value of(const Value& item, const Value* fallback = nullptr) const;

 private:
  std::vector<Value> parts_;
};

// A string in small letters; other values as they are.
Value ignore_case(const Value& value);

}  // namespace loongforge::jinja
