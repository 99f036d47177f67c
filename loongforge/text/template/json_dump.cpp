#include <algorithm>
#include <cmath>

#include "loongforge/text/template/python_format.h"
#include "loongforge/text/unicode.h"

namespace loongforge::jinja {
namespace {

void append_escape(std::string& out, unsigned unit) {
  constexpr const char* kDigits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(unit >> shift) & 0xF];
}

std::string json_string_text(std::string_view text, bool ensure_ascii) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const char32_t c = next_code_point(text, i);
    constexpr std::string_view kPlain = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
    const auto known = c < 0x80 ? kPlain.find(static_cast<char>(c)) : std::string_view::npos;
    if (known != std::string_view::npos) {
      out += '\\';
      out += kLetters[known];
    } else if (c < 0x20 || (ensure_ascii && c >= 0x7F && c < 0x10000)) {
      append_escape(out, c);
    } else if (ensure_ascii && c >= 0x10000) {
      append_escape(out, 0xD800 + ((c - 0x10000) >> 10));
      append_escape(out, 0xDC00 + ((c - 0x10000) & 0x3FF));
    } else {
      append_utf8(out, c);
    }
  }
  return out + "\"";
}

class Dumper {
 public:
  explicit Dumper(const JsonStyle& style) : style_(style) {}

  void write(const Value& value, int level) {
    if (value.is_none()) {
      out_.append("null");
    } else if (value.is_bool()) {
      out_.append(value.as_bool() ? "true" : "false");
    } else if (value.is_int()) {
      out_.append(std::to_string(value.as_int()));
    } else if (value.is_float()) {
      out_.append(float_text(value.as_float()));
    } else if (value.is_string()) {
      out_.append(value.as_string().derived(json_string_text(value.text(), style_.ensure_ascii)));
    } else if (value.is_list() || value.is_tuple()) {
      list(value.items(), level);
    } else if (value.is_dict()) {
      dict(value.as_dict(), level);
    } else {
      fail("Object of type ", type_name(value), " is not JSON serializable");
    }
  }
  MarkedString take() { return std::move(out_); }

 private:
  static std::string float_text(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return float_repr(value);
  }

  void new_line(int level) {
    if (!style_.indented) return;
    out_.append("\n");
    for (int i = 0; i < level; ++i) out_.append(std::string_view(style_.indent));
  }

  void list(const List& items, int level) {
    out_.append("[");
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_.append(std::string_view(style_.item_separator));
      new_line(level + 1);
      write(items[i], level + 1);
    }
    if (!items.empty()) new_line(level);
    out_.append("]");
  }

  std::string key_text(const Value& key) const {
    if (key.is_string()) return key.text();
    if (key.is_none()) return "null";
    if (key.is_bool()) return key.as_bool() ? "true" : "false";
    if (key.is_int()) return std::to_string(key.as_int());
    if (key.is_float()) return float_text(key.as_float());
    fail("keys must be str, int, float, bool or None, not ", type_name(key));
  }

  void dict(const Dict& dict, int level) {
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : dict.entries) entries.push_back(&entry);
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto* a, const auto* b) { return compare(a->first, b->first) < 0; });
    }
    out_.append("{");
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) out_.append(std::string_view(style_.item_separator));
      new_line(level + 1);
      const auto& [key, value] = *entries[i];
      out_.append(std::string_view(json_string_text(key_text(key), style_.ensure_ascii)));
      out_.append(std::string_view(style_.key_separator));
      write(value, level + 1);
    }
    if (!entries.empty()) new_line(level);
    out_.append("}");
  }

  const JsonStyle& style_;
  MarkedString out_;
};

}  // namespace

MarkedString dump_python_json(const Value& value, const JsonStyle& style) {
  Dumper dumper(style);
  dumper.write(value, 0);
  return dumper.take();
}

MarkedString escape_html(const MarkedString& text) {
  MarkedString out;
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text.text[i];
    const char* entity = c == '&'    ? "&amp;"
                         : c == '<'  ? "&lt;"
                         : c == '>'  ? "&gt;"
                         : c == '"'  ? "&#34;"
                         : c == '\'' ? "&#39;"
                                     : nullptr;
    if (entity == nullptr) continue;
    out.append(text.slice(done, i));
    out.append(text.slice(i, i + 1).derived(entity));
    done = i + 1;
  }
  out.append(text.slice(done, text.size()));
  out.safe = true;
  return out;
}

}  // namespace loongforge::jinja
