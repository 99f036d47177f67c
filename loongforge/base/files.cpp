#include "loongforge/base/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace loongforge {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

std::string mend_for(int error) {
  if (error == ENOSPC || error == EDQUOT) return "; free some space and start again";
  if (error == EACCES || error == EPERM || error == EROFS) return "; choose a folder that you may write to";
  return "";
}

// Writes all bytes; returns 0 or errno.
int write_all(int fd, const std::byte* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, data, size);
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return 0;
}

}  // namespace

std::string why_unreadable(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return errno == ENOENT ? "no such file" : std::strerror(errno);
  if (S_ISDIR(info.st_mode)) return "is a folder, expected a file";
  if (!S_ISREG(info.st_mode)) return "is no regular file";
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::strerror(errno);
  ::close(fd);
  return "";
}

std::string detail::read_text_or_reason(const fs::path& path, std::string& out) {
  if (std::string reason = why_unreadable(path); !reason.empty()) return reason;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::strerror(errno);
  std::error_code ignored;
  const auto size = fs::file_size(path, ignored);
  out.resize(ignored ? 0 : size);
  std::size_t done = 0;
  while (true) {
    if (done == out.size()) out.resize(done + 4096);
    const ssize_t n = ::read(fd, out.data() + done, out.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      ::close(fd);
      return std::strerror(error);
    }
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  out.resize(done);
  ::close(fd);
  return "";
}

MappedFile::MappedFile(const fs::path& path) : path_(path) {
  const std::string reason = why_unreadable(path);
  check<DataError>(reason.empty(), path.string(), ": ", reason);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check<DataError>(fd >= 0, path.string(), ": ", std::strerror(errno));
  struct stat info {};
  ::fstat(fd, &info);
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ > 0) {
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    const int error = errno;
    ::close(fd);
    check<ResourceError>(mapped != MAP_FAILED, path.string(), ": cannot be mapped: ", std::strerror(error));
    data_ = static_cast<const std::byte*>(mapped);
  } else {
    ::close(fd);
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  static std::atomic<int> counter{0};
  temporary_ = path_;
  temporary_ += concat(".tmp-", ::getpid(), "-", counter++);
  fd_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("cannot be created", errno);
  buffer_.reserve(kBufferBytes);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlink(temporary_.c_str());
  }
}

void AtomicFile::fail(const char* what, int error) const {
  throw ResourceError(concat(path_.string(), ": ", what, ": ", std::strerror(error), mend_for(error)));
}

void AtomicFile::flush() {
  const int error = write_all(fd_, buffer_.data(), buffer_.size());
  if (error != 0) fail("cannot be written", error);
  buffer_.clear();
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() >= kBufferBytes) {
    const int error = write_all(fd_, bytes.data(), bytes.size());
    if (error != 0) fail("cannot be written", error);
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  flush();
  const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (n != static_cast<ssize_t>(bytes.size())) fail("cannot be written", n < 0 ? errno : ENOSPC);
}

void AtomicFile::commit() {
  flush();
  if (::fsync(fd_) != 0) fail("cannot be flushed to disk", errno);
  // Some file systems report a full disk only here.
  if (::close(std::exchange(fd_, -1)) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    fail("cannot be closed", error);
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    fail("cannot be put in place", error);
  }
}

AppendFile::AppendFile(fs::path path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  check<ResourceError>(fd_ >= 0, path_.string(), ": cannot be opened for appending: ", std::strerror(errno),
                       mend_for(errno));
}

AppendFile::~AppendFile() {
  if (fd_ >= 0) ::close(fd_);
}

void AppendFile::append(std::string_view text) {
  const int error = write_all(fd_, reinterpret_cast<const std::byte*>(text.data()), text.size());
  check<ResourceError>(error == 0, path_.string(), ": cannot be written: ", std::strerror(error),
                       mend_for(error));
}

void write_file_atomic(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  check<ResourceError>(!error && fs::is_directory(path, error), path.string(),
                       ": folder cannot be made: ", error ? error.message() : "a file stands in its place",
                       "; choose a folder that you may write to");
}

void sync_directory(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

void replace_directory(const fs::path& made, const fs::path& target) {
  const bool there = fs::exists(fs::symlink_status(target));
  const bool exchanged =
      there && ::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0;
  if (exchanged) {
    remove_tree(made);
  } else {
    if (there) remove_tree(target);  // a file system that cannot exchange
    check<ResourceError>(::rename(made.c_str(), target.c_str()) == 0, target.string(),
                         ": cannot be put in place: ", std::strerror(errno), mend_for(errno));
  }
  sync_directory(target.parent_path());
}

void remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  check<ResourceError>(!error, path.string(), ": cannot be removed: ", error.message());
}

void require_disk_space(const fs::path& folder, std::uint64_t bytes) {
  struct statvfs info {};
  fs::path existing = folder.empty() ? fs::path(".") : folder;
  while (!fs::exists(existing) && existing.has_parent_path()) existing = existing.parent_path();
  if (::statvfs(existing.c_str(), &info) != 0) return;
  const std::uint64_t free = static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
  check<ResourceError>(free >= bytes + bytes / 100, folder.string(), ": needs ", bytes >> 20, " MiB, ",
                       free >> 20, " MiB are free; free some space or choose another folder");
}

}  // namespace loongforge
