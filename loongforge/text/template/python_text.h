// Python's str as seen by templates: white space, case and escapes.
#pragma once

#include <string>
#include <string_view>

namespace loongforge::jinja {

// str.isspace of one character: White_Space and the four separators U+001C to U+001F.
bool is_python_space(char32_t c);
// Bytes without white space at the left or right end.
std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);

std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
// First letter of every word large, the others small.
std::string to_title(std::string_view text);
// First character large, the others small.
std::string to_capitalized(std::string_view text);
std::string swap_case(std::string_view text);

bool is_cased_upper(char32_t c);
bool is_cased_lower(char32_t c);
bool is_alphabetic(char32_t c);
bool is_decimal(char32_t c);

// Text between the quotes of a string literal to its value ("\\n" -> a line break). Throws TemplateError for
// an escape that Python refuses, and for \N{...}.
std::string unescape_literal(std::string_view body);

}  // namespace loongforge::jinja
