// A text on its way through a tokenizer, with the place in the source that each of its bytes came from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loongforge {

// Bytes [begin, end).
struct ByteRange {
  std::size_t begin = 0, end = 0;
};

// Either a part of the source as it stands (nothing copied), or a rewritten text with a source range a byte.
class AlignedText {
 public:
  // `source` starts at byte `base` of the whole input and must outlive this object.
  AlignedText(std::string_view source, std::size_t base) : borrowed_(source), base_(base) {}

  std::string_view text() const { return owned_ ? std::string_view(*owned_) : borrowed_; }
  std::size_t size() const { return text().size(); }

  // Where the bytes [begin, end) came from; an empty range gives the place between its neighbours.
  ByteRange source_of(std::size_t begin, std::size_t end) const;

  // The bytes [begin, end) as a text of their own.
  AlignedText part(std::size_t begin, std::size_t end) const;

  // Replaces the text by `text`, whose byte i came from `sources[i]`.
  void rewrite(std::string text, std::vector<ByteRange> sources) {
    owned_ = std::move(text);
    sources_ = std::move(sources);
  }

 private:
  std::string_view borrowed_;
  std::size_t base_ = 0;
  std::optional<std::string> owned_;
  std::vector<ByteRange> sources_;
};

// Builds a rewritten text piece by piece.
class AlignedBuilder {
 public:
  explicit AlignedBuilder(const AlignedText& from) : from_(from) {}

  // Copies bytes [begin, end) as they are.
  void keep(std::size_t begin, std::size_t end);
  // Puts `text` in place of the bytes [begin, end); an empty range is an insertion.
  void replace(std::string_view text, std::size_t begin, std::size_t end);
  std::size_t size() const { return text_.size(); }
  void finish(AlignedText& into) { into.rewrite(std::move(text_), std::move(sources_)); }

 private:
  const AlignedText& from_;
  std::string text_;
  std::vector<ByteRange> sources_;
};

}  // namespace loongforge
