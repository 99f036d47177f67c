#include "loongforge/text/template/string_functions.h"

#include <algorithm>

#include "loongforge/text/template/python_text.h"
#include "loongforge/text/unicode.h"

namespace loongforge::jinja {
namespace {

constexpr std::int64_t kMostWidth = std::int64_t{1} << 24;

std::size_t character_start(std::string_view text, std::size_t end) {
  do {
    --end;
  } while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  return end;
}

bool space_at(std::string_view text, std::size_t i) {
  return is_python_space(next_code_point(text, i));
}

}  // namespace

MarkedString strip_text(const MarkedString& text, const MarkedString* chars, bool left, bool right) {
  const std::string_view s = text.text;
  const auto strips = [&](std::size_t begin, std::size_t end) {
    if (chars == nullptr) return space_at(s, begin);
    return chars->text.find(s.substr(begin, end - begin)) != std::string::npos;
  };
  std::size_t begin = 0, end = s.size();
  while (left && begin < end) {
    std::size_t next = begin;
    next_code_point(s, next);
    if (!strips(begin, next)) break;
    begin = next;
  }
  while (right && begin < end) {
    const std::size_t start = character_start(s, end);
    if (!strips(start, end)) break;
    end = start;
  }
  return text.slice(begin, end);
}

MarkedString replace_text(const MarkedString& text, const std::string& old, const MarkedString& fresh,
                          std::int64_t count) {
  MarkedString out;
  std::size_t done = 0, from = 0;
  while (count != 0) {
    const std::size_t at = text.text.find(old, from);
    if (at == std::string::npos) break;
    out.append(text.slice(done, at));
    out.append(fresh);
    done = at + old.size();
    from = done;
    --count;
    if (!old.empty()) continue;
    // An empty pattern matches before every character and at the end.
    if (from >= text.size()) break;
    next_code_point(text.text, from);
  }
  out.append(text.slice(done, text.size()));
  return out;
}

List split_text(const MarkedString& text, const std::string* separator, std::int64_t most) {
  List parts;
  const std::string& s = text.text;
  std::size_t begin = 0;
  if (separator != nullptr) {
    if (separator->empty()) fail("empty separator");
    for (std::size_t at = s.find(*separator); at != std::string::npos && most != 0;
         at = s.find(*separator, begin)) {
      parts.emplace_back(text.slice(begin, at));
      begin = at + separator->size();
      --most;
    }
    parts.emplace_back(text.slice(begin, s.size()));
    return parts;
  }
  const auto skip = [&](bool space) {
    while (begin < s.size() && space_at(s, begin) == space) next_code_point(s, begin);
  };
  for (skip(true); begin < s.size(); skip(true)) {
    const std::size_t start = begin;
    if (most-- == 0) {
      parts.emplace_back(strip_text(text.slice(start, s.size()), nullptr, false, true));
      break;
    }
    skip(false);
    parts.emplace_back(text.slice(start, begin));
  }
  return parts;
}

List split_text_right(const MarkedString& text, const std::string* separator, std::int64_t most) {
  List parts;
  const std::string& s = text.text;
  std::size_t end = s.size();
  if (separator != nullptr) {
    if (separator->empty()) fail("empty separator");
    while (most != 0 && end >= separator->size()) {
      const std::size_t at = s.rfind(*separator, end - separator->size());
      if (at == std::string::npos) break;
      parts.emplace_back(text.slice(at + separator->size(), end));
      end = at;
      --most;
    }
    parts.emplace_back(text.slice(0, end));
  } else {
    const auto skip = [&](bool space) {
      while (end > 0 && space_at(s, character_start(s, end)) == space) end = character_start(s, end);
    };
    for (skip(true); end > 0; skip(true)) {
      const std::size_t stop = end;
      if (most-- == 0) {
        parts.emplace_back(strip_text(text.slice(0, stop), nullptr, true, false));
        break;
      }
      skip(false);
      parts.emplace_back(text.slice(end, stop));
    }
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

List split_lines(const MarkedString& text, bool keep_ends) {
  List lines;
  const std::string& s = text.text;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < s.size();) {
    const std::size_t at = i;
    const char32_t c = next_code_point(s, i);
    const bool ends =
        (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
    if (!ends) continue;
    if (c == '\r' && i < s.size() && s[i] == '\n') ++i;
    lines.emplace_back(text.slice(begin, keep_ends ? i : at));
    begin = i;
  }
  if (begin < s.size()) lines.emplace_back(text.slice(begin, s.size()));
  return lines;
}

MarkedString join_text(const MarkedString& separator, const List& items) {
  MarkedString out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(separator);
    out.append(to_text(items[i]));
  }
  return out;
}

MarkedString pad_text(const MarkedString& text, std::int64_t width, const std::string& fill, char align) {
  if (width > kMostWidth) fail("a width of ", width, " is too large");
  if (code_point_count(fill) != 1) fail("The fill character must be exactly one character long");
  const auto length = static_cast<std::int64_t>(code_point_count(text.text));
  const std::int64_t missing = std::max<std::int64_t>(0, width - length);
  // Python's center puts the odd blank left when the width is odd.
  const std::int64_t left = align == '<' ? 0 : align == '>' ? missing : missing / 2 + (missing & width & 1);
  MarkedString out;
  for (std::int64_t i = 0; i < left; ++i) out.append(fill);
  out.append(text);
  for (std::int64_t i = left; i < missing; ++i) out.append(fill);
  return out;
}

}  // namespace loongforge::jinja
