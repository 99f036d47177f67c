#include "loongforge/generate/text_stream.h"

#include <gtest/gtest.h>

namespace loongforge {
namespace {

// Each token is one byte.
std::string bytes_of(std::span<const std::int32_t> ids) {
  std::string out;
  for (std::int32_t id : ids) out += static_cast<char>(id);
  return out;
}

TEST(TextStream, PiecesJoinToTheTextAndAreWholeCharacters) {
  const std::string text = "aé€😀z";
  TextStream stream(bytes_of);
  std::string joined;
  for (char c : text) {
    const std::string piece = stream.add(static_cast<unsigned char>(c));
    EXPECT_EQ(whole_characters(piece), piece.size());
    joined += piece;
  }
  EXPECT_EQ(joined + stream.finish(), text);
}

TEST(TextStream, HoldsBackUntilTheCharacterIsWhole) {
  TextStream stream(bytes_of);
  EXPECT_EQ(stream.add('a'), "a");
  EXPECT_EQ(stream.add(0xC3), "");
  EXPECT_EQ(stream.add(0xA9), "é");
}

TEST(TextStream, FinishGivesWhatWasHeldBack) {
  TextStream stream(bytes_of);
  EXPECT_EQ(stream.add(0xE2), "");
  EXPECT_EQ(stream.finish(), "\xE2");
  EXPECT_EQ(stream.finish(), "");
}

TEST(TextStream, WholeCharactersFindsTheUnfinishedEnd) {
  EXPECT_EQ(whole_characters(""), 0u);
  EXPECT_EQ(whole_characters("abc"), 3u);
  EXPECT_EQ(whole_characters("ab\xF0\x9F\x98"), 2u);
  EXPECT_EQ(whole_characters("ab\xF0\x9F\x98\x80"), 6u);
  EXPECT_EQ(whole_characters("\x80\x80\x80\x80"), 4u);
  EXPECT_EQ(whole_characters("a\xFF"), 2u);
}

}  // namespace
}  // namespace loongforge
