#include "loongforge/formats/line_reader.h"

#include <cstring>
#include <string_view>

namespace loongforge {
namespace {

constexpr std::size_t kBufferBytes = 1 << 18;
constexpr std::size_t kMaxLineBytes = std::size_t{1} << 30;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

LineReader::LineReader(const fs::path& path)
    : path_(path), source_(open_decompressed(path)), buffer_(kBufferBytes) {}

bool LineReader::fill() {
  try {
    begin_ = 0;
    end_ = source_->read(buffer_);
  } catch (const DataError& error) {
    throw DataError(concat(error.what(), " (after line ", line_, ")"));
  }
  return end_ > 0;
}

bool LineReader::next(std::string& line) {
  line.clear();
  bool any = false;
  while (begin_ < end_ || fill()) {
    any = true;
    const char* start = buffer_.data() + begin_;
    const void* found = std::memchr(start, '\n', end_ - begin_);
    const std::size_t length =
        found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - start) : end_ - begin_;
    check<DataError>(line.size() + length <= kMaxLineBytes, path_.string(), ":", line_ + 1,
                     ": line is longer than 1 GiB; expected one record a line");
    line.append(start, length);
    begin_ += length;
    if (found != nullptr) {
      ++begin_;
      break;
    }
  }
  if (!any) return false;
  if (++line_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

}  // namespace loongforge
