#include "loongforge/data/packing.h"

#include <algorithm>

#include "loongforge/base/error.h"

namespace loongforge {

std::vector<std::vector<std::int64_t>> pack_rows(std::span<const std::int32_t> lengths,
                                                 std::span<const std::int64_t> order, std::int64_t capacity,
                                                 std::int64_t window, const SecondRoom& second) {
  check<InternalError>(capacity > 0 && window > 0, "pack_rows: capacity ", capacity, ", window ", window);
  struct Room {
    std::int64_t tokens, second;
  };
  const auto other = [&](std::int64_t item) {
    return second.max > 0 ? second.sizes[static_cast<std::size_t>(item)] : 0;
  };
  const auto length = [&](std::int64_t item) { return lengths[static_cast<std::size_t>(item)]; };
  std::vector<std::vector<std::int64_t>> rows;
  for (std::size_t begin = 0; begin < order.size(); begin += static_cast<std::size_t>(window)) {
    const std::size_t end = std::min(order.size(), begin + static_cast<std::size_t>(window));
    std::vector<std::int64_t> items(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                    order.begin() + static_cast<std::ptrdiff_t>(end));
    std::stable_sort(items.begin(), items.end(),
                     [&](std::int64_t a, std::int64_t b) { return length(a) > length(b); });
    const std::size_t first = rows.size();
    std::vector<Room> room;
    for (const std::int64_t item : items) {
      check<InternalError>(length(item) > 0 && length(item) <= capacity, "pack_rows: item of ", length(item),
                           " tokens, rows of ", capacity);
      check<InternalError>(other(item) <= second.max, "pack_rows: item of ", other(item), ", rows of ",
                           second.max);
      const auto fits = std::find_if(room.begin(), room.end(), [&](const Room& left) {
        return left.tokens >= length(item) && left.second >= other(item);
      });
      const auto row = static_cast<std::size_t>(fits - room.begin());
      if (fits == room.end()) {
        room.push_back({capacity, second.max});
        rows.emplace_back();
      }
      room[row].tokens -= length(item);
      room[row].second -= other(item);
      rows[first + row].push_back(item);
    }
  }
  return rows;
}

}  // namespace loongforge
