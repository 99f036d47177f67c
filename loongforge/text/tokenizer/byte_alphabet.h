// The alphabet of byte-level BPE (GPT-2): every byte has a printable character that stands for it in files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace loongforge {

// "Ġ" for 0x20, "A" for 0x41, ...
const std::string& byte_character(unsigned char byte);
// The byte that the code point stands for.
std::optional<unsigned char> byte_of_character(char32_t c);
// "Ġthe" -> " the"; none when a character is not of the alphabet.
std::optional<std::string> bytes_of_token(std::string_view token);
// " the" -> "Ġthe".
std::string token_of_bytes(std::string_view bytes);

}  // namespace loongforge
