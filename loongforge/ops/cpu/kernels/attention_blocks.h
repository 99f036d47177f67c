// What forward and backward of attention share: products of packed panels, powers of two, row maxima.
//
// Scores are kept in units of log2: q is multiplied by scale * log2(e), and softmax uses powers of two.
#pragma once

#include "loongforge/ops/cpu/kernels/functions.h"
#include "loongforge/ops/cpu/kernels/pack.h"
#include "loongforge/ops/cpu/kernels/tile_product.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {

constexpr std::int64_t kBlock = kAttentionBlock;
constexpr double kLog2E = 1.4426950408889634074;
static_assert(kBlock % kTileRows == 0 && kBlock % kTileColumns<float> == 0);

// 2^x for x <= 0 (or a little above); 0 below -126, so that what is masked with -infinity has no share.
LOONGFORGE_INLINE Vector<float> power_of_two(Vector<float> x) {
  typedef VectorOf<float>::integer Integer;
  const Vector<float> low = broadcast(-126.0f);
  const Vector<float> c = low > x ? low : x;                    // a NaN stays
  const Vector<float> magic = broadcast(12582912.0f + 127.0f);  // its sum ends in the bits of n + 127
  const Vector<float> shifted = c + magic;
  const Vector<float> r = c - (shifted - magic);
  Vector<float> p = broadcast(1.535336188319500e-4f);
  p = p * r + 1.339887440266574e-3f;
  p = p * r + 9.618437357674640e-3f;
  p = p * r + 5.550332471162809e-2f;
  p = p * r + 2.402264791363012e-1f;
  p = p * r + 6.931472028550421e-1f;
  p = p * r + 1.0f;
  const Vector<float> y = p * reinterpret_cast<Vector<float>>(reinterpret_cast<Integer>(shifted) << 23);
  return x < low ? Vector<float>{} : y;
}
LOONGFORGE_INLINE Vector<double> power_of_two(Vector<double> x) {
  Vector<double> y{};
  for (int i = 0; i < kLanes<double>; ++i) y[i] = __builtin_exp2(x[i]);
  return y;
}
template <typename T>
LOONGFORGE_INLINE T power_of_two_one(T x) {
  return power_of_two(broadcast(x))[0];
}

// scores (kBlock, kBlock) = rows of packed panels a times packed panels b; tiles wholly above the diagonal
// are left out when `causal`.
template <typename T>
void score_block(std::int64_t rows, std::int64_t columns, std::int64_t dim, const T* a, const T* b,
                 bool causal, T* scores) {
  for (std::int64_t j = 0; j < columns; j += kTileColumns<T>) {
    const std::int64_t first = causal ? j / kTileRows * kTileRows : 0;
    for (std::int64_t i = first; i < rows; i += kTileRows)
      tile_product<T>(dim, a + i * dim, 1, kTileRows, b + j * dim, kTileColumns<T>, scores + i * kBlock + j,
                      kBlock, false);
  }
}

// out (rows, packed_dim) (+)= p (rows, keys) x, x in panels of kTileColumns dims, `panel` numbers apart. With
// `causal` row i has keys up to i only, and p is 0 beyond, within its tile of rows.
template <typename T>
void weigh_rows(std::int64_t rows, std::int64_t keys, std::int64_t packed_dim, const T* p, const T* x,
                std::int64_t panel, bool causal, bool accumulate, T* out) {
  for (std::int64_t d = 0; d < packed_dim; d += kTileColumns<T>, x += panel)
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const std::int64_t depth = causal ? least(i + kTileRows, keys) : keys;
      tile_product<T>(depth, p + i * kBlock, kBlock, 1, x, kTileColumns<T>, out + i * packed_dim + d,
                      packed_dim, accumulate);
    }
}

// out (keys, packed_dim) (+)= p^T x, p (rows, keys); with `causal` key i has rows from i on only.
template <typename T>
void weigh_columns(std::int64_t rows, std::int64_t keys, std::int64_t packed_dim, const T* p, const T* x,
                   std::int64_t panel, bool causal, bool accumulate, T* out) {
  for (std::int64_t d = 0; d < packed_dim; d += kTileColumns<T>, x += panel)
    for (std::int64_t i = 0; i < keys; i += kTileRows) {
      const std::int64_t first = causal ? i : 0;
      tile_product<T>(rows - first, p + first * kBlock + i, 1, kBlock, x + first * kTileColumns<T>,
                      kTileColumns<T>, out + i * packed_dim + d, packed_dim, accumulate);
    }
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
