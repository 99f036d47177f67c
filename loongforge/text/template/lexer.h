// Cuts the source of a template into tokens, with the white-space rules of jinja2 under trim_blocks and
// lstrip_blocks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace loongforge::jinja {

enum class TokenKind {
  kData,
  kVariableBegin,
  kVariableEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  // Name, operator, digits, or the content of a string with its escapes resolved.
  std::string text;
  int line = 1;
};

// Throws SyntaxError.
std::vector<Token> tokenize(std::string_view source);

}  // namespace loongforge::jinja
