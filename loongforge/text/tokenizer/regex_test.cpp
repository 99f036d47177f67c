#include "loongforge/text/tokenizer/regex.h"

#include <gtest/gtest.h>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

// All matches, joined by bars.
std::string matches(const std::string& pattern, std::string_view text) {
  const Regex regex(pattern, "test");
  std::string out;
  for (std::size_t from = 0; from < text.size();) {
    const auto match = regex.find(text, from);
    if (!match || match->second == match->first) break;
    out.append(text.substr(match->first, match->second - match->first)).append("|");
    from = match->second;
  }
  return out;
}

TEST(Regex, WhiteSpaceIsThatOfUnicode) {
  EXPECT_EQ(matches(R"(\s+)", "a\u00A0\u3000b\u180Ec"), "\u00A0\u3000|");
  EXPECT_EQ(matches(R"([^\s]+)", "a\u2003b"), "a|b|");
}

TEST(Regex, LettersAndNumbersOfAllScripts) {
  EXPECT_EQ(matches(R"(\p{L}+)", "ab漢é-x"), "ab漢é|x|");
  EXPECT_EQ(matches(R"(\p{N}{1,3})", "12345"), "123|45|");
}

TEST(Regex, IntervalFollowedByPlusRepeats) {
  EXPECT_EQ(oniguruma_to_pcre2("(?:ab|c){1,2}+d", "test"), "(?:(?:ab|c){1,2})+d");
  EXPECT_EQ(oniguruma_to_pcre2(R"(x\p{L}{2}+)", "test"), R"(x(?:\p{L}{2})+)");
  EXPECT_EQ(matches("a{1,2}+", "aaaaa"), "aaaaa|");
}

TEST(Regex, OtherQuantifiersStayPossessive) {
  EXPECT_EQ(matches("[^a]?+a++", "xaaya"), "xaa|ya|");
}

TEST(Regex, CaseIsIgnoredWhereAsked) {
  EXPECT_EQ(matches("(?i:'s|'ll)", "'S'lL'\u017F"), "'S|'lL|'\u017F|");
}

TEST(Regex, RefusesWhatReadsDifferently) {
  EXPECT_THROW(Regex("[a[bc]]", "test"), CheckpointError);
  EXPECT_THROW(Regex("[a-z&&[^b]]", "test"), CheckpointError);
}

TEST(Regex, ErrorNamesPatternAndPlace) {
  try {
    Regex("a(b", "file.json");
    FAIL();
  } catch (const CheckpointError& e) {
    EXPECT_NE(std::string(e.what()).find("file.json: regular expression 'a(b'"), std::string::npos)
        << e.what();
  }
}

TEST(Regex, LiteralHasNoSpecialCharacters) {
  const auto match = Regex::literal("a.b").find("axb a.b", 0);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->first, 4u);
}

}  // namespace
}  // namespace loongforge
