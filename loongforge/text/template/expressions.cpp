// Evaluation of expressions.
#include "loongforge/text/template/ast.h"
#include "loongforge/text/template/objects.h"

namespace loongforge::jinja {

Value Name::eval(Frame& frame) const {
  return lookup(*frame.scope, name);
}

Value Sequence::eval(Frame& frame) const {
  List values;
  values.reserve(items.size());
  for (const auto& item : items) values.push_back(evaluate(*item, frame));
  return tuple ? Value::tuple(std::move(values)) : Value(std::move(values));
}

Value DictLiteral::eval(Frame& frame) const {
  auto dict = std::make_shared<Dict>();
  for (const auto& [key, value] : entries) {
    const Value name = evaluate(*key, frame);
    dict->set(name, evaluate(*value, frame));
  }
  return std::shared_ptr<const Dict>(std::move(dict));
}

Value GetAttribute::eval(Frame& frame) const {
  const Value value = evaluate(*object, frame);
  frame.interpreter.line = line;
  return get_attribute(value, name);
}

Value GetItem::eval(Frame& frame) const {
  const Value value = evaluate(*object, frame);
  const Value index = evaluate(*key, frame);
  frame.interpreter.line = line;
  return get_item(value, index);
}

Value Slice::eval(Frame& frame) const {
  const Value value = evaluate(*object, frame);
  const auto bound = [&](const ExpressionPtr& e) { return e ? evaluate(*e, frame) : Value(); };
  const Value from = bound(start), to = bound(stop), by = bound(step);
  return get_slice(value, from, to, by);
}

Arguments CallArguments::eval(Frame& frame) const {
  Arguments out;
  for (const auto& argument : positional) out.positional.push_back(evaluate(*argument, frame));
  for (const auto& [name, argument] : named) out.named.emplace_back(name, evaluate(*argument, frame));
  if (spread) {
    for (Value& item : iterate(evaluate(*spread, frame))) out.positional.push_back(std::move(item));
  }
  if (spread_named) {
    const Value more = evaluate(*spread_named, frame);
    if (!more.is_dict()) fail("argument after ** must be a mapping, not ", type_name(more));
    for (const auto& [key, value] : more.as_dict().entries) {
      if (!key.is_string()) fail("keywords must be strings");
      out.named.emplace_back(key.text(), value);
    }
  }
  return out;
}

Value Call::eval(Frame& frame) const {
  const Value function = evaluate(*callee, frame);
  const Arguments values = arguments.eval(frame);
  frame.interpreter.line = line;
  return call_value(frame.interpreter, function, values);
}

Value Filter::apply(Frame& frame, const Value& body) const {
  // The innermost filter of a block's chain takes the block's text.
  const auto* inner = dynamic_cast<const Filter*>(input.get());
  const Value value = inner != nullptr ? inner->apply(frame, body) : input ? evaluate(*input, frame) : body;
  const Arguments values = arguments.eval(frame);
  frame.interpreter.line = line;
  return apply_filter(frame.interpreter, name, value, values);
}

Value Filter::eval(Frame& frame) const {
  const Value value = evaluate(*input, frame);
  const Arguments values = arguments.eval(frame);
  frame.interpreter.line = line;
  return apply_filter(frame.interpreter, name, value, values);
}

Value Test::eval(Frame& frame) const {
  const Value value = evaluate(*input, frame);
  const Arguments values = arguments.eval(frame);
  frame.interpreter.line = line;
  return apply_test(frame.interpreter, name, value, values);
}

Value Not::eval(Frame& frame) const {
  return !truth(evaluate(*operand, frame));
}

Value Logical::eval(Frame& frame) const {
  Value value = evaluate(*left, frame);
  return truth(value) == both ? evaluate(*right, frame) : value;
}

Value Compare::eval(Frame& frame) const {
  Value value = evaluate(*first, frame);
  for (const auto& [op, operand] : rest) {
    Value other = evaluate(*operand, frame);
    frame.interpreter.line = line;
    if (!comparison(op, value, other)) return false;
    value = std::move(other);
  }
  return true;
}

Value Binary::eval(Frame& frame) const {
  const Value a = evaluate(*left, frame);
  const Value b = evaluate(*right, frame);
  frame.interpreter.line = line;
  return binary_operation(op, a, b);
}

Value Negate::eval(Frame& frame) const {
  const Value value = evaluate(*operand, frame);
  require_defined(value);
  if (!value.is_number())
    fail("bad operand type for unary ", minus ? "-" : "+", ": '", type_name(value), "'");
  return minus ? binary_operation("-", Value(0), value) : binary_operation("+", Value(0), value);
}

Value Concat::eval(Frame& frame) const {
  MarkedString out;
  for (const auto& part : parts) out.append(to_text(evaluate(*part, frame)));
  return out;
}

Value Conditional::eval(Frame& frame) const {
  if (truth(evaluate(*test, frame))) return evaluate(*then, frame);
  if (otherwise) return evaluate(*otherwise, frame);
  return Value::undefined(concat("the inline if-expression on line ", line,
                                 " evaluated to false and no else section was defined."));
}

}  // namespace loongforge::jinja
