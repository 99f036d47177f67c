#include "loongforge/media/image.h"

#include <string_view>

#include "loongforge/media/codec.h"
#include "loongforge/media/orientation.h"

namespace loongforge {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::size_t offset;
  std::string_view magic;
  const char* name;
};

// Kinds of files that are met in place of a picture.
constexpr Kind kRefused[] = {
    {0, "GIF8"sv, "a GIF picture"},
    {0, "BM"sv, "a BMP picture"},
    {0, "II*\0"sv, "a TIFF picture"},
    {0, "MM\0*"sv, "a TIFF picture"},
    {4, "ftypavif"sv, "an AVIF picture"},
    {4, "ftypavis"sv, "an AVIF picture"},
    {4, "ftyphei"sv, "a HEIC picture"},
    {4, "ftyphev"sv, "a HEIC picture"},
    {4, "ftypmif1"sv, "a HEIC or AVIF picture"},
    {4, "ftypmsf1"sv, "a HEIC or AVIF picture"},
    {4, "ftyp"sv, "a video"},
    {4, "jP  "sv, "a JPEG 2000 picture"},
    {4, "JXL "sv, "a JPEG XL picture"},
    {0, "\xff\x0a"sv, "a JPEG XL picture"},
    {0, "<svg"sv, "an SVG drawing"},
    {0, "<?xml"sv, "an XML file, perhaps an SVG drawing"},
    {0, "<!DOCTYPE"sv, "a web page"},
    {0, "<html"sv, "a web page"},
    {0, "%PDF"sv, "a PDF document"},
};

bool has(std::string_view start, std::size_t offset, std::string_view magic) {
  return start.size() >= offset && start.substr(offset).starts_with(magic);
}

struct Codec {
  StoredSize (*measure)(const EncodedImage&);
  StoredImage (*decode)(const EncodedImage&);
};

Codec codec_of(const EncodedImage& in) {
  const std::string_view start(reinterpret_cast<const char*>(in.bytes.data()),
                               std::min<std::size_t>(in.bytes.size(), 64));
  if (has(start, 0, "\xff\xd8\xff")) return {measure_jpeg, decode_jpeg};
  if (has(start, 0, "\x89PNG\r\n\x1a\n")) return {measure_png, decode_png};
  if (has(start, 0, "RIFF") && has(start, 8, "WEBP")) return {measure_webp, decode_webp};
  const char* found = "no picture";
  for (const Kind& kind : kRefused) {
    if (has(start, kind.offset, kind.magic)) {
      found = kind.name;
      break;
    }
  }
  throw DataError(
      concat(in.name, ": expected a JPEG, PNG or WebP picture, got ", found, "; convert it or leave it out"));
}

EncodedImage encoded(std::span<const std::byte> bytes, const std::string& name, const ImageLimits& limits) {
  check<DataError>(!bytes.empty(), name, ": is empty, expected a picture; fetch it again or leave it out");
  check<DataError>(bytes.size() <= static_cast<std::uint64_t>(limits.max_bytes), name,
                   ": expected a picture of at most ", limits.max_bytes, " bytes, got ", bytes.size(),
                   "; shrink it or leave it out");
  return {{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, name, limits};
}

}  // namespace

void EncodedImage::check_size(std::int64_t height, std::int64_t width) const {
  check<DataError>(height > 0 && width > 0 && width <= limits.max_pixels / height, name,
                   ": expected a picture of 1 to ", limits.max_pixels, " pixels, got ", height, " rows of ",
                   width, "; shrink it or leave it out");
}

void EncodedImage::damaged(const char* kind, const std::string& reason) const {
  throw DataError(concat(name, ": truncated or damaged ", kind, " picture (", reason,
                         "); fetch it again or leave it out"));
}

Image decode_image(std::span<const std::byte> bytes, const std::string& name, const ImageLimits& limits) {
  const EncodedImage in = encoded(bytes, name, limits);
  StoredImage stored = codec_of(in).decode(in);
  return upright(std::move(stored.image), stored.orientation);
}

ImageSize image_size(std::span<const std::byte> bytes, const std::string& name, const ImageLimits& limits) {
  const EncodedImage in = encoded(bytes, name, limits);
  const StoredSize stored = codec_of(in).measure(in);
  return upright(stored.size, stored.orientation);
}

Image read_image(const fs::path& path, const ImageLimits& limits) {
  return decode_image(MappedFile(path).bytes(), path.string(), limits);
}

}  // namespace loongforge
