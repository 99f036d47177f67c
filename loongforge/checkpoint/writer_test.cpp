#include "loongforge/checkpoint/writer.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "loongforge/base/files.h"
#include "loongforge/base/test_path.h"

namespace loongforge {
namespace {

// While it lives no file may grow beyond `bytes`: what a full disk looks like to the writer.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

class WriterTest : public ::testing::Test {
 protected:
  WriterTest() : folder_(test_path()) {}
  ~WriterTest() override { remove_tree(folder_.root()); }

  static CheckpointJob job(std::int64_t step, double value = 1.0) {
    CheckpointJob job;
    job.progress.step = step;
    job.state = {{"w", at::full({1000}, value)}};
    job.write_hf = [](const fs::path& folder) {
      make_directories(folder);
      write_file_atomic(folder / "config.json", "{}\n");
    };
    return job;
  }

  double stored() const {
    const at::Tensor w = at::zeros({1000});
    load_state_tensors(folder_.last_complete()->path / "state", {{"w", w}});
    return w[0].item<double>();
  }

  RunFolder folder_;
};

TEST_F(WriterTest, WritesACompleteFolder) {
  write_checkpoint(folder_, job(3), 2);
  const fs::path path = folder_.checkpoint(3);
  EXPECT_TRUE(fs::exists(path / "hf" / "config.json"));
  EXPECT_TRUE(fs::exists(path / "state" / "state.json"));
  EXPECT_TRUE(fs::exists(path / kCompleteMarker));
  EXPECT_EQ(stored(), 1.0);
}

TEST_F(WriterTest, ReplacesLeftovers) {
  make_directories(folder_.checkpoint(3) / "state");
  make_directories(folder_.checkpoint(3).string() + kPartialSuffix);
  write_checkpoint(folder_, job(3), 2);
  EXPECT_EQ(folder_.complete().size(), 1U);
  EXPECT_TRUE(folder_.remove_partial().empty());
}

TEST_F(WriterTest, KeepsTheNewestOfManyInTheBackground) {
  CheckpointWriter writer(folder_, 2, /*in_background=*/true);
  for (std::int64_t step = 1; step <= 5; ++step) writer.save(job(step, static_cast<double>(step)));
  writer.finish();
  EXPECT_EQ(folder_.complete().size(), 2U);
  EXPECT_EQ(folder_.last_complete()->step, 5);
  EXPECT_EQ(writer.last_step(), 5);
  EXPECT_EQ(stored(), 5.0);
}

TEST_F(WriterTest, CopiesDoNotFollowTheLiveTensors) {
  const at::Tensor live = at::full({3}, 1.0);
  const std::vector<StateTensor> copies = copy_tensors({{"w", live}});
  live.fill_(2.0);
  EXPECT_EQ(copies[0].tensor[0].item<double>(), 1.0);
}

TEST_F(WriterTest, FullDiskIsAnErrorAndEarlierCheckpointsStand) {
  for (const bool in_background : {false, true}) {
    CheckpointWriter writer(folder_, 2, in_background);
    writer.save(job(1));
    writer.finish();
    {
      const FileSizeLimit limit(2000);
      EXPECT_THROW(
          {
            writer.save(job(2));
            writer.finish();
          },
          ResourceError);
    }
    EXPECT_EQ(folder_.last_complete()->step, 1);
    EXPECT_FALSE(fs::exists(folder_.checkpoint(2)));
    EXPECT_TRUE(folder_.remove_partial().empty());
    EXPECT_EQ(stored(), 1.0);
  }
}

TEST_F(WriterTest, ErrorOfTheThreadComesUpAtTheNextCall) {
  CheckpointWriter writer(folder_, 2, /*in_background=*/true);
  CheckpointJob bad = job(1);
  bad.write_hf = [](const fs::path&) { throw ResourceError("disk full"); };
  writer.save(std::move(bad));
  EXPECT_THROW(writer.save(job(2)), ResourceError);
  writer.save(job(3));
  writer.finish();
  EXPECT_EQ(folder_.complete().size(), 1U);
}

}  // namespace
}  // namespace loongforge
