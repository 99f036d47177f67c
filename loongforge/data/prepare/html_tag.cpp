#include "loongforge/data/prepare/html_tag.h"

#include <algorithm>
#include <cctype>

namespace loongforge {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}
char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// How far a '>' is looked for with regard to quotes: a forgotten quote must not cost quadratic time.
constexpr std::size_t kQuotedLength = 1 << 14;

// Index of the '>' that ends a tag, quotes respected where they are closed; npos when there is none.
std::size_t tag_end(std::string_view html, const std::size_t begin) {
  char quote = 0, before = 0;
  const std::size_t limit = std::min(html.size(), begin + kQuotedLength);
  for (std::size_t at = begin; at < limit; ++at) {
    const char c = html[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if ((c == '"' || c == '\'') && before == '=') {
      quote = c;
    } else if (c == '>') {
      return at;
    }
    if (!is_blank(c)) before = c;
  }
  return html.find('>', begin);
}

}  // namespace

bool read_tag(std::string_view html, std::size_t begin, HtmlTag& tag) {
  std::size_t at = begin + 1;
  tag.closing = at < html.size() && html[at] == '/';
  if (tag.closing) ++at;
  if (at >= html.size() || !is_letter(html[at])) return false;
  tag.name.clear();
  while (at < html.size() && !is_blank(html[at]) && html[at] != '>' && html[at] != '/') {
    tag.name.push_back(lower(html[at++]));
  }
  const std::size_t end = tag_end(html, at);
  if (end == std::string_view::npos) return false;
  tag.attributes = html.substr(at, end - at);
  tag.end = end + 1;
  return true;
}

std::string HtmlTag::attribute(std::string_view wanted) const {
  std::size_t at = 0;
  const std::string_view text = attributes;
  while (at < text.size()) {
    while (at < text.size() && (is_blank(text[at]) || text[at] == '/')) ++at;
    std::string key;
    while (at < text.size() && !is_blank(text[at]) && text[at] != '=') key.push_back(lower(text[at++]));
    while (at < text.size() && is_blank(text[at])) ++at;
    std::string value;
    if (at < text.size() && text[at] == '=') {
      ++at;
      while (at < text.size() && is_blank(text[at])) ++at;
      if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
        const char quote = text[at++];
        while (at < text.size() && text[at] != quote) value.push_back(lower(text[at++]));
        ++at;
      } else {
        while (at < text.size() && !is_blank(text[at])) value.push_back(lower(text[at++]));
      }
    }
    if (key == wanted) return value;
    if (key.empty() && value.empty()) ++at;
  }
  return "";
}

}  // namespace loongforge
