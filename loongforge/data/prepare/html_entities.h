// Character references of HTML ("&eacute;", "&#233;", "&#xE9;").
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace loongforge {

// `text` begins with '&'. Appends the decoded character(s) to `out` and returns the bytes read; 0 when there
// is no reference here and the '&' stands for itself. Names: those of HTML 4, with ';' (without it only the
// few that browsers see often).
std::size_t decode_entity(std::string_view text, std::string& out);

// Character of Windows-1252, which is also what HTML means by Latin-1.
char32_t windows_1252_code(unsigned char byte);

}  // namespace loongforge
