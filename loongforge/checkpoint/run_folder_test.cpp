#include "loongforge/checkpoint/run_folder.h"

#include <gtest/gtest.h>

#include "loongforge/base/files.h"
#include "loongforge/base/test_path.h"

namespace loongforge {
namespace {

class RunFolderTest : public ::testing::Test {
 protected:
  RunFolderTest() : folder_(test_path()) {}
  ~RunFolderTest() override { remove_tree(folder_.root()); }

  void make(std::int64_t step, bool complete) {
    make_directories(folder_.checkpoint(step) / "state");
    if (complete) write_file_atomic(folder_.checkpoint(step) / kCompleteMarker, "x\n");
  }

  RunFolder folder_;
};

TEST_F(RunFolderTest, NamesCheckpointsWithEightDigits) {
  EXPECT_EQ(folder_.checkpoint(100).filename(), "step-00000100");
}

TEST_F(RunFolderTest, AMissingFolderIsUnused) {
  EXPECT_FALSE(folder_.used());
  EXPECT_FALSE(folder_.last_complete());
  EXPECT_TRUE(folder_.remove_partial().empty());
}

TEST_F(RunFolderTest, PicksTheLastCompleteOne) {
  make(5, true);
  make(10, true);
  make(15, false);
  ASSERT_TRUE(folder_.last_complete());
  EXPECT_EQ(folder_.last_complete()->step, 10);
  EXPECT_TRUE(folder_.used());
}

TEST_F(RunFolderTest, RemovesOnlyHalfWrittenCheckpoints) {
  make(5, true);
  make(10, false);
  make_directories(folder_.checkpoints() / "step-00000015.partial");
  make_directories(folder_.checkpoints() / "mine");
  EXPECT_EQ(folder_.remove_partial(), (std::vector<std::string>{"step-00000010", "step-00000015.partial"}));
  EXPECT_TRUE(fs::exists(folder_.checkpoints() / "mine"));
  EXPECT_EQ(folder_.complete().size(), 1U);
}

TEST_F(RunFolderTest, KeepsTheNewest) {
  for (const std::int64_t step : {1, 2, 30}) make(step, true);
  folder_.keep_last(0);
  EXPECT_EQ(folder_.complete().size(), 3U);
  folder_.keep_last(2);
  ASSERT_EQ(folder_.complete().size(), 2U);
  EXPECT_EQ(folder_.complete()[0].step, 2);
}

}  // namespace
}  // namespace loongforge
