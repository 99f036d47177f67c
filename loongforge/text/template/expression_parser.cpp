#include "loongforge/text/template/expression_parser.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "loongforge/text/template/syntax_error.h"

namespace loongforge::jinja {
namespace {

constexpr int kMostNesting = 120;

template <typename Node>
std::unique_ptr<Node> make(int line) {
  auto node = std::make_unique<Node>();
  node->line = line;
  return node;
}

// Binary operators from the loosest level on; ~ stands between levels 0 and 1.
constexpr int kConcatLevel = 1, kPowerLevel = 3;
bool is_binary(int level, std::string_view op) {
  if (level == 0) return op == "+" || op == "-";
  if (level == 2) return op == "*" || op == "/" || op == "//" || op == "%";
  return level == kPowerLevel && op == "**";
}

struct Nesting {
  explicit Nesting(int& depth) : depth(depth) { ++depth; }
  ~Nesting() { --depth; }
  int& depth;
};

Value integer_value(std::string_view text) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0') {
    const char kind = static_cast<char>(text[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    if (base != 10) text.remove_prefix(2);
  }
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (result.ec != std::errc()) fail("the number ", text, " is larger than 64 bits");
  return value;
}

}  // namespace

void ExpressionParser::error(const std::string& message) const {
  throw SyntaxError(current().line, message);
}

std::string ExpressionParser::describe() const {
  switch (current().kind) {
    case TokenKind::kEnd:
      return "the end of the template";
    case TokenKind::kBlockEnd:
      return "the end of the block";
    case TokenKind::kVariableEnd:
      return "the end of the expression";
    default:
      return "'" + current().text + "'";
  }
}

bool ExpressionParser::skip_operator(std::string_view op) {
  if (!is_operator(op)) return false;
  next();
  return true;
}

bool ExpressionParser::skip_name(std::string_view name) {
  if (!is_name(name)) return false;
  next();
  return true;
}

void ExpressionParser::expect_operator(std::string_view op) {
  if (!skip_operator(op)) error(concat("expected '", op, "', got ", describe()));
}

void ExpressionParser::expect_name(std::string_view name) {
  if (!skip_name(name)) error(concat("expected '", name, "', got ", describe()));
}

void ExpressionParser::expect(TokenKind kind, const char* what) {
  if (!is(kind)) error(concat("expected ", what, ", got ", describe()));
  next();
}

std::string ExpressionParser::identifier() {
  if (!is(TokenKind::kName)) error("expected a name, got " + describe());
  return next().text;
}

ExpressionPtr ExpressionParser::constant(Value value) {
  auto node = make<Constant>(current().line);
  node->value = std::move(value);
  return node;
}

ExpressionPtr ExpressionParser::expression(bool conditional) {
  const Nesting nesting(depth_);
  if (depth_ > kMostNesting) error(concat("expressions are nested deeper than ", kMostNesting, " levels"));
  const int line = current().line;
  ExpressionPtr node = or_expression();
  if (!conditional) return node;
  while (skip_name("if")) {
    auto choice = make<Conditional>(line);
    choice->test = or_expression();
    choice->then = std::move(node);
    if (skip_name("else")) choice->otherwise = expression();
    node = std::move(choice);
  }
  return node;
}

ExpressionPtr ExpressionParser::or_expression() {
  ExpressionPtr node = and_expression();
  while (is_name("or")) {
    auto both = make<Logical>(next().line);
    both->both = false;
    both->left = std::move(node);
    both->right = and_expression();
    node = std::move(both);
  }
  return node;
}

ExpressionPtr ExpressionParser::and_expression() {
  ExpressionPtr node = not_expression();
  while (is_name("and")) {
    auto both = make<Logical>(next().line);
    both->left = std::move(node);
    both->right = not_expression();
    node = std::move(both);
  }
  return node;
}

ExpressionPtr ExpressionParser::not_expression() {
  int count = 0;
  const int line = current().line;
  while (skip_name("not")) ++count;
  ExpressionPtr node = compare();
  // `not not x` is a bool, so an even number of them still needs two nodes.
  for (int i = 0; i < std::min(count, 2 + count % 2); ++i) {
    auto negated = make<Not>(line);
    negated->operand = std::move(node);
    node = std::move(negated);
  }
  return node;
}

ExpressionPtr ExpressionParser::compare() {
  const int line = current().line;
  auto node = make<Compare>(line);
  node->first = binary(0);
  constexpr std::array kOperators = {"==", "!=", "<", "<=", ">", ">="};
  while (true) {
    std::string op;
    if (is(TokenKind::kOperator) &&
        std::find(kOperators.begin(), kOperators.end(), current().text) != kOperators.end()) {
      op = next().text;
    } else if (skip_name("in")) {
      op = "in";
    } else if (is_name("not") && look().kind == TokenKind::kName && look().text == "in") {
      next();
      next();
      op = "not in";
    } else {
      break;
    }
    node->rest.emplace_back(op, binary(0));
  }
  if (node->rest.empty()) return std::move(node->first);
  return node;
}

ExpressionPtr ExpressionParser::binary(int level) {
  if (level > kPowerLevel) return unary();
  ExpressionPtr node = binary(level + 1);
  if (level == kConcatLevel) {
    if (!is_operator("~")) return node;
    auto joined = make<Concat>(current().line);
    joined->parts.push_back(std::move(node));
    while (skip_operator("~")) joined->parts.push_back(binary(level + 1));
    return joined;
  }
  while (is(TokenKind::kOperator) && is_binary(level, current().text)) {
    auto both = make<Binary>(current().line);
    both->op = next().text;
    both->left = std::move(node);
    both->right = binary(level + 1);
    node = std::move(both);
  }
  return node;
}

ExpressionPtr ExpressionParser::unary(bool with_filter) {
  ExpressionPtr node;
  if (is_operator("-") || is_operator("+")) {
    const Nesting nesting(depth_);
    if (depth_ > kMostNesting) error(concat("expressions are nested deeper than ", kMostNesting, " levels"));
    auto sign = make<Negate>(current().line);
    sign->minus = next().text == "-";
    sign->operand = unary(false);
    node = std::move(sign);
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filter ? filter_expression(std::move(node)) : std::move(node);
}

ExpressionPtr ExpressionParser::primary() {
  const Token token = current();
  if (token.kind == TokenKind::kName) {
    if (token.text == "true" || token.text == "True" || token.text == "false" || token.text == "False") {
      auto node = constant(token.text == "true" || token.text == "True");
      next();
      return node;
    }
    auto node = token.text == "none" || token.text == "None" ? constant(Value()) : nullptr;
    next();
    if (node) return node;
    auto name = make<Name>(token.line);
    name->name = token.text;
    if (token.text == "varargs" || token.text == "kwargs" || token.text == "caller")
      special_names_.insert(token.text);
    return name;
  }
  if (token.kind == TokenKind::kString) {
    std::string text;
    auto node = make<Constant>(token.line);
    while (is(TokenKind::kString)) text += next().text;
    node->value = std::move(text);
    return node;
  }
  if (token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat) {
    try {
      auto node = constant(token.kind == TokenKind::kInteger ? integer_value(token.text)
                                                             : Value(std::stod(token.text)));
      next();
      return node;
    } catch (const std::exception& e) {
      error(concat("number ", token.text, ": ", e.what()));
    }
  }
  if (skip_operator("(")) {
    ExpressionPtr node = tuple(true, "", true);
    expect_operator(")");
    return node;
  }
  if (is_operator("[")) return list();
  if (is_operator("{")) return dict();
  error("unexpected " + describe());
}

bool ExpressionParser::tuple_ends(std::string_view end) const {
  if (is(TokenKind::kVariableEnd) || is(TokenKind::kBlockEnd) || is(TokenKind::kEnd) || is_operator(")"))
    return true;
  return !end.empty() && is_name(end);
}

ExpressionPtr ExpressionParser::tuple(bool conditional, std::string_view end, bool parentheses) {
  auto node = make<Sequence>(current().line);
  node->tuple = true;
  bool commas = false;
  while (!tuple_ends(end)) {
    node->items.push_back(expression(conditional));
    if (!skip_operator(",")) break;
    commas = true;
  }
  if (commas) return node;
  if (!node->items.empty()) return std::move(node->items.front());
  if (!parentheses) error("expected an expression, got " + describe());
  return node;
}

ExpressionPtr ExpressionParser::list() {
  auto node = make<Sequence>(current().line);
  expect_operator("[");
  while (!is_operator("]")) {
    if (!node->items.empty()) {
      expect_operator(",");
      if (is_operator("]")) break;
    }
    node->items.push_back(expression());
  }
  expect_operator("]");
  return node;
}

ExpressionPtr ExpressionParser::dict() {
  auto node = make<DictLiteral>(current().line);
  expect_operator("{");
  while (!is_operator("}")) {
    if (!node->entries.empty()) {
      expect_operator(",");
      if (is_operator("}")) break;
    }
    ExpressionPtr key = expression();
    expect_operator(":");
    node->entries.emplace_back(std::move(key), expression());
  }
  expect_operator("}");
  return node;
}

ExpressionPtr ExpressionParser::postfix(ExpressionPtr node) {
  while (true) {
    if (is_operator(".") || is_operator("[")) {
      node = subscript(std::move(node));
    } else if (is_operator("(")) {
      node = call(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr ExpressionParser::filter_expression(ExpressionPtr node) {
  while (true) {
    if (is_operator("|")) {
      node = filters(std::move(node), false);
    } else if (is_name("is")) {
      node = test(std::move(node));
    } else if (is_operator("(")) {
      node = call(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr node) {
  const int line = current().line;
  if (!skip_operator(".")) {
    next();
    return bracket(std::move(node), line);
  }
  if (is(TokenKind::kName)) {
    auto access = make<GetAttribute>(line);
    access->object = std::move(node);
    access->name = next().text;
    return access;
  }
  if (!is(TokenKind::kInteger)) error("expected a name or number behind '.', got " + describe());
  auto access = make<GetItem>(line);
  access->object = std::move(node);
  access->key = primary();
  return access;
}

// Behind the [ of x[...].
ExpressionPtr ExpressionParser::bracket(ExpressionPtr node, int line) {
  ExpressionPtr start;
  if (!is_operator(":")) {
    start = expression();
    if (is_operator(",")) error("a tuple as a subscript is not supported");
  }
  if (!is_operator(":")) {
    expect_operator("]");
    auto access = make<GetItem>(line);
    access->object = std::move(node);
    access->key = std::move(start);
    return access;
  }
  auto slice = make<Slice>(line);
  slice->object = std::move(node);
  slice->start = std::move(start);
  next();
  if (!is_operator(":") && !is_operator("]")) slice->stop = expression();
  if (skip_operator(":") && !is_operator("]")) slice->step = expression();
  expect_operator("]");
  return slice;
}

CallArguments ExpressionParser::call_arguments() {
  CallArguments arguments;
  expect_operator("(");
  bool first = true;
  while (!is_operator(")")) {
    if (!first) {
      expect_operator(",");
      if (is_operator(")")) break;
    }
    first = false;
    const bool closed = arguments.spread_named != nullptr;
    if (is_operator("*") && !closed && !arguments.spread) {
      next();
      arguments.spread = expression();
    } else if (is_operator("**") && !closed) {
      next();
      arguments.spread_named = expression();
    } else if (is(TokenKind::kName) && look().kind == TokenKind::kOperator && look().text == "=" && !closed) {
      std::string name = next().text;
      next();
      arguments.named.emplace_back(std::move(name), expression());
    } else if (!closed && !arguments.spread && arguments.named.empty()) {
      arguments.positional.push_back(expression());
    } else {
      error("invalid order of arguments in a call");
    }
  }
  expect_operator(")");
  return arguments;
}

ExpressionPtr ExpressionParser::call(ExpressionPtr node) {
  auto result = make<Call>(current().line);
  result->callee = std::move(node);
  result->arguments = call_arguments();
  return result;
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr input, bool inline_start) {
  while (inline_start || is_operator("|")) {
    if (!inline_start) next();
    inline_start = false;
    auto filter = make<Filter>(current().line);
    filter->name = identifier();
    while (skip_operator(".")) filter->name += "." + identifier();
    if (is_operator("(")) filter->arguments = call_arguments();
    filter->input = std::move(input);
    input = std::move(filter);
  }
  return input;
}

ExpressionPtr ExpressionParser::test(ExpressionPtr node) {
  auto result = make<Test>(next().line);
  const bool negated = skip_name("not");
  result->name = identifier();
  while (skip_operator(".")) result->name += "." + identifier();
  result->input = std::move(node);
  const bool word = is(TokenKind::kName) && !is_name("else") && !is_name("or") && !is_name("and");
  if (is_operator("(")) {
    result->arguments = call_arguments();
  } else if (word || is(TokenKind::kString) || is(TokenKind::kInteger) || is(TokenKind::kFloat) ||
             is_operator("[") || is_operator("{")) {
    if (is_name("is")) error("tests with 'is' cannot be chained");
    result->arguments.positional.push_back(postfix(primary()));
  }
  if (!negated) return result;
  auto inverse = make<Not>(result->line);
  inverse->operand = std::move(result);
  return inverse;
}

Target ExpressionParser::target(bool attributes, std::string_view end) {
  Target whole;
  bool commas = false;
  while (!tuple_ends(end) && !is_operator("=")) {
    Target part;
    if (skip_operator("(")) {
      const Nesting nesting(depth_);
      if (depth_ > kMostNesting) error("an assignment target is nested too deeply");
      part = target(false);
      expect_operator(")");
    } else {
      part.name = identifier();
      if (attributes && skip_operator(".")) part.attribute = identifier();
      constexpr std::array kConstants = {"true", "True", "false", "False", "none", "None"};
      if (std::find(kConstants.begin(), kConstants.end(), part.name) != kConstants.end()) {
        error(concat("cannot assign to '", part.name, "'"));
      }
    }
    whole.parts.push_back(std::move(part));
    if (!skip_operator(",")) break;
    commas = true;
  }
  if (whole.parts.empty()) error("expected a name to assign to, got " + describe());
  if (commas) return whole;
  // Moved out before `whole` is overwritten.
  Target single = std::move(whole.parts.front());
  return single;
}

}  // namespace loongforge::jinja
