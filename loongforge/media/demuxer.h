// A video file as FFmpeg's packets; not for use above this floor.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <memory>
#include <span>
#include <string>

#include "loongforge/media/video.h"

namespace loongforge {

template <auto kFree>
struct AvDelete {
  template <typename T>
  void operator()(T* object) const {
    kFree(&object);
  }
};

using AvPacket = std::unique_ptr<AVPacket, AvDelete<av_packet_free>>;
using AvFrame = std::unique_ptr<AVFrame, AvDelete<av_frame_free>>;
using AvCodec = std::unique_ptr<AVCodecContext, AvDelete<avcodec_free_context>>;

// FFmpeg's words for one of its error numbers.
std::string av_reason(int error);

// The packets of the one video stream of bytes in memory. FFmpeg opens nothing else, whatever the bytes name.
class Demuxer {
 public:
  Demuxer(std::span<const std::byte> bytes, const std::string& name, const VideoLimits& limits);
  ~Demuxer();
  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;

  // The next packet of the stream; false at the end. Throws DataError on a truncated or damaged one.
  bool next(AVPacket* packet);
  // A decoder for it. Throws DataError where FFmpeg has none.
  AvCodec open_decoder() const;

  const AVStream* stream() const { return stream_; }
  double fps() const;
  // Frames of which the file has a table; 0 for containers without one (AVI counts in its header what it
  // leaves out).
  std::int64_t listed_frames() const;
  // EXIF orientation of the stream's rotation.
  int orientation() const;
  [[noreturn]] void damaged(const std::string& reason) const;

 private:
  // A position in the bytes, behind FFmpeg's callbacks.
  struct Input {
    std::span<const std::byte> bytes;
    std::size_t at = 0;
  };
  static int read_input(void* input, std::uint8_t* out, int size);
  static std::int64_t seek_input(void* input, std::int64_t offset, int whence);
  void open();
  void choose_stream();
  void close();

  Input input_;
  const std::string& name_;
  const VideoLimits& limits_;
  AVIOContext* io_ = nullptr;
  AVFormatContext* format_ = nullptr;
  const AVStream* stream_ = nullptr;
};

}  // namespace loongforge
