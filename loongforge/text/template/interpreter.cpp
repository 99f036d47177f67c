#include "loongforge/text/template/interpreter.h"

#include "loongforge/text/template/ast.h"
#include "loongforge/text/template/objects.h"

namespace loongforge::jinja {
namespace {

constexpr std::int64_t kMostSteps = 10'000'000;
constexpr int kMostDepth = 1000;

}  // namespace

Interpreter::Interpreter(std::time_t now) : globals_(std::make_shared<Scope>()), now_(now) {
  add_globals(*globals_);
}

// Scopes and namespaces may refer to each other in circles.
Interpreter::~Interpreter() {
  for (const auto& space : spaces_) {
    if (const auto alive = space.lock()) alive->clear();
  }
  for (const auto& scope : kept_) scope->variables.clear();
}

void Interpreter::tick() {
  if (++steps_ > kMostSteps) fail("the template takes more than ", kMostSteps, " steps");
}

int Interpreter::message_of(const Value& value) const {
  if (!value.is_dict()) return -1;
  const auto found = messages_.find(value.identity());
  return found == messages_.end() ? -1 : found->second;
}

Value lookup(const Scope& scope, const std::string& name) {
  for (const Scope* s = &scope; s != nullptr; s = s->parent.get()) {
    const auto found = s->variables.find(name);
    if (found != s->variables.end()) return found->second;
  }
  return Value::undefined(concat("'", name, "' is undefined"));
}

Value evaluate(const Expression& expression, Frame& frame) {
  Interpreter& interpreter = frame.interpreter;
  interpreter.tick();
  if (++interpreter.depth > kMostDepth) fail("the template recurses deeper than ", kMostDepth, " levels");
  interpreter.line = expression.line;
  Value value = expression.eval(frame);
  --interpreter.depth;
  return value;
}

Flow run_body(const Body& body, Frame& frame) {
  Interpreter& interpreter = frame.interpreter;
  if (++interpreter.depth > kMostDepth) fail("the template recurses deeper than ", kMostDepth, " levels");
  Flow flow = Flow::kNext;
  for (const auto& statement : body) {
    interpreter.tick();
    interpreter.line = statement->line;
    flow = statement->run(frame);
    if (flow != Flow::kNext) break;
  }
  --interpreter.depth;
  return flow;
}

Value call_value(Interpreter& interpreter, const Value& callee, const Arguments& arguments) {
  require_defined(callee);
  if (!callee.is_object() || !callee.as_object().callable())
    fail("'", type_name(callee), "' object is not callable");
  return callee.as_object().call(interpreter, arguments);
}

}  // namespace loongforge::jinja
