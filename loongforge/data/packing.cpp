#include "loongforge/data/packing.h"

#include <algorithm>

#include "loongforge/base/error.h"

namespace loongforge {

std::vector<std::vector<std::int64_t>> pack_rows(std::span<const std::int32_t> lengths,
                                                 std::span<const std::int64_t> order, std::int64_t capacity,
                                                 std::int64_t window) {
  check<InternalError>(capacity > 0 && window > 0, "pack_rows: capacity ", capacity, ", window ", window);
  const auto length = [&](std::int64_t item) { return lengths[static_cast<std::size_t>(item)]; };
  std::vector<std::vector<std::int64_t>> rows;
  for (std::size_t begin = 0; begin < order.size(); begin += static_cast<std::size_t>(window)) {
    const std::size_t end = std::min(order.size(), begin + static_cast<std::size_t>(window));
    std::vector<std::int64_t> items(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                    order.begin() + static_cast<std::ptrdiff_t>(end));
    std::stable_sort(items.begin(), items.end(),
                     [&](std::int64_t a, std::int64_t b) { return length(a) > length(b); });
    const std::size_t first = rows.size();
    std::vector<std::int64_t> room;
    for (const std::int64_t item : items) {
      check<InternalError>(length(item) > 0 && length(item) <= capacity, "pack_rows: item of ", length(item),
                           " tokens, rows of ", capacity);
      const auto fits =
          std::find_if(room.begin(), room.end(), [&](std::int64_t left) { return left >= length(item); });
      const auto row = static_cast<std::size_t>(fits - room.begin());
      if (fits == room.end()) {
        room.push_back(capacity);
        rows.emplace_back();
      }
      room[row] -= length(item);
      rows[first + row].push_back(item);
    }
  }
  return rows;
}

}  // namespace loongforge
