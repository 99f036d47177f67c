#include "loongforge/data/prefetch.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "loongforge/data/test_support.h"

namespace loongforge {
namespace {

// Two micro-batches a step whose one tensor holds 10 * step + index; step `bad` throws.
class Counting final : public BatchSource {
 public:
  explicit Counting(std::int64_t bad = -1) : bad_(bad) {}
  Batch batch(std::int64_t step, std::int64_t index) const override {
    check<DataError>(step != bad_, "step ", step, " is bad");
    Batch batch;
    batch.tensors["input_ids"] = at::full({1}, 10 * step + index, at::kLong);
    batch.counts.tokens = 1;
    return batch;
  }
  std::int64_t micro_batches(std::int64_t) const override { return 2; }
  Json describe() const override { return {}; }
  double epochs(std::int64_t) const override { return 0; }
  Json state(std::int64_t) const override { return {}; }

 private:
  std::int64_t bad_;
};

TEST(Prefetcher, GivesTheStepsInOrder) {
  const Counting source;
  Prefetcher prefetcher(source, 4, 7);
  for (std::int64_t step = 4; step < 7; ++step) {
    ASSERT_FALSE(prefetcher.done());
    const StepBatches batches = prefetcher.next();
    EXPECT_EQ(batches.step, step);
    EXPECT_EQ(batches.counts.tokens, 2);
    EXPECT_EQ(values_of(batches.micro_batches.at(1), "input_ids").front(), 10 * step + 1);
  }
  EXPECT_TRUE(prefetcher.done());
}

TEST(Prefetcher, ThrowsWhatReadingThrew) {
  const Counting source(1);
  Prefetcher prefetcher(source, 0, 5);
  prefetcher.next();
  EXPECT_EQ(message_of<DataError>([&] { prefetcher.next(); }), "step 1 is bad");
}

}  // namespace
}  // namespace loongforge
