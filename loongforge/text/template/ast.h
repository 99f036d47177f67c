// The tree of a parsed template; every node evaluates itself.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loongforge/text/template/interpreter.h"
#include "loongforge/text/template/value.h"

namespace loongforge::jinja {

// What a statement asks of the loop around it.
enum class Flow { kNext, kBreak, kContinue };

struct Expression {
  int line = 1;
  virtual ~Expression() = default;
  virtual Value eval(Frame& frame) const = 0;
};
using ExpressionPtr = std::unique_ptr<const Expression>;

struct Statement {
  int line = 1;
  virtual ~Statement() = default;
  virtual Flow run(Frame& frame) const = 0;
};
using Body = std::vector<std::unique_ptr<const Statement>>;

// Evaluates with the line noted for messages and the depth of nesting limited.
Value evaluate(const Expression& expression, Frame& frame);
Flow run_body(const Body& body, Frame& frame);

struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr spread, spread_named;  // *args, **kwargs
  Arguments eval(Frame& frame) const;
};

// ---- expressions ----

struct Constant : Expression {
  Value value;
  Value eval(Frame&) const override { return value; }
};
struct Name : Expression {
  std::string name;
  Value eval(Frame& frame) const override;
};
struct Sequence : Expression {
  std::vector<ExpressionPtr> items;
  bool tuple = false;
  Value eval(Frame& frame) const override;
};
struct DictLiteral : Expression {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
  Value eval(Frame& frame) const override;
};
struct GetAttribute : Expression {
  ExpressionPtr object;
  std::string name;
  Value eval(Frame& frame) const override;
};
struct GetItem : Expression {
  ExpressionPtr object, key;
  Value eval(Frame& frame) const override;
};
struct Slice : Expression {
  ExpressionPtr object, start, stop, step;  // the last three may be null
  Value eval(Frame& frame) const override;
};
struct Call : Expression {
  ExpressionPtr callee;
  CallArguments arguments;
  Value eval(Frame& frame) const override;
};
struct Filter : Expression {
  ExpressionPtr input;  // null: the body of a block
  std::string name;
  CallArguments arguments;
  Value apply(Frame& frame, const Value& input) const;
  Value eval(Frame& frame) const override;
};
struct Test : Expression {
  ExpressionPtr input;
  std::string name;
  CallArguments arguments;
  Value eval(Frame& frame) const override;
};
struct Not : Expression {
  ExpressionPtr operand;
  Value eval(Frame& frame) const override;
};
struct Logical : Expression {
  ExpressionPtr left, right;
  bool both = true;  // and; otherwise or
  Value eval(Frame& frame) const override;
};
struct Compare : Expression {
  ExpressionPtr first;
  std::vector<std::pair<std::string, ExpressionPtr>> rest;  // operator ("==", "in", "not in"), operand
  Value eval(Frame& frame) const override;
};
struct Binary : Expression {
  std::string op;
  ExpressionPtr left, right;
  Value eval(Frame& frame) const override;
};
struct Negate : Expression {
  ExpressionPtr operand;
  bool minus = true;
  Value eval(Frame& frame) const override;
};
struct Concat : Expression {
  std::vector<ExpressionPtr> parts;
  Value eval(Frame& frame) const override;
};
struct Conditional : Expression {
  ExpressionPtr test, then, otherwise;  // `otherwise` may be null
  Value eval(Frame& frame) const override;
};

// ---- statements ----

// Where an assignment goes: a name, an attribute of a namespace, or a tuple of them.
struct Target {
  std::string name, attribute;  // attribute empty: a plain name
  std::vector<Target> parts;    // not empty: unpack
};

struct Output : Statement {
  std::vector<ExpressionPtr> parts;
  Flow run(Frame& frame) const override;
};
struct For : Statement {
  Target target;
  ExpressionPtr items, test;  // `test` may be null
  Body body, otherwise;
  bool recursive = false;
  Flow run(Frame& frame) const override;
};
struct If : Statement {
  std::vector<std::pair<ExpressionPtr, Body>> branches;
  Body otherwise;
  Flow run(Frame& frame) const override;
};
struct Set : Statement {
  Target target;
  ExpressionPtr value;
  Flow run(Frame& frame) const override;
};
struct SetBlock : Statement {
  Target target;
  std::unique_ptr<const Filter> filter;  // outermost of a chain; may be null
  Body body;
  Flow run(Frame& frame) const override;
};
struct Signature {
  std::vector<std::pair<std::string, ExpressionPtr>> parameters;  // name, default or null
};
struct Macro : Statement {
  std::string name;
  Signature signature;
  Body body;
  // Whether the body speaks of these names; without, a call may not pass what they would hold.
  bool uses_varargs = false, uses_kwargs = false, uses_caller = false;
  Flow run(Frame& frame) const override;
};
struct CallBlock : Statement {
  Macro body;  // what caller() runs
  std::unique_ptr<const Call> call;
  Flow run(Frame& frame) const override;
};
struct FilterBlock : Statement {
  std::unique_ptr<const Filter> filter;
  Body body;
  Flow run(Frame& frame) const override;
};
struct With : Statement {
  std::vector<std::pair<Target, ExpressionPtr>> values;
  Body body;
  Flow run(Frame& frame) const override;
};
struct Generation : Statement {
  Body body;
  Flow run(Frame& frame) const override;
};
struct Jump : Statement {
  Flow flow = Flow::kBreak;
  Flow run(Frame&) const override { return flow; }
};

// A whole template.
struct Program {
  Body body;
  bool has_generation = false;
};

}  // namespace loongforge::jinja
