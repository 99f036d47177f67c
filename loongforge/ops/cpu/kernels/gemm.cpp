// Matrix product in tiles: b is packed once a tile, a in blocks that stay in the second-level cache
// (Goto and van de Geijn 2008).
#include "loongforge/ops/cpu/kernels/functions.h"
#include "loongforge/ops/cpu/kernels/pack.h"
#include "loongforge/ops/cpu/kernels/tile_product.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {
namespace {

constexpr std::int64_t kBlockRows = 96;                 // rows of a packed at once; a multiple of kTileRows
constexpr std::int64_t kMostDepth = 320;                // of K, packed at once
constexpr std::int64_t kPackedBytes = 4 * 1024 * 1024;  // of b, where the sum may be cut

struct Blocking {
  std::int64_t depth;    // K of one packed panel
  std::int64_t chunk;    // K for which b is packed at once: a multiple of depth
  std::int64_t columns;  // of the tile, padded
};

template <typename T>
Blocking blocking(const GemmArgs& args, const GemmTile& tile) {
  const std::int64_t passes = (args.k + kMostDepth - 1) / kMostDepth;
  Blocking b;
  b.depth = (args.k + passes - 1) / passes;
  b.columns = round_up(tile.n1 - tile.n0, kTileColumns<T>);
  b.chunk = passes * b.depth;
  if (args.c_type != Type::kBf16) {
    const std::int64_t fits = kPackedBytes / (b.columns * static_cast<std::int64_t>(sizeof(T)) * b.depth);
    b.chunk = least(b.chunk, b.depth * (fits > 1 ? fits : 1));
  }
  return b;
}

template <typename T>
std::int64_t scratch_numbers(const GemmArgs& args, const GemmTile& tile) {
  const Blocking b = blocking<T>(args, tile);
  const std::int64_t sums = args.c_type == Type::kBf16 ? kBlockRows * b.columns : 0;
  return b.chunk * b.columns + kBlockRows * b.depth + sums + 4 * kLanes<T>;
}

// Rows [0, rows) of packed a times packed b into c; the parts of tiles beyond rows and columns go nowhere.
template <typename T>
void multiply_block(std::int64_t rows, std::int64_t columns, std::int64_t depth, const T* a, const T* b, T* c,
                    std::int64_t ldc, bool accumulate) {
  for (std::int64_t j = 0; j < columns; j += kTileColumns<T>)
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const T *pa = a + i * depth, *pb = b + j * depth;
      if (i + kTileRows <= rows && j + kTileColumns<T> <= columns) {
        tile_product<T>(depth, pa, 1, kTileRows, pb, kTileColumns<T>, c + i * ldc + j, ldc, accumulate);
        continue;
      }
      T edge[kTileRows * kTileColumns<T>];
      tile_product<T>(depth, pa, 1, kTileRows, pb, kTileColumns<T>, edge, kTileColumns<T>, false);
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

template <typename T>
void gemm_tile_of(const GemmArgs& args, const GemmTile& t, T* scratch) {
  const Blocking block = blocking<T>(args, t);
  const bool narrow = args.c_type == Type::kBf16;
  const std::int64_t columns = t.n1 - t.n0;
  T* packed_b = scratch;
  T* packed_a = packed_b + block.chunk * block.columns + kLanes<T>;
  T* sums = packed_a + kBlockRows * block.depth + kLanes<T>;
  for (std::int64_t k0 = 0; k0 < args.k; k0 += block.chunk) {
    const std::int64_t chunk_end = least(k0 + block.chunk, args.k);
    for (std::int64_t k = k0; k < chunk_end; k += block.depth)
      pack<kTileColumns<T>>(args.b, t.n0, t.n1, k, least(block.depth, chunk_end - k),
                            packed_b + (k - k0) * block.columns);
    for (std::int64_t i = t.m0; i < t.m1; i += kBlockRows) {
      const std::int64_t rows = least(kBlockRows, t.m1 - i);
      T* c = narrow ? sums : static_cast<T*>(args.c) + i * args.ldc + t.n0;
      const std::int64_t ldc = narrow ? block.columns : args.ldc;
      for (std::int64_t k = k0; k < chunk_end; k += block.depth) {
        const std::int64_t depth = least(block.depth, chunk_end - k);
        pack<kTileRows>(args.a, i, i + rows, k, depth, packed_a);
        multiply_block(rows, columns, depth, packed_a, packed_b + (k - k0) * block.columns, c, ldc,
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

std::int64_t gemm_scratch_bytes(const GemmArgs& args, const GemmTile& tile) {
  if (args.c_type == Type::kDouble) return scratch_numbers<double>(args, tile) * 8;
  return scratch_numbers<float>(args, tile) * 4;
}

void gemm_tile(const GemmArgs& args, const GemmTile& tile, void* scratch) {
  if (args.c_type == Type::kDouble)
    gemm_tile_of(args, tile, static_cast<double*>(scratch));
  else
    gemm_tile_of(args, tile, static_cast<float*>(scratch));
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
