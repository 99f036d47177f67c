// Matrix product in tiles: b is packed once a tile, a in blocks that stay in the second-level cache
// (Goto and van de Geijn 2008).
#include "loongforge/ops/cpu/kernels/bf16_pairs.h"
#include "loongforge/ops/cpu/kernels/functions.h"
#include "loongforge/ops/cpu/kernels/pack.h"
#include "loongforge/ops/cpu/kernels/tile_product.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {
namespace {

constexpr std::int64_t kBlockRows = 192;                // rows of a packed at once; a multiple of kTileRows
constexpr std::int64_t kPackedBytes = 4 * 1024 * 1024;  // of b, where the sum may be cut

// A way to sum: factors are packed as numbers of the sum's own type, and each is one step of K.
template <typename T>
struct Plain {
  using Packed = T;
  using Sum = T;
  static constexpr std::int64_t kStep = 1;  // of K, in one packed number
  // Steps of one pass over K. Short ones cost 2 % of the time and halve the error of the sum.
  static constexpr std::int64_t kMostSteps = 96;
  template <int R>
  static void pack(const Factor& f, std::int64_t o0, std::int64_t o1, std::int64_t k0, std::int64_t depth,
                   T* out) {
    LOONGFORGE_LEVEL_NAMESPACE::pack<R>(f, o0, o1, k0, depth, out);
  }
  LOONGFORGE_INLINE_MEMBER void tile(std::int64_t steps, const T* a, const T* b, T* c, std::int64_t ldc,
                                     bool accumulate) {
    tile_product<T>(steps, a, 1, kTileRows, b, kTileColumns<T>, c, ldc, accumulate);
  }
};

#ifdef __AVX512BF16__
// Factors stay bfloat16, two neighbours along K in one packed number, and one instruction multiplies and adds
// both.
struct Bf16Pairs {
  using Packed = Bf16Pair;
  using Sum = float;
  static constexpr std::int64_t kStep = 2;
  static constexpr std::int64_t kMostSteps = 384;
  template <int R>
  static void pack(const Factor& f, std::int64_t o0, std::int64_t o1, std::int64_t k0, std::int64_t depth,
                   Bf16Pair* out) {
    pack_pairs<R>(f, o0, o1, k0, depth, out);
  }
  LOONGFORGE_INLINE_MEMBER void tile(std::int64_t steps, const Bf16Pair* a, const Bf16Pair* b, float* c,
                                     std::int64_t ldc, bool accumulate) {
    pair_tile_product(steps, a, 1, kTileRows, b, c, ldc, accumulate);
  }
};
#endif

struct Blocking {
  std::int64_t depth;    // K of one packed panel: a multiple of the step
  std::int64_t chunk;    // K for which b is packed at once: a multiple of depth
  std::int64_t columns;  // of the tile, padded
};

template <typename P>
Blocking blocking(const GemmArgs& args, const GemmTile& tile) {
  constexpr std::int64_t kDepth = P::kMostSteps * P::kStep;
  const std::int64_t passes = (args.k + kDepth - 1) / kDepth;
  Blocking b;
  b.depth = round_up((args.k + passes - 1) / passes, P::kStep);
  b.columns = round_up(tile.n1 - tile.n0, kTileColumns<typename P::Sum>);
  b.chunk = passes * b.depth;
  if (args.c_type != Type::kBf16) {
    constexpr std::int64_t kBytes = static_cast<std::int64_t>(sizeof(typename P::Packed));
    const std::int64_t fits = kPackedBytes / (b.columns * kBytes * (b.depth / P::kStep));
    b.chunk = least(b.chunk, b.depth * (fits > 1 ? fits : 1));
  }
  return b;
}

// Packed numbers and sums have one size.
template <typename P>
std::int64_t scratch_bytes(const GemmArgs& args, const GemmTile& tile) {
  static_assert(sizeof(typename P::Packed) == sizeof(typename P::Sum));
  const Blocking b = blocking<P>(args, tile);
  const std::int64_t sums = args.c_type == Type::kBf16 ? kBlockRows * b.columns : 0;
  const std::int64_t packed = (b.chunk * b.columns + kBlockRows * b.depth) / P::kStep;
  return (packed + sums + 4 * kLanes<typename P::Sum>)*static_cast<std::int64_t>(sizeof(typename P::Sum));
}

// Rows [0, rows) of packed a times packed b into c; the parts of tiles beyond rows and columns go nowhere.
template <typename P>
void multiply_block(std::int64_t rows, std::int64_t columns, std::int64_t steps, const typename P::Packed* a,
                    const typename P::Packed* b, typename P::Sum* c, std::int64_t ldc, bool accumulate) {
  using T = typename P::Sum;
  for (std::int64_t j = 0; j < columns; j += kTileColumns<T>)
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const auto *pa = a + i * steps, *pb = b + j * steps;
      if (i + kTileRows <= rows && j + kTileColumns<T> <= columns) {
        P::tile(steps, pa, pb, c + i * ldc + j, ldc, accumulate);
        continue;
      }
      T edge[kTileRows * kTileColumns<T>];
      P::tile(steps, pa, pb, edge, kTileColumns<T>, false);
      for (std::int64_t r = 0; r < least<std::int64_t>(kTileRows, rows - i); ++r)
        for (std::int64_t s = 0; s < least<std::int64_t>(kTileColumns<T>, columns - j); ++s) {
          T& to = c[(i + r) * ldc + j + s];
          to = accumulate ? to + edge[r * kTileColumns<T> + s] : edge[r * kTileColumns<T> + s];
        }
    }
}

void narrow_rows(std::int64_t rows, std::int64_t columns, const float* sums, std::int64_t ld, Bf16* c,
                 std::int64_t ldc, bool accumulate) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* from = sums + i * ld;
    Bf16* to = c + i * ldc;
    std::int64_t j = 0;
    for (; j + kLanes<float> <= columns; j += kLanes<float>)
      store(to + j, accumulate ? load(to + j) + load(from + j) : load(from + j));
    for (; j < columns; ++j) store_one(to + j, accumulate ? widen(to[j]) + from[j] : from[j]);
  }
}

template <typename P>
void gemm_tile_of(const GemmArgs& args, const GemmTile& t, void* scratch) {
  using T = typename P::Sum;
  using Packed = typename P::Packed;
  const Blocking block = blocking<P>(args, t);
  const bool narrow = args.c_type == Type::kBf16;
  const std::int64_t columns = t.n1 - t.n0;
  Packed* packed_b = static_cast<Packed*>(scratch);
  Packed* packed_a = packed_b + block.chunk / P::kStep * block.columns + kLanes<T>;
  T* sums = reinterpret_cast<T*>(packed_a + kBlockRows * (block.depth / P::kStep) + kLanes<T>);
  for (std::int64_t k0 = 0; k0 < args.k; k0 += block.chunk) {
    const std::int64_t chunk_end = least(k0 + block.chunk, args.k);
    for (std::int64_t k = k0; k < chunk_end; k += block.depth)
      P::template pack<kTileColumns<T>>(args.b, t.n0, t.n1, k, least(block.depth, chunk_end - k),
                                        packed_b + (k - k0) / P::kStep * block.columns);
    for (std::int64_t i = t.m0; i < t.m1; i += kBlockRows) {
      const std::int64_t rows = least(kBlockRows, t.m1 - i);
      T* c = narrow ? sums : static_cast<T*>(args.c) + i * args.ldc + t.n0;
      const std::int64_t ldc = narrow ? block.columns : args.ldc;
      for (std::int64_t k = k0; k < chunk_end; k += block.depth) {
        const std::int64_t depth = least(block.depth, chunk_end - k);
        P::template pack<kTileRows>(args.a, i, i + rows, k, depth, packed_a);
        multiply_block<P>(rows, columns, (depth + P::kStep - 1) / P::kStep, packed_a,
                          packed_b + (k - k0) / P::kStep * block.columns, c, ldc,
                          k > 0 || (args.accumulate && !narrow));
      }
      if constexpr (sizeof(T) == sizeof(float))
        if (narrow)
          narrow_rows(rows, columns, sums, ldc, static_cast<Bf16*>(args.c) + i * args.ldc + t.n0, args.ldc,
                      args.accumulate);
    }
  }
}

// kRows rows of a (in T) against one row of b.
template <int kRows, typename T, typename S>
void dot_rows(const T* a, std::int64_t lda, const S* b, std::int64_t k, T* sums) {
  Vector<T> sum[kRows][2]{};
  std::int64_t i = 0;
  for (; i + 2 * kLanes<T> <= k; i += 2 * kLanes<T>) {
    const Vector<T> b0 = load(b + i), b1 = load(b + i + kLanes<T>);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sum[r][0] += load(a + r * lda + i) * b0;
      sum[r][1] += load(a + r * lda + i + kLanes<T>) * b1;
    }
  }
  for (int r = 0; r < kRows; ++r) sums[r] = sum_lanes<T>(sum[r][0] + sum[r][1]);
  for (; i < k; ++i)
    for (int r = 0; r < kRows; ++r) sums[r] += a[r * lda + i] * widen(b[i]);
}

template <typename T, typename S>
void few_rows(const GemmArgs& args, std::int64_t begin, std::int64_t end) {
  const T* a = static_cast<const T*>(args.a.data);
  const std::int64_t lda = args.a.outer_stride;
  for (std::int64_t n = begin; n < end; ++n) {
    const S* b = static_cast<const S*>(args.b.data) + n * args.b.outer_stride;
    for (std::int64_t m = 0; m < args.m; m += 4) {
      T sums[4];
      const std::int64_t rows = least<std::int64_t>(4, args.m - m);
      if (rows == 4) {
        dot_rows<4>(a + m * lda, lda, b, args.k, sums);
      } else {
        for (std::int64_t r = 0; r < rows; ++r) dot_rows<1>(a + (m + r) * lda, lda, b, args.k, sums + r);
      }
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t at = (m + r) * args.ldc + n;
        if constexpr (sizeof(T) == sizeof(float)) {
          if (args.c_type == Type::kBf16) {
            Bf16* c = static_cast<Bf16*>(args.c) + at;
            store_one(c, args.accumulate ? widen(*c) + sums[r] : sums[r]);
            continue;
          }
        }
        T* c = static_cast<T*>(args.c) + at;
        *c = args.accumulate ? *c + sums[r] : sums[r];
      }
    }
  }
}

}  // namespace

namespace {

// Calls f with the way of summing that fits the factors.
template <typename F>
auto with_way(const GemmArgs& args, F f) {
#ifdef __AVX512BF16__
  if (args.a.type == Type::kBf16 && args.b.type == Type::kBf16) return f(Bf16Pairs{});
#endif
  return args.c_type == Type::kDouble ? f(Plain<double>{}) : f(Plain<float>{});
}

}  // namespace

std::int64_t gemm_scratch_bytes(const GemmArgs& args, const GemmTile& tile) {
  return with_way(args, [&](auto way) { return scratch_bytes<decltype(way)>(args, tile); });
}

void gemm_tile(const GemmArgs& args, const GemmTile& tile, void* scratch) {
  with_way(args, [&](auto way) { gemm_tile_of<decltype(way)>(args, tile, scratch); });
}

void gemm_few_rows(const GemmArgs& args, std::int64_t begin, std::int64_t end) {
  if (args.c_type == Type::kDouble)
    few_rows<double, double>(args, begin, end);
  else if (args.b.type == Type::kBf16)
    few_rows<float, Bf16>(args, begin, end);
  else
    few_rows<float, float>(args, begin, end);
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
