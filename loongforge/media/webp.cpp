#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>

#include "loongforge/media/codec.h"
#include "loongforge/media/orientation.h"

namespace loongforge {
namespace {

using Demuxer = std::unique_ptr<WebPDemuxer, decltype(&WebPDemuxDelete)>;
using Decoder = std::unique_ptr<WebPAnimDecoder, decltype(&WebPAnimDecoderDelete)>;

int orientation_of(const WebPDemuxer* file) {
  WebPChunkIterator chunk;
  const int orientation = WebPDemuxGetChunk(file, "EXIF", 1, &chunk) != 0
                              ? exif_orientation({chunk.chunk.bytes, chunk.chunk.size})
                              : 1;
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

}  // namespace

StoredSize measure_webp(const EncodedImage& in) {
  const WebPData data{in.bytes.data(), in.bytes.size()};
  const Demuxer file(WebPDemux(&data), WebPDemuxDelete);
  if (!file) in.damaged("WebP", "its chunks do not fit together");
  const auto width = WebPDemuxGetI(file.get(), WEBP_FF_CANVAS_WIDTH);
  const auto height = WebPDemuxGetI(file.get(), WEBP_FF_CANVAS_HEIGHT);
  in.check_size(height, width);
  return {{static_cast<int>(height), static_cast<int>(width)}, orientation_of(file.get())};
}

StoredImage decode_webp(const EncodedImage& in) {
  const WebPData data{in.bytes.data(), in.bytes.size()};
  const StoredSize stored = measure_webp(in);

  // The decoder of animations takes still pictures too, and Pillow uses it for both.
  const Decoder decoder(WebPAnimDecoderNew(&data, nullptr), WebPAnimDecoderDelete);
  std::uint8_t* rgba = nullptr;
  int milliseconds = 0;
  if (!decoder || WebPAnimDecoderGetNext(decoder.get(), &rgba, &milliseconds) == 0) {
    in.damaged("WebP", "its first frame cannot be decoded");
  }
  StoredImage out{Image(stored.size.height, stored.size.width), stored.orientation};
  for (std::uint8_t *rgb = out.image.rgb.data(), *end = rgb + out.image.rgb.size(); rgb != end;
       rgb += 3, rgba += 4) {
    for (int c = 0; c < 3; ++c) rgb[c] = rgba[c];
  }
  return out;
}

}  // namespace loongforge
