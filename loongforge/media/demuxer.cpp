#include "loongforge/media/demuxer.h"

extern "C" {
#include <libavutil/display.h>
}

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

namespace loongforge {
namespace {

// Containers of videos; FFmpeg's own list would take playlists, pictures and texts for one.
constexpr char kContainers[] = "mov,matroska,avi,mpegts,mpeg,flv,asf,ogg";
constexpr int kBufferBytes = 1 << 16;

// Null where the stream has none.
const std::int32_t* display_matrix(const AVStream* stream) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  const AVPacketSideData* data = av_packet_side_data_get(
      stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  return data == nullptr ? nullptr : reinterpret_cast<const std::int32_t*>(data->data);
#else
  return reinterpret_cast<const std::int32_t*>(
      av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr));
#endif
}

}  // namespace

std::string av_reason(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = "";
  av_strerror(error, text, sizeof text);
  return text;
}

int Demuxer::read_input(void* input, std::uint8_t* out, int size) {
  auto& [bytes, at] = *static_cast<Input*>(input);
  const std::size_t count = std::min(static_cast<std::size_t>(size), bytes.size() - at);
  if (count == 0) return AVERROR_EOF;
  std::memcpy(out, bytes.data() + at, count);
  at += count;
  return static_cast<int>(count);
}

std::int64_t Demuxer::seek_input(void* input, std::int64_t offset, int whence) {
  auto& [bytes, at] = *static_cast<Input*>(input);
  const auto size = static_cast<std::int64_t>(bytes.size());
  if ((whence & AVSEEK_SIZE) != 0) return size;
  const int from = whence & ~AVSEEK_FORCE;
  if (from == SEEK_CUR) offset += static_cast<std::int64_t>(at);
  if (from == SEEK_END) offset += size;
  if (offset < 0 || offset > size) return AVERROR(EINVAL);
  at = static_cast<std::size_t>(offset);
  return offset;
}

Demuxer::Demuxer(std::span<const std::byte> bytes, const std::string& name, const VideoLimits& limits)
    : input_{bytes}, name_(name), limits_(limits) {
  av_log_set_level(AV_LOG_QUIET);  // what matters comes back as error
  try {
    open();
    choose_stream();
  } catch (...) {
    close();
    throw;
  }
}

Demuxer::~Demuxer() {
  close();
}

void Demuxer::close() {
  avformat_close_input(&format_);
  if (io_ != nullptr) av_freep(&io_->buffer);
  avio_context_free(&io_);
}

void Demuxer::damaged(const std::string& reason) const {
  throw DataError(
      concat(name_, ": truncated or damaged video (", reason, "); fetch it again or leave it out"));
}

void Demuxer::open() {
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
  io_ = avio_alloc_context(buffer, kBufferBytes, 0, &input_, read_input, nullptr, seek_input);
  format_ = avformat_alloc_context();
  check<ResourceError>(buffer != nullptr && io_ != nullptr && format_ != nullptr, name_, ": out of memory");
  format_->pb = io_;
  format_->format_whitelist = av_strdup(kContainers);
  format_->protocol_whitelist = av_strdup("none");  // a file that names others gets none of them
  const int error = avformat_open_input(&format_, "", nullptr, nullptr);
  check<DataError>(error >= 0, name_,
                   ": expected a video (MP4, MOV, Matroska, WebM, AVI, MPEG, FLV, ASF or Ogg), got ",
                   input_.bytes.empty() ? "an empty file" : "what FFmpeg cannot open: " + av_reason(error),
                   "; fetch it again, convert it or leave it out");
}

void Demuxer::choose_stream() {
  const auto check_sizes = [&] {
    for (unsigned i = 0; i < format_->nb_streams; ++i) {
      const AVCodecParameters* codec = format_->streams[i]->codecpar;
      check<DataError>(codec->width <= 0 || codec->height <= limits_.max_pixels / codec->width, name_,
                       ": expected frames of at most ", limits_.max_pixels, " pixels, got ", codec->height,
                       " rows of ", codec->width, "; shrink the video or leave it out");
    }
  };
  check_sizes();
  if (const int error = avformat_find_stream_info(format_, nullptr); error < 0) damaged(av_reason(error));
  check_sizes();
  const int index = av_find_best_stream(format_, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  const bool found = index >= 0 && (format_->streams[index]->disposition & AV_DISPOSITION_ATTACHED_PIC) == 0;
  check<DataError>(found, name_, ": expected a video, got a file without a video stream; leave it out");
  for (unsigned i = 0; i < format_->nb_streams; ++i) format_->streams[i]->discard = AVDISCARD_ALL;
  format_->streams[index]->discard = AVDISCARD_DEFAULT;
  stream_ = format_->streams[index];
}

bool Demuxer::next(AVPacket* packet) {
  while (true) {
    av_packet_unref(packet);
    const int error = av_read_frame(format_, packet);
    if (error == AVERROR_EOF) return false;
    if (error < 0) damaged(av_reason(error));
    if (packet->stream_index != stream_->index) continue;
    if ((packet->flags & AV_PKT_FLAG_CORRUPT) != 0) damaged("a packet is incomplete");
    return true;
  }
}

AvCodec Demuxer::open_decoder() const {
  const AVCodec* codec = avcodec_find_decoder(stream_->codecpar->codec_id);
  check<DataError>(codec != nullptr, name_, ": no decoder for the codec ",
                   avcodec_get_name(stream_->codecpar->codec_id),
                   " in this FFmpeg; encode it again or leave it out");
  AvCodec context(avcodec_alloc_context3(codec));
  check<ResourceError>(context != nullptr, name_, ": out of memory");
  context->thread_count = 1;  // callers decode several videos at once
  context->max_pixels = limits_.max_pixels;
  int error = avcodec_parameters_to_context(context.get(), stream_->codecpar);
  if (error >= 0) error = avcodec_open2(context.get(), codec, nullptr);
  if (error < 0) damaged(av_reason(error));
  return context;
}

double Demuxer::fps() const {
  AVRational rate = stream_->avg_frame_rate;
  if (rate.num <= 0 || rate.den <= 0) rate = stream_->r_frame_rate;
  return rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0;
}

std::int64_t Demuxer::listed_frames() const {
  return std::string_view(format_->iformat->name).starts_with("mov") ? stream_->nb_frames : 0;
}

int Demuxer::orientation() const {
  const std::int32_t* matrix = display_matrix(stream_);
  if (matrix == nullptr) return 1;
  const double degrees = -av_display_rotation_get(matrix);  // clockwise
  if (!std::isfinite(degrees)) return 1;
  constexpr int kOrientations[] = {1, 6, 3, 8};
  return kOrientations[(std::lround(degrees / 90) + 4) % 4];
}

}  // namespace loongforge
