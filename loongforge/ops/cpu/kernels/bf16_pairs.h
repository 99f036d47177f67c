// Products of bfloat16 numbers by the instruction that multiplies and adds pairs of them (AVX512_BF16).
#pragma once

#ifdef __AVX512BF16__
#include <immintrin.h>

#include "loongforge/ops/cpu/kernels/pack.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {

// Two numbers that are neighbours along K; the first in the lower half.
struct Bf16Pair {
  std::uint32_t bits;
};
constexpr int kPairs = kLanes<float>;  // in one vector

LOONGFORGE_INLINE Bf16Pair make_pair(Bf16 low, Bf16 high) {
  return {low.bits | static_cast<std::uint32_t>(high.bits) << 16};
}

// out[i] = (low[i], high[i]).
LOONGFORGE_INLINE void store_interleaved(const Bf16* low, const Bf16* high, Bf16Pair* out) {
  const Words below = __builtin_convertvector(*reinterpret_cast<const Halves*>(low), Words);
  const Words above = __builtin_convertvector(*reinterpret_cast<const Halves*>(high), Words);
  *reinterpret_cast<Words*>(out) = below | (above << 16);
}

// Panels of R outer indices, as pack_along_inner (pack.h), of pairs: out[(k / 2) * R + r]. The partner of a
// last single number is zero.
template <int R>
void pack_pairs_along_inner(const Bf16* x, std::int64_t stride, std::int64_t outer, std::int64_t depth,
                            Bf16Pair* out) {
  constexpr int kParts = (R + kPairs - 1) / kPairs;
  const std::int64_t steps = (depth + 1) / 2;
  for (std::int64_t o = 0; o < outer; o += R, out += R * steps) {
    std::int64_t s = 0;
    for (; 2 * (s + kPairs) <= depth; s += kPairs) {
      Vector<float> block[kParts][kPairs];
#pragma GCC unroll 4
      for (int part = 0; part < kParts; ++part) {
#pragma GCC unroll 16
        for (int i = 0; i < kPairs; ++i) {
          const int r = part * kPairs + i;
          block[part][i] =
              r < R && o + r < outer ? _mm512_loadu_ps(x + (o + r) * stride + 2 * s) : Vector<float>{};
        }
        transpose<float>(block[part]);
      }
      for (int i = 0; i < kPairs; ++i)
        for (int part = 0; part < kParts; ++part)
          _mm512_storeu_ps(out + (s + i) * R + part * kPairs, block[part][i]);
    }
    for (; s < steps; ++s)
      for (int r = 0; r < R; ++r) {
        const Bf16* from = x + (o + r) * stride + 2 * s;
        const bool inside = o + r < outer;
        out[s * R + r] = inside ? make_pair(from[0], 2 * s + 1 < depth ? from[1] : Bf16{0}) : Bf16Pair{0};
      }
  }
}

// The same from numbers that are contiguous along the outer index.
template <int R>
void pack_pairs_along_outer(const Bf16* x, std::int64_t stride, std::int64_t outer, std::int64_t depth,
                            Bf16Pair* out) {
  constexpr int kParts = (R + kPairs - 1) / kPairs;
  constexpr std::int64_t kGroup = 16 * R, kAhead = 8;
  const std::int64_t steps = (depth + 1) / 2;
  for (std::int64_t first = 0; first < outer; first += kGroup) {
    const std::int64_t last = least(first + kGroup, outer);
    for (std::int64_t s = 0; s < steps; ++s) {
      const Bf16* low = x + 2 * s * stride;
      const bool whole = 2 * s + 1 < depth;
      const Bf16* high = whole ? low + stride : low;
      for (std::int64_t at = first; at < last; at += 64 / static_cast<std::int64_t>(sizeof(Bf16))) {
        __builtin_prefetch(low + kAhead * stride + at);
        __builtin_prefetch(high + kAhead * stride + at);
      }
      const Words keep_high = Words{} + (whole ? 0xffff0000u : 0u);
      std::int64_t o = first;
      Bf16Pair* to = out + first * steps + s * R;
      const std::int64_t vectors_end = R % kPairs != 0 && s + 1 == steps ? 0 : outer;  // see pack_along_outer
      for (; o < last && o + kParts * kPairs <= vectors_end; o += R, to += R * steps)
#pragma GCC unroll 4
        for (int part = 0; part < kParts; ++part) {
          const Words below =
              __builtin_convertvector(*reinterpret_cast<const Halves*>(low + o + part * kPairs), Words);
          const Words above =
              __builtin_convertvector(*reinterpret_cast<const Halves*>(high + o + part * kPairs), Words);
          *reinterpret_cast<Words*>(to + part * kPairs) = below | ((above << 16) & keep_high);
        }
      for (; o < last; o += R, to += R * steps)
        for (int r = 0; r < R; ++r)
          to[r] = o + r < outer ? make_pair(low[o + r], whole ? high[o + r] : Bf16{0}) : Bf16Pair{0};
    }
  }
}

// Outer indices [o0, o1), inner indices [k0, k0 + depth) of a bfloat16 factor.
template <int R>
void pack_pairs(const Factor& f, std::int64_t o0, std::int64_t o1, std::int64_t k0, std::int64_t depth,
                Bf16Pair* out) {
  const Bf16* x = static_cast<const Bf16*>(f.data) + o0 * f.outer_stride + k0 * f.inner_stride;
  if (f.inner_stride == 1)
    pack_pairs_along_inner<R>(x, f.outer_stride, o1 - o0, depth, out);
  else
    pack_pairs_along_outer<R>(x, f.inner_stride, o1 - o0, depth, out);
}

// tile_product (tile_product.h) over `steps` pairs: a's element (i, s) at a[i * row + s * step].
LOONGFORGE_INLINE void pair_tile_product(std::int64_t steps, const Bf16Pair* a, std::int64_t row,
                                         std::int64_t step, const Bf16Pair* b, float* c, std::int64_t ldc,
                                         bool accumulate) {
  __m512 sum[kTileRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) sum[i][0] = sum[i][1] = _mm512_setzero_ps();
  for (std::int64_t s = 0; s < steps; ++s) {
    const auto b0 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b));
    const auto b1 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + kPairs));
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) {
      const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(a[i * row].bits)));
      sum[i][0] = _mm512_dpbf16_ps(sum[i][0], x, b0);
      sum[i][1] = _mm512_dpbf16_ps(sum[i][1], x, b1);
    }
    a += step;
    b += 2 * kPairs;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) {
    float* p = c + i * ldc;
    if (accumulate) {
      sum[i][0] = _mm512_add_ps(sum[i][0], _mm512_loadu_ps(p));
      sum[i][1] = _mm512_add_ps(sum[i][1], _mm512_loadu_ps(p + kPairs));
    }
    _mm512_storeu_ps(p, sum[i][0]);
    _mm512_storeu_ps(p + kPairs, sum[i][1]);
  }
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
#endif
