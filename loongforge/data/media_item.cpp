#include "loongforge/data/media_item.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace loongforge {
namespace {

constexpr int kNoDigit = -1;

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return kNoDigit;
}

// Nothing when the text is no base64 (RFC 4648, either alphabet); line breaks are passed over.
std::optional<std::string> decode_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const int digit = base64_digit(c);
    if (digit == kNoDigit) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>(bits >> count & 0xff));
  }
  if (count == 6) return std::nullopt;  // one digit too many
  return out;
}

MediaSource from_data_url(std::string_view url, const std::string& where) {
  constexpr std::string_view kMark = ";base64,";
  const std::size_t mark = url.substr(0, 256).find(kMark);
  std::optional<std::string> bytes;
  if (mark != std::string_view::npos) bytes = decode_base64(url.substr(mark + kMark.size()));
  check<DataError>(bytes.has_value(), where, ": expected data:KIND;base64,BYTES, got '",
                   std::string(url.substr(0, 40)), "...', which cannot be decoded; write the record again");
  const auto owner = std::make_shared<const std::string>(std::move(*bytes));
  return {"bytes in the record", MediaBytes{std::as_bytes(std::span(*owner)), owner}};
}

}  // namespace

MediaBytes MediaSource::open() const {
  if (held) return *held;
  const auto file = std::make_shared<const MappedFile>(name);
  return {file->bytes(), file};
}

MediaResolver files_of(const fs::path& folder) {
  return [folder](const std::string& named, const std::string& where) -> MediaSource {
    const std::string_view text = named;
    check<DataError>(!text.empty(), where, ": expected the path of a picture or clip, got an empty text");
    if (text.starts_with("data:")) return from_data_url(text, where);
    if (text.starts_with("file://")) return {std::string(text.substr(7)), {}};
    const std::size_t scheme = text.find("://");
    check<DataError>(scheme == std::string_view::npos, where, ": expected a file, got the address '", named,
                     "'; nothing is read from the network, fetch it first and name the file");
    return {(folder / named).lexically_normal().string(), {}};
  };
}

}  // namespace loongforge
