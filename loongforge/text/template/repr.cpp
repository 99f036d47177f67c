// How Python prints values.
#include <utf8proc.h>

#include <array>
#include <charconv>
#include <cmath>

#include "loongforge/text/template/value.h"
#include "loongforge/text/unicode.h"

namespace loongforge::jinja {
namespace {

bool is_printable(char32_t c) {
  if (c < 0x80) return c >= 0x20 && c < 0x7F;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category != UTF8PROC_CATEGORY_CN && category < UTF8PROC_CATEGORY_ZS;
}

void append_hex(std::string& out, const char* prefix, char32_t c, int digits) {
  constexpr const char* kDigits = "0123456789abcdef";
  out += prefix;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kDigits[(c >> shift) & 0xF];
}

std::string string_repr(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  const char quote = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t i = 0; i < text.size();) {
    const char32_t c = next_code_point(text, i);
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_printable(c)) {
      append_utf8(out, c);
    } else if (c <= 0xFF) {
      append_hex(out, "\\x", c, 2);
    } else if (c <= 0xFFFF) {
      append_hex(out, "\\u", c, 4);
    } else {
      append_hex(out, "\\U", c, 8);
    }
  }
  return out + quote;
}

MarkedString join_reprs(const char* open, const List& items, const char* close) {
  MarkedString out(open);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(", ");
    out.append(python_repr(items[i]));
  }
  out.append(close);
  return out;
}

MarkedString dict_repr(const Dict& dict) {
  MarkedString out("{");
  bool first = true;
  for (const auto& [key, value] : dict.entries) {
    if (!first) out.append(", ");
    first = false;
    out.append(python_repr(key));
    out.append(": ");
    out.append(python_repr(value));
  }
  out.append("}");
  return out;
}

}  // namespace

std::string float_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 40> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::scientific).ptr;
  const std::string text(digits.data(), end);
  const auto e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));
  if (exponent < -4 || exponent >= 16) {
    const int magnitude = std::abs(exponent);
    return concat(text.substr(0, e), exponent < 0 ? "e-" : "e+", magnitude < 10 ? "0" : "", magnitude);
  }
  const auto fixed =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed).ptr;
  std::string out(digits.data(), fixed);
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

MarkedString python_repr(const Value& value) {
  if (value.is_none()) return "None";
  if (value.is_undefined()) return "Undefined";
  if (value.is_bool()) return value.as_bool() ? "True" : "False";
  if (value.is_int()) return std::to_string(value.as_int());
  if (value.is_float()) return float_repr(value.as_float());
  if (value.is_string()) {
    const MarkedString& text = value.as_string();
    std::string out = string_repr(text.text);
    return text.derived(text.safe ? "Markup(" + out + ")" : out);
  }
  if (value.is_list()) return join_reprs("[", value.items(), "]");
  if (value.is_tuple()) return join_reprs("(", value.items(), value.items().size() == 1 ? ",)" : ")");
  if (value.is_dict()) return dict_repr(value.as_dict());
  return value.as_object().repr();
}

MarkedString to_text(const Value& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_undefined()) return "";
  return python_repr(value);
}

}  // namespace loongforge::jinja
