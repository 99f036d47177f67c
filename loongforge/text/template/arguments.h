// Arguments of filters, methods and functions by name.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "loongforge/text/template/value.h"

namespace loongforge::jinja {

// Matches positional and named arguments with the parameters of a function as Python does; fails for too many
// and for unknown ones.
class ArgumentReader {
 public:
  ArgumentReader(std::string_view function, const Arguments& arguments,
                 std::initializer_list<const char*> names);

  // The value, or null when it was not given.
  const Value* find(std::string_view name) const;
  const Value& required(std::string_view name) const;
  Value value(std::string_view name, Value fallback) const;
  bool flag(std::string_view name, bool fallback) const;
  // None counts as not given.
  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  MarkedString text(std::string_view name, std::string_view fallback) const;

 private:
  std::string function_;
  std::vector<std::pair<std::string_view, const Value*>> values_;
};

}  // namespace loongforge::jinja
