#include "loongforge/generate/text_stream.h"

#include <algorithm>

namespace loongforge {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::size_t sequence_length(unsigned char lead) {
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  return 1;
}

}  // namespace

std::size_t whole_characters(std::string_view text) {
  const std::size_t oldest = text.size() - std::min<std::size_t>(text.size(), 3);
  for (std::size_t i = text.size(); i > oldest; --i) {
    const auto byte = static_cast<unsigned char>(text[i - 1]);
    if ((byte & 0xC0) == 0x80) continue;  // continuation: the lead byte stands before it
    return i - 1 + sequence_length(byte) > text.size() ? i - 1 : text.size();
  }
  return text.size();
}

std::string TextStream::add(std::int32_t id) {
  ids_.push_back(id);
  const std::span<const std::int32_t> all(ids_);
  const std::string before = decode_(all.subspan(context_, shown_ - context_));
  const std::string now = decode_(all.subspan(context_));
  if (now.size() <= before.size() || now.ends_with(kReplacement) || whole_characters(now) < now.size())
    return {};
  context_ = shown_;
  shown_ = ids_.size();
  return now.substr(before.size());
}

std::string TextStream::finish() {
  const std::span<const std::int32_t> all(ids_);
  const std::string before = decode_(all.subspan(context_, shown_ - context_));
  const std::string now = decode_(all.subspan(context_));
  context_ = shown_ = ids_.size();
  return now.size() > before.size() ? now.substr(before.size()) : std::string();
}

}  // namespace loongforge
