#include "loongforge/data/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "loongforge/base/random.h"

namespace loongforge {
namespace {

using Rows = std::vector<std::vector<std::int64_t>>;

TEST(Packing, LongestFirstIntoTheFirstRowWithRoom) {
  const std::vector<std::int32_t> lengths = {3, 7, 5, 3, 2};
  const std::vector<std::int64_t> order = {0, 1, 2, 3, 4};
  EXPECT_EQ(pack_rows(lengths, order, 10, 100), (Rows{{1, 0}, {2, 3, 4}}));
}

TEST(Packing, WindowOneGivesEachItemItsRow) {
  const std::vector<std::int32_t> lengths = {1, 1, 1};
  const std::vector<std::int64_t> order = {2, 0, 1};
  EXPECT_EQ(pack_rows(lengths, order, 10, 1), (Rows{{2}, {0}, {1}}));
}

TEST(Packing, EveryItemStandsInOneRowThatHoldsIt) {
  const CounterRandom random(3, "packing test");
  for (std::uint64_t round = 0; round < 40; ++round) {
    const auto n = 1 + random.below(200, round, 0);
    const auto capacity = static_cast<std::int64_t>(1 + random.below(60, round, 1));
    const auto window = static_cast<std::int64_t>(1 + random.below(50, round, 2));
    std::vector<std::int32_t> lengths(n);
    for (std::size_t i = 0; i < n; ++i) {
      lengths[i] =
          static_cast<std::int32_t>(1 + random.below(static_cast<std::uint64_t>(capacity), round, i + 3));
    }
    std::vector<std::int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::int64_t> seen;
    for (const auto& row : pack_rows(lengths, order, capacity, window)) {
      std::int64_t sum = 0;
      for (const auto item : row) sum += lengths[static_cast<std::size_t>(item)];
      ASSERT_LE(sum, capacity);
      seen.insert(seen.end(), row.begin(), row.end());
    }
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen, order);
  }
}

}  // namespace
}  // namespace loongforge
