// Puts pieces of different lengths into rows of one length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loongforge {

// A second room that items take, such as patches of pictures; max 0: there is none.
struct SecondRoom {
  std::span<const std::int64_t> sizes;  // of each item, at most `max`
  std::int64_t max = 0;
};

// Items of each row. Within every `window` items of the given order: first-fit decreasing (Johnson 1973),
// ties by place, so the result depends on the arguments alone; a row never holds items of two windows. Every
// item stands in exactly one row. lengths: tokens of each item, each in [1, capacity]; a row also holds at
// most second.max. With window 1 each item has a row of its own.
std::vector<std::vector<std::int64_t>> pack_rows(std::span<const std::int32_t> lengths,
                                                 std::span<const std::int64_t> order, std::int64_t capacity,
                                                 std::int64_t window, const SecondRoom& second = {});

}  // namespace loongforge
