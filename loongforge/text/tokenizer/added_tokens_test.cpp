#include "loongforge/text/tokenizer/added_tokens.h"

#include <gtest/gtest.h>

namespace loongforge {
namespace {

AddedToken token(std::int32_t id, std::string content, bool special = true) {
  AddedToken out;
  out.id = id;
  out.content = std::move(content);
  out.special = special;
  return out;
}

std::string split(const std::vector<AddedToken>& tokens, std::string_view text, bool special = true) {
  AddedTokenFinder finder;
  for (const AddedToken& t : tokens) finder.add(t.content, t);
  std::string out;
  for (const TextPart& part : finder.split(text, special)) {
    out.append(text.substr(part.range.begin, part.range.end - part.range.begin));
    out += part.id < 0 ? "|" : "=" + std::to_string(part.id) + "|";
  }
  return out;
}

TEST(AddedTokens, LongestNameWins) {
  EXPECT_EQ(split({token(1, "<a"), token(2, "<a>")}, "x<a><a"), "x|<a>=2|<a=1|");
}

TEST(AddedTokens, SpecialOnesAreTextWhenAsked) {
  EXPECT_EQ(split({token(1, "<s>"), token(2, "word", false)}, "<s>word", false), "<s>|word=2|");
}

TEST(AddedTokens, SingleWords) {
  AddedToken t = token(1, "cat");
  t.single_word = true;
  EXPECT_EQ(split({t}, "cat concat cat."), "cat=1| concat |cat=1|.|");
}

TEST(AddedTokens, TakeWhiteSpaceAlong) {
  AddedToken left = token(1, "<l>"), right = token(2, "<r>");
  left.lstrip = true;
  right.rstrip = true;
  EXPECT_EQ(split({left, right}, "a \n<l> b"), "a| \n<l>=1| b|");
  EXPECT_EQ(split({left, right}, "a <r>\u3000 b"), "a |<r>\u3000 =2|b|");
  EXPECT_EQ(split({left, right}, "<r>  <l>"), "<r>  =2|<l>=1|");
}

TEST(AddedTokens, NothingInNothing) {
  EXPECT_EQ(split({token(1, "<s>")}, ""), "");
}

}  // namespace
}  // namespace loongforge
