// What forward and backward of attention share: products of packed panels, powers of two, row maxima.
//
// Softmax uses powers of two: a score counts times scale * log2(e).
#pragma once

#include "loongforge/ops/cpu/kernels/bf16_pairs.h"
#include "loongforge/ops/cpu/kernels/functions.h"
#include "loongforge/ops/cpu/kernels/pack.h"
#include "loongforge/ops/cpu/kernels/tile_product.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {

constexpr std::int64_t kBlock = kAttentionBlock;
constexpr double kLog2E = 1.4426950408889634074;
static_assert(kTileRows % 2 == 0 && kBlock % kTileRows == 0 && kBlock % kTileColumns<float> == 0);

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

// A way to form the products: factors widened to the type of the sums.
template <typename S>
struct PlainAttention {
  using Sum = Wide<S>;
  using Packed = Sum;
  static constexpr std::int64_t kStep = 1;  // of the index that is summed over, in one packed number
  template <int R>
  static void pack_inner(const S* x, std::int64_t stride, std::int64_t outer, std::int64_t depth,
                         Packed* out) {
    pack_along_inner<R, Sum, S>(x, stride, outer, depth, out);
  }
  template <int R>
  static void pack_outer(const S* x, std::int64_t stride, std::int64_t outer, std::int64_t depth,
                         Packed* out) {
    pack_along_outer<R, Sum, S>(x, stride, outer, depth, out);
  }
  LOONGFORGE_INLINE_MEMBER void tile(std::int64_t steps, const Packed* a, std::int64_t row, std::int64_t step,
                                     const Packed* b, Sum* c, std::int64_t ldc, bool accumulate) {
    tile_product<Sum>(steps, a, row, step, b, kTileColumns<Sum>, c, ldc, accumulate);
  }
};

#ifdef __AVX512BF16__
// Factors in bfloat16, the weights of the softmax rounded to it, pairs multiplied and added by one
// instruction.
struct PairAttention {
  using Sum = float;
  using Packed = Bf16Pair;
  static constexpr std::int64_t kStep = 2;
  template <int R>
  static void pack_inner(const Bf16* x, std::int64_t stride, std::int64_t outer, std::int64_t depth,
                         Packed* out) {
    pack_pairs_along_inner<R>(x, stride, outer, depth, out);
  }
  template <int R>
  static void pack_outer(const Bf16* x, std::int64_t stride, std::int64_t outer, std::int64_t depth,
                         Packed* out) {
    pack_pairs_along_outer<R>(x, stride, outer, depth, out);
  }
  LOONGFORGE_INLINE_MEMBER void tile(std::int64_t steps, const Packed* a, std::int64_t row, std::int64_t step,
                                     const Packed* b, Sum* c, std::int64_t ldc, bool accumulate) {
    pair_tile_product(steps, a, row, step, b, c, ldc, accumulate);
  }
};
#endif

template <typename S>
struct AttentionWay {
  using type = PlainAttention<S>;
};
#ifdef __AVX512BF16__
template <>
struct AttentionWay<Bf16> {
  using type = PairAttention;
};
#endif

// Packed numbers along an index of `n`.
template <typename W>
constexpr std::int64_t steps_of(std::int64_t n) {
  return (n + W::kStep - 1) / W::kStep;
}

// Weights of one block of queries and keys as left factors, made from p (kBlock, kBlock) in the type of the
// sums: by rows (summed over keys) and by columns (over queries). Where the types agree both are p itself.
template <typename W>
struct Weights {
  const typename W::Packed *rows, *columns;
};

template <typename T>
LOONGFORGE_INLINE Weights<PlainAttention<T>> as_factors(PlainAttention<T>, std::int64_t, std::int64_t,
                                                        const Wide<T>* p, void*, bool) {
  return {p, p};
}

#ifdef __AVX512BF16__
// `scratch` holds 2 kBlock * kBlock bfloat16 numbers; an odd last row or column gets a partner of zeros.
LOONGFORGE_INLINE Weights<PairAttention> as_factors(PairAttention, std::int64_t rows, std::int64_t columns,
                                                    const float* p, void* scratch, bool by_columns) {
  Bf16* narrow = static_cast<Bf16*>(scratch);
  Bf16Pair* paired = reinterpret_cast<Bf16Pair*>(narrow + kBlock * kBlock);
  const std::int64_t wide = round_up(columns, kPairs);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t i = 0; i < wide; i += kPairs) store(narrow + r * kBlock + i, load(p + r * kBlock + i));
    if (columns % 2 != 0) narrow[r * kBlock + columns] = Bf16{0};
  }
  if (by_columns) {
    if (rows % 2 != 0)
      for (std::int64_t i = 0; i < wide; ++i) narrow[rows * kBlock + i] = Bf16{0};
    for (std::int64_t r = 0; r < rows; r += 2)
      for (std::int64_t i = 0; i < wide; i += kPairs)
        store_interleaved(narrow + r * kBlock + i, narrow + (r + 1) * kBlock + i,
                          paired + r / 2 * kBlock + i);
  }
  return {reinterpret_cast<const Bf16Pair*>(narrow), paired};
}
#endif

// scores (kBlock, kBlock) = rows of packed panels a times packed panels b; tiles wholly above the diagonal
// are left out when `causal`.
template <typename W>
void score_block(std::int64_t rows, std::int64_t columns, std::int64_t dim, const typename W::Packed* a,
                 const typename W::Packed* b, bool causal, typename W::Sum* scores) {
  constexpr std::int64_t kColumns = kTileColumns<typename W::Sum>;
  const std::int64_t steps = steps_of<W>(dim);
  for (std::int64_t j = 0; j < columns; j += kColumns) {
    const std::int64_t first = causal ? j / kTileRows * kTileRows : 0;
    for (std::int64_t i = first; i < rows; i += kTileRows)
      W::tile(steps, a + i * steps, 1, kTileRows, b + j * steps, scores + i * kBlock + j, kBlock, false);
  }
}

// out (rows, packed_dim) (+)= weights (rows, keys) x, x in panels of kTileColumns dims, `panel` numbers
// apart. With `causal` row i has keys up to i only, and its weight is 0 beyond, within its tile of rows.
template <typename W>
void weigh_rows(std::int64_t rows, std::int64_t keys, std::int64_t packed_dim,
                const typename W::Packed* weights, const typename W::Packed* x, std::int64_t panel,
                bool causal, bool accumulate, typename W::Sum* out) {
  constexpr std::int64_t kRow = kBlock / W::kStep;
  for (std::int64_t d = 0; d < packed_dim; d += kTileColumns<typename W::Sum>, x += panel)
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const std::int64_t depth = causal ? least(i + kTileRows, keys) : keys;
      W::tile(steps_of<W>(depth), weights + i * kRow, kRow, 1, x, out + i * packed_dim + d, packed_dim,
              accumulate);
    }
}

// out (keys, packed_dim) (+)= weights^T x, weights (rows, keys); with `causal` key i has rows from i on only.
template <typename W>
void weigh_columns(std::int64_t rows, std::int64_t keys, std::int64_t packed_dim,
                   const typename W::Packed* weights, const typename W::Packed* x, std::int64_t panel,
                   bool causal, bool accumulate, typename W::Sum* out) {
  constexpr std::int64_t kColumns = kTileColumns<typename W::Sum>;
  for (std::int64_t d = 0; d < packed_dim; d += kColumns, x += panel)
    for (std::int64_t i = 0; i < keys; i += kTileRows) {
      const std::int64_t first = causal ? i / W::kStep : 0;  // i is even
      W::tile(steps_of<W>(rows) - first, weights + first * kBlock + i, 1, kBlock, x + first * kColumns,
              out + i * packed_dim + d, packed_dim, accumulate);
    }
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
