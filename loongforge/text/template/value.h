// Values of the template language: those of Python that a chat template can meet.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/text/template/marked_string.h"
#include "loongforge/text/template/template_error.h"

namespace loongforge::jinja {

class Value;
struct Dict;
class Object;
using List = std::vector<Value>;

// Positional and named arguments of a call.
struct Arguments;

// jinja2's default Undefined: prints nothing, is empty and false; everything else fails with `hint`.
struct Undefined {
  std::string hint;
};

struct Tuple {
  std::shared_ptr<const List> items;
};

class Value {
 public:
  struct None {};

  Value() : data_(None{}) {}
  Value(Undefined undefined) : data_(std::make_shared<const Undefined>(std::move(undefined))) {}  // NOLINT
  Value(bool value) : data_(value) {}                                                             // NOLINT
  Value(std::int64_t value) : data_(value) {}                                                     // NOLINT
  Value(int value) : data_(static_cast<std::int64_t>(value)) {}                                   // NOLINT
  Value(double value) : data_(value) {}                                                           // NOLINT
  Value(MarkedString text) : data_(std::make_shared<const MarkedString>(std::move(text))) {}      // NOLINT
  Value(std::string text) : Value(MarkedString(std::move(text))) {}                               // NOLINT
  Value(const char* text) : Value(MarkedString(text)) {}                                          // NOLINT
  Value(List items);                                                                              // NOLINT
  Value(std::shared_ptr<const Dict> dict);                                                        // NOLINT
  Value(std::shared_ptr<Object> object) : data_(std::move(object)) {}                             // NOLINT
  static Value tuple(List items);
  static Value undefined(std::string hint) { return Undefined{std::move(hint)}; }

  bool is_none() const { return std::holds_alternative<None>(data_); }
  bool is_undefined() const { return holds<Undefined>(); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<std::int64_t>(data_); }
  bool is_float() const { return std::holds_alternative<double>(data_); }
  // int, float or bool: what Python counts as a number.
  bool is_number() const { return is_bool() || is_int() || is_float(); }
  bool is_string() const { return holds<MarkedString>(); }
  bool is_list() const { return holds<List>(); }
  bool is_tuple() const { return std::holds_alternative<Tuple>(data_); }
  bool is_dict() const { return holds<Dict>(); }
  bool is_object() const { return std::holds_alternative<std::shared_ptr<Object>>(data_); }

  bool as_bool() const { return std::get<bool>(data_); }
  // An int or bool as int.
  std::int64_t as_int() const { return is_bool() ? as_bool() : std::get<std::int64_t>(data_); }
  // Any number as float.
  double as_float() const { return is_float() ? std::get<double>(data_) : static_cast<double>(as_int()); }
  const MarkedString& as_string() const { return *get<MarkedString>(); }
  const std::string& text() const { return as_string().text; }
  // The items of a list or tuple.
  const List& items() const { return is_tuple() ? *std::get<Tuple>(data_).items : *get<List>(); }
  const Dict& as_dict() const { return *get<Dict>(); }
  Object& as_object() const { return *std::get<std::shared_ptr<Object>>(data_); }
  template <typename Kind>
  Kind* object_as() const {
    return is_object() ? dynamic_cast<Kind*>(&as_object()) : nullptr;
  }
  const std::string& undefined_hint() const { return get<Undefined>()->hint; }

  // Containers inside containers: 0 for plain values. Building a value deeper than kMostDepth fails, so that
  // no recursion over a value can exhaust the stack.
  int depth() const;
  static constexpr int kMostDepth = 400;

  // Address of the shared content: equal for two handles of one Python object; null for plain values.
  const void* identity() const;

 private:
  template <typename T>
  bool holds() const {
    return std::holds_alternative<std::shared_ptr<const T>>(data_);
  }
  template <typename T>
  const std::shared_ptr<const T>& get() const {
    return std::get<std::shared_ptr<const T>>(data_);
  }

  std::variant<None, std::shared_ptr<const Undefined>, bool, std::int64_t, double,
               std::shared_ptr<const MarkedString>, std::shared_ptr<const List>, Tuple,
               std::shared_ptr<const Dict>, std::shared_ptr<Object>>
      data_;
  int depth_ = 0;
};

// Keys in the order of their insertion.
struct Dict {
  std::vector<std::pair<Value, Value>> entries;

  // Adds or replaces.
  void set(const Value& key, Value value);
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;

 private:
  std::unordered_map<std::string, std::size_t> by_text_;
};

struct Arguments {
  List positional;
  std::vector<std::pair<std::string, Value>> named;
};

class Interpreter;

// Everything with a behaviour of its own: functions, macros, namespaces, loops, iterators.
class Object {
 public:
  virtual ~Object() = default;
  // As Python prints it.
  virtual std::string repr() const = 0;
  virtual std::string type_name() const = 0;
  virtual std::optional<Value> attribute(std::string_view) const { return std::nullopt; }
  virtual bool callable() const { return false; }
  virtual Value call(Interpreter&, const Arguments&);
  virtual bool iterable() const { return false; }
  // Items for a loop; none when it cannot be iterated. Empties what can be read only once.
  virtual std::optional<List> iterate() { return std::nullopt; }
  // Number of items; none when it has no len().
  virtual std::optional<std::size_t> length() const { return std::nullopt; }
  virtual bool truth() const { return true; }
  // As Value::depth().
  virtual int depth() const { return 1; }
};

// Python's name of a value's type: "str", "dict", ...
std::string type_name(const Value& value);
// bool(value).
bool truth(const Value& value);
// ==
bool equal(const Value& a, const Value& b);
// -1, 0, 1; fails for values that have no order.
int compare(const Value& a, const Value& b);
// The items of a loop over `value`; fails when it is not iterable.
List iterate(const Value& value);
bool is_iterable(const Value& value);
// len(value); none when it has no length.
std::optional<std::size_t> length_of(const Value& value);
// `needle in container`.
bool contains(const Value& container, const Value& needle);
// Fails with "'x' is undefined" when the value is.
void require_defined(const Value& value);

// str(value) with marks, and repr(value).
MarkedString to_text(const Value& value);
MarkedString python_repr(const Value& value);
// repr of a float: shortest digits that read back the same.
std::string float_repr(double value);

// JSON to values. With `words`, every string is marked as words of a message.
Value from_json(const Json& json, bool words = false);
// One message: all its strings are words, except its own `role` and `name`.
Value message_from_json(const Json& message);

}  // namespace loongforge::jinja
