#include "loongforge/formats/jsonl.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loongforge/formats/compress_for_test.h"
#include "loongforge/formats/test_folder.h"

namespace loongforge {
namespace {

std::vector<std::string> lines_of(const fs::path& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  std::string line;
  while (reader.next(line)) lines.push_back(line);
  EXPECT_EQ(reader.line(), static_cast<std::int64_t>(lines.size()));
  return lines;
}

TEST(LineReader, SplitsAtEveryLineEnd) {
  const TestFolder folder;
  EXPECT_EQ(lines_of(folder.put("t", "a\r\n\nb\n")), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(lines_of(folder.put("t", "a\nb")), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(lines_of(folder.put("t",
                                "\xef\xbb\xbf"
                                "a")),
            (std::vector<std::string>{"a"}));
  EXPECT_TRUE(lines_of(folder.put("t", "")).empty());
}

TEST(LineReader, JoinsLinesLongerThanItsBuffer) {
  const TestFolder folder;
  const std::string a(700'000, 'a'), b(262'144, 'b');
  EXPECT_EQ(lines_of(folder.put("t", a + "\n" + b + "\n" + b)), (std::vector<std::string>{a, b, b}));
}

TEST(Jsonl, ReadsPlainAndCompressed) {
  const TestFolder folder;
  const std::string text = "{\"a\":1}\n\n  \t\n[2,\"zwei\"]\n\"three\"";
  for (const auto& [name, bytes] : {std::pair{"p", text}, {"g", gzipped(text)}, {"z", zstandard(text)}}) {
    JsonlReader reader(folder.put(name, bytes));
    Json value;
    ASSERT_TRUE(reader.next(value));
    EXPECT_EQ(value["a"], 1);
    ASSERT_TRUE(reader.next(value));
    EXPECT_EQ(value, Json::parse("[2,\"zwei\"]"));
    EXPECT_EQ(reader.line(), 4);
    ASSERT_TRUE(reader.next(value));
    EXPECT_EQ(value, "three");
    EXPECT_FALSE(reader.next(value));
    EXPECT_FALSE(reader.next(value));
  }
}

TEST(Jsonl, NamesTheLineThatIsNoJson) {
  const TestFolder folder;
  JsonlReader reader(folder.put("t.jsonl", "{\"a\":1}\n\n{\"a\":\n"));
  Json value;
  EXPECT_TRUE(reader.next(value));
  EXPECT_TRUE(contains(message_of<DataError>([&] { reader.next(value); }), "t.jsonl:3: not valid JSON"));
}

TEST(Jsonl, NamesALineCutByTheEndOfTheFile) {
  const TestFolder folder;
  JsonlReader reader(folder.put("t.jsonl", "{\"text\":\"abc"));
  Json value;
  EXPECT_TRUE(contains(message_of<DataError>([&] { reader.next(value); }), "t.jsonl:1:"));
}

TEST(Jsonl, RefusesBinaryBytes) {
  const TestFolder folder;
  JsonlReader reader(folder.put("t.jsonl", std::string("\x00\xff\x80\n", 4)));
  Json value;
  EXPECT_TRUE(contains(message_of<DataError>([&] { reader.next(value); }), "t.jsonl:1:"));
}

TEST(Jsonl, NamesTheLastGoodLineOfATruncatedArchive) {
  const TestFolder folder;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "{\"i\":" + std::to_string(i) + "}\n";
  const std::string gz = gzipped(text);
  JsonlReader reader(folder.put("t.jsonl.gz", gz.substr(0, gz.size() - 8)));
  Json value;
  const std::string message = message_of<DataError>([&] {
    while (reader.next(value)) {
    }
  });
  EXPECT_TRUE(contains(message, "t.jsonl.gz: ends in the middle"));
  EXPECT_TRUE(contains(message, "(after line 1000)"));
}

TEST(Jsonl, AnEmptyFileHasNoValues) {
  const TestFolder folder;
  Json value;
  EXPECT_FALSE(JsonlReader(folder.put("t", "")).next(value));
  EXPECT_FALSE(JsonlReader(folder.put("t", "\n\n")).next(value));
}

}  // namespace
}  // namespace loongforge
