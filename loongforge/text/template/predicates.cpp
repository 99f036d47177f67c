// Tests of jinja2: what may stand behind `is`.
#include <array>

#include "loongforge/text/template/arguments.h"
#include "loongforge/text/template/filters.h"
#include "loongforge/text/template/objects.h"
#include "loongforge/text/template/python_text.h"
#include "loongforge/text/unicode.h"

namespace loongforge::jinja {
namespace {

using Predicate = bool (*)(const Value& value, const Arguments& arguments);
struct NamedPredicate {
  std::string_view name;
  Predicate predicate;
};

const Value& other(const Arguments& arguments) {
  const ArgumentReader read("test", arguments, {"other"});
  return read.required("other");
}

template <char kOp, char kSecond>
bool compares(const Value& value, const Arguments& arguments) {
  const std::string op = kSecond == '\0' ? std::string(1, kOp) : std::string{kOp, kSecond};
  return comparison(op, value, other(arguments));
}

bool divides(const Value& value, const Arguments& arguments) {
  return equal(binary_operation("%", value, other(arguments)), Value(0));
}

template <int kRemainder>
bool has_parity(const Value& value, const Arguments&) {
  return equal(binary_operation("%", value, Value(2)), Value(kRemainder));
}

// str(value).islower() and isupper().
template <bool kUpper>
bool has_case(const Value& value, const Arguments&) {
  const std::string text = to_text(value).text;
  bool found = false;
  for (std::size_t i = 0; i < text.size();) {
    const char32_t c = next_code_point(text, i);
    if (kUpper ? is_cased_lower(c) : is_cased_upper(c)) return false;
    found = found || (kUpper ? is_cased_upper(c) : is_cased_lower(c));
  }
  return found;
}

bool is_sequence(const Value& value, const Arguments&) {
  if (value.is_undefined() || value.is_string() || value.is_list() || value.is_tuple() || value.is_dict())
    return true;
  const auto* items = value.object_as<Items>();
  return items != nullptr && items->indexed() != nullptr;
}

bool same_as(const Value& value, const Arguments& arguments) {
  const Value& wanted = other(arguments);
  if (value.identity() != nullptr || wanted.identity() != nullptr) {
    // Equal strings are one object more often than not, and templates compare no others this way.
    if (value.is_string() && wanted.is_string()) return value.text() == wanted.text();
    return value.identity() == wanted.identity();
  }
  return type_name(value) == type_name(wanted) && equal(value, wanted);
}

bool is_in(const Value& value, const Arguments& arguments) {
  return contains(other(arguments), value);
}

bool is_filter(const Value& value, const Arguments&) {
  return find_filter(to_text(value).text) != nullptr;
}
bool is_test(const Value& value, const Arguments&);

constexpr std::array kPredicates = {
    NamedPredicate{"defined", [](const Value& v, const Arguments&) { return !v.is_undefined(); }},
    NamedPredicate{"undefined", [](const Value& v, const Arguments&) { return v.is_undefined(); }},
    NamedPredicate{"none", [](const Value& v, const Arguments&) { return v.is_none(); }},
    NamedPredicate{"boolean", [](const Value& v, const Arguments&) { return v.is_bool(); }},
    NamedPredicate{"true", [](const Value& v, const Arguments&) { return v.is_bool() && v.as_bool(); }},
    NamedPredicate{"false", [](const Value& v, const Arguments&) { return v.is_bool() && !v.as_bool(); }},
    NamedPredicate{"integer", [](const Value& v, const Arguments&) { return v.is_int(); }},
    NamedPredicate{"float", [](const Value& v, const Arguments&) { return v.is_float(); }},
    NamedPredicate{"number", [](const Value& v, const Arguments&) { return v.is_number(); }},
    NamedPredicate{"string", [](const Value& v, const Arguments&) { return v.is_string(); }},
    NamedPredicate{"mapping", [](const Value& v, const Arguments&) { return v.is_dict(); }},
    NamedPredicate{"iterable", [](const Value& v, const Arguments&) { return is_iterable(v); }},
    NamedPredicate{"sequence", &is_sequence},
    NamedPredicate{"callable",
                   [](const Value& v, const Arguments&) {
                     return v.is_undefined() || (v.is_object() && v.as_object().callable());
                   }},
    NamedPredicate{"escaped",
                   [](const Value& v, const Arguments&) { return v.is_string() && v.as_string().safe; }},
    NamedPredicate{"odd", &has_parity<1>},
    NamedPredicate{"even", &has_parity<0>},
    NamedPredicate{"divisibleby", &divides},
    NamedPredicate{"lower", &has_case<false>},
    NamedPredicate{"upper", &has_case<true>},
    NamedPredicate{"sameas", &same_as},
    NamedPredicate{"in", &is_in},
    NamedPredicate{"filter", &is_filter},
    NamedPredicate{"test", &is_test},
    NamedPredicate{"==", &compares<'=', '='>},
    NamedPredicate{"eq", &compares<'=', '='>},
    NamedPredicate{"equalto", &compares<'=', '='>},
    NamedPredicate{"!=", &compares<'!', '='>},
    NamedPredicate{"ne", &compares<'!', '='>},
    NamedPredicate{">", &compares<'>', '\0'>},
    NamedPredicate{"gt", &compares<'>', '\0'>},
    NamedPredicate{"greaterthan", &compares<'>', '\0'>},
    NamedPredicate{">=", &compares<'>', '='>},
    NamedPredicate{"ge", &compares<'>', '='>},
    NamedPredicate{"<", &compares<'<', '\0'>},
    NamedPredicate{"lt", &compares<'<', '\0'>},
    NamedPredicate{"lessthan", &compares<'<', '\0'>},
    NamedPredicate{"<=", &compares<'<', '='>},
    NamedPredicate{"le", &compares<'<', '='>},
};

Predicate find_predicate(std::string_view name) {
  for (const NamedPredicate& entry : kPredicates) {
    if (entry.name == name) return entry.predicate;
  }
  return nullptr;
}

bool is_test(const Value& value, const Arguments&) {
  return find_predicate(to_text(value).text) != nullptr;
}

}  // namespace

bool apply_test(Interpreter&, const std::string& name, const Value& input, const Arguments& arguments) {
  const Predicate predicate = find_predicate(name);
  if (predicate == nullptr) fail("No test named '", name, "'.");
  return predicate(input, arguments);
}

}  // namespace loongforge::jinja
