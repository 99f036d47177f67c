#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "loongforge/media/codec.h"
#include "loongforge/media/orientation.h"

namespace loongforge {
namespace {

// libpng with its errors turned into `reason`. It leaves a failing call by longjmp, which skips destructors:
// the calls stand in `attempt`, whose actions own nothing.
class PngDecoder {
 public:
  explicit PngDecoder(std::span<const std::uint8_t> bytes) : rest_(bytes) {
    png_ = png_create_read_struct(
        PNG_LIBPNG_VER_STRING, this,
        [](png_structp png, png_const_charp message) {
          auto& self = *static_cast<PngDecoder*>(png_get_error_ptr(png));
          std::snprintf(self.reason_, sizeof self.reason_, "%s", message);
          std::longjmp(self.jump_, 1);
        },
        [](png_structp, png_const_charp) {});  // of colour profiles and the like
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    check<ResourceError>(info_ != nullptr, "libpng: out of memory");
    png_set_read_fn(png_, this, [](png_structp png, png_bytep out, std::size_t size) {
      auto& rest = static_cast<PngDecoder*>(png_get_io_ptr(png))->rest_;
      if (size > rest.size()) png_error(png, "the file ends too early");
      std::memcpy(out, rest.data(), size);
      rest = rest.subspan(size);
    });
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // ours say more
  }
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  // Whether the action ended without an error.
  template <typename Action>
  bool attempt(const Action& action) {
    if (setjmp(jump_) != 0) return false;
    action();
    return true;
  }

  png_structp png() { return png_; }
  png_infop info() { return info_; }
  const char* reason() const { return reason_; }

 private:
  std::span<const std::uint8_t> rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf jump_;
  char reason_[128] = "";
};

// Asks for RGB of 8 bits, but leaves grey of 16 bits as it is.
void request_rgb(PngDecoder& in, bool grey16) {
  if (!grey16) {
    png_set_strip_16(in.png());  // the upper byte
    png_set_palette_to_rgb(in.png());
    png_set_expand_gray_1_2_4_to_8(in.png());
    png_set_gray_to_rgb(in.png());
    png_set_strip_alpha(in.png());
  }
  png_set_interlace_handling(in.png());
  png_read_update_info(in.png(), in.info());
}

// Grey of 16 bits, big endian, to RGB as Pillow has it.
void clip_grey16(std::span<const std::uint8_t> grey, std::uint8_t* rgb) {
  for (std::size_t i = 0; i < grey.size(); i += 2, rgb += 3)
    std::memset(rgb, grey[i] != 0 ? 255 : grey[i + 1], 3);
}

// Reads all up to the pixels.
ImageSize read_header(PngDecoder& in, const EncodedImage& encoded) {
  if (!in.attempt([&] { png_read_info(in.png(), in.info()); })) encoded.damaged("PNG", in.reason());
  const png_uint_32 height = png_get_image_height(in.png(), in.info());
  const png_uint_32 width = png_get_image_width(in.png(), in.info());
  encoded.check_size(height, width);
  return {static_cast<int>(height), static_cast<int>(width)};
}

// The eXIf chunk may stand behind the pixels too: a walk over the chunks, none of which is opened.
int orientation_of(std::span<const std::uint8_t> file) {
  constexpr std::size_t kSignature = 8, kFrame = 12;  // length, name and checksum of a chunk
  for (std::size_t at = kSignature; at + kFrame <= file.size();) {
    const std::size_t size = png_get_uint_32(file.data() + at);
    if (size > file.size() - at - kFrame) break;
    if (std::memcmp(file.data() + at + 4, "eXIf", 4) == 0)
      return exif_orientation(file.subspan(at + 8, size));
    at += kFrame + size;
  }
  return 1;
}

}  // namespace

StoredSize measure_png(const EncodedImage& encoded) {
  PngDecoder in(encoded.bytes);
  const ImageSize size = read_header(in, encoded);
  return {size, orientation_of(encoded.bytes)};
}

StoredImage decode_png(const EncodedImage& encoded) {
  PngDecoder in(encoded.bytes);
  const ImageSize size = read_header(in, encoded);
  const auto height = static_cast<std::size_t>(size.height), width = static_cast<std::size_t>(size.width);
  const bool grey16 = png_get_color_type(in.png(), in.info()) == PNG_COLOR_TYPE_GRAY &&
                      png_get_bit_depth(in.png(), in.info()) == 16;

  StoredImage out{Image(size.height, size.width)};
  std::vector<std::uint8_t> grey(grey16 ? 2 * height * width : 0);
  std::vector<png_bytep> rows(height);
  for (std::size_t y = 0; y < height; ++y) {
    rows[y] = grey16 ? grey.data() + 2 * width * y : out.image.row(static_cast<int>(y));
  }
  const bool read = in.attempt([&] {
    request_rgb(in, grey16);
    png_read_image(in.png(), rows.data());
    png_read_end(in.png(), in.info());
  });
  if (!read) encoded.damaged("PNG", in.reason());
  clip_grey16(grey, out.image.rgb.data());
  out.orientation = orientation_of(encoded.bytes);
  return out;
}

}  // namespace loongforge
