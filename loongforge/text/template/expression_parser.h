// Expressions of the template language, by recursive descent as in jinja2's parser.
#pragma once

#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "loongforge/text/template/ast.h"
#include "loongforge/text/template/lexer.h"

namespace loongforge::jinja {

class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  // `conditional`: a if b else c is allowed.
  ExpressionPtr expression(bool conditional = true);
  // An expression, or a tuple without parentheses; `end`: a name that ends it.
  ExpressionPtr tuple(bool conditional = true, std::string_view end = "", bool parentheses = false);
  CallArguments call_arguments();
  // `| name(...)` once or more; `inline_start`: the first has no bar. Null when there is none.
  ExpressionPtr filters(ExpressionPtr input, bool inline_start);
  Target target(bool attributes, std::string_view end = "");

  const Token& current() const { return tokens_[pos_]; }
  const Token& look() const { return tokens_[std::min(pos_ + 1, tokens_.size() - 1)]; }
  const Token& next() { return pos_ + 1 < tokens_.size() ? tokens_[pos_++] : tokens_[pos_]; }
  bool is(TokenKind kind) const { return current().kind == kind; }
  bool is_operator(std::string_view op) const { return is(TokenKind::kOperator) && current().text == op; }
  bool is_name(std::string_view name) const { return is(TokenKind::kName) && current().text == name; }
  bool skip_operator(std::string_view op);
  bool skip_name(std::string_view name);
  void expect_operator(std::string_view op);
  void expect_name(std::string_view name);
  void expect(TokenKind kind, const char* what);
  std::string identifier();
  [[noreturn]] void error(const std::string& message) const;
  // The names varargs, kwargs and caller that have been read since this was last cleared.
  std::set<std::string>& special_names() { return special_names_; }
  // What the current token looks like in a message.
  std::string describe() const;

 private:
  ExpressionPtr or_expression();
  ExpressionPtr and_expression();
  ExpressionPtr not_expression();
  ExpressionPtr compare();
  ExpressionPtr binary(int level);
  ExpressionPtr unary(bool with_filter = true);
  ExpressionPtr primary();
  ExpressionPtr postfix(ExpressionPtr node);
  ExpressionPtr filter_expression(ExpressionPtr node);
  ExpressionPtr subscript(ExpressionPtr node);
  ExpressionPtr bracket(ExpressionPtr node, int line);
  ExpressionPtr call(ExpressionPtr node);
  ExpressionPtr test(ExpressionPtr node);
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr constant(Value value);
  bool tuple_ends(std::string_view end) const;

  std::vector<Token> tokens_;
  std::set<std::string> special_names_;
  std::size_t pos_ = 0;
  int depth_ = 0;
};

}  // namespace loongforge::jinja
