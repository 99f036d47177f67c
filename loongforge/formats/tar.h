// Tar archives (POSIX ustar and pax, GNU): members by offset in a mapped file, and a small writer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "loongforge/base/files.h"

namespace loongforge {

// One file in an archive; offsets in bytes from its beginning.
struct TarMember {
  std::string name;
  std::uint64_t begin = 0;   // of its first header, those of long names included
  std::uint64_t offset = 0;  // of its content
  std::uint64_t size = 0;
  std::uint64_t end = 0;  // where the next header begins
};

// A mapped archive, walked by
//   for (auto member = tar.member_at(0); member; member = tar.member_at(member->end)) ...
// Const calls are thread-safe.
class TarFile {
 public:
  // Throws DataError for a missing, empty or compressed file.
  explicit TarFile(const fs::path& path);

  const fs::path& path() const { return file_.path(); }
  std::uint64_t size() const { return file_.bytes().size(); }

  // The file whose header stands at `offset` or is the next one behind it, folders and labels being passed
  // over; nothing at the end of the archive. Throws DataError for what no archive holds there: a wrong
  // checksum or number, content beyond the end of the file, no mark of the end, more data behind it; and for
  // links, sparse files, devices.
  std::optional<TarMember> member_at(std::uint64_t offset) const;
  // Whether the mark of the end stands at `offset`.
  bool ends_at(std::uint64_t offset) const;
  // Valid as long as this object. Throws DataError for a range beyond the file.
  std::span<const std::byte> bytes(std::uint64_t offset, std::uint64_t size) const;

 private:
  MappedFile file_;
};

// Writes an archive whose bytes depend on names and contents alone. Without `commit` nothing is left of it.
class TarWriter {
 public:
  explicit TarWriter(const fs::path& path) : file_(path) {}

  // Returns where the member begins. Throws DataError for an empty name; ResourceError when the disk is full.
  std::uint64_t add(std::string_view name, std::span<const std::byte> content);
  // Where the next member will begin.
  std::uint64_t size() const { return file_.size(); }
  void commit();

 private:
  void header(std::string_view name, char type, std::uint64_t size);
  void pad();

  AtomicFile file_;
};

}  // namespace loongforge
