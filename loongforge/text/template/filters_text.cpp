// Filters that make text.
#include <algorithm>

#include "loongforge/text/template/arguments.h"
#include "loongforge/text/template/filters.h"
#include "loongforge/text/template/python_format.h"
#include "loongforge/text/template/python_text.h"
#include "loongforge/text/template/string_functions.h"
#include "loongforge/text/unicode.h"

namespace loongforge::jinja {
namespace {

template <std::string (*kChange)(std::string_view)>
Value change(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("filter", arguments, {});
  const MarkedString text = to_text(input);
  return text.derived(kChange(text.text));
}

// Words begin behind white space, -, (, {, [ and <.
std::string title_words(std::string_view text) {
  std::string out;
  std::size_t begin = 0;
  const auto flush = [&](std::size_t end) {
    if (end == begin) return;
    std::size_t second = begin;
    next_code_point(text, second);
    out += to_upper(text.substr(begin, second - begin));
    out += to_lower(text.substr(second, end - second));
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t at = i;
    const char32_t c = next_code_point(text, i);
    const bool breaks =
        is_python_space(c) ||
        (c < 0x80 && std::string_view("-({[<").find(static_cast<char>(c)) != std::string_view::npos);
    if (!breaks) continue;
    flush(at);
    out += text.substr(at, i - at);
    begin = i;
  }
  flush(text.size());
  return out;
}

Value trim(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("trim", arguments, {"chars"});
  const Value chars = read.value("chars", Value());
  const MarkedString text = to_text(input);
  if (chars.is_none()) return strip_text(text, nullptr, true, true);
  const MarkedString set = to_text(chars);
  return strip_text(text, &set, true, true);
}

Value replace(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("replace", arguments, {"old", "new", "count"});
  MarkedString out = replace_text(to_text(input), to_text(read.required("old")).text,
                                  to_text(read.required("new")), read.integer("count", -1));
  return out;
}

Value join(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("join", arguments, {"d", "attribute"});
  const AttributePath path(read.value("attribute", Value()));
  List items;
  for (const Value& item : iterate(input)) items.push_back(path.of(item));
  MarkedString out = join_text(read.text("d", ""), items);
  return out;
}

Value indent(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("indent", arguments, {"width", "first", "blank"});
  require_defined(input);
  if (!input.is_string()) fail("indent: expected a string, got ", type_name(input));
  const Value width = read.value("width", Value(4));
  const MarkedString blanks =
      width.is_string()
          ? width.as_string()
          : MarkedString(std::string(
                static_cast<std::size_t>(std::clamp<std::int64_t>(read.integer("width", 4), 0, 1 << 16)),
                ' '));
  // A text that ends in a line break keeps it as an empty last line.
  MarkedString text = input.as_string();
  text.append("\n");
  const List lines = split_lines(text, false);
  MarkedString out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const MarkedString& line = lines[i].as_string();
    if (i > 0) out.append("\n");
    const bool indented = i == 0 ? read.flag("first", false) : read.flag("blank", false) || line.size() > 0;
    if (indented) out.append(blanks);
    out.append(line);
  }
  return out;
}

Value string(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("string", arguments, {});
  return to_text(input);
}

Value center(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("center", arguments, {"width"});
  return pad_text(to_text(input), read.integer("width", 80), " ", '^');
}

Value format(Interpreter&, const Value& input, const Arguments& arguments) {
  if (!arguments.named.empty() && !arguments.positional.empty()) {
    fail("can't handle positional and keyword arguments at the same time");
  }
  if (arguments.named.empty()) return format_percent(to_text(input), Value::tuple(arguments.positional));
  auto dict = std::make_shared<Dict>();
  for (const auto& [name, value] : arguments.named) dict->set(name, value);
  return format_percent(to_text(input), Value(std::shared_ptr<const Dict>(std::move(dict))));
}

Value safe(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("safe", arguments, {});
  MarkedString text = to_text(input);
  text.safe = true;
  return text;
}

Value escape(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("escape", arguments, {});
  const MarkedString text = to_text(input);
  return text.safe ? Value(text) : Value(escape_html(text));
}

Value force_escape(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("forceescape", arguments, {});
  return escape_html(to_text(input));
}

Value truncate(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("truncate", arguments, {"length", "killwords", "end", "leeway"});
  require_defined(input);
  const std::int64_t length = read.integer("length", 255), leeway = read.integer("leeway", 5);
  const MarkedString end = read.text("end", "...");
  const auto end_length = static_cast<std::int64_t>(code_point_count(end.text));
  if (length < end_length) fail("expected length >= ", end_length, ", got ", length);
  const Value text = to_text(input);
  if (static_cast<std::int64_t>(code_point_count(text.text())) <= length + leeway) return text;
  MarkedString head = get_slice(text, Value(), Value(length - end_length), Value()).as_string();
  if (!read.flag("killwords", false)) {
    const std::size_t blank = head.text.rfind(' ');
    if (blank != std::string::npos) head = head.slice(0, blank);
  }
  head.append(end);
  return head;
}

Value word_count(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("wordcount", arguments, {});
  const std::string text = to_text(input).text;
  std::int64_t words = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size();) {
    const bool word = is_word_character(next_code_point(text, i));
    words += word && !inside;
    inside = word;
  }
  return words;
}

Value url_encode(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("urlencode", arguments, {});
  if (is_iterable(input) && !input.is_string())
    fail("urlencode of a ", type_name(input), " is not supported");
  constexpr std::string_view kKept = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~/";
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : to_text(input).text) {
    if (kKept.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += concat('%', kDigits[byte >> 4], kDigits[byte & 15]);
  }
  return to_text(input).derived(out);
}

Value to_json(Interpreter&, const Value& input, const Arguments& arguments) {
  const ArgumentReader read("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensure_ascii = read.flag("ensure_ascii", false);
  style.sort_keys = read.flag("sort_keys", false);
  const Value indent = read.value("indent", Value());
  if (!indent.is_none()) {
    style.indented = true;
    style.item_separator = ",";
    style.indent = indent.is_string() ? indent.text()
                                      : std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(
                                                        read.integer("indent", 0), 0, 1 << 10)),
                                                    ' ');
  }
  const Value separators = read.value("separators", Value());
  if (!separators.is_none()) {
    const List pair = iterate(separators);
    if (pair.size() != 2) fail("tojson: separators: expected two strings");
    style.item_separator = to_text(pair[0]).text;
    style.key_separator = to_text(pair[1]).text;
  }
  MarkedString out = dump_python_json(input, style);
  return out;
}

}  // namespace

const std::vector<NamedFilter>& text_filters() {
  static const std::vector<NamedFilter> filters = {{"capitalize", &change<to_capitalized>},
                                                   {"center", &center},
                                                   {"e", &escape},
                                                   {"escape", &escape},
                                                   {"forceescape", &force_escape},
                                                   {"format", &format},
                                                   {"indent", &indent},
                                                   {"join", &join},
                                                   {"lower", &change<to_lower>},
                                                   {"replace", &replace},
                                                   {"safe", &safe},
                                                   {"string", &string},
                                                   {"title", &change<title_words>},
                                                   {"tojson", &to_json},
                                                   {"trim", &trim},
                                                   {"truncate", &truncate},
                                                   {"upper", &change<to_upper>},
                                                   {"urlencode", &url_encode},
                                                   {"wordcount", &word_count}};
  return filters;
}

}  // namespace loongforge::jinja
