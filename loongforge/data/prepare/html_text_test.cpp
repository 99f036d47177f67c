#include "loongforge/data/prepare/html_text.h"

#include <gtest/gtest.h>

namespace loongforge {
namespace {

TEST(HtmlText, ParagraphsStandApart) {
  EXPECT_EQ(html_text("<h1>Title</h1>\n<p>One  two\n three.</p><p>Four.</p>"),
            "Title\n\nOne two three.\n\nFour.");
}

TEST(HtmlText, InlineTagsJoinTheText) {
  EXPECT_EQ(html_text("<p>a <b>re</b>-act, <i>x</i>!</p>"), "a re-act, x!");
}

TEST(HtmlText, ReferencesAreDecoded) {
  EXPECT_EQ(html_text("caf&eacute; &amp; &lt;b&gt; &#8212; &#x41;&nbsp;&hellip; &#147;q&#148;"),
            "caf\u00e9 & <b> \u2014 A \u2026 \u201cq\u201d");
}

TEST(HtmlText, UnknownReferencesStay) {
  EXPECT_EQ(html_text("AT&T &nosuch; & &#; &#xD800;"), "AT&T &nosuch; & &#; \uFFFD");
}

TEST(HtmlText, ScriptStyleTitleAndCommentsGo) {
  EXPECT_EQ(html_text("<head><title>T</title><style>p{}</style></head><script>if (a<b) '</p>';</script>"
                      "<!-- <p>no</p> --><p>yes</p>"),
            "yes");
}

TEST(HtmlText, NavigationGoes) {
  EXPECT_EQ(
      html_text(
          "<nav><ul><li>x</li></ul></nav><p>text</p><div class=\"book-navigation\"><div>next</div></div>"
          "<div role='navigation'>y</div><h2>A<a class=\"headerlink\" href=\"#a\">\u00b6</a></h2>"),
      "text\n\nA");
}

TEST(HtmlText, UnclosedDroppedElementDoesNotLoseThePage) {
  EXPECT_EQ(html_text("<nav>menu<p>text</p>"), "menu\n\ntext");
  EXPECT_EQ(html_text("<p>a</p><script>never closed"), "a\n\nnever closed");
}

TEST(HtmlText, ListsKeepTheirMarks) {
  EXPECT_EQ(
      html_text(
          "<p>p</p><ul><li>a<ul><li>b</li></ul></li><li><p>c</p></li></ul><ol><li>x</li><li>y</li></ol>"),
      "p\n\n- a\n  - b\n- c\n\n1. x\n2. y");
}

TEST(HtmlText, ItemsWithParagraphsStayTogether) {
  EXPECT_EQ(html_text("<ul><li><p>a</p></li>\n<li><p>b</p><p>c</p></li></ul><p>d</p>"), "- a\n- b\n\nc\n\nd");
}

TEST(HtmlText, PreKeepsItsLines) {
  EXPECT_EQ(html_text("<p>code:</p><pre>\nfor (;;)\n  x &lt; <b>y</b>;\n</pre><p>end</p>"),
            "code:\n\nfor (;;)\n  x < y;\n\nend");
}

TEST(HtmlText, TableCellsAreSeparated) {
  EXPECT_EQ(html_text("<table><tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td> 2</td></tr></table>"),
            "a | b\n1 | 2");
}

TEST(HtmlText, LineBreaks) {
  EXPECT_EQ(html_text("a<br>b<br/><br>c"), "a\nb\n\nc");
}

TEST(HtmlText, QuotedGreaterThanDoesNotEndATag) {
  EXPECT_EQ(html_text("<a title=\"x > y\" href='z'>t</a>"), "t");
}

TEST(HtmlText, LooseLessThanStays) {
  EXPECT_EQ(html_text("1 < 2 and 3 <4"), "1 < 2 and 3 <4");
}

TEST(HtmlText, TakesLinearTimeOnUnclosedElements) {
  std::string page;
  for (int i = 0; i < 100'000; ++i) page += "<nav><svg><p>x";
  EXPECT_GT(html_text(page).size(), 100'000U);
}

TEST(HtmlText, TakesLinearTimeOnTagsWithoutEnd) {
  std::string page = "<p>x</p>";
  for (int i = 0; i < 100'000; ++i) page += "<a b='";
  EXPECT_GT(html_text(page).size(), 100'000U);
}

TEST(HtmlText, ForgottenQuoteEndsAtTheNextTagEnd) {
  EXPECT_EQ(html_text("<a href=\"x>one</a> two"), "one two");
}

TEST(HtmlText, CharsetOfMeta) {
  EXPECT_EQ(html_charset("<meta http-equiv=\"Content-Type\" content=\"text/html; charset=ISO-8859-1\">"),
            "iso-8859-1");
  EXPECT_EQ(html_charset("<meta charset='utf-8'>"), "utf-8");
  EXPECT_EQ(html_charset("<p>none</p>"), "");
}

}  // namespace
}  // namespace loongforge
