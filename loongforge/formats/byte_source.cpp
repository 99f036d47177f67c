#include "loongforge/formats/byte_source.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace loongforge {
namespace {

constexpr std::size_t kChunk = 1 << 18;

class PlainSource : public ByteSource {
 public:
  explicit PlainSource(const fs::path& path) : name_(path.string()) {
    const std::string reason = why_unreadable(path);
    check<DataError>(reason.empty(), name_, ": ", reason);
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    check<DataError>(fd_ >= 0, name_, ": cannot be opened: ", std::strerror(errno));
  }
  ~PlainSource() override { ::close(fd_); }

  std::size_t read(std::span<char> out) override {
    while (true) {
      const ssize_t n = ::read(fd_, out.data(), out.size());
      if (n >= 0) return static_cast<std::size_t>(n);
      check<DataError>(errno == EINTR, name_, ": cannot be read: ", std::strerror(errno));
    }
  }
  const std::string& name() const { return name_; }
  void rewind() {
    check<DataError>(::lseek(fd_, 0, SEEK_SET) == 0, name_, ": cannot be read from its start");
  }

 private:
  std::string name_;
  int fd_ = -1;
};

// Compressed bytes, read ahead in chunks.
struct Input {
  explicit Input(std::unique_ptr<PlainSource> file) : source(std::move(file)), buffer(kChunk) {}

  // False at the end of the file.
  bool refill() {
    begin = 0;
    end = source->read(buffer);
    return end > 0;
  }
  bool empty() const { return begin == end; }

  std::unique_ptr<PlainSource> source;
  std::vector<char> buffer;
  std::size_t begin = 0, end = 0;
};

class GzipSource : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<PlainSource> file) : input_(std::move(file)) {
    // 16: gzip framing only.
    check<ResourceError>(inflateInit2(&stream_, 15 + 16) == Z_OK, "zlib: no memory");
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(std::span<char> out) override {
    const std::string& name = input_.source->name();
    while (true) {
      if (input_.empty() && !input_.refill()) {
        check<DataError>(between_members_, name, ": ends in the middle of its gzip stream; fetch it again");
        return 0;
      }
      if (between_members_ && !start_member()) return 0;
      const std::size_t made = step(out);
      if (made > 0) return made;
    }
  }

 private:
  // False when only zero padding follows, which tar and tape tools leave.
  bool start_member() {
    if (any_member_ && input_.buffer[input_.begin] == '\0') {
      while (true) {
        while (!input_.empty() && input_.buffer[input_.begin] == '\0') ++input_.begin;
        if (!input_.empty()) break;
        if (!input_.refill()) return false;
      }
      throw DataError(concat(input_.source->name(), ": garbled gzip stream: bytes behind its padding"));
    }
    inflateReset(&stream_);
    between_members_ = false;
    any_member_ = true;
    return true;
  }

  std::size_t step(std::span<char> out) {
    stream_.next_in = reinterpret_cast<Bytef*>(input_.buffer.data() + input_.begin);
    stream_.avail_in = static_cast<uInt>(input_.end - input_.begin);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    const auto room = static_cast<uInt>(std::min<std::size_t>(out.size(), 1u << 30));
    stream_.avail_out = room;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    input_.begin = input_.end - stream_.avail_in;
    check<DataError>(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR, input_.source->name(),
                     ": garbled gzip stream: ", stream_.msg != nullptr ? stream_.msg : "unknown error",
                     "; fetch it again");
    between_members_ = status == Z_STREAM_END;
    return room - stream_.avail_out;
  }

  Input input_;
  z_stream stream_{};
  bool between_members_ = true, any_member_ = false;
};

class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<PlainSource> file)
      : input_(std::move(file)), stream_(ZSTD_createDStream()) {
    check<ResourceError>(stream_ != nullptr, "zstd: no memory");
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  std::size_t read(std::span<char> out) override {
    const std::string& name = input_.source->name();
    while (true) {
      // After a full output buffer the decoder may hold more without needing input.
      if (input_.empty() && !output_was_full_ && !input_.refill()) {
        check<DataError>(at_frame_end_, name, ": ends in the middle of its Zstandard stream; fetch it again");
        return 0;
      }
      ZSTD_inBuffer in{input_.buffer.data(), input_.end, input_.begin};
      ZSTD_outBuffer made{out.data(), out.size(), 0};
      const std::size_t status = ZSTD_decompressStream(stream_, &made, &in);
      check<DataError>(ZSTD_isError(status) == 0, name,
                       ": garbled Zstandard stream: ", ZSTD_getErrorName(status), "; fetch it again");
      // Without progress (both buffers untouched) the last status stands.
      if (in.pos != input_.begin || made.pos > 0) at_frame_end_ = status == 0;
      input_.begin = in.pos;
      output_was_full_ = made.pos == made.size;
      if (made.pos > 0) return made.pos;
    }
  }

 private:
  Input input_;
  ZSTD_DStream* stream_;
  bool at_frame_end_ = true, output_was_full_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> open_decompressed(const fs::path& path) {
  auto file = std::make_unique<PlainSource>(path);
  std::array<char, 4> magic{};
  std::size_t have = 0;
  while (have < magic.size()) {
    const std::size_t n = file->read(std::span(magic).subspan(have));
    if (n == 0) break;
    have += n;
  }
  file->rewind();
  const std::string_view start(magic.data(), have);
  if (start.starts_with("\x1f\x8b")) return std::make_unique<GzipSource>(std::move(file));
  if (start == "\x28\xb5\x2f\xfd") return std::make_unique<ZstdSource>(std::move(file));
  for (const auto& [extension, kind] : {std::pair(".gz", "gzip"), std::pair(".zst", "Zstandard")})
    check<DataError>(path.extension() != extension || have == 0, path.string(), ": expected ", kind,
                     " data as its name says, got something else; fetch the file again, or rename it");
  return file;
}

}  // namespace loongforge
