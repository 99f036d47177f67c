#include "loongforge/text/template/python_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "loongforge/text/template/value.h"
#include "loongforge/text/unicode.h"

namespace loongforge::jinja {
namespace {

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

// Characters whose other case is more than one character (SpecialCasing.txt, without conditions).
struct Special {
  char32_t c;
  const char *upper, *title;
};
constexpr std::array kSpecial = {
    Special{0xDF, "SS", "Ss"},     Special{0x149, "ʼN", "ʼN"},  Special{0x1F0, "J̌", "J̌"},
    Special{0x390, "Ϊ́", "Ϊ́"},      Special{0x3B0, "Ϋ́", "Ϋ́"},    Special{0x587, "ԵՒ", "Եւ"},
    Special{0x1E96, "H̱", "H̱"},     Special{0x1E97, "T̈", "T̈"},   Special{0x1E98, "W̊", "W̊"},
    Special{0x1E99, "Y̊", "Y̊"},     Special{0x1E9A, "Aʾ", "Aʾ"}, Special{0xFB00, "FF", "Ff"},
    Special{0xFB01, "FI", "Fi"},   Special{0xFB02, "FL", "Fl"}, Special{0xFB03, "FFI", "Ffi"},
    Special{0xFB04, "FFL", "Ffl"}, Special{0xFB05, "ST", "St"}, Special{0xFB06, "ST", "St"}};

const Special* special_of(char32_t c) {
  if (c < 0xDF) return nullptr;
  const auto found =
      std::find_if(kSpecial.begin(), kSpecial.end(), [c](const Special& s) { return s.c == c; });
  return found == kSpecial.end() ? nullptr : &*found;
}

void append_upper(std::string& out, char32_t c) {
  if (const Special* special = special_of(c)) {
    out += special->upper;
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
  }
}

void append_title(std::string& out, char32_t c) {
  if (const Special* special = special_of(c)) {
    out += special->title;
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))));
  }
}

bool is_cased(char32_t c) {
  const auto k = category(c);
  return k == UTF8PROC_CATEGORY_LU || k == UTF8PROC_CATEGORY_LL || k == UTF8PROC_CATEGORY_LT;
}

// A capital sigma at the end of a word is small "ς".
bool is_final_sigma(std::string_view text, std::size_t begin, std::size_t end) {
  bool cased_before = false;
  for (std::size_t i = 0; i < begin;) cased_before = is_cased(next_code_point(text, i));
  if (!cased_before) return false;
  return end >= text.size() || !is_cased(next_code_point(text, end));
}

void append_lower(std::string& out, std::string_view text, std::size_t begin, std::size_t end, char32_t c) {
  if (c == 0x3A3 && is_final_sigma(text, begin, end)) {
    append_utf8(out, 0x3C2);
  } else if (c == 0x130) {
    out += "i\xCC\x87";
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  }
}

}  // namespace

bool is_python_space(char32_t c) {
  return is_white_space(c) || (c >= 0x1C && c <= 0x1F);
}

std::string_view strip_left(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t next = i;
    if (!is_python_space(next_code_point(text, next))) break;
    i = next;
  }
  return text.substr(i);
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    std::size_t i = begin;
    if (!is_python_space(next_code_point(text, i))) break;
    text = text.substr(0, begin);
  }
  return text;
}

std::string to_upper(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) append_upper(out, next_code_point(text, i));
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const char32_t c = next_code_point(text, i);
    append_lower(out, text, begin, i, c);
  }
  return out;
}

std::string to_title(std::string_view text) {
  std::string out;
  bool inside = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const char32_t c = next_code_point(text, i);
    if (inside) {
      append_lower(out, text, begin, i, c);
    } else {
      append_title(out, c);
    }
    inside = is_cased(c);
  }
  return out;
}

std::string to_capitalized(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const char32_t c = next_code_point(text, i);
    if (begin == 0) {
      append_title(out, c);
    } else {
      append_lower(out, text, begin, i, c);
    }
  }
  return out;
}

std::string swap_case(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const char32_t c = next_code_point(text, i);
    if (category(c) == UTF8PROC_CATEGORY_LL) {
      append_upper(out, c);
    } else {
      append_lower(out, text, begin, i, c);
    }
  }
  return out;
}

bool is_cased_upper(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LU;
}
bool is_cased_lower(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LL;
}
bool is_alphabetic(char32_t c) {
  const auto k = category(c);
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}
bool is_decimal(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_ND;
}

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// \xHH, \uHHHH, \UHHHHHHHH at `i`, which stands on the letter.
char32_t hex_escape(std::string_view body, std::size_t& i) {
  const int count = body[i] == 'x' ? 2 : body[i] == 'u' ? 4 : 8;
  char32_t c = 0;
  for (int k = 1; k <= count; ++k) {
    const std::size_t at = i + static_cast<std::size_t>(k);
    const int digit = at < body.size() ? hex_digit(body[at]) : -1;
    if (digit < 0) fail("truncated \\", body[i], " escape in a string");
    c = c * 16 + static_cast<char32_t>(digit);
  }
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) fail("an escape in a string is no Unicode character");
  i += static_cast<std::size_t>(count) + 1;
  return c;
}

}  // namespace

std::string unescape_literal(std::string_view body) {
  std::string out;
  for (std::size_t i = 0; i < body.size();) {
    if (body[i] != '\\' || i + 1 >= body.size()) {
      out += body[i++];
      continue;
    }
    ++i;
    constexpr std::string_view kLetters = "\\'\"abfnrtv", kValues = "\\'\"\a\b\f\n\r\t\v";
    const char c = body[i];
    if (const auto known = kLetters.find(c); known != std::string_view::npos) {
      out += kValues[known];
      ++i;
    } else if (c == '\n') {
      ++i;
    } else if (c == 'x' || c == 'u' || c == 'U') {
      append_utf8(out, hex_escape(body, i));
    } else if (c >= '0' && c <= '7') {
      char32_t value = 0;
      for (int k = 0; k < 3 && i < body.size() && body[i] >= '0' && body[i] <= '7'; ++k) {
        value = value * 8 + static_cast<char32_t>(body[i++] - '0');
      }
      append_utf8(out, value);
    } else if (c == 'N') {
      fail("\\N{...} in a string is not supported");
    } else {
      out += '\\';
      out += body[i++];
    }
  }
  return out;
}

}  // namespace loongforge::jinja
