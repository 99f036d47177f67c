#include "loongforge/text/template/filters.h"

#include <algorithm>

#include "loongforge/text/template/python_text.h"

namespace loongforge::jinja {

FilterFunction find_filter(std::string_view name) {
  for (const auto* group : {&text_filters(), &number_filters(), &sequence_filters(), &choice_filters()}) {
    for (const NamedFilter& filter : *group) {
      if (filter.name == name) return filter.function;
    }
  }
  return nullptr;
}

Value apply_filter(Interpreter& interpreter, const std::string& name, const Value& input,
                   const Arguments& arguments) {
  const FilterFunction filter = find_filter(name);
  if (filter == nullptr) {
    for (const char* absent :
         {"filesizeformat", "pprint", "random", "striptags", "urlize", "wordwrap", "xmlattr"}) {
      if (name == absent) fail("filter '", name, "' is not supported in chat templates");
    }
    fail("No filter named '", name, "'.");
  }
  return filter(interpreter, input, arguments);
}

AttributePath::AttributePath(const Value& attribute) {
  if (attribute.is_none()) return;
  if (!attribute.is_string()) {
    parts_.push_back(attribute);
    return;
  }
  const std::string& text = attribute.text();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const bool number =
        !part.empty() && part.size() < 10 && part.find_first_not_of("0123456789") == std::string::npos;
    parts_.push_back(number ? Value(static_cast<std::int64_t>(std::stoll(part))) : Value(part));
    begin = end + 1;
  }
}

Value AttributePath::of(const Value& item, const Value* fallback) const {
  Value value = item;
  for (const Value& part : parts_) {
    value = get_item(value, part);
    if (fallback != nullptr && !fallback->is_none() && value.is_undefined()) value = *fallback;
  }
  return value;
}

Value ignore_case(const Value& value) {
  return value.is_string() ? Value(to_lower(value.text())) : value;
}

}  // namespace loongforge::jinja
