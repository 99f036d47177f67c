#include "loongforge/text/template/parser.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "loongforge/text/template/expression_parser.h"
#include "loongforge/text/template/syntax_error.h"

namespace loongforge::jinja {
namespace {

constexpr int kMostBlocks = 100;

template <typename Node>
std::unique_ptr<Node> make(int line) {
  auto node = std::make_unique<Node>();
  node->line = line;
  return node;
}

std::unique_ptr<const Filter> as_filter(ExpressionPtr expression) {
  return std::unique_ptr<const Filter>(static_cast<const Filter*>(expression.release()));
}

class Parser {
 public:
  explicit Parser(std::string_view source) : in_(tokenize(source)) {}

  std::shared_ptr<const Program> run() {
    auto program = std::make_shared<Program>();
    program->body = body({});
    program->has_generation = has_generation_;
    return program;
  }

 private:
  // Text, expressions and blocks until a block of one of the names `ends`, whose name stays current.
  Body body(std::initializer_list<std::string_view> ends) {
    if (++depth_ > kMostBlocks) in_.error("blocks are nested too deeply");
    Body out;
    std::unique_ptr<Output> pending;
    const auto flush = [&] {
      if (pending) out.push_back(std::move(pending));
    };
    const auto write = [&](ExpressionPtr part) {
      if (!pending) pending = make<Output>(part->line);
      pending->parts.push_back(std::move(part));
    };
    while (!in_.is(TokenKind::kEnd)) {
      if (in_.is(TokenKind::kData)) {
        auto text = make<Constant>(in_.current().line);
        text->value = in_.next().text;
        write(std::move(text));
      } else if (in_.is(TokenKind::kVariableBegin)) {
        in_.next();
        write(in_.tuple());
        in_.expect(TokenKind::kVariableEnd, "the end of the expression (}})");
      } else {
        flush();
        in_.expect(TokenKind::kBlockBegin, "text, an expression or a block");
        const auto named = [&](std::string_view end) { return in_.is_name(end); };
        if (std::any_of(ends.begin(), ends.end(), named)) {
          --depth_;
          return out;
        }
        out.push_back(statement());
        in_.expect(TokenKind::kBlockEnd, "the end of the block (%})");
      }
    }
    flush();
    if (ends.size() > 0) in_.error(concat("the template ends before {% ", *(ends.end() - 1), " %}"));
    --depth_;
    return out;
  }

  // The body of a block that has just been opened, with its end consumed but for %}.
  Body block_body(std::initializer_list<std::string_view> ends) {
    in_.skip_operator(":");
    in_.expect(TokenKind::kBlockEnd, "the end of the block (%})");
    return body(ends);
  }
  Body whole_body(std::string_view end) {
    Body out = block_body({end});
    in_.next();
    return out;
  }

  std::unique_ptr<const Statement> statement() {
    const int line = in_.current().line;
    const std::string tag = in_.identifier();
    if (tag == "for") return for_loop(line);
    if (tag == "if") return if_block(line);
    if (tag == "set") return set(line);
    if (tag == "macro") return macro(line);
    if (tag == "call") return call_block(line);
    if (tag == "filter") return filter_block(line);
    if (tag == "with") return with(line);
    if (tag == "print") return print(line);
    if (tag == "generation") {
      auto node = make<Generation>(line);
      node->body = whole_body("endgeneration");
      has_generation_ = true;
      return node;
    }
    if (tag == "break" || tag == "continue") {
      if (loops_ == 0) throw SyntaxError(line, concat("{% ", tag, " %} outside of a loop"));
      auto node = make<Jump>(line);
      node->flow = tag == "break" ? Flow::kBreak : Flow::kContinue;
      return node;
    }
    for (const char* absent : {"extends", "include", "import", "from", "block", "autoescape"}) {
      if (tag == absent)
        throw SyntaxError(line, concat("{% ", tag, " %} is not supported in chat templates"));
    }
    throw SyntaxError(line, concat("unknown tag '", tag, "'"));
  }

  std::unique_ptr<const Statement> for_loop(int line) {
    auto node = make<For>(line);
    node->target = in_.target(false, "in");
    in_.expect_name("in");
    node->items = in_.tuple(false, "recursive");
    if (in_.skip_name("if")) node->test = in_.expression();
    node->recursive = in_.skip_name("recursive");
    ++loops_;
    node->body = block_body({"else", "endfor"});
    --loops_;
    if (in_.next().text == "else") node->otherwise = whole_body("endfor");
    return node;
  }

  std::unique_ptr<const Statement> if_block(int line) {
    auto node = make<If>(line);
    while (true) {
      ExpressionPtr test = in_.tuple(false);
      node->branches.emplace_back(std::move(test), block_body({"elif", "else", "endif"}));
      const std::string end = in_.next().text;
      if (end == "elif") continue;
      if (end == "else") node->otherwise = whole_body("endif");
      return node;
    }
  }

  std::unique_ptr<const Statement> set(int line) {
    Target target = in_.target(true);
    if (in_.skip_operator("=")) {
      auto node = make<Set>(line);
      node->target = std::move(target);
      node->value = in_.tuple();
      return node;
    }
    auto node = make<SetBlock>(line);
    node->target = std::move(target);
    node->filter = as_filter(in_.filters(nullptr, false));
    node->body = whole_body("endset");
    return node;
  }

  Signature signature() {
    Signature out;
    in_.expect_operator("(");
    while (!in_.is_operator(")")) {
      if (!out.parameters.empty()) in_.expect_operator(",");
      std::string name = in_.identifier();
      ExpressionPtr value;
      if (in_.skip_operator("=")) {
        value = in_.expression();
      } else if (!out.parameters.empty() && out.parameters.back().second != nullptr) {
        in_.error("a parameter without default stands behind one with a default");
      }
      out.parameters.emplace_back(std::move(name), std::move(value));
    }
    in_.expect_operator(")");
    return out;
  }

  // Loops outside of a macro are no loops for its body.
  void macro_body(Macro& macro, std::string_view end) {
    const int loops = std::exchange(loops_, 0);
    std::set<std::string> outside;
    outside.swap(in_.special_names());
    macro.body = whole_body(end);
    loops_ = loops;
    macro.uses_varargs = in_.special_names().contains("varargs");
    macro.uses_kwargs = in_.special_names().contains("kwargs");
    macro.uses_caller = in_.special_names().contains("caller");
    in_.special_names().merge(outside);
  }

  std::unique_ptr<const Statement> macro(int line) {
    auto node = make<Macro>(line);
    node->name = in_.identifier();
    node->signature = signature();
    macro_body(*node, "endmacro");
    return node;
  }

  std::unique_ptr<const Statement> call_block(int line) {
    auto node = make<CallBlock>(line);
    node->body.line = line;
    node->body.name = "caller";
    if (in_.is_operator("(")) node->body.signature = signature();
    ExpressionPtr call = in_.expression();
    if (dynamic_cast<const Call*>(call.get()) == nullptr)
      throw SyntaxError(line, "{% call %}: expected a call");
    node->call.reset(static_cast<const Call*>(call.release()));
    macro_body(node->body, "endcall");
    return node;
  }

  std::unique_ptr<const Statement> filter_block(int line) {
    auto node = make<FilterBlock>(line);
    node->filter = as_filter(in_.filters(nullptr, true));
    node->body = whole_body("endfilter");
    return node;
  }

  std::unique_ptr<const Statement> with(int line) {
    auto node = make<With>(line);
    while (!in_.is(TokenKind::kBlockEnd)) {
      if (!node->values.empty()) in_.expect_operator(",");
      Target target;
      target.name = in_.identifier();
      in_.expect_operator("=");
      node->values.emplace_back(std::move(target), in_.expression());
    }
    node->body = whole_body("endwith");
    return node;
  }

  std::unique_ptr<const Statement> print(int line) {
    auto node = make<Output>(line);
    while (!in_.is(TokenKind::kBlockEnd)) {
      if (!node->parts.empty()) in_.expect_operator(",");
      node->parts.push_back(in_.expression());
    }
    return node;
  }

  ExpressionParser in_;
  int depth_ = 0, loops_ = 0;
  bool has_generation_ = false;
};

}  // namespace

std::shared_ptr<const Program> parse_program(std::string_view source) {
  return Parser(source).run();
}

}  // namespace loongforge::jinja
