#include "loongforge/text/template/value.h"

#include <algorithm>
#include <cmath>

#include "loongforge/text/unicode.h"

namespace loongforge::jinja {

namespace {

int depth_around(int inner) {
  if (inner >= Value::kMostDepth) fail("a value is nested deeper than ", Value::kMostDepth, " levels");
  return inner + 1;
}

int depth_of(const List& items) {
  int inner = 0;
  for (const Value& item : items) inner = std::max(inner, item.depth());
  return depth_around(inner);
}

int depth_of(const Dict& dict) {
  int inner = 0;
  for (const auto& entry : dict.entries) inner = std::max(inner, entry.second.depth());
  return depth_around(inner);
}

}  // namespace

Value::Value(List items) : depth_(depth_of(items)) {
  data_ = std::make_shared<const List>(std::move(items));
}

Value::Value(std::shared_ptr<const Dict> dict) : depth_(depth_of(*dict)) {
  data_ = std::move(dict);
}

int Value::depth() const {
  return is_object() ? as_object().depth() : depth_;
}

Value Value::tuple(List items) {
  Value value;
  value.depth_ = depth_of(items);
  value.data_ = Tuple{std::make_shared<const List>(std::move(items))};
  return value;
}

const void* Value::identity() const {
  if (is_dict()) return get<Dict>().get();
  if (is_list()) return get<List>().get();
  if (is_string()) return get<MarkedString>().get();
  if (is_tuple()) return std::get<Tuple>(data_).items.get();
  if (is_object()) return std::get<std::shared_ptr<Object>>(data_).get();
  return nullptr;
}

void Dict::set(const Value& key, Value value) {
  if (key.is_list() || key.is_dict()) fail("unhashable type: '", type_name(key), "'");
  if (key.is_string()) {
    const auto [at, fresh] = by_text_.try_emplace(key.text(), entries.size());
    if (!fresh) {
      entries[at->second].second = std::move(value);
      return;
    }
  } else {
    for (auto& [known, old] : entries) {
      if (equal(known, key)) {
        old = std::move(value);
        return;
      }
    }
  }
  entries.emplace_back(key, std::move(value));
}

const Value* Dict::find(const Value& key) const {
  if (key.is_string()) return find(std::string_view(key.text()));
  for (const auto& [known, value] : entries) {
    if (equal(known, key)) return &value;
  }
  return nullptr;
}

const Value* Dict::find(std::string_view key) const {
  const auto found = by_text_.find(std::string(key));
  return found == by_text_.end() ? nullptr : &entries[found->second].second;
}

Value Object::call(Interpreter&, const Arguments&) {
  fail("'", type_name(), "' object is not callable");
}

std::string type_name(const Value& value) {
  if (value.is_none()) return "NoneType";
  if (value.is_undefined()) return "Undefined";
  if (value.is_bool()) return "bool";
  if (value.is_int()) return "int";
  if (value.is_float()) return "float";
  if (value.is_string()) return value.as_string().safe ? "Markup" : "str";
  if (value.is_list()) return "list";
  if (value.is_tuple()) return "tuple";
  if (value.is_dict()) return "dict";
  return value.as_object().type_name();
}

void require_defined(const Value& value) {
  if (value.is_undefined()) fail(value.undefined_hint());
}

bool truth(const Value& value) {
  if (value.is_none() || value.is_undefined()) return false;
  if (value.is_bool()) return value.as_bool();
  if (value.is_number()) return value.as_float() != 0;
  if (value.is_object()) return value.as_object().truth();
  return length_of(value).value_or(1) != 0;
}

namespace {

bool equal_items(const List& a, const List& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Value& x, const Value& y) { return equal(x, y); });
}

bool equal_dicts(const Dict& a, const Dict& b) {
  if (a.entries.size() != b.entries.size()) return false;
  return std::all_of(a.entries.begin(), a.entries.end(), [&](const auto& entry) {
    const Value* other = b.find(entry.first);
    return other != nullptr && equal(entry.second, *other);
  });
}

int sign(std::int64_t a, std::int64_t b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (a.is_undefined() || b.is_undefined()) return a.is_undefined() && b.is_undefined();
  if (a.is_number() && b.is_number()) {
    if (a.is_float() || b.is_float()) return a.as_float() == b.as_float();
    return a.as_int() == b.as_int();
  }
  if (a.is_string() && b.is_string()) return a.text() == b.text();
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if ((a.is_list() && b.is_list()) || (a.is_tuple() && b.is_tuple()))
    return equal_items(a.items(), b.items());
  if (a.is_dict() && b.is_dict()) return equal_dicts(a.as_dict(), b.as_dict());
  return a.is_object() && b.is_object() && a.identity() == b.identity();
}

int compare(const Value& a, const Value& b) {
  require_defined(a);
  require_defined(b);
  if (a.is_number() && b.is_number()) {
    if (a.is_float() || b.is_float()) {
      const double x = a.as_float(), y = b.as_float();
      return x < y ? -1 : x > y ? 1 : 0;
    }
    return sign(a.as_int(), b.as_int());
  }
  // UTF-8 sorts as its code points do.
  if (a.is_string() && b.is_string()) return sign(a.text().compare(b.text()), 0);
  if ((a.is_list() && b.is_list()) || (a.is_tuple() && b.is_tuple())) {
    const List &x = a.items(), &y = b.items();
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (!equal(x[i], y[i])) return compare(x[i], y[i]);
    }
    return sign(static_cast<std::int64_t>(x.size()), static_cast<std::int64_t>(y.size()));
  }
  fail("'<' not supported between instances of '", type_name(a), "' and '", type_name(b), "'");
}

std::optional<std::size_t> length_of(const Value& value) {
  if (value.is_undefined()) return 0;
  if (value.is_string()) return code_point_count(value.text());
  if (value.is_list() || value.is_tuple()) return value.items().size();
  if (value.is_dict()) return value.as_dict().entries.size();
  if (value.is_object()) return value.as_object().length();
  return std::nullopt;
}

bool is_iterable(const Value& value) {
  if (value.is_undefined() || value.is_string() || value.is_list() || value.is_tuple() || value.is_dict())
    return true;
  return value.is_object() && value.as_object().iterable();
}

List iterate(const Value& value) {
  if (value.is_undefined()) return {};
  if (value.is_list() || value.is_tuple()) return value.items();
  List out;
  if (value.is_string()) {
    const MarkedString& text = value.as_string();
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t begin = i;
      next_code_point(text.text, i);
      out.emplace_back(text.slice(begin, i));
    }
    return out;
  }
  if (value.is_dict()) {
    for (const auto& entry : value.as_dict().entries) out.push_back(entry.first);
    return out;
  }
  if (value.is_object()) {
    if (auto items = value.as_object().iterate()) return std::move(*items);
  }
  fail("'", type_name(value), "' object is not iterable");
}

bool contains(const Value& container, const Value& needle) {
  if (container.is_string()) {
    if (!needle.is_string()) {
      fail("'in <string>' requires string as left operand, not ", type_name(needle));
    }
    return container.text().find(needle.text()) != std::string::npos;
  }
  if (container.is_dict()) {
    if (needle.is_list() || needle.is_dict()) fail("unhashable type: '", type_name(needle), "'");
    return container.as_dict().find(needle) != nullptr;
  }
  if (!is_iterable(container)) fail("argument of type '", type_name(container), "' is not iterable");
  const List items = iterate(container);
  return std::any_of(items.begin(), items.end(), [&](const Value& item) { return equal(item, needle); });
}

Value from_json(const Json& json, bool words) {
  if (json.is_null()) return Value();
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    return json.get<double>();
  }
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) {
    MarkedString text(json.get<std::string>());
    if (words) text.mark_from(0, kWords);
    return text;
  }
  if (json.is_array()) {
    List items;
    for (const Json& item : json) items.push_back(from_json(item, words));
    return items;
  }
  auto dict = std::make_shared<Dict>();
  for (const auto& [key, item] : json.items()) {
    dict->set(key, from_json(item, words));
  }
  return std::shared_ptr<const Dict>(std::move(dict));
}

Value message_from_json(const Json& message) {
  if (!message.is_object()) return from_json(message);
  auto dict = std::make_shared<Dict>();
  for (const auto& [key, item] : message.items()) {
    dict->set(key, from_json(item, key != "role" && key != "name"));
  }
  return std::shared_ptr<const Dict>(std::move(dict));
}

}  // namespace loongforge::jinja
