#include "loongforge/text/template/arguments.h"

#include <algorithm>

namespace loongforge::jinja {

ArgumentReader::ArgumentReader(std::string_view function, const Arguments& arguments,
                               std::initializer_list<const char*> names)
    : function_(function) {
  for (const char* name : names) values_.emplace_back(name, nullptr);
  if (arguments.positional.size() > values_.size()) {
    fail(function_, "() takes at most ", values_.size(), " arguments (", arguments.positional.size(),
         " given)");
  }
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) values_[i].second = &arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    const auto found = std::find_if(values_.begin(), values_.end(),
                                    [&name = name](const auto& entry) { return entry.first == name; });
    if (found == values_.end()) fail(function_, "() got an unexpected keyword argument '", name, "'");
    if (found->second != nullptr) fail(function_, "() got multiple values for argument '", name, "'");
    found->second = &value;
  }
}

const Value* ArgumentReader::find(std::string_view name) const {
  for (const auto& [known, value] : values_) {
    if (known == name) return value;
  }
  return nullptr;
}

const Value& ArgumentReader::required(std::string_view name) const {
  const Value* value = find(name);
  if (value == nullptr) fail(function_, "() missing required argument '", name, "'");
  return *value;
}

Value ArgumentReader::value(std::string_view name, Value fallback) const {
  const Value* given = find(name);
  return given == nullptr ? fallback : *given;
}

bool ArgumentReader::flag(std::string_view name, bool fallback) const {
  const Value* given = find(name);
  return given == nullptr ? fallback : truth(*given);
}

std::int64_t ArgumentReader::integer(std::string_view name, std::int64_t fallback) const {
  const Value* given = find(name);
  if (given == nullptr || given->is_none()) return fallback;
  require_defined(*given);
  if (!given->is_int() && !given->is_bool())
    fail(function_, "(): ", name, ": expected an integer, got ", type_name(*given));
  return given->as_int();
}

MarkedString ArgumentReader::text(std::string_view name, std::string_view fallback) const {
  const Value* given = find(name);
  return given == nullptr ? MarkedString(std::string(fallback)) : to_text(*given);
}

}  // namespace loongforge::jinja
