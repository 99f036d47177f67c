// Running of statements.
#include <functional>

#include "loongforge/text/template/ast.h"
#include "loongforge/text/template/objects.h"

namespace loongforge::jinja {
namespace {

void assign(const Target& target, const Value& value, Frame& frame) {
  if (!target.parts.empty()) {
    const List items = iterate(value);
    if (items.size() < target.parts.size()) {
      fail("not enough values to unpack (expected ", target.parts.size(), ", got ", items.size(), ")");
    }
    if (items.size() > target.parts.size())
      fail("too many values to unpack (expected ", target.parts.size(), ")");
    for (std::size_t i = 0; i < items.size(); ++i) assign(target.parts[i], items[i], frame);
    return;
  }
  if (target.attribute.empty()) {
    frame.scope->variables[target.name] = value;
    return;
  }
  auto* space = lookup(*frame.scope, target.name).object_as<Namespace>();
  if (space == nullptr) fail("cannot assign attribute on non-namespace object");
  space->set(target.attribute, value);
}

// An iteration over a message: what it writes belongs to that message's turn. Only the outermost counts.
class TurnMark {
 public:
  TurnMark(Frame& frame) : frame_(frame), begin_(frame.out.size()) {}
  int* turn() { return &turn_; }
  // Call when the body has run.
  void finish() {
    if (turn_ >= 0) frame_.out.mark_from(begin_, turn_);
  }

 private:
  Frame& frame_;
  std::size_t begin_;
  int turn_ = -1;
};

}  // namespace

Flow Output::run(Frame& frame) const {
  for (const auto& part : parts) {
    frame.out.append(to_text(evaluate(*part, frame)));
  }
  return Flow::kNext;
}

namespace {

// The items of a loop after its `if`.
List loop_items(const For& loop, Frame& frame, const Value& value) {
  List items = iterate(value);
  if (!loop.test) return items;
  List kept;
  for (Value& item : items) {
    Frame inside = frame.inner();
    assign(loop.target, item, inside);
    if (truth(evaluate(*loop.test, inside))) kept.push_back(std::move(item));
  }
  return kept;
}

Flow run_loop(const For& loop, Frame& frame, const Value& value, int depth) {
  Interpreter& interpreter = frame.interpreter;
  LoopState::Recurse recurse;
  if (loop.recursive) {
    recurse = [&loop, &frame](const Value& items, int inner_depth) -> Value {
      MarkedString out;
      Frame inner = frame.writing_to(out);
      run_loop(loop, inner, items, inner_depth);
      return out;
    };
  }
  const auto state = std::make_shared<LoopState>(loop_items(loop, frame, value), depth, std::move(recurse));
  const List& items = state->items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    interpreter.tick();
    state->move_to(i);
    TurnMark mark(frame);
    Frame inside = frame.inner();
    inside.turn = mark.turn();
    *mark.turn() = interpreter.message_of(items[i]);
    assign(loop.target, items[i], inside);
    inside.scope->variables["loop"] = Value(std::static_pointer_cast<Object>(state));
    const Flow flow = run_body(loop.body, inside);
    mark.finish();
    if (flow == Flow::kBreak) break;
  }
  state->end();
  if (!items.empty() || loop.otherwise.empty()) return Flow::kNext;
  Frame inside = frame.inner();
  return run_body(loop.otherwise, inside);
}

}  // namespace

Flow For::run(Frame& frame) const {
  return run_loop(*this, frame, evaluate(*items, frame), 0);
}

Flow If::run(Frame& frame) const {
  for (const auto& [test, body] : branches) {
    if (truth(evaluate(*test, frame))) return run_body(body, frame);
  }
  return run_body(otherwise, frame);
}

Flow Set::run(Frame& frame) const {
  const Value result = evaluate(*value, frame);
  assign(target, result, frame);
  // {% for i in range(...) %}{% set message = messages[i] %}: the iteration is about that message.
  if (frame.turn != nullptr && *frame.turn < 0) *frame.turn = frame.interpreter.message_of(result);
  return Flow::kNext;
}

Flow SetBlock::run(Frame& frame) const {
  MarkedString out;
  Frame inside = frame.inner().writing_to(out);
  const Flow flow = run_body(body, inside);
  Value value(std::move(out));
  if (filter) value = filter->apply(frame, value);
  assign(target, value, frame);
  return flow;
}

Flow Macro::run(Frame& frame) const {
  frame.interpreter.keep(frame.scope);
  frame.scope->variables[name] =
      Value(std::static_pointer_cast<Object>(std::make_shared<MacroObject>(*this, frame.scope.get())));
  return Flow::kNext;
}

Flow CallBlock::run(Frame& frame) const {
  frame.interpreter.keep(frame.scope);
  const Value function = evaluate(*call->callee, frame);
  Arguments arguments = call->arguments.eval(frame);
  arguments.named.emplace_back(
      "caller",
      Value(std::static_pointer_cast<Object>(std::make_shared<MacroObject>(body, frame.scope.get()))));
  frame.out.append(to_text(call_value(frame.interpreter, function, arguments)));
  return Flow::kNext;
}

Flow FilterBlock::run(Frame& frame) const {
  MarkedString out;
  Frame inside = frame.inner().writing_to(out);
  const Flow flow = run_body(body, inside);
  frame.out.append(to_text(filter->apply(frame, Value(std::move(out)))));
  return flow;
}

Flow With::run(Frame& frame) const {
  Frame inside = frame.inner();
  for (const auto& [target, value] : values) assign(target, evaluate(*value, frame), inside);
  return run_body(body, inside);
}

Flow Generation::run(Frame& frame) const {
  const std::size_t begin = frame.out.size();
  Frame inside = frame.inner();
  run_body(body, inside);
  frame.out.mark_from(begin, kGeneration);
  return Flow::kNext;
}

}  // namespace loongforge::jinja
