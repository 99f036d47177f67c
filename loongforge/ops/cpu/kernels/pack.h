// Copies a factor of a product into panels that the inner loop reads in order, widened to float on the way.
#pragma once

#include <utility>

#include "loongforge/ops/cpu/kernels/simd.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {

// One step of a transposition by blocks: exchanges the off-diagonal h x h blocks of rows a and b.
template <typename T, int h, int... c>
LOONGFORGE_INLINE void exchange(Vector<T>& a, Vector<T>& b, std::integer_sequence<int, c...>) {
  const Vector<T> x = __builtin_shufflevector(a, b, ((c & h) ? kLanes<T> + c - h : c)...);
  b = __builtin_shufflevector(a, b, ((c & h) ? kLanes<T> + c : c + h)...);
  a = x;
}

template <typename T, int h = 1>
LOONGFORGE_INLINE void transpose(Vector<T> (&rows)[kLanes<T>]) {
  if constexpr (h < kLanes<T>) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes<T>; ++i)
      if (!(i & h)) exchange<T, h>(rows[i], rows[i + h], std::make_integer_sequence<int, kLanes<T>>{});
    transpose<T, h * 2>(rows);
  }
}

// Panels of R outer indices: out[(k * R) + r]. Indices past `outer` are zero. Writes up to one vector beyond
// the end of `out`.
template <int R, typename T, typename S>
void pack_along_inner(const S* x, std::int64_t stride, std::int64_t outer, std::int64_t depth, T* out) {
  constexpr int kParts = (R + kLanes<T> - 1) / kLanes<T>;
  for (std::int64_t o = 0; o < outer; o += R, out += R * depth) {
    std::int64_t k = 0;
    for (; k + kLanes<T> <= depth; k += kLanes<T>) {
      Vector<T> block[kParts][kLanes<T>];
#pragma GCC unroll 4
      for (int part = 0; part < kParts; ++part) {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes<T>; ++i) {
          const int r = part * kLanes<T> + i;
          block[part][i] = r < R && o + r < outer ? load(x + (o + r) * stride + k) : Vector<T>{};
        }
        transpose<T>(block[part]);
      }
      // In rising order, because with R no multiple of the vector each store runs into the next row.
      for (int i = 0; i < kLanes<T>; ++i)
        for (int part = 0; part < kParts; ++part) store(out + (k + i) * R + part * kLanes<T>, block[part][i]);
    }
    for (; k < depth; ++k)
      for (int r = 0; r < R; ++r) out[k * R + r] = o + r < outer ? widen(x[(o + r) * stride + k]) : T(0);
  }
}

// The same from numbers that are contiguous along the outer index. A group of panels is filled row by row, so
// that each row of x is read in one piece.
template <int R, typename T, typename S>
void pack_along_outer(const S* x, std::int64_t stride, std::int64_t outer, std::int64_t depth, T* out) {
  constexpr int kParts = (R + kLanes<T> - 1) / kLanes<T>;
  constexpr std::int64_t kGroup = 16 * R;
  constexpr std::int64_t kAhead = 8;
  for (std::int64_t first = 0; first < outer; first += kGroup) {
    const std::int64_t last = least(first + kGroup, outer);
    for (std::int64_t k = 0; k < depth; ++k) {
      const S* from = x + k * stride;
      // Rows lie far apart, which the CPU does not foresee. An address beyond the end does no harm.
      for (std::int64_t at = first; at < last; at += 64 / static_cast<std::int64_t>(sizeof(S)))
        __builtin_prefetch(from + kAhead * stride + at);
      std::int64_t o = first;
      T* to = out + first * depth + k * R;
      // With R no multiple of the vector each store runs into the next row, which is written later; the last
      // row has none.
      const std::int64_t vectors_end = R % kLanes<T> != 0 && k + 1 == depth ? 0 : outer;
      for (; o < last && o + kParts * kLanes<T> <= vectors_end; o += R, to += R * depth)
#pragma GCC unroll 4
        for (int part = 0; part < kParts; ++part)
          store(to + part * kLanes<T>, load(from + o + part * kLanes<T>));
      for (; o < last; o += R, to += R * depth)
        for (int r = 0; r < R; ++r) to[r] = o + r < outer ? widen(from[o + r]) : T(0);
    }
  }
}

// Outer indices [o0, o1), inner indices [k0, k0 + depth) of the factor.
template <int R, typename T, typename S>
void pack_typed(const Factor& f, std::int64_t o0, std::int64_t o1, std::int64_t k0, std::int64_t depth,
                T* out) {
  const S* x = static_cast<const S*>(f.data) + o0 * f.outer_stride + k0 * f.inner_stride;
  if (f.inner_stride == 1)
    pack_along_inner<R, T, S>(x, f.outer_stride, o1 - o0, depth, out);
  else
    pack_along_outer<R, T, S>(x, f.inner_stride, o1 - o0, depth, out);
}

template <int R>
void pack(const Factor& f, std::int64_t o0, std::int64_t o1, std::int64_t k0, std::int64_t depth,
          float* out) {
  if (f.type == Type::kBf16)
    pack_typed<R, float, Bf16>(f, o0, o1, k0, depth, out);
  else
    pack_typed<R, float, float>(f, o0, o1, k0, depth, out);
}
template <int R>
void pack(const Factor& f, std::int64_t o0, std::int64_t o1, std::int64_t k0, std::int64_t depth,
          double* out) {
  pack_typed<R, double, double>(f, o0, o1, k0, depth, out);
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
