#include "loongforge/data/prepare/extract.h"

#include <gtest/gtest.h>

namespace loongforge {
namespace {

Extracted extract(const std::string& bytes, TextFormat format = TextFormat::kText,
                  InvalidUtf8 invalid = InvalidUtf8::kSkip) {
  return extract_text(bytes, format, invalid);
}

TEST(ExtractText, ByteOrderMarkAndWindowsLinesGo) {
  EXPECT_EQ(extract("\xEF\xBB\xBF"
                    "a\r\nb\rc\n\n ")
                .text,
            "a\nb\nc");
}

TEST(ExtractText, BlankDocumentIsEmpty) {
  EXPECT_EQ(extract(" \n\t").dropped, "empty");
}

TEST(ExtractText, InvalidUtf8IsSkippedOrReplaced) {
  EXPECT_EQ(extract("a\xFFz").dropped, "invalid_utf8");
  const Extracted replaced = extract("a\xFFz", TextFormat::kText, InvalidUtf8::kReplace);
  EXPECT_EQ(replaced.text, "a\uFFFDz");
  EXPECT_TRUE(replaced.replaced);
}

TEST(ExtractText, OtherEncodingsAndProgramsAreBinary) {
  EXPECT_EQ(extract(std::string("\x7F"
                                "ELF\0\0",
                                6))
                .dropped,
            "binary");
  EXPECT_EQ(extract("\xFF\xFE"
                    "a")
                .dropped,
            "binary");
}

TEST(ExtractText, LatinPagesAreDecoded) {
  const Extracted page = extract("<meta charset=\"iso-8859-1\"><p>caf\xE9 \x93q\x94</p>", TextFormat::kHtml);
  EXPECT_EQ(page.text, "caf\u00e9 \u201cq\u201d");
}

TEST(ExtractText, MarkdownLosesItsFrontMatterOnly) {
  EXPECT_EQ(extract("---\ntitle: x\n---\n# Head\n* a", TextFormat::kMarkdown).text, "# Head\n* a");
  EXPECT_EQ(extract("---\nno end", TextFormat::kMarkdown).text, "---\nno end");
}

TEST(ExtractText, JsonlTextStaysAsItIs) {
  EXPECT_EQ(extract(" a\r\n ", TextFormat::kJsonl).text, " a\r\n ");
}

}  // namespace
}  // namespace loongforge
