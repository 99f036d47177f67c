#include "loongforge/text/template/python_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "loongforge/text/template/interpreter.h"
#include "loongforge/text/unicode.h"

namespace loongforge::jinja {
namespace {

constexpr int kMostWidth = 1 << 20;

// [[fill]align][sign][#][0][width][,][.precision][type]
struct Spec {
  std::string fill = " ";
  char align = '\0', sign = '-', type = '\0', grouping = '\0';
  bool alternate = false;
  int width = 0, precision = -1;
};

int read_number(std::string_view text, std::size_t& i) {
  int value = 0;
  const auto result = std::from_chars(text.data() + i, text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range || value > kMostWidth)
    fail("a width in a format is too large");
  if (result.ec != std::errc()) return -1;
  i = static_cast<std::size_t>(result.ptr - text.data());
  return value;
}

bool is_align(char c) {
  return c == '<' || c == '>' || c == '^' || c == '=';
}

Spec parse_spec(std::string_view text) {
  Spec spec;
  std::size_t i = 0;
  if (!text.empty()) {
    std::size_t second = 0;
    next_code_point(text, second);
    if (second < text.size() && is_align(text[second])) {
      spec.fill = std::string(text.substr(0, second));
      spec.align = text[second];
      i = second + 1;
    } else if (is_align(text[0])) {
      spec.align = text[i++];
    }
  }
  const auto take = [&](std::string_view options) {
    return i < text.size() && options.find(text[i]) != std::string_view::npos ? text[i++] : '\0';
  };
  if (const char sign = take("+- ")) spec.sign = sign;
  if (take("#") != '\0') spec.alternate = true;
  if (take("0") != '\0' && spec.align == '\0') {
    spec.fill = "0";
    spec.align = '=';
  }
  if (const int width = read_number(text, i); width >= 0) spec.width = width;
  spec.grouping = take(",_");
  if (take(".") != '\0') {
    spec.precision = read_number(text, i);
    if (spec.precision < 0) fail("Format specifier missing precision");
  }
  spec.type = take("bcdeEfFgGnosxX%");
  if (i != text.size()) fail("Invalid format specifier '", text, "'");
  return spec;
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// `head`: sign and prefix, which '=' keeps in front of the fill.
MarkedString padded(const Spec& spec, const std::string& head, const MarkedString& body, char usual) {
  const int length = static_cast<int>(code_point_count(head) + code_point_count(body.text));
  const int missing = std::max(0, spec.width - length);
  const char align = spec.align == '\0' ? usual : spec.align;
  const int left = align == '>' ? missing : align == '^' ? missing / 2 : 0;
  MarkedString out(repeated(spec.fill, left) + head);
  if (align == '=') out.append(std::string_view(repeated(spec.fill, missing)));
  out.append(body);
  if (align == '<' || align == '^') out.append(std::string_view(repeated(spec.fill, missing - left)));
  return out;
}

std::string printf_double(char type, bool alternate, int precision, double value) {
  const std::string format = concat("%", alternate ? "#" : "", ".*", type);
  const int n = std::snprintf(nullptr, 0, format.c_str(), precision, value);
  std::string out(static_cast<std::size_t>(n) + 1, '\0');
  std::snprintf(out.data(), out.size(), format.c_str(), precision, value);
  out.pop_back();
  return out;
}

// Separators between groups of three digits before the point.
std::string grouped(std::string digits, char separator) {
  if (separator == '\0') return digits;
  std::size_t end = digits.find_first_not_of("0123456789");
  if (end == std::string::npos) end = digits.size();
  for (std::size_t i = end; i > 3; i -= 3) digits.insert(i - 3, 1, separator);
  return digits;
}

std::string digits_in_base(std::uint64_t value, int base, bool upper) {
  std::array<char, 70> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, base).ptr;
  std::string out(text.data(), end);
  if (upper)
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
  return out;
}

std::string sign_text(bool negative, char sign) {
  return negative ? "-" : sign == '-' ? "" : std::string(1, sign);
}

MarkedString format_integer(std::int64_t value, const Spec& spec) {
  const std::uint64_t size =
      value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const int base = spec.type == 'b'                       ? 2
                   : spec.type == 'o'                     ? 8
                   : spec.type == 'x' || spec.type == 'X' ? 16
                                                          : 10;
  std::string head = sign_text(value < 0, spec.sign);
  if (spec.alternate && base != 10) head += concat('0', spec.type);
  return padded(spec, head, grouped(digits_in_base(size, base, spec.type == 'X'), spec.grouping), '>');
}

MarkedString format_double(double value, const Spec& spec) {
  const bool negative = std::signbit(value) && !std::isnan(value);
  const double size = std::fabs(value);
  std::string body;
  if (!std::isfinite(size)) {
    body = std::isnan(size) ? "nan" : "inf";
  } else if (spec.type == '%') {
    body = printf_double('f', spec.alternate, spec.precision < 0 ? 6 : spec.precision, size * 100) + "%";
  } else if (spec.type == '\0' && spec.precision < 0) {
    body = float_repr(size);
  } else if (spec.type == '\0') {
    body = printf_double('g', spec.alternate, std::max(spec.precision, 1), size);
    // Without a type a float keeps its point.
    if (body.find_first_of(".e") == std::string::npos) body += ".0";
  } else {
    body = printf_double(spec.type == 'n' ? 'g' : spec.type, spec.alternate,
                         spec.precision < 0 ? 6 : spec.precision, size);
  }
  return padded(spec, sign_text(negative, spec.sign), grouped(std::move(body), spec.grouping), '>');
}

MarkedString first_characters(const MarkedString& text, int count) {
  std::size_t i = 0;
  for (int n = 0; n < count && i < text.size(); ++n) next_code_point(text.text, i);
  return text.slice(0, i);
}

MarkedString format_by_spec(const Value& value, const Spec& spec) {
  const bool real_type =
      spec.type != '\0' && std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos;
  if (value.is_float() || (value.is_number() && real_type)) return format_double(value.as_float(), spec);
  if (value.is_number() && !(value.is_bool() && spec.type == '\0')) {
    if (spec.type == 'c') {
      const std::int64_t c = value.as_int();
      if (c < 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) fail("%c arg not in range(0x110000)");
      std::string text;
      append_utf8(text, static_cast<char32_t>(c));
      return padded(spec, "", text, '<');
    }
    return format_integer(value.as_int(), spec);
  }
  if (spec.type != '\0' && spec.type != 's') {
    fail("Unknown format code '", spec.type, "' for object of type '", type_name(value), "'");
  }
  MarkedString text = to_text(value);
  if (spec.precision >= 0) text = first_characters(text, spec.precision);
  return padded(spec, "", text, '<');
}

// ---- text % value ----

class PercentFormatter {
 public:
  PercentFormatter(const MarkedString& text, const Value& value) : text_(text), value_(value) {}

  Value run() {
    std::size_t done = 0;
    const std::string& s = text_.text;
    for (std::size_t i = s.find('%'); i != std::string::npos; i = s.find('%', i)) {
      out_.append(text_.slice(done, i));
      ++i;
      directive(i);
      done = i;
    }
    out_.append(text_.slice(done, s.size()));
    if (value_.is_tuple() ? used_ < value_.items().size()
                          : !value_.is_dict() && !value_.is_list() && used_ == 0) {
      fail("not all arguments converted during string formatting");
    }
    return std::move(out_);
  }

 private:
  Value next_value() {
    if (value_.is_tuple()) {
      if (used_ >= value_.items().size()) fail("not enough arguments for format string");
      return value_.items()[used_++];
    }
    if (used_++ > 0) fail("not enough arguments for format string");
    return value_;
  }

  // Behind a %: (key), flags, width, .precision, type.
  void directive(std::size_t& i) {
    const std::string& s = text_.text;
    std::optional<Value> keyed;
    if (i < s.size() && s[i] == '(') {
      const std::size_t close = s.find(')', i);
      if (close == std::string::npos) fail("incomplete format key");
      if (!value_.is_dict()) fail("format requires a mapping");
      const Value* found = value_.as_dict().find(std::string_view(s).substr(i + 1, close - i - 1));
      if (found == nullptr) fail("KeyError: '", s.substr(i + 1, close - i - 1), "'");
      keyed = *found;
      i = close + 1;
    }
    Spec spec;
    spec.align = '>';
    bool zero = false;
    for (; i < s.size() && std::string_view("-+ #0").find(s[i]) != std::string_view::npos; ++i) {
      if (s[i] == '-') spec.align = '<';
      if (s[i] == '+' || (s[i] == ' ' && spec.sign != '+')) spec.sign = s[i];
      if (s[i] == '#') spec.alternate = true;
      if (s[i] == '0') zero = true;
    }
    spec.width = std::max(0, read_size(i));
    if (i < s.size() && s[i] == '.') {
      ++i;
      spec.precision = std::max(0, read_size(i));
    }
    if (i >= s.size()) fail("incomplete format");
    const char type = s[i++];
    if (type == '%') {
      out_.append("%");
      return;
    }
    const bool numeric = std::string_view("diuoxXeEfFgG").find(type) != std::string_view::npos;
    if (zero && numeric && spec.align == '>') {
      spec.fill = "0";
      spec.align = '=';
    }
    out_.append(convert(keyed ? *keyed : next_value(), type, spec));
  }

  int read_size(std::size_t& i) {
    if (i < text_.size() && text_.text[i] == '*') {
      ++i;
      const Value v = next_value();
      if (!v.is_int() || v.as_int() < 0 || v.as_int() > kMostWidth) fail("* wants int");
      return static_cast<int>(v.as_int());
    }
    return read_number(text_.text, i);
  }

  static MarkedString convert(const Value& value, char type, Spec spec) {
    if (type == 's' || type == 'r' || type == 'a') {
      MarkedString text = type == 's' ? to_text(value) : python_repr(value);
      if (spec.precision >= 0) text = first_characters(text, spec.precision);
      return padded(spec, "", text, '>');
    }
    if (type == 'c') return padded(spec, "", to_text(value), '>');
    if (std::string_view("eEfFgG").find(type) != std::string_view::npos) {
      if (!value.is_number()) fail("must be real number, not ", type_name(value));
      spec.type = type;
      return format_double(value.as_float(), spec);
    }
    if (std::string_view("diuoxX").find(type) == std::string_view::npos) {
      fail("unsupported format character '", type, "'");
    }
    if (!value.is_number()) fail("%", type, " format: a real number is required, not ", type_name(value));
    spec.type = type == 'i' || type == 'u' ? 'd' : type;
    spec.precision = -1;
    if (value.is_float() && !(std::fabs(value.as_float()) < 9.2e18))
      fail("cannot convert a float beyond 64 bits to integer");
    return format_integer(value.is_float() ? static_cast<std::int64_t>(value.as_float()) : value.as_int(),
                          spec);
  }

  const MarkedString& text_;
  const Value& value_;
  MarkedString out_;
  std::size_t used_ = 0;
};

// ---- text.format(...) ----

class BraceFormatter {
 public:
  BraceFormatter(const MarkedString& text, const Arguments& arguments) : text_(text), arguments_(arguments) {}

  MarkedString run() {
    MarkedString out;
    const std::string& s = text_.text;
    for (std::size_t i = 0; i < s.size();) {
      if (s[i] != '{' && s[i] != '}') {
        std::size_t end = s.find_first_of("{}", i);
        if (end == std::string::npos) end = s.size();
        out.append(text_.slice(i, end));
        i = end;
      } else if (i + 1 < s.size() && s[i + 1] == s[i]) {
        out.append(text_.slice(i, i + 1));
        i += 2;
      } else if (s[i] == '}') {
        fail("Single '}' encountered in format string");
      } else {
        const std::size_t close = s.find('}', i);
        if (close == std::string::npos) fail("expected '}' before end of string");
        const std::string field = s.substr(i + 1, close - i - 1);
        if (field.find('{') != std::string::npos) fail("a format inside a format is not supported");
        out.append(replacement(field));
        i = close + 1;
      }
    }
    return out;
  }

 private:
  MarkedString replacement(const std::string& field) {
    const std::size_t colon = field.find(':');
    std::string name = field.substr(0, colon);
    const std::string spec = colon == std::string::npos ? "" : field.substr(colon + 1);
    char conversion = '\0';
    if (const auto mark = name.find('!'); mark != std::string::npos) {
      conversion = mark + 1 < name.size() ? name[mark + 1] : '\0';
      name.resize(mark);
      if (conversion != 's' && conversion != 'r') fail("Unknown conversion specifier in a format");
    }
    Value value = resolve(name);
    if (conversion == 's') value = to_text(value);
    if (conversion == 'r') value = python_repr(value);
    return format_value(value, spec);
  }

  Value resolve(const std::string& name) {
    std::size_t end = name.find_first_of(".[");
    if (end == std::string::npos) end = name.size();
    Value value = first(name.substr(0, end));
    while (end < name.size()) {
      const bool item = name[end] == '[';
      std::size_t stop = item ? name.find(']', end) : name.find_first_of(".[", end + 1);
      if (item && stop == std::string::npos) fail("Missing ']' in format string");
      if (stop == std::string::npos) stop = name.size();
      const std::string part = name.substr(end + 1, stop - end - 1);
      if (item) {
        const bool number =
            !part.empty() && part.size() < 10 && part.find_first_not_of("0123456789") == std::string::npos;
        value = get_item(value, number ? Value(static_cast<std::int64_t>(std::stoll(part))) : Value(part));
        ++stop;
      } else {
        value = get_attribute(value, part);
      }
      end = stop;
    }
    return value;
  }

  Value first(const std::string& name) {
    const bool number = name.find_first_not_of("0123456789") == std::string::npos;
    if (number && name.size() < 10) {
      const std::size_t i = name.empty() ? automatic_++ : std::stoul(name);
      if (i >= arguments_.positional.size()) {
        fail("Replacement index ", i, " out of range for positional args tuple");
      }
      return arguments_.positional[i];
    }
    for (const auto& [known, value] : arguments_.named) {
      if (known == name) return value;
    }
    fail("KeyError: '", name, "'");
  }

  const MarkedString& text_;
  const Arguments& arguments_;
  std::size_t automatic_ = 0;
};

}  // namespace

MarkedString format_value(const Value& value, const std::string& spec) {
  if (spec.empty()) return to_text(value);
  return format_by_spec(value, parse_spec(spec));
}

Value format_percent(const MarkedString& text, const Value& value) {
  return PercentFormatter(text, value).run();
}

Value format_braces(const MarkedString& text, const Arguments& arguments) {
  return BraceFormatter(text, arguments).run();
}

}  // namespace loongforge::jinja
