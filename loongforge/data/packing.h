// Puts pieces of different lengths into rows of one length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loongforge {

// Items of each row. Within every `window` items of the given order: first-fit decreasing (Johnson 1973),
// ties by place, so the result depends on the arguments alone; a row never holds items of two windows. Every
// item stands in exactly one row. lengths: tokens of each item, each in [1, capacity]. With window 1 each
// item has a row of its own.
std::vector<std::vector<std::int64_t>> pack_rows(std::span<const std::int32_t> lengths,
                                                 std::span<const std::int64_t> order, std::int64_t capacity,
                                                 std::int64_t window);

}  // namespace loongforge
