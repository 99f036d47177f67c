// A string that knows where its bytes come from: marks travel with the bytes through slices and joins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loongforge::jinja {

// Tags of marks; a tag >= 0 is the index of the message that was being written.
inline constexpr std::int32_t kWords = -1;       // words of a message, not written by the template
inline constexpr std::int32_t kGeneration = -2;  // inside {% generation %}

// Bytes [begin, end) carry `tag`. Marks may overlap.
struct Mark {
  std::size_t begin = 0, end = 0;
  std::int32_t tag = 0;
};

// UTF-8 bytes with marks.
struct MarkedString {
  std::string text;
  std::vector<Mark> marks;
  // Came out of the filters `safe` or `escape`: joined to other text with +, that text is escaped.
  bool safe = false;

  MarkedString() = default;
  MarkedString(std::string bytes) : text(std::move(bytes)) {}  // NOLINT: a string is a marked string
  MarkedString(const char* bytes) : text(bytes) {}             // NOLINT

  std::size_t size() const { return text.size(); }
  // Every append fails when the text would grow beyond kMostBytes, so that no template can take all memory.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  void append(const MarkedString& other);
  void append(std::string_view bytes);
  void append(const char* bytes) { append(std::string_view(bytes)); }
  void append(const std::string& bytes) { append(std::string_view(bytes)); }
  // Bytes [begin, end) with their marks.
  MarkedString slice(std::size_t begin, std::size_t end) const;
  // Marks all bytes from `begin` to the end.
  void mark_from(std::size_t begin, std::int32_t tag);
  // True when some byte is a word of a message.
  bool has_words() const;
  // `bytes` made out of this string in a way that loses places: all of it counts as words when a part was.
  MarkedString derived(std::string bytes) const;
};

}  // namespace loongforge::jinja
