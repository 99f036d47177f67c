#include "loongforge/generate/decode_attention.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "loongforge/ops/cpu_level.h"

// Every helper is inlined into the entry points below, which are compiled once for each instruction set.
#define LOONGFORGE_INLINE [[gnu::always_inline]] inline

namespace loongforge {
namespace {

constexpr std::int64_t kRows = 4;    // query rows that share one pass over the keys
constexpr std::int64_t kChunk = 16;  // columns of the values summed in registers

// exp for x <= 0 in a form that compilers vectorise: 2^n times a polynomial on [-ln2/2, ln2/2] (Cephes expf);
// error below 2 units in the last place.
LOONGFORGE_INLINE float exp_of(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to whole numbers
  x = std::max(x, -87.0f);
  const float shifted = x * 1.44269504088896341f + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // The low bits of `shifted` are n in two's complement.
  const std::uint32_t power = (std::bit_cast<std::uint32_t>(shifted) + 127u) << 23;
  return p * std::bit_cast<float>(power);
}
LOONGFORGE_INLINE double exp_of(double x) {
  return std::exp(x);
}

template <typename T>
LOONGFORGE_INLINE void scores_of(const T* const* q, const T* keys, std::int64_t length, std::int64_t dim,
                                 T scale, T* const* scores) {
  const T *q0 = q[0], *q1 = q[1], *q2 = q[2], *q3 = q[3];
  for (std::int64_t j = 0; j < length; ++j) {
    const T* k = keys + j * dim;
    T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (std::int64_t d = 0; d < dim; ++d) {
      s0 += q0[d] * k[d];
      s1 += q1[d] * k[d];
      s2 += q2[d] * k[d];
      s3 += q3[d] * k[d];
    }
    scores[0][j] = s0 * scale;
    scores[1][j] = s1 * scale;
    scores[2][j] = s2 * scale;
    scores[3][j] = s3 * scale;
  }
}

// Turns the first `seen` scores into probabilities and the rest, up to `length`, into zero.
template <typename T>
LOONGFORGE_INLINE void softmax_row(T* row, std::int64_t seen, std::int64_t length) {
  T top = -std::numeric_limits<T>::infinity();
#pragma omp simd reduction(max : top)
  for (std::int64_t j = 0; j < seen; ++j) top = std::max(top, row[j]);
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < seen; ++j) {
    row[j] = exp_of(row[j] - top);
    sum += row[j];
  }
  const T factor = T(1) / sum;
#pragma omp simd
  for (std::int64_t j = 0; j < seen; ++j) row[j] *= factor;
  std::fill(row + seen, row + length, T(0));
}

template <typename T, std::int64_t Columns>
LOONGFORGE_INLINE void weighted_columns(T* const* rows, const T* values, std::int64_t length,
                                        std::int64_t dim, std::int64_t at, std::int64_t count,
                                        T* const* out) {
  T sums[kRows][Columns] = {};
  for (std::int64_t j = 0; j < length; ++j) {
    const T* v = values + j * dim + at;
    for (std::int64_t r = 0; r < kRows; ++r) {
      const T p = rows[r][j];
#pragma omp simd
      for (std::int64_t c = 0; c < Columns; ++c) sums[r][c] += p * v[c];
    }
  }
  for (std::int64_t r = 0; r < count; ++r) std::copy(sums[r], sums[r] + Columns, out[r] + at);
}

template <typename T>
LOONGFORGE_INLINE void attend(const DecodeAttention<T>& job, T* scratch) {
  const std::int64_t total = job.old_length + job.tokens;
  const std::int64_t rows = job.tokens * job.group;
  T* scores[kRows];
  for (std::int64_t r = 0; r < kRows; ++r) scores[r] = scratch + r * total;

  for (std::int64_t first = 0; first < rows; first += kRows) {
    const std::int64_t count = std::min(kRows, rows - first);
    const T* q[kRows];
    T* out[kRows];
    std::int64_t seen[kRows];
    for (std::int64_t r = 0; r < kRows; ++r) {
      // A block that is not full repeats its last row: the result is computed and dropped.
      const std::int64_t row = first + std::min(r, count - 1);
      const std::int64_t token = row / job.group, head = row % job.group;
      q[r] = job.q + token * job.q_stride + head * job.dim;
      out[r] = job.out + token * job.out_stride + head * job.dim;
      seen[r] = job.old_length + token + 1;
    }
    const std::int64_t length = seen[kRows - 1];
    scores_of(q, job.keys, length, job.dim, job.scale, scores);
    for (std::int64_t r = 0; r < kRows; ++r) softmax_row(scores[r], seen[r], length);
    std::int64_t at = 0;
    for (; at + kChunk <= job.dim; at += kChunk) {
      weighted_columns<T, kChunk>(scores, job.values, length, job.dim, at, count, out);
    }
    for (; at < job.dim; ++at) weighted_columns<T, 1>(scores, job.values, length, job.dim, at, count, out);
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void attend_avx2(const DecodeAttention<float>& job, float* scratch) {
  attend(job, scratch);
}
[[gnu::target("avx2,fma")]] void attend_avx2(const DecodeAttention<double>& job, double* scratch) {
  attend(job, scratch);
}
#endif

template <typename T>
void dispatch(const DecodeAttention<T>& job, T* scratch) {
#if defined(__x86_64__)
  if (ops::cpu_level() >= ops::CpuLevel::kAvx2) return attend_avx2(job, scratch);
#endif
  attend(job, scratch);
}

}  // namespace

void decode_attention(const DecodeAttention<float>& job, float* scratch) {
  dispatch(job, scratch);
}
void decode_attention(const DecodeAttention<double>& job, double* scratch) {
  dispatch(job, scratch);
}

}  // namespace loongforge
