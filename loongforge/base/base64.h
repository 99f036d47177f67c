// Base64 (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace loongforge {

// With padding.
std::string encode_base64(std::string_view bytes);
// Nothing when the text is no base64; line breaks and missing padding are accepted.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace loongforge
