#include "loongforge/text/tokenizer/aligned_text.h"

#include <algorithm>

namespace loongforge {

ByteRange AlignedText::source_of(std::size_t begin, std::size_t end) const {
  if (!owned_) return {base_ + begin, base_ + end};
  if (sources_.empty()) return {base_, base_ + borrowed_.size()};
  if (begin >= end) {
    const std::size_t at = begin < sources_.size() ? sources_[begin].begin : sources_.back().end;
    return {at, at};
  }
  ByteRange range = sources_[begin];
  for (std::size_t i = begin + 1; i < end; ++i) {
    range.begin = std::min(range.begin, sources_[i].begin);
    range.end = std::max(range.end, sources_[i].end);
  }
  return range;
}

AlignedText AlignedText::part(std::size_t begin, std::size_t end) const {
  if (!owned_) return AlignedText(borrowed_.substr(begin, end - begin), base_ + begin);
  AlignedText out(borrowed_, base_);
  out.rewrite(owned_->substr(begin, end - begin), {sources_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                   sources_.begin() + static_cast<std::ptrdiff_t>(end)});
  return out;
}

void AlignedBuilder::keep(std::size_t begin, std::size_t end) {
  text_.append(from_.text().substr(begin, end - begin));
  for (std::size_t i = begin; i < end; ++i) sources_.push_back(from_.source_of(i, i + 1));
}

void AlignedBuilder::replace(std::string_view text, std::size_t begin, std::size_t end) {
  text_.append(text);
  sources_.insert(sources_.end(), text.size(), from_.source_of(begin, end));
}

}  // namespace loongforge
