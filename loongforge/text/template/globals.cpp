// Functions that every template finds.
#include <array>

#include "loongforge/text/template/arguments.h"
#include "loongforge/text/template/objects.h"

namespace loongforge::jinja {
namespace {

constexpr std::int64_t kMostRange = 100'000;  // MAX_RANGE of jinja2's sandbox

Value range(Interpreter&, const Arguments& arguments) {
  const List& given = arguments.positional;
  if (given.empty() || given.size() > 3 || !arguments.named.empty()) fail("range expected 1 to 3 arguments");
  for (const Value& v : given) {
    require_defined(v);
    if (!v.is_int() && !v.is_bool()) fail("'", type_name(v), "' object cannot be interpreted as an integer");
  }
  const std::int64_t start = given.size() > 1 ? given[0].as_int() : 0;
  const std::int64_t stop = given[given.size() > 1 ? 1 : 0].as_int();
  const std::int64_t step = given.size() > 2 ? given[2].as_int() : 1;
  if (step == 0) fail("range() arg 3 must not be zero");
  List items;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (static_cast<std::int64_t>(items.size()) >= kMostRange) {
      fail("Range too big. The sandbox blocks ranges larger than MAX_RANGE (", kMostRange, ").");
    }
    items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return std::static_pointer_cast<Object>(std::make_shared<Items>("range", std::move(items), false));
}

Value make_dict(Interpreter&, const Arguments& arguments) {
  auto dict = std::make_shared<Dict>();
  if (arguments.positional.size() > 1)
    fail("dict expected at most 1 argument, got ", arguments.positional.size());
  for (const Value& source : arguments.positional) {
    if (source.is_dict()) {
      for (const auto& [key, value] : source.as_dict().entries) dict->set(key, value);
      continue;
    }
    for (const Value& pair : iterate(source)) {
      const List parts = iterate(pair);
      if (parts.size() != 2)
        fail("dictionary update sequence element has length ", parts.size(), "; 2 is required");
      dict->set(parts[0], parts[1]);
    }
  }
  for (const auto& [name, value] : arguments.named) dict->set(name, value);
  return std::shared_ptr<const Dict>(std::move(dict));
}

Value make_namespace(Interpreter& interpreter, const Arguments& arguments) {
  const auto space = std::make_shared<Namespace>();
  const Value entries = make_dict(interpreter, arguments);
  for (const auto& [key, value] : entries.as_dict().entries) space->set(to_text(key).text, value);
  interpreter.keep(std::weak_ptr<Namespace>(space));
  return std::static_pointer_cast<Object>(space);
}

Value raise_exception(Interpreter&, const Arguments& arguments) {
  const ArgumentReader read("raise_exception", arguments, {"message"});
  fail(to_text(read.required("message")).text);
}

Value strftime_now(Interpreter& interpreter, const Arguments& arguments) {
  const ArgumentReader read("strftime_now", arguments, {"format"});
  const std::string format = to_text(read.required("format")).text;
  if (format.empty()) return "";
  const std::time_t now = interpreter.now();
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 4096> text{};
  const std::size_t n = std::strftime(text.data(), text.size(), format.c_str(), &local);
  return std::string(text.data(), n);
}

// cycler(a, b, ...): next(), current, reset().
class Cycler : public Object, public std::enable_shared_from_this<Cycler> {
 public:
  explicit Cycler(List items) : items_(std::move(items)) {}
  std::string repr() const override { return "<Cycler>"; }
  std::string type_name() const override { return "Cycler"; }
  std::optional<Value> attribute(std::string_view name) const override {
    if (name == "current") return items_[position_];
    const auto self = const_cast<Cycler*>(this)->shared_from_this();
    if (name == "next") {
      return function([self](Interpreter&, const Arguments&) {
        const Value value = self->items_[self->position_];
        self->position_ = (self->position_ + 1) % self->items_.size();
        return value;
      });
    }
    if (name == "reset") {
      return function([self](Interpreter&, const Arguments&) {
        self->position_ = 0;
        return Value();
      });
    }
    return std::nullopt;
  }

 private:
  static Value function(Function::Body body) {
    return std::static_pointer_cast<Object>(std::make_shared<Function>("cycler", std::move(body)));
  }
  List items_;
  std::size_t position_ = 0;
};

Value make_cycler(Interpreter&, const Arguments& arguments) {
  if (arguments.positional.empty()) fail("at least one item has to be provided");
  return std::static_pointer_cast<Object>(std::make_shared<Cycler>(arguments.positional));
}

Value make_joiner(Interpreter&, const Arguments& arguments) {
  const ArgumentReader read("joiner", arguments, {"sep"});
  const Value separator = read.text("sep", ", ");
  return std::static_pointer_cast<Object>(
      std::make_shared<Function>("joiner", [separator, used = false](Interpreter&, const Arguments&) mutable {
        return std::exchange(used, true) ? separator : Value("");
      }));
}

}  // namespace

void add_globals(Scope& scope) {
  const auto add = [&](const char* name, Value (*body)(Interpreter&, const Arguments&)) {
    scope.variables[name] = Value(std::static_pointer_cast<Object>(std::make_shared<Function>(name, body)));
  };
  add("range", &range);
  add("dict", &make_dict);
  add("namespace", &make_namespace);
  add("cycler", &make_cycler);
  add("joiner", &make_joiner);
  add("raise_exception", &raise_exception);
  add("strftime_now", &strftime_now);
}

}  // namespace loongforge::jinja
