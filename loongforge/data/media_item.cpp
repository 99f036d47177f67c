#include "loongforge/data/media_item.h"

#include <string_view>

#include "loongforge/base/base64.h"

namespace loongforge {
namespace {

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
