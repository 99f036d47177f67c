#include "loongforge/train/json_lines.h"

#include <gtest/gtest.h>

#include "loongforge/base/test_path.h"

namespace loongforge {
namespace {

class JsonLinesTest : public ::testing::Test {
 protected:
  JsonLinesTest() : path_(test_path(".jsonl")) {}
  ~JsonLinesTest() override { fs::remove(path_); }
  fs::path path_;
};

TEST_F(JsonLinesTest, AppendsOneLineARecord) {
  JsonLines lines(path_, -1);
  lines.append({{"step", 1}, {"loss", 2.5}});
  lines.append({{"step", 2}});
  EXPECT_EQ(read_file(path_), "{\"step\":1,\"loss\":2.5}\n{\"step\":2}\n");
}

TEST_F(JsonLinesTest, DropsWhatLiesBeyondTheCheckpoint) {
  write_file_atomic(path_, "{\"step\":1,\"a\":0.1}\n{\"step\":2}\n{\"step\":3}\n{\"st");
  const JsonLines lines(path_, 2);
  EXPECT_EQ(read_file(path_), "{\"step\":1,\"a\":0.1}\n{\"step\":2}\n");
  EXPECT_EQ(lines.records().size(), 2U);
}

TEST_F(JsonLinesTest, DropsGarbledLines) {
  write_file_atomic(path_, "rubbish\n[1]\n{\"loss\":1}\n{\"step\":\"1\"}\n{\"step\":1}\n");
  EXPECT_EQ(JsonLines(path_, 5).records().size(), 1U);
}

TEST_F(JsonLinesTest, AFreshRunKeepsNothing) {
  write_file_atomic(path_, "{\"step\":0}\n");
  EXPECT_TRUE(JsonLines(path_, -1).records().empty());
}

TEST_F(JsonLinesTest, FindsTheLastRecordOfAStep) {
  JsonLines lines(path_, -1);
  lines.append({{"step", 1}, {"a", 1}});
  lines.append({{"step", 1}, {"a", 2}});
  ASSERT_NE(lines.find(1), nullptr);
  EXPECT_EQ(lines.find(1)->at("a"), 2);
  EXPECT_EQ(lines.find(2), nullptr);
}

}  // namespace
}  // namespace loongforge
