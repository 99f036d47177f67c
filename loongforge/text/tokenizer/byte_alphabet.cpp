#include "loongforge/text/tokenizer/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "loongforge/text/unicode.h"

namespace loongforge {
namespace {

constexpr std::size_t kHighest = 256 + 68;

struct Alphabet {
  std::array<std::string, 256> character;
  std::array<std::int16_t, kHighest> byte;

  Alphabet() {
    byte.fill(-1);
    char32_t next = 256;
    for (int b = 0; b < 256; ++b) {
      const bool printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
      const char32_t c = printable ? static_cast<char32_t>(b) : next++;
      append_utf8(character[static_cast<std::size_t>(b)], c);
      byte[c] = static_cast<std::int16_t>(b);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet one;
  return one;
}

}  // namespace

const std::string& byte_character(unsigned char byte) {
  return alphabet().character[byte];
}

std::optional<unsigned char> byte_of_character(char32_t c) {
  if (c >= kHighest || alphabet().byte[c] < 0) return std::nullopt;
  return static_cast<unsigned char>(alphabet().byte[c]);
}

std::optional<std::string> bytes_of_token(std::string_view token) {
  std::string bytes;
  for (std::size_t i = 0; i < token.size();) {
    const auto byte = byte_of_character(next_code_point(token, i));
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
  }
  return bytes;
}

std::string token_of_bytes(std::string_view bytes) {
  std::string token;
  for (const char c : bytes) token += byte_character(static_cast<unsigned char>(c));
  return token;
}

}  // namespace loongforge
