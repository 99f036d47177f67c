// Functions of Python's str that methods and filters share; marks stay with their bytes.
#pragma once

#include <cstdint>
#include <string>

#include "loongforge/text/template/value.h"

namespace loongforge::jinja {

// Without the characters of `chars` (null: white space) at the chosen ends.
MarkedString strip_text(const MarkedString& text, const MarkedString* chars, bool left, bool right);
// At most `count` replacements; a negative count: all.
MarkedString replace_text(const MarkedString& text, const std::string& old, const MarkedString& fresh,
                          std::int64_t count);
// `separator` null: runs of white space. A negative `most`: no limit.
List split_text(const MarkedString& text, const std::string* separator, std::int64_t most);
List split_text_right(const MarkedString& text, const std::string* separator, std::int64_t most);
List split_lines(const MarkedString& text, bool keep_ends);
// Joins str() of the items.
MarkedString join_text(const MarkedString& separator, const List& items);
// Padded with `fill` to `width` characters; `align`: '<', '>' or '^' (as str.center).
MarkedString pad_text(const MarkedString& text, std::int64_t width, const std::string& fill, char align);

}  // namespace loongforge::jinja
