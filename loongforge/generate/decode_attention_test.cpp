#include "loongforge/generate/decode_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loongforge/base/random.h"
#include "loongforge/ops/cpu_level.h"

namespace loongforge {
namespace {

struct Case {
  std::int64_t old_length, tokens, group, dim;
};

std::vector<double> normal_values(std::size_t count, std::uint64_t seed) {
  const CounterRandom random(seed, "test");
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = random.normal(0, i);
  return out;
}

std::vector<double> reference(const Case& c, const std::vector<double>& q, const std::vector<double>& k,
                              const std::vector<double>& v, double scale) {
  std::vector<double> out(q.size());
  for (std::int64_t row = 0; row < c.tokens * c.group; ++row) {
    const std::int64_t seen = c.old_length + row / c.group + 1;
    std::vector<double> p(static_cast<std::size_t>(seen));
    double sum = 0;
    for (std::int64_t j = 0; j < seen; ++j) {
      double score = 0;
      for (std::int64_t d = 0; d < c.dim; ++d) score += q[row * c.dim + d] * k[j * c.dim + d];
      sum += p[static_cast<std::size_t>(j)] = std::exp(score * scale);
    }
    for (std::int64_t j = 0; j < seen; ++j) {
      for (std::int64_t d = 0; d < c.dim; ++d)
        out[row * c.dim + d] += p[static_cast<std::size_t>(j)] / sum * v[j * c.dim + d];
    }
  }
  return out;
}

template <typename T>
double largest_error(const Case& c) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(c.dim));
  const auto total = static_cast<std::size_t>(c.old_length + c.tokens);
  const auto q = normal_values(static_cast<std::size_t>(c.tokens * c.group * c.dim), 1);
  const auto k = normal_values(total * static_cast<std::size_t>(c.dim), 2);
  const auto v = normal_values(total * static_cast<std::size_t>(c.dim), 3);
  const std::vector<T> tq(q.begin(), q.end()), tk(k.begin(), k.end()), tv(v.begin(), v.end());
  std::vector<T> out(q.size()), scratch(4 * total);
  DecodeAttention<T> job{};
  job.q = tq.data();
  job.out = out.data();
  job.q_stride = job.out_stride = c.group * c.dim;
  job.keys = tk.data();
  job.values = tv.data();
  job.old_length = c.old_length;
  job.tokens = c.tokens;
  job.group = c.group;
  job.dim = c.dim;
  job.scale = static_cast<T>(scale);
  decode_attention(job, scratch.data());
  const auto expected = reference(c, q, k, v, scale);
  double worst = 0;
  for (std::size_t i = 0; i < out.size(); ++i) worst = std::max(worst, std::abs(out[i] - expected[i]));
  return worst;
}

TEST(DecodeAttention, AgreesWithTheFormulaAtEveryCpuLevel) {
  for (const ops::CpuLevel level : ops::available_cpu_levels()) {
    const ops::CpuLevelGuard guard(level);
    for (const Case& c : {Case{0, 1, 1, 8}, Case{70, 1, 3, 64}, Case{5, 9, 3, 20}, Case{33, 50, 2, 16},
                          Case{0, 7, 5, 1}, Case{1000, 2, 8, 128}}) {
      EXPECT_LT(largest_error<float>(c), 2e-6) << c.old_length << " " << c.tokens << " " << c.dim;
      EXPECT_LT(largest_error<double>(c), 1e-14) << c.old_length << " " << c.tokens << " " << c.dim;
    }
  }
}

TEST(DecodeAttention, LargeScoresDoNotOverflow) {
  const std::vector<float> q(4, 100.0f), k = {100, 100, 100, 100, -100, -100, -100, -100},
                                         v = {1, 2, 3, 4, 9, 9, 9, 9};
  std::vector<float> out(4), scratch(8);
  DecodeAttention<float> job{};
  job.q = q.data();
  job.out = out.data();
  job.q_stride = job.out_stride = 4;
  job.keys = k.data();
  job.values = v.data();
  job.old_length = job.tokens = job.group = 1;
  job.dim = 4;
  job.scale = 0.5f;
  decode_attention(job, scratch.data());
  EXPECT_EQ(out, (std::vector<float>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace loongforge
