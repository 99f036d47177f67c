// Splits a product into tiles: as many as the threads need, each as near to a square as its memory allows.
#include "loongforge/ops/cpu/scratch.h"
#include "loongforge/ops/cpu/tensors.h"

namespace loongforge::ops::cpu {
namespace {

constexpr std::int64_t kRowUnit = 12, kColumnUnit = 32;  // whole inner tiles at every CPU level
constexpr std::int64_t kMostColumns = 2048;
constexpr std::int64_t kMostPackedNumbers = 2 * 1024 * 1024;  // of b in one tile
constexpr std::int64_t kFewRows = 8;

std::int64_t up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}
std::int64_t parts(std::int64_t n, std::int64_t size) {
  return (n + size - 1) / size;
}

struct Grid {
  std::int64_t rows, columns;  // of one tile
};

// Time of one tile for one step along K, in clock ticks of an AVX2 core: sums, then packing.
double tile_cost(std::int64_t rows, std::int64_t columns) {
  return static_cast<double>(rows * columns) / 16.0 + static_cast<double>(rows + columns);
}

Grid choose_grid(const GemmArgs& args, std::int64_t threads) {
  std::int64_t widest = kMostColumns;
  if (args.c_type == Type::kBf16)
    widest = std::clamp(kMostPackedNumbers / std::max<std::int64_t>(1, args.k) / kColumnUnit * kColumnUnit,
                        kColumnUnit, kMostColumns);
  const std::int64_t least_columns = parts(args.n, widest);
  Grid best{args.m, std::min(args.n, widest)};
  double best_cost = -1;
  for (std::int64_t gn = least_columns; gn <= least_columns + threads; ++gn)
    for (std::int64_t gm = 1; gm <= threads; ++gm) {
      const Grid g{up(parts(args.m, gm), kRowUnit), up(parts(args.n, gn), kColumnUnit)};
      const std::int64_t tiles = parts(args.m, g.rows) * parts(args.n, g.columns);
      const double cost = static_cast<double>(parts(tiles, threads)) * tile_cost(g.rows, g.columns);
      if (best_cost < 0 || cost < best_cost) {
        best = g;
        best_cost = cost;
      }
    }
  return best;
}

bool has_few_rows(const GemmArgs& args) {
  const Type wide = args.c_type == Type::kDouble ? Type::kDouble : Type::kFloat;
  return args.m <= kFewRows && args.a.inner_stride == 1 && args.b.inner_stride == 1 && args.a.type == wide;
}

}  // namespace

void run_gemm(const GemmArgs& args) {
  if (args.m == 0 || args.n == 0) return;
  const Kernels& k = kernels();
  if (has_few_rows(args)) {
    for_ranges(args.n, args.k * 4,
               [&](std::int64_t begin, std::int64_t end) { k.gemm_few_rows(args, begin, end); });
    return;
  }
  constexpr double kWorthThreads = 4e5;
  const bool small =
      static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.k) < kWorthThreads;
  const std::int64_t threads = small || at::in_parallel_region() ? 1 : at::get_num_threads();
  const Grid grid = choose_grid(args, threads);
  const std::int64_t across = parts(args.n, grid.columns), tiles = across * parts(args.m, grid.rows);
  const auto run = [&](std::int64_t i) {
    const std::int64_t m0 = i / across * grid.rows, n0 = i % across * grid.columns;
    const GemmTile tile{m0, std::min(m0 + grid.rows, args.m), n0, std::min(n0 + grid.columns, args.n)};
    k.gemm_tile(args, tile, thread_scratch(k.gemm_scratch_bytes(args, tile)));
  };
  if (threads == 1) {
    for (std::int64_t i = 0; i < tiles; ++i) run(i);
  } else {
    for_items(tiles, run);
  }
}

}  // namespace loongforge::ops::cpu
