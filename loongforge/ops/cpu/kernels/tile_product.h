// The inner loop of every matrix product here: one register tile of kTileRows x kTileColumns<T>.
#pragma once

#include "loongforge/ops/cpu/kernels/simd.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {

// c (+)= a b over `depth` steps: a's element (i, k) at a[i * row + k * step], b's row k at b + k * ldb. All
// of the tile is read and written, so operands are padded to whole tiles.
template <typename T>
LOONGFORGE_INLINE void tile_product(std::int64_t depth, const T* a, std::int64_t row, std::int64_t step,
                                    const T* b, std::int64_t ldb, T* c, std::int64_t ldc, bool accumulate) {
  using V = Vector<T>;
  V sum[kTileRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) sum[i][0] = sum[i][1] = V{};
  for (std::int64_t k = 0; k < depth; ++k) {
    const V b0 = load(b), b1 = load(b + kLanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) {
      const V x = broadcast(a[i * row]);
      sum[i][0] += x * b0;
      sum[i][1] += x * b1;
    }
    a += step;
    b += ldb;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) {
    T* p = c + i * ldc;
    store(p, accumulate ? load(p) + sum[i][0] : sum[i][0]);
    store(p + kLanes<T>, accumulate ? load(p + kLanes<T>) + sum[i][1] : sum[i][1]);
  }
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
