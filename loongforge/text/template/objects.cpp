#include "loongforge/text/template/objects.h"

#include <algorithm>

#include "loongforge/text/template/ast.h"

namespace loongforge::jinja {

std::string Namespace::repr() const {
  MarkedString out("<Namespace {");
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (i > 0) out.append(", ");
    out.append(python_repr(entries_[i].first));
    out.append(": ");
    out.append(python_repr(entries_[i].second));
  }
  return out.text + "}>";
}

std::optional<Value> Namespace::attribute(std::string_view name) const {
  for (const auto& [known, value] : entries_) {
    if (known == name) return value;
  }
  return std::nullopt;
}

void Namespace::set(const std::string& name, Value value) {
  const int inside = value.depth();
  if (inside >= Value::kMostDepth) fail("a namespace is nested deeper than ", Value::kMostDepth, " levels");
  if (value.object_as<Namespace>() == this) fail("a namespace cannot hold itself");
  depth_ = std::max(depth_, inside + 1);
  for (auto& [known, old] : entries_) {
    if (known == name) {
      old = std::move(value);
      return;
    }
  }
  entries_.emplace_back(name, std::move(value));
}

std::string Items::repr() const {
  if (type_ == "range") {
    const auto first = items_.empty() ? 0 : items_.front().as_int();
    const auto step = items_.size() > 1 ? items_[1].as_int() - first : 1;
    const auto stop = items_.empty() ? 0 : items_.back().as_int() + (step > 0 ? 1 : -1);
    return step == 1 ? concat("range(", first, ", ", stop, ")")
                     : concat("range(", first, ", ", stop, ", ", step, ")");
  }
  if (once_) return concat("<", type_, " object>");
  return type_ + "(" + python_repr(Value(items_)).text + ")";
}

std::optional<List> Items::iterate() {
  if (!once_) return items_;
  return std::exchange(items_, {});
}

std::optional<std::size_t> Items::length() const {
  if (once_) return std::nullopt;
  return items_.size();
}

int Items::depth() const {
  int inner = 0;
  for (const Value& item : items_) inner = std::max(inner, item.depth());
  return inner + 1;
}

Value generator(List items) {
  return std::static_pointer_cast<Object>(std::make_shared<Items>("generator", std::move(items), true));
}

std::string LoopState::repr() const {
  return concat("<LoopContext ", index_ + 1, "/", items_.size(), ">");
}

std::optional<Value> LoopState::attribute(std::string_view name) const {
  const auto n = static_cast<std::int64_t>(items_.size()), i = static_cast<std::int64_t>(index_);
  if (name == "index") return i + 1;
  if (name == "index0") return i;
  if (name == "revindex") return n - i;
  if (name == "revindex0") return n - i - 1;
  if (name == "first") return i == 0;
  if (name == "last") return i + 1 == n;
  if (name == "length") return n;
  if (name == "depth") return static_cast<std::int64_t>(depth_) + 1;
  if (name == "depth0") return static_cast<std::int64_t>(depth_);
  if (name == "previtem") return i == 0 ? Value::undefined("there is no previous item") : items_[index_ - 1];
  if (name == "nextitem") return i + 1 >= n ? Value::undefined("there is no next item") : items_[index_ + 1];
  const auto self = const_cast<LoopState*>(this)->shared_from_this();
  const auto method = [&](const char* method_name, Function::Body body) {
    return Value(std::static_pointer_cast<Object>(std::make_shared<Function>(method_name, std::move(body))));
  };
  if (name == "cycle")
    return method("cycle", [self](Interpreter&, const Arguments& a) { return self->cycle(a); });
  if (name == "changed")
    return method("changed", [self](Interpreter&, const Arguments& a) { return self->changed(a); });
  return std::nullopt;
}

Value LoopState::cycle(const Arguments& arguments) const {
  if (arguments.positional.empty()) fail("no items for cycling given");
  return arguments.positional[index_ % arguments.positional.size()];
}

Value LoopState::changed(const Arguments& arguments) {
  const bool same = last_changed_ && equal(Value(*last_changed_), Value(arguments.positional));
  last_changed_ = arguments.positional;
  return !same;
}

Value LoopState::call(Interpreter&, const Arguments& arguments) {
  if (!recurse_) fail("The loop must have the 'recursive' marker to be called recursively.");
  if (arguments.positional.size() != 1) fail("loop() takes one argument");
  return recurse_(arguments.positional[0], depth_ + 1);
}

std::string MacroObject::repr() const {
  return concat("<Macro '", macro_.name, "'>");
}

std::optional<Value> MacroObject::attribute(std::string_view name) const {
  if (name == "name") return Value(macro_.name);
  if (name != "arguments") return std::nullopt;
  List names;
  for (const auto& parameter : macro_.signature.parameters) names.emplace_back(parameter.first);
  return Value::tuple(std::move(names));
}

void MacroObject::bind(Frame& frame, const Arguments& arguments) const {
  auto& variables = frame.scope->variables;
  const auto& parameters = macro_.signature.parameters;
  List extra;
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    if (i < parameters.size()) {
      variables[parameters[i].first] = arguments.positional[i];
    } else {
      extra.push_back(arguments.positional[i]);
    }
  }
  auto rest = std::make_shared<Dict>();
  for (const auto& [name, value] : arguments.named) {
    const auto same = [&](const auto& parameter) { return parameter.first == name; };
    if (std::any_of(parameters.begin(), parameters.end(), same)) {
      if (variables.contains(name))
        fail("macro '", macro_.name, "' got multiple values for argument '", name, "'");
      variables[name] = value;
    } else if (name == "caller" && macro_.uses_caller) {
      variables[name] = value;
    } else {
      if (!macro_.uses_kwargs) fail("macro '", macro_.name, "' takes no keyword argument '", name, "'");
      rest->set(name, value);
    }
  }
  if (!extra.empty() && !macro_.uses_varargs) {
    fail("macro '", macro_.name, "' takes not more than ", parameters.size(), " argument(s)");
  }
  variables["varargs"] = Value::tuple(std::move(extra));
  variables["kwargs"] = Value(std::shared_ptr<const Dict>(rest));
  if (!variables.contains("caller")) variables["caller"] = Value::undefined("No caller defined");
  for (const auto& [name, value] : parameters) {
    if (variables.contains(name)) continue;
    variables[name] =
        value ? evaluate(*value, frame) : Value::undefined(concat("parameter '", name, "' was not provided"));
  }
}

Value MacroObject::call(Interpreter& interpreter, const Arguments& arguments) {
  MarkedString out;
  auto scope = std::make_shared<Scope>();
  // Not an owner: the scope of a macro is kept by the interpreter.
  scope->parent = std::shared_ptr<Scope>(std::shared_ptr<Scope>(), scope_);
  Frame frame{interpreter, std::move(scope), out, nullptr};
  bind(frame, arguments);
  run_body(macro_.body, frame);
  return out;
}

}  // namespace loongforge::jinja
