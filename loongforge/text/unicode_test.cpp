#include "loongforge/text/unicode.h"

#include <gtest/gtest.h>

namespace loongforge {
namespace {

TEST(Unicode, FindsTheFirstInvalidByte) {
  EXPECT_EQ(find_invalid_utf8("aé漢😀"), std::string::npos);
  EXPECT_EQ(find_invalid_utf8("a\xFF"), 1u);
  EXPECT_EQ(find_invalid_utf8("\xC3"), 0u);
  EXPECT_EQ(find_invalid_utf8("\xED\xA0\x80"), 0u);      // a surrogate
  EXPECT_EQ(find_invalid_utf8("\xC0\x80"), 0u);          // overlong
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u);  // beyond U+10FFFF
}

TEST(Unicode, ReplacesMaximalInvalidParts) {
  EXPECT_EQ(replace_invalid_utf8("a\xF0\x9F\x98z"), "a\uFFFDz");
  EXPECT_EQ(replace_invalid_utf8("\xE2\x82\xE2\x82\xAC"), "\uFFFD€");
  EXPECT_EQ(replace_invalid_utf8("\xFF\xFE"), "\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
}

TEST(Unicode, CodePointsGoThereAndBack) {
  for (const char32_t c : {U'a', U'\u00E9', U'\u6F22', U'\U0001F600', char32_t{0x10FFFF}}) {
    std::string text;
    append_utf8(text, c);
    std::size_t pos = 0;
    EXPECT_EQ(next_code_point(text, pos), c);
    EXPECT_EQ(pos, text.size());
    EXPECT_EQ(code_point_count(text), 1u);
  }
}

TEST(Unicode, MessagesStayOnOneLine) {
  EXPECT_EQ(one_line("a\nb\tc\x01é"), "a\\nb\\tc\\x01é");
  EXPECT_EQ(one_line("ééé", 3), "éé...");
}

TEST(Unicode, ClassesOfCharacters) {
  EXPECT_TRUE(is_white_space(0x3000) && is_white_space('\t') && !is_white_space(0x200B) &&
              !is_white_space(0x180E));
  EXPECT_TRUE(is_numeric('7') && is_numeric(0x0663) && is_numeric(0x2167) && is_numeric(0xBD) &&
              !is_numeric('a'));
  EXPECT_TRUE(is_punctuation('$') && is_punctuation(0x3001) && !is_punctuation(0x20AC));
  EXPECT_TRUE(is_word_character('_') && is_word_character(0x301) && !is_word_character('-'));
}

}  // namespace
}  // namespace loongforge
