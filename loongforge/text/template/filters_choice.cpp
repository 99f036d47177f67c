// Filters that choose or map items through other filters and tests.
#include "loongforge/text/template/arguments.h"
#include "loongforge/text/template/filters.h"
#include "loongforge/text/template/objects.h"

namespace loongforge::jinja {
namespace {

Value fallback(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("default", arguments, {"default_value", "boolean"});
  const bool missing = input.is_undefined() || (read.flag("boolean", false) && !truth(input));
  return missing ? read.value("default_value", Value("")) : input;
}

Value attribute(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("attr", arguments, {"name"});
  require_defined(input);
  const std::string name = to_text(read.required("name")).text;
  auto found = input.is_object() ? input.as_object().attribute(name) : bound_method(input, name);
  return found ? *found
               : Value::undefined(concat("'", type_name(input), " object' has no attribute '", name, "'"));
}

const Value* named(const Arguments& arguments, std::string_view name) {
  for (const auto& [known, value] : arguments.named) {
    if (known == name) return &value;
  }
  return nullptr;
}

// The arguments behind the first `count` positional ones.
Arguments rest(const Arguments& arguments, std::size_t count) {
  Arguments out = arguments;
  out.positional.erase(out.positional.begin(), out.positional.begin() + static_cast<std::ptrdiff_t>(count));
  return out;
}

Value map(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  List out;
  if (!truth(input)) return generator({});
  const Value* path_name = named(arguments, "attribute");
  if (arguments.positional.empty() && path_name != nullptr) {
    const ArgumentReader read("map", arguments, {"attribute", "default"});
    const AttributePath path(*path_name);
    for (const Value& item : iterate(input)) out.push_back(path.of(item, read.find("default")));
    return generator(std::move(out));
  }
  if (arguments.positional.empty()) fail("map requires a filter argument");
  const std::string name = to_text(arguments.positional[0]).text;
  const Arguments more = rest(arguments, 1);
  for (const Value& item : iterate(input)) {
    interpreter.tick();
    out.push_back(apply_filter(interpreter, name, item, more));
  }
  return generator(std::move(out));
}

// select, reject and their kin on an attribute.
template <bool kKeep, bool kAttribute>
Value choose(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
  if (!truth(input)) return generator({});
  if (kAttribute && arguments.positional.empty()) fail("Missing parameter for attribute name");
  constexpr std::size_t kOffset = kAttribute ? 1 : 0;
  const AttributePath path(kAttribute ? arguments.positional[0] : Value());
  const bool tests = arguments.positional.size() > kOffset;
  const std::string name = tests ? to_text(arguments.positional[kOffset]).text : "";
  const Arguments more = tests ? rest(arguments, kOffset + 1) : Arguments();
  List out;
  for (Value& item : iterate(input)) {
    interpreter.tick();
    const Value value = path.of(item);
    const bool holds = tests ? apply_test(interpreter, name, value, more) : truth(value);
    if (holds == kKeep) out.push_back(std::move(item));
  }
  return generator(std::move(out));
}

}  // namespace

const std::vector<NamedFilter>& choice_filters() {
  static const std::vector<NamedFilter> filters = {{"attr", &attribute},
                                                   {"d", &fallback},
                                                   {"default", &fallback},
                                                   {"map", &map},
                                                   {"reject", &choose<false, false>},
                                                   {"rejectattr", &choose<false, true>},
                                                   {"select", &choose<true, false>},
                                                   {"selectattr", &choose<true, true>}};
  return filters;
}

}  // namespace loongforge::jinja
