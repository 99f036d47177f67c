// Files: reading, mapping, and writing that never leaves a half-written file under its final name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loongforge/base/error.h"

namespace loongforge {

namespace fs = std::filesystem;

namespace detail {
// Reads the whole file; returns an empty string on success, the reason otherwise.
std::string read_text_or_reason(const fs::path& path, std::string& out);
}  // namespace detail

// Why `path` cannot be read as a file ("no such file", "is a directory", ...); empty when it can.
std::string why_unreadable(const fs::path& path);

// Whole file as a string. Throws E naming the file and the reason.
template <typename E = DataError>
std::string read_file(const fs::path& path);

// Read-only memory map of a whole file; an empty file gives an empty span. Throws DataError; callers that
// read other kinds check `why_unreadable` first.
class MappedFile {
 public:
  explicit MappedFile(const fs::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Writes PATH.tmp-<pid>-<n> and renames it over PATH in `commit` after fsync; without commit the temporary
// file is removed. Every failure (disk full, no right) throws ResourceError naming PATH.
class AtomicFile {
 public:
  explicit AtomicFile(fs::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  // Overwrites bytes already written, e.g. a header whose numbers are known only at the end.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  std::uint64_t size() const { return size_; }
  void commit();

 private:
  [[noreturn]] void fail(const char* what, int error) const;
  fs::path path_, temporary_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
  std::vector<std::byte> buffer_;
  void flush();
};

// Appends whole lines; each `append` is one write(2), so a reader never sees half a line of two writers.
class AppendFile {
 public:
  explicit AppendFile(fs::path path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  void append(std::string_view text);

 private:
  fs::path path_;
  int fd_ = -1;
};

// Whole file in one atomic step.
void write_file_atomic(const fs::path& path, std::string_view text);

// mkdir -p. Throws ResourceError naming the folder, e.g. when it is not writable or a file stands in its way.
void make_directories(const fs::path& path);

// fsync of a folder, so that renames in it survive a power cut.
void sync_directory(const fs::path& path);

// Puts the folder `made` in the place of `target`, in one step where there is one already, and removes the
// old one; both lie in the same folder. Throws ResourceError naming `target`.
void replace_directory(const fs::path& made, const fs::path& target);

// Removes a folder tree; missing is no error. Throws ResourceError.
void remove_tree(const fs::path& path);

// Throws ResourceError unless `bytes` more (and 1 % slack) fit on the disk that holds `folder`.
void require_disk_space(const fs::path& folder, std::uint64_t bytes);

template <typename E>
std::string read_file(const fs::path& path) {
  std::string text;
  const std::string reason = detail::read_text_or_reason(path, text);
  check<E>(reason.empty(), path.string(), ": ", reason);
  return text;
}

}  // namespace loongforge
