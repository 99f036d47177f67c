// Methods of str, list, tuple and dict.
#include <algorithm>
#include <array>
#include <functional>

#include "loongforge/text/template/arguments.h"
#include "loongforge/text/template/objects.h"
#include "loongforge/text/template/python_format.h"
#include "loongforge/text/template/python_text.h"
#include "loongforge/text/template/string_functions.h"
#include "loongforge/text/unicode.h"

namespace loongforge::jinja {
namespace {

using Method = Value (*)(const Value& self, const Arguments& arguments);
struct NamedMethod {
  std::string_view name;
  Method method;  // null: Python has it, templates here do not
};

const std::string& text_argument(const Value& value, std::string_view method) {
  require_defined(value);
  if (!value.is_string()) fail(method, "() argument must be str, not ", type_name(value));
  return value.text();
}

// Optional `chars` of strip, lstrip, rstrip.
template <bool kLeft, bool kRight>
Value strip(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("strip", arguments, {"chars"});
  const Value chars = read.value("chars", Value());
  if (chars.is_none()) return strip_text(self.as_string(), nullptr, kLeft, kRight);
  text_argument(chars, "strip");
  return strip_text(self.as_string(), &chars.as_string(), kLeft, kRight);
}

template <bool kFromRight>
Value split(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("split", arguments, {"sep", "maxsplit"});
  const Value separator = read.value("sep", Value());
  const std::int64_t most = read.integer("maxsplit", -1);
  const std::string* by = separator.is_none() ? nullptr : &text_argument(separator, "split");
  return kFromRight ? split_text_right(self.as_string(), by, most) : split_text(self.as_string(), by, most);
}

// Text of characters [start, end) of find and its kin, and where it begins in bytes.
std::string_view window(const Value& self, const ArgumentReader& read, std::size_t& offset) {
  const std::string_view text = self.text();
  const auto n = static_cast<std::int64_t>(code_point_count(text));
  const auto clamp = [n](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n); };
  const std::int64_t from = clamp(read.integer("start", 0)), to = clamp(read.integer("end", n));
  std::size_t begin = 0;
  for (std::int64_t i = 0; i < from; ++i) next_code_point(text, begin);
  std::size_t end = begin;
  for (std::int64_t i = from; i < to; ++i) next_code_point(text, end);
  offset = static_cast<std::size_t>(from);
  return text.substr(begin, end - begin);
}

template <bool kLast, bool kMustBeThere>
Value find(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("find", arguments, {"sub", "start", "end"});
  std::size_t offset = 0;
  const std::string_view text = window(self, read, offset);
  const std::string& what = text_argument(read.required("sub"), "find");
  const std::size_t at = kLast ? text.rfind(what) : text.find(what);
  if (at != std::string_view::npos) {
    return static_cast<std::int64_t>(offset + code_point_count(text.substr(0, at)));
  }
  if (kMustBeThere) fail("substring not found");
  return -1;
}

Value count(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("count", arguments, {"sub", "start", "end"});
  std::size_t offset = 0;
  const std::string_view text = window(self, read, offset);
  const std::string& what = text_argument(read.required("sub"), "count");
  if (what.empty()) return static_cast<std::int64_t>(code_point_count(text)) + 1;
  std::int64_t n = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size()))
    ++n;
  return n;
}

template <bool kStart>
Value has_affix(const Value& self, const Arguments& arguments) {
  const ArgumentReader read(kStart ? "startswith" : "endswith", arguments, {"prefix", "start", "end"});
  std::size_t offset = 0;
  const std::string_view text = window(self, read, offset);
  const Value& what = read.required("prefix");
  const auto matches = [&](const Value& affix) {
    const std::string& wanted = text_argument(affix, kStart ? "startswith" : "endswith");
    return kStart ? text.starts_with(wanted) : text.ends_with(wanted);
  };
  if (!what.is_tuple()) return matches(what);
  return std::any_of(what.items().begin(), what.items().end(), matches);
}

template <bool kStart>
Value remove_affix(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("removeprefix", arguments, {"affix"});
  const std::string& affix = text_argument(read.required("affix"), "removeprefix");
  const MarkedString& text = self.as_string();
  if (kStart && text.text.starts_with(affix)) return text.slice(affix.size(), text.size());
  if (!kStart && text.text.ends_with(affix)) return text.slice(0, text.size() - affix.size());
  return self;
}

template <bool kLast>
Value partition(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("partition", arguments, {"sep"});
  const std::string& separator = text_argument(read.required("sep"), "partition");
  if (separator.empty()) fail("empty separator");
  const MarkedString& text = self.as_string();
  const std::size_t at = kLast ? text.text.rfind(separator) : text.text.find(separator);
  if (at == std::string::npos) {
    return Value::tuple(kLast ? List{Value(""), Value(""), self} : List{self, Value(""), Value("")});
  }
  const std::size_t end = at + separator.size();
  return Value::tuple({text.slice(0, at), text.slice(at, end), text.slice(end, text.size())});
}

Value replace(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("replace", arguments, {"old", "new", "count"});
  const std::string& old = text_argument(read.required("old"), "replace");
  text_argument(read.required("new"), "replace");
  return replace_text(self.as_string(), old, read.required("new").as_string(), read.integer("count", -1));
}

Value join(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("join", arguments, {"iterable"});
  const List items = iterate(read.required("iterable"));
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_string()) {
      fail("sequence item ", i, ": expected str instance, ", type_name(items[i]), " found");
    }
  }
  return join_text(self.as_string(), items);
}

Value splitlines(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("splitlines", arguments, {"keepends"});
  return split_lines(self.as_string(), read.flag("keepends", false));
}

template <std::string (*kChange)(std::string_view)>
Value change(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("str method", arguments, {});
  return self.as_string().derived(kChange(self.text()));
}

template <char kAlign>
Value pad(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("center", arguments, {"width", "fillchar"});
  read.required("width");
  return pad_text(self.as_string(), read.integer("width", 0), read.text("fillchar", " ").text, kAlign);
}

Value zfill(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("zfill", arguments, {"width"});
  const MarkedString& text = self.as_string();
  const bool sign = !text.text.empty() && (text.text[0] == '+' || text.text[0] == '-');
  const std::size_t head = sign ? 1 : 0;
  MarkedString out = text.slice(0, head);
  out.append(pad_text(text.slice(head, text.size()),
                      read.integer("width", 0) - static_cast<std::int64_t>(head), "0", '>'));
  return out;
}

Value format(const Value& self, const Arguments& arguments) {
  return format_braces(self.as_string(), arguments);
}

// All characters fulfil `kIs`, and there is one.
template <bool (*kIs)(char32_t)>
Value all_are(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("str method", arguments, {});
  const std::string& text = self.text();
  for (std::size_t i = 0; i < text.size();) {
    if (!kIs(next_code_point(text, i))) return false;
  }
  return !text.empty();
}

bool is_letter_or_number(char32_t c) {
  return is_alphabetic(c) || is_numeric(c);
}
bool is_ascii(char32_t c) {
  return c < 0x80;
}

// No letter of the other case, and one of this.
template <bool (*kIs)(char32_t), bool (*kOther)(char32_t)>
Value cased(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("str method", arguments, {});
  bool found = false;
  const std::string& text = self.text();
  for (std::size_t i = 0; i < text.size();) {
    const char32_t c = next_code_point(text, i);
    if (kOther(c)) return false;
    found = found || kIs(c);
  }
  return found;
}

constexpr NamedMethod kStringMethods[] = {{"capitalize", &change<to_capitalized>},
                                          {"casefold", &change<to_lower>},
                                          {"center", &pad<'^'>},
                                          {"count", &count},
                                          {"encode", nullptr},
                                          {"endswith", &has_affix<false>},
                                          {"expandtabs", nullptr},
                                          {"find", &find<false, false>},
                                          {"format", &format},
                                          {"format_map", nullptr},
                                          {"index", &find<false, true>},
                                          {"isalnum", &all_are<is_letter_or_number>},
                                          {"isalpha", &all_are<is_alphabetic>},
                                          {"isascii", &all_are<is_ascii>},
                                          {"isdecimal", &all_are<is_decimal>},
                                          {"isdigit", &all_are<is_decimal>},
                                          {"isidentifier", nullptr},
                                          {"islower", &cased<is_cased_lower, is_cased_upper>},
                                          {"isnumeric", &all_are<is_numeric>},
                                          {"isprintable", nullptr},
                                          {"isspace", &all_are<is_python_space>},
                                          {"istitle", nullptr},
                                          {"isupper", &cased<is_cased_upper, is_cased_lower>},
                                          {"join", &join},
                                          {"ljust", &pad<'<'>},
                                          {"lower", &change<to_lower>},
                                          {"lstrip", &strip<true, false>},
                                          {"maketrans", nullptr},
                                          {"partition", &partition<false>},
                                          {"removeprefix", &remove_affix<true>},
                                          {"removesuffix", &remove_affix<false>},
                                          {"replace", &replace},
                                          {"rfind", &find<true, false>},
                                          {"rindex", &find<true, true>},
                                          {"rjust", &pad<'>'>},
                                          {"rpartition", &partition<true>},
                                          {"rsplit", &split<true>},
                                          {"rstrip", &strip<false, true>},
                                          {"split", &split<false>},
                                          {"splitlines", &splitlines},
                                          {"startswith", &has_affix<true>},
                                          {"strip", &strip<true, true>},
                                          {"swapcase", &change<swap_case>},
                                          {"title", &change<to_title>},
                                          {"translate", nullptr},
                                          {"upper", &change<to_upper>},
                                          {"zfill", &zfill}};

// ---- list, tuple ----

Value sequence_index(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("index", arguments, {"value", "start", "stop"});
  const auto n = static_cast<std::int64_t>(self.items().size());
  const auto clamp = [n](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n); };
  for (std::int64_t i = clamp(read.integer("start", 0)); i < clamp(read.integer("stop", n)); ++i) {
    if (equal(self.items()[static_cast<std::size_t>(i)], read.required("value"))) return i;
  }
  fail(python_repr(read.required("value")).text, " is not in ", type_name(self));
}

Value sequence_count(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("count", arguments, {"value"});
  const auto same = [&](const Value& item) { return equal(item, read.required("value")); };
  return static_cast<std::int64_t>(std::count_if(self.items().begin(), self.items().end(), same));
}

Value list_copy(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("copy", arguments, {});
  return self.items();
}

constexpr NamedMethod kListMethods[] = {
    {"copy", &list_copy}, {"count", &sequence_count}, {"index", &sequence_index}};
constexpr std::string_view kUnsafeList[] = {"append", "clear",  "extend",  "insert",
                                            "pop",    "remove", "reverse", "sort"};
constexpr NamedMethod kTupleMethods[] = {{"count", &sequence_count}, {"index", &sequence_index}};

// ---- dict ----

Value view(const char* type, List items) {
  return std::static_pointer_cast<Object>(std::make_shared<Items>(type, std::move(items), false));
}

Value dict_items(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("items", arguments, {});
  List pairs;
  for (const auto& [key, value] : self.as_dict().entries) pairs.push_back(Value::tuple({key, value}));
  return view("dict_items", std::move(pairs));
}

Value dict_keys(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("keys", arguments, {});
  return view("dict_keys", iterate(self));
}

Value dict_values(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("values", arguments, {});
  List values;
  for (const auto& entry : self.as_dict().entries) values.push_back(entry.second);
  return view("dict_values", std::move(values));
}

Value dict_get(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("get", arguments, {"key", "default"});
  const Value& key = read.required("key");
  if (key.is_list() || key.is_dict()) fail("unhashable type: '", type_name(key), "'");
  const Value* found = self.as_dict().find(key);
  return found != nullptr ? *found : read.value("default", Value());
}

Value dict_copy(const Value& self, const Arguments& arguments) {
  const ArgumentReader read("copy", arguments, {});
  return std::shared_ptr<const Dict>(std::make_shared<Dict>(self.as_dict()));
}

constexpr NamedMethod kDictMethods[] = {{"copy", &dict_copy}, {"fromkeys", nullptr},
                                        {"get", &dict_get},   {"items", &dict_items},
                                        {"keys", &dict_keys}, {"values", &dict_values}};
constexpr std::string_view kUnsafeDict[] = {"clear", "pop", "popitem", "setdefault", "update"};

template <std::size_t kCount>
std::optional<Value> method_of(const Value& self, const NamedMethod (&methods)[kCount],
                               std::string_view name) {
  const auto* found = std::find_if(std::begin(methods), std::end(methods),
                                   [name](const NamedMethod& entry) { return entry.name == name; });
  if (found == std::end(methods)) return std::nullopt;
  return Value(std::static_pointer_cast<Object>(std::make_shared<Function>(
      concat(type_name(self), ".", name), [self, entry = *found](Interpreter&, const Arguments& arguments) {
        if (entry.method == nullptr)
          fail("method '", entry.name, "' of ", type_name(self), " is not supported");
        return entry.method(self, arguments);
      })));
}

template <std::size_t kCount>
std::optional<Value> unsafe(const Value& self, const std::string_view (&names)[kCount],
                            std::string_view name) {
  if (std::find(std::begin(names), std::end(names), name) == std::end(names)) return std::nullopt;
  return Value::undefined(
      concat("access to attribute '", name, "' of '", type_name(self), "' object is unsafe."));
}

}  // namespace

std::optional<Value> bound_method(const Value& self, std::string_view name) {
  if (self.is_string()) return method_of(self, kStringMethods, name);
  if (self.is_tuple()) return method_of(self, kTupleMethods, name);
  if (self.is_list()) {
    if (auto refused = unsafe(self, kUnsafeList, name)) return refused;
    return method_of(self, kListMethods, name);
  }
  if (self.is_dict()) {
    if (auto refused = unsafe(self, kUnsafeDict, name)) return refused;
    return method_of(self, kDictMethods, name);
  }
  return std::nullopt;
}

}  // namespace loongforge::jinja
