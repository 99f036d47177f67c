// Vectors of the level that this file is compiled for, with conversions from and to bfloat16.
#pragma once

#include <cstddef>
#include <cstdint>
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

#include "loongforge/ops/cpu/kernels.h"

#ifndef LOONGFORGE_LEVEL_NAMESPACE
#define LOONGFORGE_LEVEL_NAMESPACE baseline
#endif

#define LOONGFORGE_INLINE static inline __attribute__((always_inline))
#define LOONGFORGE_INLINE_MEMBER __attribute__((always_inline)) static inline

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kTileRows = 12;  // of the product's inner tile: 12 x 2 of 32 registers hold sums
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
constexpr int kTileRows = 6;  // 6 x 2 of 16
#else
constexpr int kVectorBytes = 16;
constexpr int kTileRows = 6;
#endif

// Vectors are read and written at any address.
template <typename T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float type __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));
  typedef double doubles __attribute__((vector_size(2 * kVectorBytes), aligned(8), may_alias));
  typedef std::int32_t integer __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));
};
template <>
struct VectorOf<double> {
  typedef double type __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));
  typedef type doubles;
  typedef std::int64_t integer __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));
};
template <typename T>
using Vector = typename VectorOf<T>::type;
// As many doubles as a Vector<T> has lanes.
template <typename T>
using DoublesOf = typename VectorOf<T>::doubles;
template <typename T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
// Columns of the product's inner tile: two vectors.
template <typename T>
constexpr int kTileColumns = 2 * kLanes<T>;

template <typename T>
LOONGFORGE_INLINE Vector<T> broadcast(T value) {
  return value - Vector<T>{};
}

LOONGFORGE_INLINE float widen(Bf16 x) {
  union {
    std::uint32_t bits;
    float value;
  } u{static_cast<std::uint32_t>(x.bits) << 16};
  return u.value;
}
LOONGFORGE_INLINE float widen(float x) {
  return x;
}
LOONGFORGE_INLINE double widen(double x) {
  return x;
}

// Round to nearest even; a NaN stays a NaN.
LOONGFORGE_INLINE std::uint32_t bf16_bits(std::uint32_t bits) {
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t nan = (bits >> 16) | 0x40u;
  return (bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded;
}
LOONGFORGE_INLINE void store_one(float* p, float x) {
  *p = x;
}
LOONGFORGE_INLINE void store_one(double* p, double x) {
  *p = x;
}
LOONGFORGE_INLINE void store_one(Bf16* p, float x) {
  union {
    float value;
    std::uint32_t bits;
  } u{x};
  p->bits = static_cast<std::uint16_t>(bf16_bits(u.bits));
}

LOONGFORGE_INLINE Vector<float> load(const float* p) {
  return *reinterpret_cast<const Vector<float>*>(p);
}
LOONGFORGE_INLINE Vector<double> load(const double* p) {
  return *reinterpret_cast<const Vector<double>*>(p);
}
typedef std::uint16_t Halves __attribute__((vector_size(kVectorBytes / 2), aligned(2), may_alias));
typedef std::uint32_t Words __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));
LOONGFORGE_INLINE Vector<float> load(const Bf16* p) {
  const Words words = __builtin_convertvector(*reinterpret_cast<const Halves*>(p), Words) << 16;
  return reinterpret_cast<Vector<float>>(words);
}
LOONGFORGE_INLINE void store(float* p, Vector<float> x) {
  *reinterpret_cast<Vector<float>*>(p) = x;
}
LOONGFORGE_INLINE void store(double* p, Vector<double> x) {
  *reinterpret_cast<Vector<double>*>(p) = x;
}
LOONGFORGE_INLINE void store(Bf16* p, Vector<float> x) {
#ifdef __AVX512BF16__
  const __m256bh narrow = _mm512_cvtneps_pbh(x);
  __builtin_memcpy(p, &narrow, sizeof narrow);
#else
  const Words bits = reinterpret_cast<Words>(x);
  const Words rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const Words nan = (bits >> 16) | 0x40u;
  const Words is_nan = reinterpret_cast<Words>((bits & 0x7fffffffu) > 0x7f800000u);
  const Words result = (is_nan & nan) | (~is_nan & rounded);
  *reinterpret_cast<Halves*>(p) = __builtin_convertvector(result, Halves);
#endif
}

template <typename T>
LOONGFORGE_INLINE T sum_lanes(Vector<T> x) {
  T sum = 0;
  for (int i = 0; i < kLanes<T>; ++i) sum += x[i];
  return sum;
}
template <typename T>
LOONGFORGE_INLINE T max_lanes(Vector<T> x) {
  T best = x[0];
  for (int i = 1; i < kLanes<T>; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

// e^x, relative error below 2 units in the last place; 0 where x < -87.3, infinity above 88.7, NaN stays.
LOONGFORGE_INLINE Vector<float> exponential(Vector<float> x) {
  typedef VectorOf<float>::integer Integer;
  const Vector<float> low = broadcast(-87.33654f), high = broadcast(88.72283f);
  Vector<float> c = x < low ? low : x;
  c = c > high ? high : c;
  const Vector<float> magic = broadcast(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const Vector<float> shifted = c * 1.44269504f + magic;
  const Vector<float> n = shifted - magic;
  Vector<float> r = c - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  Vector<float> p = broadcast(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // Two factors, because 2^128 is no float while the result may be one.
  const Integer e = reinterpret_cast<Integer>(shifted) - reinterpret_cast<Integer>(magic);
  const Integer half = e >> 1;
  const Vector<float> scale1 = reinterpret_cast<Vector<float>>((half + 127) << 23);
  const Vector<float> scale2 = reinterpret_cast<Vector<float>>((e - half + 127) << 23);
  Vector<float> y = p * scale1 * scale2;
  y = x < low ? Vector<float>{} : y;
  y = x > high ? broadcast(__builtin_inff()) : y;
  return x != x ? x : y;
}
LOONGFORGE_INLINE Vector<double> exponential(Vector<double> x) {
  Vector<double> y{};
  for (int i = 0; i < kLanes<double>; ++i) y[i] = __builtin_exp(x[i]);
  return y;
}
// One number through the vector code, so that a value does not depend on where in a row it stands.
template <typename T>
LOONGFORGE_INLINE T exponential_one(T x) {
  return exponential(broadcast(x))[0];
}

template <typename T>
LOONGFORGE_INLINE T least(T a, T b) {
  return b < a ? b : a;
}
LOONGFORGE_INLINE std::int64_t round_up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

// Type in which sums over numbers of storage T run.
template <typename T>
struct WideOf {
  using type = float;
};
template <>
struct WideOf<double> {
  using type = double;
};
template <typename T>
using Wide = typename WideOf<T>::type;

// Calls f with a null pointer of the storage type.
template <typename F>
LOONGFORGE_INLINE void dispatch(Type type, F f) {
  switch (type) {
    case Type::kFloat:
      return f(static_cast<float*>(nullptr));
    case Type::kBf16:
      return f(static_cast<Bf16*>(nullptr));
    case Type::kDouble:
      return f(static_cast<double*>(nullptr));
  }
}
template <typename P>
struct PointedBy;
template <typename T>
struct PointedBy<T*> {
  using type = T;
};
#define LOONGFORGE_STORAGE(tag) typename PointedBy<decltype(tag)>::type

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
