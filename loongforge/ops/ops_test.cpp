// What single operators promise beyond the table: callbacks, errors, levels, rounding.
#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <thread>

#include "loongforge/base/error.h"
#include "loongforge/ops/adamw.h"
#include "loongforge/ops/attention.h"
#include "loongforge/ops/cpu/bf16_units.h"
#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/cpu_level.h"
#include "loongforge/ops/embedding.h"
#include "loongforge/ops/layer_norm.h"
#include "loongforge/ops/linear.h"
#include "loongforge/ops/linear_cross_entropy.h"
#include "loongforge/ops/machine_peak.h"
#include "loongforge/ops/matmul.h"
#include "loongforge/ops/op_cases.h"
#include "loongforge/ops/rms_norm.h"
#include "loongforge/ops/rope.h"
#include "loongforge/ops/squared_norm.h"
#include "loongforge/ops/swiglu.h"

namespace loongforge::ops {
namespace {

at::Tensor numbers(std::vector<std::int64_t> shape, at::ScalarType dtype) {
  std::int64_t n = 1;
  for (std::int64_t s : shape) n *= s;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(std::sin(static_cast<double>(7 * i + n)));
  return at::tensor(values, at::TensorOptions().dtype(at::kDouble)).view(shape).to(dtype);
}

at::Tensor leaf(std::vector<std::int64_t> shape, at::ScalarType dtype = at::kFloat) {
  return numbers(std::move(shape), dtype).set_requires_grad(true);
}

at::Tensor ids(std::vector<std::int64_t> values) {
  return at::tensor(values, at::TensorOptions().dtype(at::kLong));
}

// Keeps one buffer, as an owner of a weight does.
struct Buffer {
  explicit Buffer(const at::Tensor& weight)
      : value(at::full(weight.sizes(), 2.0, at::TensorOptions().dtype(at::kFloat))) {}
  WeightGradient adding(bool overwrite) {
    return [this, overwrite](const GradientFill& fill) {
      ++calls;
      fill(value, overwrite);
    };
  }
  at::Tensor value;
  int calls = 0;
};

void expect_close(const at::Tensor& x, const at::Tensor& y, double tolerance) {
  EXPECT_LE(x.to(at::kDouble).sub(y.to(at::kDouble)).abs().max().item().toDouble(), tolerance);
}

// Calls `op` with an own buffer, then through autograd, in bf16: the buffer receives 2 + gradient, or the
// gradient.
void expect_delivered(const at::Tensor& weight,
                      const std::function<at::Tensor(const at::Tensor&, const WeightGradient&)>& op) {
  const at::Tensor expected = torch::autograd::grad({op(weight, {}).sum()}, {weight})[0].to(at::kFloat);
  for (bool overwrite : {false, true}) {
    Buffer buffer(weight);
    const at::Tensor w = weight.detach().clone().set_requires_grad(true);
    op(w, buffer.adding(overwrite)).sum().backward();
    EXPECT_EQ(buffer.calls, 1);
    EXPECT_FALSE(w.grad().defined());
    expect_close(buffer.value, overwrite ? expected : expected.add(2),
                 2e-2 * expected.abs().max().item().toDouble());
  }
}

TEST(WeightGradient, OfLinearGoesIntoTheOwnersBuffer) {
  const at::Tensor x = numbers({20, 9}, at::kBFloat16);
  expect_delivered(leaf({7, 9}, at::kBFloat16),
                   [&](const at::Tensor& w, const WeightGradient& g) { return ops::linear(x, w, g); });
}

TEST(WeightGradient, OfRmsNormGoesIntoTheOwnersBuffer) {
  const at::Tensor x = numbers({200, 9}, at::kBFloat16);
  expect_delivered(leaf({9}, at::kBFloat16),
                   [&](const at::Tensor& w, const WeightGradient& g) { return rms_norm(x, w, 1e-5, g); });
}

TEST(WeightGradient, OfLayerNormGoesIntoTheOwnersBuffers) {
  const at::Tensor x = numbers({200, 9}, at::kBFloat16), other = numbers({9}, at::kBFloat16);
  expect_delivered(leaf({9}, at::kBFloat16), [&](const at::Tensor& w, const WeightGradient& g) {
    return layer_norm(x, w, other, 1e-5, g);
  });
  expect_delivered(leaf({9}, at::kBFloat16), [&](const at::Tensor& b, const WeightGradient& g) {
    return layer_norm(x, other, b, 1e-5, {}, g);
  });
}

TEST(WeightGradient, OfEmbeddingGoesIntoTheOwnersBuffer) {
  expect_delivered(leaf({6, 9}, at::kBFloat16), [&](const at::Tensor& w, const WeightGradient& g) {
    return ops::embedding(ids({0, 5, 5, 2}), w, g);
  });
}

TEST(WeightGradient, OfLinearCrossEntropyGoesIntoTheOwnersBuffer) {
  const at::Tensor hidden = numbers({5, 9}, at::kBFloat16);
  for (std::optional<double> known : {std::optional<double>(), std::optional<double>(1.0)})
    expect_delivered(leaf({11, 9}, at::kBFloat16), [&](const at::Tensor& w, const WeightGradient& g) {
      return linear_cross_entropy(hidden, w, ids({0, -100, 3, 10, 3}),
                                  {.weight_gradient = g, .known_gradient = known});
    });
}

TEST(WeightGradient, OfPaddedVocabularyRowsIsZero) {
  const at::Tensor w = leaf({11, 9});
  Buffer buffer(w);
  linear_cross_entropy(numbers({2, 9}, at::kFloat), w, ids({0, 3}),
                       {.weight_gradient = buffer.adding(true), .vocab_size = 8})
      .backward();
  EXPECT_EQ(buffer.value.narrow(0, 8, 3).abs().max().item().toDouble(), 0);
  EXPECT_GT(buffer.value.narrow(0, 7, 1).abs().max().item().toDouble(), 0);
}

TEST(WeightGradient, IsNotAskedForWhenTheWeightIsFrozen) {
  const at::Tensor x = leaf({4, 9}), w = numbers({7, 9}, at::kFloat);
  Buffer buffer(w);
  ops::linear(x, w, buffer.adding(true)).sum().backward();
  EXPECT_EQ(buffer.calls, 0);
  EXPECT_TRUE(x.grad().defined());
}

TEST(WeightGradient, BufferOfAnotherShapeIsRefused) {
  const at::Tensor w = leaf({7, 9});
  Buffer buffer(numbers({9, 7}, at::kFloat));
  EXPECT_THROW(ops::linear(numbers({4, 9}, at::kFloat), w, buffer.adding(true)).sum().backward(),
               InternalError);
}

TEST(LinearCrossEntropy, NeedsNoGradientForEvaluation) {
  const at::Tensor w = leaf({11, 9}), hidden = numbers({3, 9}, at::kFloat), targets = ids({1, -100, 4});
  Buffer buffer(w);
  const at::NoGradGuard no_grad;
  const at::Tensor loss = linear_cross_entropy(
      hidden, w, targets, {.weight_gradient = buffer.adding(true), .known_gradient = 1.0});
  EXPECT_EQ(buffer.calls, 0);
  const at::Tensor each = linear_cross_entropy_per_token(hidden, w, targets);
  EXPECT_EQ(each[1].item().toDouble(), 0);
  expect_close(each.sum(), loss, 1e-6);
}

TEST(LinearCrossEntropy, RefusesAnotherGradientThanTheKnownOne) {
  const at::Tensor w = leaf({11, 9});
  const at::Tensor loss =
      linear_cross_entropy(numbers({2, 9}, at::kFloat), w, ids({1, 4}), {.known_gradient = 0.5});
  EXPECT_THROW(loss.backward(), InternalError);
}

TEST(LinearCrossEntropy, TakesAKnownGradientThatIsNoExactFloat) {
  const at::Tensor w = leaf({11, 9}), hidden = numbers({2, 9}, at::kFloat);
  linear_cross_entropy(hidden, w, ids({1, 4}), {.known_gradient = 0.1}).mul(0.1).backward();
  const at::Tensor ours = w.grad().clone();
  w.mutable_grad().reset();
  linear_cross_entropy_reference(hidden, w, ids({1, 4})).mul(0.1).backward();
  expect_close(ours, w.grad(), 1e-6);
}

TEST(LinearCrossEntropy, NamesATargetThatIsNoRow) {
  const at::Tensor w = numbers({11, 9}, at::kFloat), hidden = numbers({2, 9}, at::kFloat);
  for (std::int64_t wrong : {std::int64_t{11}, std::int64_t{-1}}) try {
      linear_cross_entropy(hidden, w, ids({1, wrong}));
      FAIL();
    } catch (const DataError& e) {
      EXPECT_NE(std::string(e.what()).find("target of token 1: expected an id from 0 to 10"),
                std::string::npos);
    }
  EXPECT_THROW(linear_cross_entropy(hidden, w, ids({1, 9}), {.vocab_size = 9}), DataError);
}

TEST(LinearCrossEntropy, SurvivesLogitsFarFromZero) {
  const at::Tensor hidden = at::full({1, 1}, 1000.0), w = at::tensor({0.0f, 1.0f, -1.0f}).view({3, 1});
  EXPECT_EQ(linear_cross_entropy(hidden, w, ids({1})).item().toDouble(), 0);
  EXPECT_EQ(linear_cross_entropy(hidden, w, ids({0})).item().toDouble(), 1000);
}

TEST(Embedding, NamesAnIdThatIsNoRow) {
  const at::Tensor w = numbers({6, 2}, at::kFloat);
  EXPECT_THROW(ops::embedding(ids({0, 6}), w), DataError);
  EXPECT_THROW(ops::embedding(ids({-1}), w), DataError);
}

at::Tensor lengths(std::vector<std::int32_t> ends) {
  return at::tensor(ends, at::TensorOptions().dtype(at::kInt));
}

TEST(Attention, RefusesDocumentsThatDoNotFit) {
  const at::Tensor x = numbers({4, 1, 2}, at::kFloat);
  EXPECT_THROW(attention(x, x, x, lengths({0, 3}), 1), DataError);
  EXPECT_THROW(attention(x, x, x, lengths({1, 4}), 1), DataError);
  EXPECT_THROW(attention(x, x, x, lengths({0, 3, 2, 4}), 1), DataError);
  EXPECT_THROW(attention(x, x, x, lengths({0, 4}).to(at::kLong), 1), InternalError);
}

TEST(Attention, NoTokenSeesAnotherDocumentOrTheFuture) {
  const at::Tensor q = numbers({150, 2, 16}, at::kFloat), k = numbers({150, 1, 16}, at::kFloat);
  const at::Tensor ends = lengths({0, 40, 150});
  const at::Tensor before = attention(q, k, k, ends, 0.25);
  // Whatever happens from token 120 on stays there.
  const at::Tensor changed = k.clone();
  changed.narrow(0, 120, 30).fill_(1e30);
  const at::Tensor after = attention(q, changed, changed, ends, 0.25);
  EXPECT_TRUE(before.narrow(0, 0, 120).equal(after.narrow(0, 0, 120)));
  EXPECT_FALSE(before.narrow(0, 120, 30).equal(after.narrow(0, 120, 30)));
  // And a NaN stays in its document, and is seen there.
  changed.narrow(0, 120, 30).fill_(std::numeric_limits<double>::quiet_NaN());
  const at::Tensor poisoned = attention(q, changed, changed, ends, 0.25);
  EXPECT_TRUE(before.narrow(0, 0, 40).equal(poisoned.narrow(0, 0, 40)));
  EXPECT_TRUE(poisoned.narrow(0, 120, 30).isnan().all().item().toBool());
  const at::Tensor alone =
      attention(q.narrow(0, 40, 110), k.narrow(0, 40, 110), k.narrow(0, 40, 110), lengths({0, 110}), 0.25);
  EXPECT_TRUE(alone.equal(before.narrow(0, 40, 110)));
}

TEST(Attention, ReadsSlicesOfAJointProjection) {
  const at::Tensor joint = numbers({30, 4 * 8}, at::kFloat);
  const auto slice = [&](std::int64_t begin, std::int64_t heads) {
    return joint.narrow(1, begin * 8, heads * 8).view({30, heads, 8});
  };
  const at::Tensor q = slice(0, 2), k = slice(2, 1), v = slice(3, 1), ends = lengths({0, 30});
  EXPECT_TRUE(attention(q, k, v, ends, 0.3)
                  .equal(attention(q.contiguous(), k.contiguous(), v.contiguous(), ends, 0.3)));
}

TEST(Attention, KeepsSharpScoresExact) {
  const at::Tensor q = numbers({64, 1, 8}, at::kFloat).mul(200), k = numbers({64, 1, 8}, at::kFloat).mul(50);
  const at::Tensor ends = lengths({0, 64}), v = numbers({64, 1, 8}, at::kFloat);
  const auto wide = [](const at::Tensor& x) { return x.to(at::kDouble); };
  expect_close(attention(q, k, v, ends, 1), attention_reference(wide(q), wide(k), wide(v), ends, 1), 5e-3);
  EXPECT_FALSE(attention(q, k, v, ends, 1).isnan().any().item().toBool());
}

TEST(RopeTables, AreCosinesAndSinesInTheWiderDtype) {
  const RopeTables t = rope_tables(ids({0, 3}), at::tensor({1.0f, 0.5f}), at::kBFloat16);
  EXPECT_EQ(t.cos.scalar_type(), at::kFloat);
  EXPECT_FLOAT_EQ(t.sin[1][1].item().toFloat(), std::sin(1.5f));
  EXPECT_EQ(rope_tables(ids({1}), at::tensor({1.0f}), at::kDouble).cos.scalar_type(), at::kDouble);
}

TEST(RopeTables, TurnEachFrequencyByItsAxis) {
  const at::Tensor frequencies = at::tensor({1.0f, 0.5f, 0.25f});
  const at::Tensor positions = at::stack({ids({0, 3}), ids({7, 11})});
  const RopeTables t = rope_tables(positions, frequencies, at::kFloat, ids({0, 1, 0}));
  EXPECT_FLOAT_EQ(t.cos[1][0].item().toFloat(), std::cos(3.0f));
  EXPECT_FLOAT_EQ(t.cos[1][1].item().toFloat(), std::cos(5.5f));
  EXPECT_FLOAT_EQ(t.sin[0][1].item().toFloat(), std::sin(3.5f));
  EXPECT_FLOAT_EQ(t.sin[1][2].item().toFloat(), std::sin(0.75f));
  EXPECT_THROW(rope_tables(positions, frequencies, at::kFloat), InternalError);
}

TEST(AdamW, RoundsTheBf16WeightToNearestEven) {
  // No gradient and no decay: the weight is the master, rounded. 1 + 2^-8 lies between two bf16 numbers.
  const float half = 1.0f + 0x1p-8f, above = 1.0f + 0x1p-8f + 0x1p-20f, next = 1.0f + 3 * 0x1p-8f;
  const at::Tensor master = at::tensor({half, above, next, -half, 3e-39f});
  const at::Tensor zero = at::zeros({5});
  AdamWTensors t{at::zeros({5}, at::TensorOptions().dtype(at::kBFloat16)), master, zero, zero.clone(),
                 zero.clone()};
  adamw_step(t, {});
  EXPECT_TRUE(t.weight.equal(master.to(at::kBFloat16)));
  EXPECT_EQ(t.weight[0].item().toFloat(), 1.0f);
  EXPECT_EQ(t.weight[2].item().toFloat(), 1.0f + 0x1p-6f);
}

TEST(AdamW, AWeightThatIsTheMasterIsUpdatedOnce) {
  const at::Tensor master = at::ones({9}), zero = at::zeros({9});
  adamw_step({master, master, at::ones({9}), zero.clone(), zero.clone()}, {.lr = 0.5});
  expect_close(master, at::full({9}, 0.5), 1e-6);
}

TEST(AdamW, RefusesTensorsThatDoNotMatch) {
  const at::Tensor x = at::ones({4}), half = x.to(at::kBFloat16);
  EXPECT_THROW(adamw_step({{}, x, half, x, x}, {}), InternalError);
  EXPECT_THROW(adamw_step({{}, x, at::ones({5}), x, x}, {}), InternalError);
  EXPECT_THROW(adamw_step({x.to(at::kDouble), x, x, x, x}, {}), InternalError);
  EXPECT_THROW(adamw_step({{}, x, x, x, x}, {.step = 0}), InternalError);
}

TEST(SquaredNorm, SumsManyTensorsAndLetsNanThrough) {
  EXPECT_EQ(
      squared_norm({at::full({3}, 2.0f), at::Tensor(), at::zeros({0}), at::ones({2}).to(at::kBFloat16)}), 14);
  EXPECT_TRUE(std::isnan(squared_norm(at::full({3}, std::nan("")))));
  EXPECT_EQ(squared_norm(at::full({4}, 1e30f)), 4 * static_cast<double>(1e30f) * static_cast<double>(1e30f));
}

TEST(Matmul, MixesFloat32AndBf16Factors) {
  const at::Tensor a = numbers({30, 50}, at::kFloat), b = numbers({20, 50}, at::kBFloat16);
  expect_close(matmul_nt(a, b, at::kFloat), a.to(at::kDouble).matmul(b.to(at::kDouble).t()), 1e-5);
  expect_close(matmul_nt(b, a, at::kBFloat16), b.to(at::kDouble).matmul(a.to(at::kDouble).t()), 0.1);
  EXPECT_THROW(matmul_nt(a.to(at::kDouble), b, at::kFloat), InternalError);
  EXPECT_THROW(matmul_nn(a, b, at::kFloat), InternalError);
}

// Without OpenMP at compile time at::parallel_for runs on one thread and says nothing.
TEST(Threads, ShareRangesAndItems) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  std::mutex lock;
  std::set<std::thread::id> of_ranges, of_items;
  const auto note = [&](std::set<std::thread::id>& seen) {
    const std::lock_guard guard(lock);
    seen.insert(std::this_thread::get_id());
  };
  cpu::for_ranges(2, 1 << 20, [&](std::int64_t, std::int64_t) { note(of_ranges); });
  // Each item waits for the other, so one thread alone cannot have both.
  std::atomic<int> begun{0};
  cpu::for_items(2, [&](std::int64_t) {
    ++begun;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (begun < 2 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    note(of_items);
  });
  at::set_num_threads(before);
  EXPECT_EQ(of_ranges.size(), 2U);
  EXPECT_EQ(of_items.size(), 2U);
}

// Sizes on both sides of every block: tiles of 12 x 32, vectors of 16, pairs of K, several passes over K.
TEST(Matmul, EveryLevelLayoutAndSizeAgreesWithDouble) {
  for (const CpuLevel level : available_cpu_levels()) {
    const CpuLevelGuard guard(level);
    for (const auto& [m, n, k] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{9, 1, 1},
                                  {13, 33, 2},
                                  {24, 64, 33},
                                  {25, 31, 64},
                                  {193, 70, 769},
                                  {40, 17, 1601}}) {
      for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        const at::Tensor a = numbers({m, k}, dtype), b = numbers({n, k}, dtype);
        const at::Tensor right = a.to(at::kDouble).matmul(b.to(at::kDouble).t());
        const double bar = 2e-5 * std::sqrt(static_cast<double>(k));
        SCOPED_TRACE(concat(cpu_level_name(level), " ", m, " ", n, " ", k, " ", at::toString(dtype)));
        expect_close(matmul_nt(a, b, at::kFloat), right, bar);
        expect_close(matmul_nn(a, b.t().contiguous(), at::kFloat), right, bar);
        expect_close(matmul_tn(a.t().contiguous(), b.t().contiguous(), at::kFloat), right, bar);
      }
    }
  }
}

TEST(Matmul, RoundsOnceHoweverLongTheSum) {
  const at::Tensor a = at::full({16, 40000}, 1.0, at::TensorOptions().dtype(at::kBFloat16));
  EXPECT_EQ(matmul_nt(a, a, at::kBFloat16).min().item().toDouble(), 39936);  // the bf16 number next to 40000
}

TEST(Matmul, ProductOfTheBf16UnitsIsTheSame) {
  if (!cpu::has_bf16_product()) GTEST_SKIP() << "this libtorch has no bf16 product";
  const at::Tensor a = numbers({30, 50}, at::kBFloat16), b = numbers({20, 50}, at::kBFloat16);
  const at::Tensor c = at::ones({30, 20});
  cpu::run_bf16_product({{a.data_ptr(), cpu::Type::kBf16, 50, 1},
                         {b.data_ptr(), cpu::Type::kBf16, 50, 1},
                         30,
                         20,
                         50,
                         c.data_ptr(),
                         cpu::Type::kFloat,
                         20,
                         true});
  expect_close(c, a.to(at::kDouble).matmul(b.to(at::kDouble).t()).add(1), 1e-5);
  const at::Tensor left = a.t().contiguous(), right = b.t().contiguous();
  cpu::run_bf16_product({{left.data_ptr(), cpu::Type::kBf16, 1, 30},
                         {right.data_ptr(), cpu::Type::kBf16, 1, 20},
                         30,
                         20,
                         50,
                         c.data_ptr(),
                         cpu::Type::kFloat,
                         20,
                         false});
  expect_close(c, a.to(at::kDouble).matmul(b.to(at::kDouble).t()), 1e-5);
}

TEST(Backward, IsRefusedToBeDifferentiated) {
  const at::Tensor x = leaf({3, 4});
  EXPECT_THROW(torch::autograd::grad({swiglu(x, x).sum()}, {x}, {}, true, true), InternalError);
}

TEST(Swiglu, StaysFiniteFarFromZeroAndKeepsNan) {
  const at::Tensor gate = at::tensor({-200.0f, 200.0f, -88.0f, std::nanf("")}), up = at::ones({4});
  const at::Tensor y = swiglu(gate, up);
  EXPECT_EQ(y[0].item().toFloat(), 0);
  EXPECT_EQ(y[1].item().toFloat(), 200);
  EXPECT_LT(std::abs(y[2].item().toFloat()), 1e-30f);
  EXPECT_TRUE(std::isnan(y[3].item().toFloat()));
}

TEST(CpuLevel, NamesAreReadAndOthersRefused) {
  EXPECT_EQ(parse_cpu_level("avx2"), CpuLevel::kAvx2);
  EXPECT_STREQ(cpu_level_name(parse_cpu_level("baseline")), "baseline");
  try {
    parse_cpu_level("avx9");
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_EQ(std::string(e.what()),
              "LOONGFORGE_CPU_LEVEL: expected one of baseline, avx2, avx512, avx512_bf16, amx, got 'avx9'; "
              "unset it to use the "
              "best level of this CPU");
  }
  const CpuLevel before = cpu_level();
  {
    const CpuLevelGuard guard(CpuLevel::kBaseline);
    EXPECT_EQ(cpu_level(), CpuLevel::kBaseline);
  }
  EXPECT_EQ(cpu_level(), before);
}

TEST(MachinePeak, IsMeasured) {
  const MachinePeak& peak = machine_peak();
  EXPECT_GT(peak.float32_gflops, 0.1);
  EXPECT_GE(peak.bfloat16_gflops, peak.float32_gflops);
  EXPECT_GT(peak.copy_gigabytes, 0.1);
  EXPECT_EQ(peak.threads, at::get_num_threads());
}

}  // namespace
}  // namespace loongforge::ops
