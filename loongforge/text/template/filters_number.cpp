// Filters that make numbers.
#include <charconv>
#include <cmath>

#include "loongforge/text/template/arguments.h"
#include "loongforge/text/template/filters.h"
#include "loongforge/text/template/python_text.h"

namespace loongforge::jinja {
namespace {

// A number as Python's int() and float() read it: white space around, single underscores inside.
std::string number_text(const Value& value) {
  std::string text(strip_left(strip_right(value.text())));
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') continue;
    const bool inside = i > 0 && i + 1 < text.size() &&
                        std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 &&
                        std::isalnum(static_cast<unsigned char>(text[i + 1])) != 0;
    if (!inside) return "?";
    text.erase(i, 1);
  }
  return text;
}

std::optional<double> read_float(const Value& value) {
  if (value.is_number()) return value.as_float();
  if (!value.is_string()) return std::nullopt;
  std::string text = number_text(value);
  const std::size_t sign = !text.empty() && text[0] == '+' ? 1 : 0;
  double out = 0;
  const auto result = std::from_chars(text.data() + sign, text.data() + text.size(), out);
  if (result.ptr != text.data() + text.size() || text.size() == sign) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) return out;
  return result.ec == std::errc() ? std::optional(out) : std::nullopt;
}

std::optional<std::int64_t> read_integer(const Value& value, int base) {
  std::string text = number_text(value);
  bool minus = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    minus = text[0] == '-';
    text.erase(0, 1);
  }
  if (text.size() > 2 && text[0] == '0') {
    const char kind = static_cast<char>(text[1] | 0x20);
    if ((base == 16 && kind == 'x') || (base == 8 && kind == 'o') || (base == 2 && kind == 'b'))
      text.erase(0, 2);
  }
  std::int64_t out = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (text.empty() || text[0] == '-' || result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return minus ? -out : out;
}

Value to_integer(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("int", arguments, {"default", "base"});
  require_defined(input);
  const std::int64_t base = read.integer("base", 10);
  if (base < 2 || base > 36) fail("int: expected a base from 2 to 36, got ", base);
  if (input.is_int() || input.is_bool()) return input.as_int();
  if (input.is_string()) {
    if (const auto whole = read_integer(input, static_cast<int>(base))) return *whole;
  }
  const auto real = read_float(input);
  if (!real || !std::isfinite(*real)) return read.value("default", Value(0));
  if (std::fabs(*real) >= 9.2e18) fail("int: ", float_repr(*real), " is larger than 64 bits");
  return static_cast<std::int64_t>(*real);
}

Value to_float(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("float", arguments, {"default"});
  require_defined(input);
  const auto real = read_float(input);
  return real ? Value(*real) : read.value("default", Value(0.0));
}

Value absolute(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("abs", arguments, {});
  require_defined(input);
  if (!input.is_number()) fail("bad operand type for abs(): '", type_name(input), "'");
  if (input.is_float()) return std::fabs(input.as_float());
  return input.as_int() < 0 ? binary_operation("-", Value(0), input) : Value(input.as_int());
}

// Half to even, as Python's round.
Value round(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("round", arguments, {"precision", "method"});
  require_defined(input);
  if (!input.is_number()) fail("type ", type_name(input), " doesn't define __round__ method");
  const std::int64_t precision = read.integer("precision", 0);
  const std::string method = read.text("method", "common").text;
  if (precision < -300 || precision > 300) fail("round: precision ", precision, " is too large");
  const double scale = std::pow(10.0, static_cast<double>(precision)), value = input.as_float();
  if (method == "ceil") return std::ceil(value * scale) / scale;
  if (method == "floor") return std::floor(value * scale) / scale;
  if (method != "common") fail("method must be common, ceil or floor");
  if (!input.is_float())
    return precision >= 0 ? Value(input.as_int())
                          : Value(static_cast<std::int64_t>(std::nearbyint(value * scale) / scale));
  if (precision < 0) return std::nearbyint(value * scale) / scale;
  // The correctly rounded decimal, not value * scale, whose product may round the other way.
  const int digits = static_cast<int>(precision);
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, "%.*f", digits, value)) + 1, '\0');
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return std::stod(text);
}

Value sum(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("sum", arguments, {"attribute", "start"});
  const AttributePath path(read.value("attribute", Value()));
  Value total = read.value("start", Value(0));
  for (const Value& item : iterate(input)) total = binary_operation("+", total, path.of(item));
  return total;
}

Value length(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("length", arguments, {});
  const auto n = length_of(input);
  if (!n) fail("object of type '", type_name(input), "' has no len()");
  return static_cast<std::int64_t>(*n);
}

}  // namespace

const std::vector<NamedFilter>& number_filters() {
  static const std::vector<NamedFilter> filters = {
      {"abs", &absolute},  {"count", &length}, {"float", &to_float}, {"int", &to_integer},
      {"length", &length}, {"round", &round},  {"sum", &sum}};
  return filters;
}

}  // namespace loongforge::jinja
