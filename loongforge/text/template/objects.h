// Values with a behaviour of their own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loongforge/text/template/interpreter.h"

namespace loongforge::jinja {

struct Macro;

// namespace(...): the only value whose attributes a template may set.
class Namespace : public Object {
 public:
  std::string repr() const override;
  std::string type_name() const override { return "Namespace"; }
  std::optional<Value> attribute(std::string_view name) const override;
  int depth() const override { return depth_; }
  void set(const std::string& name, Value value);
  void clear() { entries_.clear(); }

 private:
  std::vector<std::pair<std::string, Value>> entries_;
  int depth_ = 1;
};

// A function of the host: a global, or a method bound to its object.
class Function : public Object {
 public:
  using Body = std::function<Value(Interpreter&, const Arguments&)>;
  Function(std::string name, Body body) : name_(std::move(name)), body_(std::move(body)) {}
  std::string repr() const override { return "<function " + name_ + ">"; }
  std::string type_name() const override { return "function"; }
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, const Arguments& arguments) override {
    return body_(interpreter, arguments);
  }

 private:
  std::string name_;
  Body body_;
};

// {% macro %}, and caller() of {% call %}.
class MacroObject : public Object {
 public:
  // `scope` must outlive the object: Interpreter::keep.
  MacroObject(const Macro& macro, Scope* scope) : macro_(macro), scope_(scope) {}
  std::string repr() const override;
  std::string type_name() const override { return "Macro"; }
  std::optional<Value> attribute(std::string_view name) const override;
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, const Arguments& arguments) override;

 private:
  void bind(Frame& frame, const Arguments& arguments) const;
  const Macro& macro_;
  Scope* scope_;
};

// Items that can be read once (what filters such as map return), or any number of times (views of a dict).
class Items : public Object {
 public:
  // `once`: a generator, empty after the first reading.
  Items(std::string type, List items, bool once)
      : type_(std::move(type)), items_(std::move(items)), once_(once) {}
  std::string repr() const override;
  std::string type_name() const override { return type_; }
  bool iterable() const override { return true; }
  std::optional<List> iterate() override;
  std::optional<std::size_t> length() const override;
  bool truth() const override { return once_ || !items_.empty(); }
  int depth() const override;
  // Range objects can be indexed.
  const List* indexed() const { return type_ == "range" ? &items_ : nullptr; }

 private:
  std::string type_;
  List items_;
  bool once_;
};

Value generator(List items);

// `loop` of a {% for %}.
class LoopState : public Object, public std::enable_shared_from_this<LoopState> {
 public:
  using Recurse = std::function<Value(const Value& items, int depth)>;
  LoopState(List items, int depth, Recurse recurse)
      : items_(std::move(items)), depth_(depth), recurse_(std::move(recurse)) {}
  std::string repr() const override;
  std::string type_name() const override { return "LoopContext"; }
  std::optional<Value> attribute(std::string_view name) const override;
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, const Arguments& arguments) override;

  const List& items() const { return items_; }
  void move_to(std::size_t index) { index_ = index; }
  // Breaks the reference from the loop to itself through its scope.
  void end() { recurse_ = nullptr; }
  Value cycle(const Arguments& arguments) const;
  Value changed(const Arguments& arguments);

 private:
  List items_;
  std::size_t index_ = 0;
  int depth_;
  Recurse recurse_;
  std::optional<List> last_changed_;
};

}  // namespace loongforge::jinja
