#include "loongforge/text/template/lexer.h"

#include <algorithm>
#include <array>

#include "loongforge/base/error.h"
#include "loongforge/text/template/python_text.h"
#include "loongforge/text/template/syntax_error.h"
#include "loongforge/text/template/value.h"
#include "loongforge/text/unicode.h"

namespace loongforge::jinja {
namespace {

constexpr std::array<std::string_view, 26> kOperators = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                         "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                         ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};

// \r\n and \r become \n; one line break at the end is dropped.
std::string normalize_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
      continue;
    }
    out += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  return out;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize_newlines(source)) {
    if (!source_.empty() && source_.back() == '\n') source_.pop_back();
  }

  std::vector<Token> run() {
    while (pos_ < source_.size()) data();
    push(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void error(const std::string& message) const { throw SyntaxError(line_, message); }

  void push(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }
  bool at(std::string_view text) const { return source_.compare(pos_, text.size(), text) == 0; }
  // Moves on, counting lines.
  void advance(std::size_t to) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(pos_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    pos_ = to;
  }
  std::size_t after_space(std::size_t from) const {
    return source_.size() - strip_left(std::string_view(source_).substr(from)).size();
  }

  // The text before a tag, shortened as the tag's sign and lstrip_blocks want.
  std::string_view text_before(std::string_view text, char sign, bool variable) const {
    if (sign == '-') return strip_right(text);
    if (sign == '+' || variable) return text;
    const auto newline = text.rfind('\n');
    const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
    if (line == 0 && !line_starting_) return text;
    return strip_left(text.substr(line)).empty() ? text.substr(0, line) : text;
  }

  // Text up to the next tag, and the tag.
  void data() {
    std::size_t tag = pos_;
    while (true) {
      tag = source_.find('{', tag);
      if (tag == std::string::npos) {
        push(TokenKind::kData, source_.substr(pos_));
        advance(source_.size());
        return;
      }
      const char next = tag + 1 < source_.size() ? source_[tag + 1] : '\0';
      if (next == '{' || next == '%' || next == '#') break;
      ++tag;
    }
    const char kind = source_[tag + 1];
    const char sign = tag + 2 < source_.size() && (source_[tag + 2] == '-' || source_[tag + 2] == '+')
                          ? source_[tag + 2]
                          : '\0';
    const std::string text(
        text_before(std::string_view(source_).substr(pos_, tag - pos_), sign, kind == '{'));
    if (!text.empty()) push(TokenKind::kData, text);
    advance(tag + (sign == '\0' ? 2 : 3));
    line_starting_ = false;
    if (kind == '#') {
      comment();
    } else if (kind == '{') {
      push(TokenKind::kVariableBegin, "{{");
      expression(false);
    } else if (!raw()) {
      push(TokenKind::kBlockBegin, "{%");
      expression(true);
    }
  }

  // Behind the end of a tag: - takes all white space, a block also its line break.
  void close_tag(std::size_t end, char sign, bool block) {
    if (sign == '-') {
      end = after_space(end);
    } else if (block && sign != '+' && end < source_.size() && source_[end] == '\n') {
      ++end;
    }
    advance(end);
    line_starting_ = source_[end - 1] == '\n';
  }

  void comment() {
    const std::size_t end = source_.find("#}", pos_);
    if (end == std::string::npos) error("a comment is not closed with #}");
    const char before = end > pos_ ? source_[end - 1] : '\0';
    close_tag(end + 2, before == '-' || before == '+' ? before : '\0', true);
  }

  // {% raw %} ... {% endraw %} is text as it stands.
  bool raw() {
    std::size_t i = after_space(pos_);
    if (source_.compare(i, 3, "raw") != 0) return false;
    i = after_space(i + 3);
    const bool strip = source_.compare(i, 1, "-") == 0;
    if (source_.compare(i + strip, 2, "%}") != 0) return false;
    i += strip ? 3 : 2;
    if (strip) i = after_space(i);
    advance(i);
    line_starting_ = source_[i - 1] == '\n';
    for (std::size_t tag = source_.find("{%", pos_); tag != std::string::npos;
         tag = source_.find("{%", tag + 1)) {
      const char sign = source_.compare(tag + 2, 1, "-") == 0   ? '-'
                        : source_.compare(tag + 2, 1, "+") == 0 ? '+'
                                                                : '\0';
      std::size_t j = after_space(std::min(source_.size(), tag + (sign == '\0' ? 2 : 3)));
      if (source_.compare(j, 6, "endraw") != 0) continue;
      j = after_space(j + 6);
      const char end_sign = source_.compare(j, 1, "-") == 0   ? '-'
                            : source_.compare(j, 1, "+") == 0 ? '+'
                                                              : '\0';
      if (end_sign != '\0') ++j;
      if (source_.compare(j, 2, "%}") != 0) continue;
      const std::string text(text_before(std::string_view(source_).substr(pos_, tag - pos_), sign, false));
      if (!text.empty()) push(TokenKind::kData, text);
      close_tag(j + 2, end_sign, true);
      return true;
    }
    error("{% raw %} is not closed with {% endraw %}");
  }

  void expression(bool block) {
    std::string open;  // brackets that are not closed yet
    while (true) {
      if (pos_ >= source_.size())
        error(block ? "a block is not closed with %}" : "an expression is not closed with }}");
      if (open.empty() && close_expression(block)) return;
      const std::size_t space = after_space(pos_);
      if (space > pos_) {
        advance(space);
        continue;
      }
      if (number() || name() || string()) continue;
      operator_token(open);
    }
  }

  bool close_expression(bool block) {
    const std::string_view end = block ? "%}" : "}}";
    const char sign = source_[pos_] == '-' || (block && source_[pos_] == '+') ? source_[pos_] : '\0';
    const std::size_t skip = sign == '\0' ? 0 : 1;
    if (source_.compare(pos_ + skip, 2, end) != 0) return false;
    push(block ? TokenKind::kBlockEnd : TokenKind::kVariableEnd, std::string(end));
    close_tag(pos_ + skip + 2, sign, block);
    return true;
  }

  // Digits with single underscores between them; returns the end, `from` when there is none.
  std::size_t digits(std::size_t from, bool (*is)(char)) const {
    std::size_t i = from;
    while (i < source_.size() && is(source_[i])) {
      ++i;
      if (i + 1 < source_.size() && source_[i] == '_' && is(source_[i + 1])) ++i;
    }
    return i;
  }

  bool number() {
    if (!is_digit(source_[pos_])) return false;
    std::size_t end = digits(pos_, &is_digit);
    bool real = false;
    // 1.5 and 1.5e3, but not in a.0.5.
    const bool after_dot = pos_ > 0 && source_[pos_ - 1] == '.';
    if (!after_dot) {
      std::size_t i = end;
      if (i + 1 < source_.size() && source_[i] == '.' && is_digit(source_[i + 1])) {
        end = i = digits(i + 1, &is_digit);
        real = true;
      }
      if (i < source_.size() && (source_[i] == 'e' || source_[i] == 'E')) {
        ++i;
        if (i < source_.size() && (source_[i] == '+' || source_[i] == '-')) ++i;
        if (i < source_.size() && is_digit(source_[i])) {
          end = digits(i, &is_digit);
          real = true;
        }
      }
    }
    if (!real) end = integer_end(end);
    std::string text = source_.substr(pos_, end - pos_);
    std::erase(text, '_');
    push(real ? TokenKind::kFloat : TokenKind::kInteger, text);
    advance(end);
    return true;
  }

  // 0x1F, 0b1, 0o7; a number that starts with 0 ends behind its zeros.
  std::size_t integer_end(std::size_t decimal_end) const {
    if (source_[pos_] != '0') return decimal_end;
    const char base = pos_ + 1 < source_.size() ? static_cast<char>(source_[pos_ + 1] | 0x20) : '\0';
    bool (*is)(char) = nullptr;
    if (base == 'x') is = [](char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); };
    if (base == 'o') is = [](char c) { return c >= '0' && c <= '7'; };
    if (base == 'b') is = [](char c) { return c == '0' || c == '1'; };
    if (is != nullptr) {
      const std::size_t end = digits(pos_ + 2, is);
      if (end > pos_ + 2) return end;
    }
    return digits(pos_, [](char c) { return c == '0'; });
  }

  bool name() {
    std::size_t end = pos_;
    while (end < source_.size()) {
      std::size_t next = end;
      if (!is_word_character(next_code_point(source_, next))) break;
      end = next;
    }
    if (end == pos_) return false;
    push(TokenKind::kName, source_.substr(pos_, end - pos_));
    advance(end);
    return true;
  }

  bool string() {
    const char quote = source_[pos_];
    if (quote != '\'' && quote != '"') return false;
    std::size_t end = pos_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) error("a string is not closed");
    try {
      push(TokenKind::kString, unescape_literal(std::string_view(source_).substr(pos_ + 1, end - pos_ - 1)));
    } catch (const TemplateError& e) {
      error(e.what());
    }
    advance(end + 1);
    return true;
  }

  void operator_token(std::string& open) {
    for (const std::string_view op : kOperators) {
      if (!at(op)) continue;
      if (op == "{" || op == "(" || op == "[") open += op == "{" ? '}' : op == "(" ? ')' : ']';
      if (op == "}" || op == ")" || op == "]") {
        if (open.empty()) error(concat("unexpected '", op, "'"));
        if (open.back() != op.front()) error(concat("unexpected '", op, "', expected '", open.back(), "'"));
        open.pop_back();
      }
      push(TokenKind::kOperator, std::string(op));
      advance(pos_ + op.size());
      return;
    }
    std::size_t next = pos_;
    next_code_point(source_, next);
    error(concat("unexpected character '", source_.substr(pos_, next - pos_), "'"));
  }

  std::string source_;
  std::size_t pos_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace loongforge::jinja
