// Makes small videos for tests: QuickTime files of PNG frames, so that every level comes back.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <cstring>
#include <string>
#include <vector>

#include "loongforge/media/demuxer.h"

namespace loongforge {

inline AvCodec png_encoder(ImageSize size, int fps) {
  const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
  AvCodec context(avcodec_alloc_context3(codec));
  context->height = size.height;
  context->width = size.width;
  context->pix_fmt = AV_PIX_FMT_RGB24;
  context->time_base = {1, fps};
  avcodec_open2(context.get(), codec, nullptr);
  return context;
}

// Frames of one size at a whole number of frames a second.
inline std::string video_of(const std::vector<Image>& images, int fps) {
  AVFormatContext* format = nullptr;
  avformat_alloc_output_context2(&format, nullptr, "mov", nullptr);
  avio_open_dyn_buf(&format->pb);
  const AvCodec encoder = png_encoder(images[0].size(), fps);
  AVStream* stream = avformat_new_stream(format, nullptr);
  avcodec_parameters_from_context(stream->codecpar, encoder.get());
  stream->time_base = encoder->time_base;
  stream->avg_frame_rate = {fps, 1};
  [[maybe_unused]] int error = avformat_write_header(format, nullptr);
  const AvPacket packet(av_packet_alloc());
  std::int64_t at = 0;
  for (const Image& image : images) {
    const AvFrame frame(av_frame_alloc());
    frame->format = AV_PIX_FMT_RGB24;
    frame->height = image.height;
    frame->width = image.width;
    frame->pts = at++;
    av_frame_get_buffer(frame.get(), 0);
    for (int y = 0; y < image.height; ++y) {
      std::memcpy(frame->data[0] + std::ptrdiff_t{frame->linesize[0]} * y, image.row(y), image.row_bytes());
    }
    avcodec_send_frame(encoder.get(), frame.get());
    while (avcodec_receive_packet(encoder.get(), packet.get()) >= 0) {
      packet->duration = 1;
      av_packet_rescale_ts(packet.get(), encoder->time_base, stream->time_base);
      error = av_write_frame(format, packet.get());
    }
  }
  error = av_write_trailer(format);
  std::uint8_t* bytes = nullptr;
  const int size = avio_close_dyn_buf(format->pb, &bytes);
  std::string file(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  av_free(bytes);
  avformat_free_context(format);
  return file;
}

}  // namespace loongforge
