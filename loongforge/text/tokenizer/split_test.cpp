#include "loongforge/text/tokenizer/split.h"

#include <gtest/gtest.h>

#include "loongforge/base/error.h"
#include "loongforge/text/unicode.h"

namespace loongforge {
namespace {

std::string split(const std::string& pattern, const std::string& text, SplitBehavior behavior) {
  std::vector<ByteRange> words;
  join_parts(match_parts(Regex(pattern, "test"), text, {0, text.size()}), behavior, words);
  std::string out;
  for (const ByteRange& word : words) out.append(text, word.begin, word.end - word.begin).append("|");
  return out;
}

// The examples of the documentation of `tokenizers`.
TEST(Split, Behaviors) {
  const std::string text = "the-final--countdown";
  EXPECT_EQ(split("-", text, SplitBehavior::kRemoved), "the|final|countdown|");
  EXPECT_EQ(split("-", text, SplitBehavior::kIsolated), "the|-|final|-|-|countdown|");
  EXPECT_EQ(split("-", text, SplitBehavior::kMergedWithPrevious), "the-|final-|-|countdown|");
  EXPECT_EQ(split("-", text, SplitBehavior::kMergedWithNext), "the|-final|-|-countdown|");
  EXPECT_EQ(split("-", text, SplitBehavior::kContiguous), "the|-|final|--|countdown|");
}

TEST(Split, EmptyMatchesCut) {
  EXPECT_EQ(split("x*", "axxbc", SplitBehavior::kIsolated), "a|xx|b|c|");
  EXPECT_EQ(split("x*", "axxbc", SplitBehavior::kMergedWithPrevious), "axx|b|c|");
}

TEST(Split, LookAroundDoesNotLeaveTheWord) {
  std::vector<ByteRange> words;
  const std::string text = "a  b";
  join_parts(match_parts(Regex(R"(\s+(?!\S))", "test"), text, {1, 3}), SplitBehavior::kIsolated, words);
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0].end, 3u);
}

TEST(Split, CharactersOfAClass) {
  std::vector<ByteRange> words;
  const std::string text = "a12½b";
  join_parts(match_parts(&is_numeric, text, {0, text.size()}), SplitBehavior::kIsolated, words);
  EXPECT_EQ(words.size(), 5u);
}

TEST(Split, UnknownBehaviorIsNamed) {
  EXPECT_THROW(split_behavior("Glued", "test"), CheckpointError);
}

}  // namespace
}  // namespace loongforge
