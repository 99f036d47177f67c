// What a running template shares: variables, output, limits.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "loongforge/text/template/value.h"

namespace loongforge::jinja {

// Variables of one block; what it lacks is looked up in `parent`.
struct Scope {
  std::unordered_map<std::string, Value> variables;
  std::shared_ptr<Scope> parent;
};

class Namespace;

// One rendering.
class Interpreter {
 public:
  // `now`: what strftime_now shows.
  explicit Interpreter(std::time_t now);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Counts a step; fails when a template runs away. `depth_guard` of ast.cpp limits nesting.
  void tick();

  // Message index of a value, or -1.
  int message_of(const Value& value) const;
  void note_message(const Value& message, int index) { messages_[message.identity()] = index; }
  // Keeps a scope alive for the macros defined in it.
  void keep(std::shared_ptr<Scope> scope) { kept_.push_back(std::move(scope)); }
  void keep(std::weak_ptr<Namespace> space) { spaces_.push_back(std::move(space)); }

  const std::shared_ptr<Scope>& globals() const { return globals_; }
  std::time_t now() const { return now_; }

  int line = 1;       // of the node that runs
  int depth = 0;      // of nested evaluation
  int open_turn = 0;  // loops over messages around the node that runs

 private:
  std::shared_ptr<Scope> globals_;
  std::unordered_map<const void*, int> messages_;
  std::vector<std::shared_ptr<Scope>> kept_;
  std::vector<std::weak_ptr<Namespace>> spaces_;
  std::time_t now_;
  std::int64_t steps_ = 0;
};

// Where a node runs.
struct Frame {
  Interpreter& interpreter;
  std::shared_ptr<Scope> scope;
  MarkedString& out;
  // The message that the loop iteration around the node is about; -1 when none yet; null outside loops.
  int* turn = nullptr;

  // The same place with a fresh scope inside.
  Frame inner() const {
    auto fresh = std::make_shared<Scope>();
    fresh->parent = scope;
    return {interpreter, std::move(fresh), out, turn};
  }
  Frame writing_to(MarkedString& other) const { return {interpreter, scope, other, nullptr}; }
};

// The variable, or Undefined.
Value lookup(const Scope& scope, const std::string& name);

// value.name and value[key] as jinja2's sandbox resolves them.
Value get_attribute(const Value& value, const std::string& name);
Value get_item(const Value& value, const Value& key);
// value[start:stop:step]; None for a missing bound.
Value get_slice(const Value& value, const Value& start, const Value& stop, const Value& step);
// Calls a macro, method or function; fails for anything else.
Value call_value(Interpreter& interpreter, const Value& callee, const Arguments& arguments);

// a op b for + - * / // % **.
Value binary_operation(const std::string& op, const Value& a, const Value& b);
// a op b for == != < <= > >= in, not in.
bool comparison(const std::string& op, const Value& a, const Value& b);

// Filters and tests by name; fail for unknown ones.
Value apply_filter(Interpreter& interpreter, const std::string& name, const Value& input,
                   const Arguments& arguments);
bool apply_test(Interpreter& interpreter, const std::string& name, const Value& input,
                const Arguments& arguments);

// A method of str, list, tuple or dict; none when the type has no such attribute.
std::optional<Value> bound_method(const Value& self, std::string_view name);

// range, namespace, dict, cycler, joiner, raise_exception, strftime_now.
void add_globals(Scope& scope);

}  // namespace loongforge::jinja
