// Operators and access to parts of values.
#include <cmath>

#include "loongforge/text/template/interpreter.h"
#include "loongforge/text/template/objects.h"
#include "loongforge/text/template/python_format.h"
#include "loongforge/text/unicode.h"

namespace loongforge::jinja {
namespace {

constexpr std::int64_t kMostItems = std::int64_t{1} << 22;

std::string object_name(const Value& value) {
  return value.is_none() ? "None" : "'" + type_name(value) + " object'";
}

bool is_sequence(const Value& value) {
  return value.is_list() || value.is_tuple();
}

[[noreturn]] void unsupported(const std::string& op, const Value& a, const Value& b) {
  fail("unsupported operand type(s) for ", op, ": '", type_name(a), "' and '", type_name(b), "'");
}

Value integer_result(const std::string& op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  const bool over = op == "+"   ? __builtin_add_overflow(a, b, &out)
                    : op == "-" ? __builtin_sub_overflow(a, b, &out)
                                : __builtin_mul_overflow(a, b, &out);
  if (over) fail("the result of ", a, " ", op, " ", b, " is larger than 64 bits");
  return out;
}

Value integer_power(std::int64_t a, std::int64_t b) {
  if (b < 0) return std::pow(static_cast<double>(a), static_cast<double>(b));
  std::int64_t out = 1;
  // 1, 0 and -1 stay small whatever the exponent; everything else overflows within 63 steps.
  if (a == 0 || a == 1) return b == 0 ? std::int64_t{1} : a;
  if (a == -1) return b % 2 == 0 ? std::int64_t{1} : a;
  for (std::int64_t i = 0; i < b; ++i) out = integer_result("*", out, a).as_int();
  return out;
}

Value number_operation(const std::string& op, const Value& a, const Value& b) {
  const bool real = a.is_float() || b.is_float();
  if ((op == "/" || op == "//" || op == "%") && b.as_float() == 0) {
    fail(op == "/" ? "division by zero" : real ? "float modulo" : "integer modulo by zero");
  }
  if (op == "/") return a.as_float() / b.as_float();
  if (real) {
    const double x = a.as_float(), y = b.as_float();
    if (op == "+") return x + y;
    if (op == "-") return x - y;
    if (op == "*") return x * y;
    if (op == "//") return std::floor(x / y);
    if (op == "%") return x - y * std::floor(x / y);
    return std::pow(x, y);
  }
  const std::int64_t x = a.as_int(), y = b.as_int();
  if (op == "**") return integer_power(x, y);
  if (op != "//" && op != "%") return integer_result(op, x, y);
  if (y == -1) return op == "%" ? Value(std::int64_t{0}) : integer_result("-", 0, x);
  const std::int64_t remainder = x % y, shift = remainder != 0 && (remainder < 0) != (y < 0) ? 1 : 0;
  if (op == "%") return remainder + shift * y;
  return x / y - shift;
}

Value repeat(const Value& value, std::int64_t times) {
  times = std::max<std::int64_t>(times, 0);
  const auto length =
      static_cast<std::int64_t>(value.is_string() ? value.as_string().size() : value.items().size());
  const std::int64_t most =
      value.is_string() ? static_cast<std::int64_t>(MarkedString::kMostBytes) : kMostItems;
  if (length > 0 && times > most / length) fail("a repetition is longer than ", most, " items");
  if (value.is_string()) {
    MarkedString out;
    for (std::int64_t i = 0; i < times; ++i) out.append(value.as_string());
    return out;
  }
  List items;
  for (std::int64_t i = 0; i < times; ++i)
    items.insert(items.end(), value.items().begin(), value.items().end());
  return value.is_tuple() ? Value::tuple(std::move(items)) : Value(std::move(items));
}

Value add_strings(const MarkedString& a, const MarkedString& b) {
  MarkedString out = a.safe || !b.safe ? a : escape_html(a);
  out.append(a.safe && !b.safe ? escape_html(b) : b);
  out.safe = a.safe || b.safe;
  return out;
}

// start, stop and step resolved as Python's slice.indices.
List sliced(const List& items, const Value& start, const Value& stop, const Value& step) {
  const auto bound = [](const Value& v, const char* what) {
    if (!v.is_int() && !v.is_bool())
      fail("slice indices must be integers or None, got ", type_name(v), " as ", what);
    return v.as_int();
  };
  const auto n = static_cast<std::int64_t>(items.size());
  const std::int64_t by = step.is_none() ? 1 : bound(step, "step");
  if (by == 0) fail("slice step cannot be zero");
  const std::int64_t low = by > 0 ? 0 : -1, high = by > 0 ? n : n - 1;
  const auto resolve = [&](const Value& v, std::int64_t missing, const char* what) {
    if (v.is_none()) return missing;
    const std::int64_t i = bound(v, what);
    return std::clamp(i < 0 ? std::max(i, -n - 1) + n : i, low, high);
  };
  const std::int64_t from = resolve(start, by > 0 ? low : high, "start"),
                     to = resolve(stop, by > 0 ? high : low, "stop");
  List out;
  for (std::int64_t i = from; by > 0 ? i < to : i > to;) {
    out.push_back(items[static_cast<std::size_t>(i)]);
    if (by > n || by < -n) break;
    i += by;
  }
  return out;
}

// The item at a whole number, counted from the end when negative.
const Value* item_at(const List& items, std::int64_t index) {
  const auto n = static_cast<std::int64_t>(items.size());
  if (index < 0) index += n;
  return index < 0 || index >= n ? nullptr : &items[static_cast<std::size_t>(index)];
}

std::optional<Value> python_attribute(const Value& value, std::string_view name) {
  if (value.is_object()) return value.as_object().attribute(name);
  return bound_method(value, name);
}

// value[key] of Python; none where that raises.
std::optional<Value> python_item(const Value& value, const Value& key) {
  if (value.is_dict()) {
    if (key.is_list() || key.is_dict()) return std::nullopt;
    const Value* found = value.as_dict().find(key);
    return found == nullptr ? std::nullopt : std::optional<Value>(*found);
  }
  if (!key.is_int() && !key.is_bool()) return std::nullopt;
  if (value.is_string()) {
    const List characters = iterate(value);
    const Value* found = item_at(characters, key.as_int());
    return found == nullptr ? std::nullopt : std::optional<Value>(*found);
  }
  const List* items = is_sequence(value) ? &value.items() : nullptr;
  if (const auto* object = value.object_as<Items>()) items = object->indexed();
  const Value* found = items == nullptr ? nullptr : item_at(*items, key.as_int());
  return found == nullptr ? std::nullopt : std::optional<Value>(*found);
}

}  // namespace

Value get_attribute(const Value& value, const std::string& name) {
  require_defined(value);
  if (auto found = python_attribute(value, name)) return std::move(*found);
  if (auto found = python_item(value, Value(name))) return std::move(*found);
  return Value::undefined(concat(object_name(value), " has no attribute '", name, "'"));
}

Value get_item(const Value& value, const Value& key) {
  require_defined(value);
  if (auto found = python_item(value, key)) return std::move(*found);
  if (key.is_string()) {
    if (auto found = python_attribute(value, key.text())) return std::move(*found);
    return Value::undefined(concat(object_name(value), " has no attribute '", key.text(), "'"));
  }
  return Value::undefined(concat(object_name(value), " has no element ", python_repr(key).text));
}

Value get_slice(const Value& value, const Value& start, const Value& stop, const Value& step) {
  require_defined(value);
  if (value.is_string()) {
    MarkedString out;
    // The common case needs no list of characters.
    const MarkedString& text = value.as_string();
    const bool ascii = code_point_count(text.text) == text.size();
    const bool plain = step.is_none() || (step.is_int() && step.as_int() == 1);
    if (ascii && plain && (start.is_none() || start.is_int()) && (stop.is_none() || stop.is_int())) {
      const auto n = static_cast<std::int64_t>(text.size());
      const auto at = [&](const Value& v, std::int64_t missing) {
        if (v.is_none()) return missing;
        return std::clamp<std::int64_t>(v.as_int() < 0 ? std::max(v.as_int(), -n) + n : v.as_int(), 0, n);
      };
      const std::int64_t from = at(start, 0), to = at(stop, n);
      return from < to ? text.slice(static_cast<std::size_t>(from), static_cast<std::size_t>(to))
                       : MarkedString();
    }
    for (const Value& c : sliced(iterate(value), start, stop, step)) out.append(c.as_string());
    return out;
  }
  if (value.is_list()) return sliced(value.items(), start, stop, step);
  if (value.is_tuple()) return Value::tuple(sliced(value.items(), start, stop, step));
  if (const auto* object = value.object_as<Items>(); object != nullptr && object->indexed() != nullptr) {
    return Value(std::static_pointer_cast<Object>(
        std::make_shared<Items>("range", sliced(*object->indexed(), start, stop, step), false)));
  }
  return Value::undefined(concat(object_name(value), " has no slice"));
}

Value binary_operation(const std::string& op, const Value& a, const Value& b) {
  if (op == "%" && a.is_string()) return format_percent(a.as_string(), b);
  require_defined(a);
  require_defined(b);
  if (a.is_number() && b.is_number()) return number_operation(op, a, b);
  if (op == "+") {
    if (a.is_string() && b.is_string()) return add_strings(a.as_string(), b.as_string());
    if (a.is_string()) fail("can only concatenate str (not \"", type_name(b), "\") to str");
    if ((a.is_list() && b.is_list()) || (a.is_tuple() && b.is_tuple())) {
      if (a.items().size() + b.items().size() > static_cast<std::size_t>(kMostItems)) {
        fail("a list is longer than ", kMostItems, " items");
      }
      List items = a.items();
      items.insert(items.end(), b.items().begin(), b.items().end());
      return a.is_tuple() ? Value::tuple(std::move(items)) : Value(std::move(items));
    }
  }
  if (op == "*") {
    const auto whole = [](const Value& v) { return v.is_int() || v.is_bool(); };
    if ((a.is_string() || is_sequence(a)) && whole(b)) return repeat(a, b.as_int());
    if ((b.is_string() || is_sequence(b)) && whole(a)) return repeat(b, a.as_int());
  }
  unsupported(op, a, b);
}

bool comparison(const std::string& op, const Value& a, const Value& b) {
  if (op == "==") return equal(a, b);
  if (op == "!=") return !equal(a, b);
  if (op == "in") return contains(b, a);
  if (op == "not in") return !contains(b, a);
  // NaN is neither smaller nor larger.
  if (a.is_number() && b.is_number() && (std::isnan(a.as_float()) || std::isnan(b.as_float()))) return false;
  const int order = compare(a, b);
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  return op == ">" ? order > 0 : order >= 0;
}

}  // namespace loongforge::jinja
