#include "loongforge/media/video.h"

extern "C" {
#include <libswscale/swscale.h>
}

#include <cstring>

#include "loongforge/media/demuxer.h"
#include "loongforge/media/orientation.h"

namespace loongforge {
namespace {

// Frames to RGB by the matrix and range that they name, as PyAV converts them.
class RgbConverter {
 public:
  explicit RgbConverter(const Demuxer& demuxer) : demuxer_(demuxer) {}
  ~RgbConverter() { sws_freeContext(scaler_); }
  RgbConverter(const RgbConverter&) = delete;
  RgbConverter& operator=(const RgbConverter&) = delete;

  Image convert(const AVFrame& frame) {
    prepare(frame);
    sws_scale(scaler_, frame.data, frame.linesize, 0, frame.height, rgb_->data, rgb_->linesize);
    Image image(frame.height, frame.width);
    for (int y = 0; y < image.height; ++y) {
      std::memcpy(image.row(y), rgb_->data[0] + std::ptrdiff_t{rgb_->linesize[0]} * y, image.row_bytes());
    }
    return image;
  }

 private:
  void prepare(const AVFrame& frame) {
    const auto format = static_cast<AVPixelFormat>(frame.format);
    scaler_ = sws_getCachedContext(scaler_, frame.width, frame.height, format, frame.width, frame.height,
                                   AV_PIX_FMT_RGB24, SWS_BILINEAR, nullptr, nullptr, nullptr);
    if (scaler_ == nullptr) demuxer_.damaged("its pixels cannot be converted to RGB");
    const int* matrix = sws_getCoefficients(frame.colorspace);
    const int full = frame.color_range == AVCOL_RANGE_JPEG ? 1 : 0;
    sws_setColorspaceDetails(scaler_, matrix, full, matrix, 1, 0, 1 << 16, 1 << 16);
    if (rgb_) return;
    // A frame of FFmpeg's, because swscale writes past the ends of rows that are not padded.
    rgb_.reset(av_frame_alloc());
    check<ResourceError>(rgb_ != nullptr, "FFmpeg: out of memory");
    rgb_->format = AV_PIX_FMT_RGB24;
    rgb_->width = frame.width;
    rgb_->height = frame.height;
    check<ResourceError>(av_frame_get_buffer(rgb_.get(), 0) >= 0, "FFmpeg: out of memory");
  }

  const Demuxer& demuxer_;
  SwsContext* scaler_ = nullptr;
  AvFrame rgb_;
};

// The frames of a video in the order in which they are shown.
class Decoder {
 public:
  explicit Decoder(Demuxer& demuxer)
      : demuxer_(demuxer),
        codec_(demuxer.open_decoder()),
        packet_(av_packet_alloc()),
        frame_(av_frame_alloc()),
        stored_{demuxer.stream()->codecpar->height, demuxer.stream()->codecpar->width} {
    check<ResourceError>(packet_ && frame_, "FFmpeg: out of memory");
  }

  // Null at the end; valid until the next call.
  const AVFrame* next() {
    while (true) {
      const int error = avcodec_receive_frame(codec_.get(), frame_.get());
      if (error == AVERROR_EOF) return nullptr;
      if (error == AVERROR(EAGAIN)) {
        feed();
        continue;
      }
      if (error < 0) demuxer_.damaged(av_reason(error));
      check_frame();
      return frame_.get();
    }
  }

 private:
  void feed() {
    const bool more = demuxer_.next(packet_.get());
    const int error = avcodec_send_packet(codec_.get(), more ? packet_.get() : nullptr);
    if (error < 0) demuxer_.damaged(av_reason(error));
  }

  void check_frame() const {
    if (frame_->decode_error_flags != 0 || (frame_->flags & AV_FRAME_FLAG_CORRUPT) != 0) {
      demuxer_.damaged("a frame has errors");
    }
    if (frame_->height != stored_.height || frame_->width != stored_.width) {
      demuxer_.damaged(concat("its frames change from ", stored_.height, " rows of ", stored_.width, " to ",
                              frame_->height, " of ", frame_->width));
    }
  }

  Demuxer& demuxer_;
  AvCodec codec_;
  AvPacket packet_;
  AvFrame frame_;
  ImageSize stored_;
};

}  // namespace

VideoReader::VideoReader(const fs::path& path, const VideoLimits& limits)
    : file_(std::make_shared<const MappedFile>(path)),
      bytes_(file_->bytes()),
      name_(path.string()),
      limits_(limits) {
  inspect();
}

VideoReader::VideoReader(std::span<const std::byte> bytes, std::string name, const VideoLimits& limits)
    : bytes_(bytes), name_(std::move(name)), limits_(limits) {
  inspect();
}

void VideoReader::inspect() {
  Demuxer demuxer(bytes_, name_, limits_);
  const AvPacket packet(av_packet_alloc());
  check<ResourceError>(packet != nullptr, "FFmpeg: out of memory");
  std::int64_t packets = 0;
  while (demuxer.next(packet.get())) {
    ++packets;
    if ((packet->flags & AV_PKT_FLAG_DISCARD) == 0) ++info_.frames;  // else an edit list cuts it off
    check<DataError>(packets <= limits_.max_frames, name_, ": expected a video of at most ",
                     limits_.max_frames, " frames, got more; cut it");
  }
  const std::int64_t listed = demuxer.listed_frames();
  if (packets < listed) demuxer.damaged(concat("it lists ", listed, " frames and holds ", packets));
  check<DataError>(info_.frames > 0, name_, ": expected a video of 1 frame or more, got none; leave it out");
  demuxer.open_decoder();  // an unknown codec is refused here
  info_.fps = demuxer.fps();
  info_.size = {demuxer.stream()->codecpar->height, demuxer.stream()->codecpar->width};
  if (demuxer.orientation() >= 5) std::swap(info_.size.height, info_.size.width);
}

void VideoReader::read(std::span<const std::int64_t> indices,
                       const std::function<void(std::int64_t, Image)>& sink) const {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::int64_t first = i == 0 ? 0 : indices[i - 1] + 1;
    check(first <= indices[i] && indices[i] < info_.frames, name_, ": frame ", indices[i], " of ",
          info_.frames, " asked for; expected ascending ones");
  }
  Demuxer demuxer(bytes_, name_, limits_);
  Decoder decoder(demuxer);
  RgbConverter converter(demuxer);
  std::int64_t at = 0;
  for (const std::int64_t index : indices) {
    const AVFrame* frame = nullptr;
    for (; at <= index; ++at) {
      frame = decoder.next();
      if (frame == nullptr) {
        demuxer.damaged(concat("it holds ", info_.frames, " frames, of which ", at, " can be decoded"));
      }
    }
    sink(index, upright(converter.convert(*frame), demuxer.orientation()));
  }
}

}  // namespace loongforge
