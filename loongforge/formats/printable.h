// Names out of files, made fit for a one-line message.
#pragma once

#include <string>
#include <string_view>

namespace loongforge {

// Control characters become '?', and a name beyond 100 bytes is cut with "...".
inline std::string printable(std::string_view name) {
  constexpr std::size_t kMost = 100;
  std::string text(name.substr(0, kMost));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return name.size() > kMost ? text + "..." : text;
}

}  // namespace loongforge
