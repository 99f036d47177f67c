// jpeglib.h needs FILE and size_t from those before it.
// clang-format off
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <jpeglib.h>
// clang-format on

#include "loongforge/media/codec.h"
#include "loongforge/media/orientation.h"

namespace loongforge {
namespace {

constexpr int kExifMarker = JPEG_APP0 + 1;

// libjpeg with its errors turned into `reason`. It leaves a failing call by longjmp, which skips destructors:
// the calls stand in `attempt`, whose actions own nothing.
class JpegDecoder {
 public:
  explicit JpegDecoder(std::span<const std::uint8_t> bytes) {
    info_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = [](j_common_ptr info) { std::longjmp(errors_of(info).jump, 1); };
    errors_.base.emit_message = [](j_common_ptr info, int level) {
      if (level < 0 && errors_of(info).base.num_warnings++ == 0) errors_of(info).keep(info);
    };
    attempt([&] {
      jpeg_create_decompress(&info_);
      jpeg_mem_src(&info_, bytes.data(), bytes.size());
      jpeg_save_markers(&info_, kExifMarker, 0xffff);
    });
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&info_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  // Whether the action ended without a call to error_exit.
  template <typename Action>
  bool attempt(const Action& action) {
    if (setjmp(errors_.jump) != 0) {
      errors_.keep(reinterpret_cast<j_common_ptr>(&info_));
      return false;
    }
    action();
    return true;
  }

  jpeg_decompress_struct* operator->() { return &info_; }
  jpeg_decompress_struct* get() { return &info_; }
  const char* reason() const { return errors_.reason; }
  // Warnings, of which libjpeg has one for each place where it made up what it could not read.
  long& warnings() { return errors_.base.num_warnings; }

 private:
  struct Errors {
    jpeg_error_mgr base;
    std::jmp_buf jump;
    char reason[JMSG_LENGTH_MAX];
    void keep(j_common_ptr info) { base.format_message(info, reason); }
  };
  static Errors& errors_of(j_common_ptr info) { return *reinterpret_cast<Errors*>(info->err); }

  jpeg_decompress_struct info_{};
  Errors errors_{};
};

int orientation_of(JpegDecoder& jpeg) {
  for (const jpeg_marker_struct* marker = jpeg->marker_list; marker != nullptr; marker = marker->next) {
    if (marker->marker == kExifMarker && marker->data_length >= 6 &&
        std::memcmp(marker->data, "Exif\0\0", 6) == 0) {
      return exif_orientation({marker->data, marker->data_length});
    }
  }
  return 1;
}

StoredSize read_header(JpegDecoder& jpeg, const EncodedImage& in) {
  if (!jpeg.attempt([&] { jpeg_read_header(jpeg.get(), TRUE); })) in.damaged("JPEG", jpeg.reason());
  in.check_size(jpeg->image_height, jpeg->image_width);
  return {{static_cast<int>(jpeg->image_height), static_cast<int>(jpeg->image_width)}, orientation_of(jpeg)};
}

// a * b / 255, rounded.
std::uint8_t product(unsigned a, unsigned b) {
  const unsigned t = a * b + 128;
  return static_cast<std::uint8_t>((t + (t >> 8)) >> 8);
}

// Adobe stores CMYK inverted, and all others do as Adobe does: 255 is no ink.
void cmyk_to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, int pixels) {
  for (int i = 0; i < pixels; ++i, cmyk += 4, rgb += 3) {
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<std::uint8_t>(cmyk[3] - product(255u - cmyk[c], cmyk[3]));
    }
  }
}

bool read_rows(JpegDecoder& jpeg, Image& image, std::uint8_t* cmyk) {
  return jpeg.attempt([&] {
    jpeg_start_decompress(jpeg.get());
    while (jpeg->output_scanline < jpeg->output_height) {
      std::uint8_t* row = image.row(static_cast<int>(jpeg->output_scanline));
      std::uint8_t* target = cmyk == nullptr ? row : cmyk;
      jpeg_read_scanlines(jpeg.get(), &target, 1);
      if (cmyk != nullptr) cmyk_to_rgb(cmyk, row, image.width);
    }
    jpeg_finish_decompress(jpeg.get());
  });
}

}  // namespace

StoredSize measure_jpeg(const EncodedImage& in) {
  JpegDecoder jpeg(in.bytes);
  return read_header(jpeg, in);
}

StoredImage decode_jpeg(const EncodedImage& in) {
  JpegDecoder jpeg(in.bytes);
  const StoredSize stored = read_header(jpeg, in);
  const int components = jpeg->num_components;
  check<DataError>(components == 1 || components == 3 || components == 4, in.name,
                   ": expected a JPEG picture of 1, 3 or 4 components, got ", components,
                   "; convert it or leave it out");
  jpeg->out_color_space = components == 4 ? JCS_CMYK : JCS_RGB;
  jpeg.warnings() = 0;  // odd headers do no harm

  StoredImage out{Image(stored.size.height, stored.size.width), stored.orientation};
  std::vector<std::uint8_t> cmyk(components == 4 ? std::size_t{4} * jpeg->image_width : 0);
  if (!read_rows(jpeg, out.image, cmyk.empty() ? nullptr : cmyk.data()) || jpeg.warnings() > 0) {
    in.damaged("JPEG", jpeg.reason());
  }
  return out;
}

}  // namespace loongforge
