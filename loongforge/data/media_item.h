// Pictures and clips that a conversation shows, as files, parts of archives or bytes in the record itself.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loongforge/base/files.h"

namespace loongforge {

// Bytes and what keeps them alive.
struct MediaBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// One file, whole or as a part of something larger.
struct MediaSource {
  std::string name;                // the file's path, or what stands for it in messages
  std::optional<MediaBytes> held;  // bytes at hand; without them the file `name` is mapped when needed

  // Throws DataError naming the file when it cannot be read or is empty.
  MediaBytes open() const;
};

struct MediaItem {
  enum class Kind { kPicture, kClip };

  Kind kind = Kind::kPicture;
  std::vector<MediaSource> sources;  // one; the frames of a clip that is given as pictures
  double frame_rate = 0;             // of such frames, a second; 0: `sources` is a file of its own
  std::string where;                 // the record, for messages

  bool is_clip() const { return kind == Kind::kClip; }
  const std::string& name() const { return sources.front().name; }
};

// Finds what a record names; `where` stands in messages. Throws DataError.
using MediaResolver = std::function<MediaSource(const std::string& named, const std::string& where)>;

// A path, absolute or beginning at `folder`, file://PATH, or data:...;base64,... . Files are not opened.
// Addresses on the network are refused.
MediaResolver files_of(const fs::path& folder);

}  // namespace loongforge
