#include "loongforge/data/prepare/extract.h"

#include <algorithm>
#include <array>

#include "loongforge/data/prepare/html_entities.h"
#include "loongforge/data/prepare/html_text.h"
#include "loongforge/formats/byte_source.h"
#include "loongforge/text/unicode.h"

namespace loongforge {
namespace {

void drop_byte_order_mark(std::string& text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
}

// UTF-16 and UTF-32 files and anything with zero bytes.
bool is_binary(const std::string& text) {
  return text.find('\0') != std::string::npos || text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

std::string decode_windows_1252(const std::string& bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) append_utf8(out, windows_1252_code(static_cast<unsigned char>(c)));
  return out;
}

bool is_latin1(const std::string& charset) {
  static constexpr std::array<std::string_view, 5> kNames = {"windows-1252", "iso-8859-1", "latin1", "cp1252",
                                                             "us-ascii"};
  return std::find(kNames.begin(), kNames.end(), charset) != kNames.end();
}

// "\r\n" and a lone "\r" become "\n".
void make_unix_line_ends(std::string& text) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      text[kept++] = text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      text[kept++] = '\n';
    }
  }
  text.resize(kept);
}

// "---" to "---" at the very start, as static site generators write it.
void drop_front_matter(std::string& text) {
  if (!text.starts_with("---\n")) return;
  const std::size_t end = text.find("\n---\n", 3);
  if (end != std::string::npos && end < 4096) text.erase(0, end + 5);
}

}  // namespace

Extracted extract_text(std::string bytes, TextFormat format, InvalidUtf8 invalid) {
  Extracted out;
  drop_byte_order_mark(bytes);
  if (is_binary(bytes)) {
    out.dropped = "binary";
    return out;
  }
  if (find_invalid_utf8(bytes) != std::string_view::npos) {
    if (format == TextFormat::kHtml && is_latin1(html_charset(bytes))) {
      bytes = decode_windows_1252(bytes);
    } else if (invalid == InvalidUtf8::kReplace) {
      bytes = replace_invalid_utf8(bytes);
      out.replaced = true;
    } else {
      out.dropped = "invalid_utf8";
      return out;
    }
  }
  // The text of a jsonl record is kept as it is.
  if (format == TextFormat::kHtml) bytes = html_text(bytes);
  if (format != TextFormat::kJsonl) make_unix_line_ends(bytes);
  if (format == TextFormat::kMarkdown) drop_front_matter(bytes);
  const std::size_t last = bytes.find_last_not_of(" \t\n\r\f\v");
  if (format != TextFormat::kJsonl) bytes.erase(last == std::string::npos ? 0 : last + 1);
  if (last == std::string::npos) out.dropped = "empty";
  out.text = std::move(bytes);
  return out;
}

std::string read_decompressed(const fs::path& path) {
  const auto source = open_decompressed(path);
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (const std::size_t n = source->read(buffer)) text.append(buffer.data(), n);
  return text;
}

}  // namespace loongforge
