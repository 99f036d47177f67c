// UTF-8 and character classes of Unicode.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace loongforge {

// Offset of the first byte that is no part of valid UTF-8; npos when all is valid.
std::size_t find_invalid_utf8(std::string_view text);
// Each maximal invalid part becomes one U+FFFD, as in Python's errors="replace" and Rust's from_utf8_lossy.
std::string replace_invalid_utf8(std::string_view text);

// The code point at `pos`, which moves behind it. The text must be valid UTF-8.
char32_t next_code_point(std::string_view text, std::size_t& pos);
void append_utf8(std::string& out, char32_t code_point);
// Number of code points in valid UTF-8.
std::size_t code_point_count(std::string_view text);

// A message on one line: control characters as \n, \t or \xNN, no more than `most` bytes.
std::string one_line(std::string_view text, std::size_t most = 600);

// White_Space property.
bool is_white_space(char32_t c);
// General category N (digits of any script, fractions, Roman numerals).
bool is_numeric(char32_t c);
// General category P, or ASCII punctuation.
bool is_punctuation(char32_t c);
// Letter, mark, decimal digit or connector punctuation: what regular expressions call \w.
bool is_word_character(char32_t c);

}  // namespace loongforge
