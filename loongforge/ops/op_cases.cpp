#include "loongforge/ops/op_cases.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <cmath>

#include "loongforge/base/error.h"
#include "loongforge/base/random.h"
#include "loongforge/ops/adamw.h"
#include "loongforge/ops/attention.h"
#include "loongforge/ops/embedding.h"
#include "loongforge/ops/layer_norm.h"
#include "loongforge/ops/linear.h"
#include "loongforge/ops/linear_cross_entropy.h"
#include "loongforge/ops/matmul.h"
#include "loongforge/ops/rms_norm.h"
#include "loongforge/ops/rope.h"
#include "loongforge/ops/squared_norm.h"
#include "loongforge/ops/swiglu.h"

namespace loongforge::ops {
namespace {

at::Tensor random(std::vector<std::int64_t> shape, std::string_view purpose, double scale = 1.0) {
  const at::Tensor x = at::empty(shape, at::TensorOptions().dtype(at::kDouble));
  const CounterRandom draw(1, purpose);
  double* p = x.data_ptr<double>();
  at::parallel_for(0, x.numel(), 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) p[i] = scale * draw.normal(0, static_cast<std::uint64_t>(i));
  });
  return x;
}

at::Tensor random_ids(std::int64_t n, std::int64_t below, std::int64_t ignored_every = 0) {
  const at::Tensor x = at::empty({n}, at::TensorOptions().dtype(at::kLong));
  const CounterRandom draw(1, "ids");
  for (std::int64_t i = 0; i < n; ++i)
    x.data_ptr<std::int64_t>()[i] =
        ignored_every > 0 && i % ignored_every == 1
            ? -100
            : static_cast<std::int64_t>(
                  draw.below(static_cast<std::uint64_t>(below), 0, static_cast<std::uint64_t>(i)));
  return x;
}

std::string dims(std::initializer_list<std::int64_t> sizes) {
  std::string text;
  for (std::int64_t size : sizes) text = text.empty() ? concat(size) : concat(text, "x", size);
  return text;
}

OpCase rms_norm_case(std::int64_t n, std::int64_t c) {
  OpCase op;
  op.name = "rms_norm/" + dims({n, c});
  op.inputs = [=] { return Tensors{random({n, c}, "x"), random({c}, "weight")}; };
  op.run = [](const Tensors& t) { return Tensors{rms_norm(t[0], t[1], 1e-5)}; };
  op.reference = [](const Tensors& t) { return Tensors{rms_norm_reference(t[0], t[1], 1e-5)}; };
  op.differentiable = 2;
  op.bytes = 4.0 * static_cast<double>(n * c);
  op.backward_bytes = 6.0 * static_cast<double>(n * c);
  return op;
}

OpCase layer_norm_case(std::int64_t n, std::int64_t c) {
  OpCase op;
  op.name = "layer_norm/" + dims({n, c});
  op.inputs = [=] {
    return Tensors{random({n, c}, "x").add_(1), random({c}, "weight"), random({c}, "bias")};
  };
  op.run = [](const Tensors& t) { return Tensors{layer_norm(t[0], t[1], t[2], 1e-5)}; };
  op.reference = [](const Tensors& t) { return Tensors{layer_norm_reference(t[0], t[1], t[2], 1e-5)}; };
  op.differentiable = 3;
  op.bytes = 4.0 * static_cast<double>(n * c);
  op.backward_bytes = 6.0 * static_cast<double>(n * c);
  return op;
}

OpCase swiglu_case(std::int64_t n, std::int64_t f) {
  OpCase op;
  op.name = "swiglu/" + dims({n, f});
  op.inputs = [=] { return Tensors{random({n, f}, "gate", 3), random({n, f}, "up")}; };
  op.run = [](const Tensors& t) { return Tensors{swiglu(t[0], t[1])}; };
  op.reference = [](const Tensors& t) { return Tensors{swiglu_reference(t[0], t[1])}; };
  op.differentiable = 2;
  op.bytes = 6.0 * static_cast<double>(n * f);
  op.backward_bytes = 10.0 * static_cast<double>(n * f);
  return op;
}

OpCase rope_case(std::int64_t n, std::int64_t h, std::int64_t d, bool strided) {
  OpCase op;
  op.name = "rope/" + dims({n, h, d}) + (strided ? "_of_wider_rows" : "");
  // Angles as cosines and sines of a random angle each, so that tables are exact in every dtype's run.
  op.inputs = [=] {
    const at::Tensor angle = random({n, d / 2}, "angle", 3);
    return Tensors{random({n, strided ? h * d + 8 : h * d}, "x"), angle.cos(), angle.sin()};
  };
  const auto rows = [=](const at::Tensor& x) { return x.narrow(1, 0, h * d).view({n, h, d}); };
  op.run = [=](const Tensors& t) { return Tensors{rope(rows(t[0]), t[1], t[2])}; };
  op.reference = [=](const Tensors& t) { return Tensors{rope_reference(rows(t[0]), t[1], t[2])}; };
  op.differentiable = 1;
  op.wide_from = 1;
  op.bytes = op.backward_bytes = 4.0 * static_cast<double>(n * h * d);
  return op;
}

OpCase embedding_case(std::int64_t n, std::int64_t v, std::int64_t c) {
  OpCase op;
  op.name = "embedding/" + dims({n, v, c});
  op.inputs = [=] { return Tensors{random({v, c}, "weight"), random_ids(n, v)}; };
  op.run = [](const Tensors& t) { return Tensors{ops::embedding(t[1], t[0])}; };
  op.reference = [](const Tensors& t) { return Tensors{embedding_reference(t[1], t[0])}; };
  op.differentiable = 1;
  op.bytes = 4.0 * static_cast<double>(n * c);
  op.backward_bytes = 10.0 * static_cast<double>(n * c) + 4.0 * static_cast<double>(v * c);
  return op;
}

OpCase linear_case(std::int64_t n, std::int64_t k, std::int64_t m) {
  OpCase op;
  op.name = "linear/" + dims({n, k, m});
  op.inputs = [=] { return Tensors{random({n, k}, "x"), random({m, k}, "weight", 0.1)}; };
  op.run = [](const Tensors& t) { return Tensors{ops::linear(t[0], t[1])}; };
  op.reference = [](const Tensors& t) { return Tensors{linear_reference(t[0], t[1])}; };
  op.differentiable = 2;
  op.flops = 2.0 * static_cast<double>(n) * static_cast<double>(k * m);
  op.backward_flops = 2 * op.flops;
  return op;
}

// The three products with strided factors, fresh and added.
OpCase matmul_case(std::int64_t m, std::int64_t n, std::int64_t k) {
  OpCase op;
  op.name = "matmul/" + dims({m, n, k});
  op.inputs = [=] {
    return Tensors{random({m, k + 3}, "a"), random({n, k}, "b"), random({k, n}, "c"), random({k, m}, "d"),
                   random({m, n}, "e")};
  };
  op.run = [=](const Tensors& t) {
    const at::ScalarType dtype = t[4].scalar_type();
    const at::Tensor a = t[0].narrow(1, 0, k), added = t[4].clone();
    matmul_nt_out(added, a, t[1], true);
    return Tensors{matmul_nt(a, t[1], dtype), matmul_nn(a, t[2], dtype), matmul_tn(t[3], t[2], dtype), added};
  };
  op.reference = [=](const Tensors& t) {
    const at::Tensor a = t[0].narrow(1, 0, k), nt = a.matmul(t[1].t());
    return Tensors{nt, a.matmul(t[2]), t[3].t().matmul(t[2]), nt.add(t[4])};
  };
  op.flops = 8.0 * static_cast<double>(m) * static_cast<double>(n * k);
  return op;
}

at::Tensor documents(const std::vector<std::int32_t>& lengths) {
  std::vector<std::int32_t> ends{0};
  for (std::int32_t length : lengths) ends.push_back(ends.back() + length);
  return at::tensor(ends, at::TensorOptions().dtype(at::kInt));
}

OpCase attention_case(const std::string& what, const std::vector<std::int32_t>& lengths, std::int64_t h,
                      std::int64_t kv, std::int64_t d, AttentionMask mask = AttentionMask::kCausal) {
  const at::Tensor cu_seqlens = documents(lengths);
  const std::int64_t n = cu_seqlens[-1].item().toLong();
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  OpCase op;
  op.name = "attention/" + what + "_" + dims({n, h, kv, d});
  op.inputs = [=] {
    return Tensors{random({n, h, d}, "q", 2), random({n, kv, d}, "k"), random({n, kv, d}, "v")};
  };
  op.run = [=](const Tensors& t) { return Tensors{attention(t[0], t[1], t[2], cu_seqlens, scale, mask)}; };
  op.reference = [=](const Tensors& t) {
    return Tensors{attention_reference(t[0], t[1], t[2], cu_seqlens, scale, mask)};
  };
  op.differentiable = 3;
  const double products = mask == AttentionMask::kCausal ? 2 : 4;
  for (double length : lengths) op.flops += products * length * length * static_cast<double>(h * d);
  op.backward_flops = 2.5 * op.flops;
  return op;
}

OpCase cross_entropy_case(std::int64_t n, std::int64_t v, std::int64_t c, const std::string& how) {
  OpCase op;
  op.name = "linear_cross_entropy/" + dims({n, v, c}) + "_" + how;
  const bool all = how != "ignored" && how != "weighted";
  op.inputs = [=] {
    Tensors t{random({n, c}, "hidden"), random({v, c}, "weight", 2 / std::sqrt(static_cast<double>(c))),
              random_ids(n, v - (how == "padded" ? 5 : 0), all ? 0 : 3)};
    if (how == "weighted") t.push_back(random({n}, "token_weights"));
    return t;
  };
  const auto options = [=](const Tensors& t) {
    LinearCrossEntropyOptions o;
    if (t.size() > 3) o.token_weights = t[3];
    if (how == "padded") o.vocab_size = v - 5;
    if (how == "known") o.known_gradient = 1.0;
    return o;
  };
  op.run = [=](const Tensors& t) { return Tensors{linear_cross_entropy(t[0], t[1], t[2], options(t))}; };
  op.reference = [=](const Tensors& t) {
    return Tensors{linear_cross_entropy_reference(t[0], t[1], t[2], options(t))};
  };
  op.differentiable = 2;
  op.wide_from = 3;
  const double product = 2.0 * static_cast<double>(n) * static_cast<double>(v * c);
  op.flops = (how == "known" ? 3 : 1) * product;
  op.backward_flops = how == "known" ? 0 : 3 * product;
  return op;
}

OpCase adamw_case(std::int64_t n, bool with_weight) {
  OpCase op;
  op.name = "adamw/" + dims({n}) + (with_weight ? "_with_weight" : "");
  op.inputs = [=] {
    return Tensors{random({n}, "weight"), random({n}, "master"), random({n}, "grad", 0.1),
                   random({n}, "m", 0.1), random({n}, "v", 0.1).square()};
  };
  const auto step = [=](const Tensors& t, const auto& call) {
    const AdamWOptions options{.lr = 1e-2,
                               .beta1 = 0.9,
                               .beta2 = 0.95,
                               .eps = 1e-8,
                               .weight_decay = 0.1,
                               .step = 3,
                               .gradient_scale = 0.5};
    AdamWTensors a{{}, t[1], t[2], t[3], t[4]};
    if (with_weight) a.weight = t[0];
    call(a, options);
    return with_weight ? Tensors{a.weight, a.master, a.m, a.v} : Tensors{a.master, a.m, a.v};
  };
  op.in_place = true;
  op.run = [=](const Tensors& t) { return step(t, adamw_step); };
  op.reference = [=](const Tensors& t) { return step(t, adamw_step_reference); };
  op.wide_from = 1;
  op.bytes = (with_weight ? 30.0 : 28.0) * static_cast<double>(n);
  return op;
}

OpCase squared_norm_case(std::int64_t n) {
  OpCase op;
  op.name = "squared_norm/" + dims({n});
  op.inputs = [=] { return Tensors{random({n}, "x")}; };
  const auto scalar = [](double x) { return Tensors{at::tensor(x, at::TensorOptions().dtype(at::kDouble))}; };
  op.run = [=](const Tensors& t) { return scalar(squared_norm(t[0])); };
  op.reference = [=](const Tensors& t) { return scalar(t[0].square().sum().item().toDouble()); };
  op.bytes = 2.0 * static_cast<double>(n);
  return op;
}

}  // namespace

std::vector<OpCase> small_op_cases() {
  return {
      rms_norm_case(1, 3),
      rms_norm_case(0, 8),
      rms_norm_case(7, 37),
      rms_norm_case(131, 576),
      layer_norm_case(1, 3),
      layer_norm_case(0, 8),
      layer_norm_case(7, 37),
      layer_norm_case(131, 1152),
      swiglu_case(1, 1),
      swiglu_case(0, 16),
      swiglu_case(5, 33),
      swiglu_case(64, 1536),
      rope_case(1, 1, 2, false),
      rope_case(0, 2, 8, false),
      rope_case(9, 3, 34, true),
      rope_case(40, 9, 64, false),
      embedding_case(0, 5, 3),
      embedding_case(1, 1, 1),
      embedding_case(50, 11, 33),
      linear_case(1, 1, 1),
      linear_case(0, 4, 5),
      linear_case(3, 0, 5),
      linear_case(7, 65, 33),
      linear_case(130, 576, 192),
      matmul_case(1, 300, 129),
      matmul_case(8, 5, 70),
      matmul_case(37, 41, 1),
      matmul_case(101, 67, 333),
      matmul_case(200, 190, 700),
      attention_case("one", {1}, 1, 1, 2),
      attention_case("empty", {0}, 2, 1, 8),
      attention_case("odd", {5, 0, 1, 17, 2}, 3, 1, 6),
      attention_case("grouped", {33, 96, 7}, 6, 2, 16),
      attention_case("blocks", {97, 192, 211}, 4, 4, 64),
      attention_case("long", {1, 398, 2}, 3, 3, 40),
      attention_case("document_one", {1}, 1, 1, 2, AttentionMask::kDocument),
      attention_case("document_odd", {5, 0, 1, 17, 2}, 3, 1, 6, AttentionMask::kDocument),
      attention_case("document_grouped", {33, 96, 7}, 6, 2, 16, AttentionMask::kDocument),
      attention_case("document_blocks", {97, 192, 211}, 4, 4, 80, AttentionMask::kDocument),
      cross_entropy_case(1, 1, 1, "plain"),
      cross_entropy_case(0, 7, 3, "plain"),
      cross_entropy_case(23, 37, 9, "plain"),
      cross_entropy_case(24, 130, 17, "ignored"),
      cross_entropy_case(24, 130, 17, "weighted"),
      cross_entropy_case(24, 130, 17, "padded"),
      cross_entropy_case(24, 130, 17, "known"),
      cross_entropy_case(60, 3001, 48, "known"),
      adamw_case(0, true),
      adamw_case(1, false),
      adamw_case(1003, true),
      adamw_case(70000, false),
      squared_norm_case(0),
      squared_norm_case(1),
      squared_norm_case(100003),
  };
}

std::vector<OpCase> large_op_cases() {
  constexpr std::int64_t kTokens = 4096, kChannels = 576, kHeads = 9, kKvHeads = 3, kDim = 64, kInner = 1536,
                         kVocabulary = 49152;
  return {
      rms_norm_case(kTokens, kChannels),
      layer_norm_case(kTokens, 1152),
      swiglu_case(kTokens, kInner),
      rope_case(kTokens, kHeads, kDim, false),
      embedding_case(kTokens, kVocabulary, kChannels),
      linear_case(kTokens, kChannels, kChannels),
      linear_case(kTokens, kChannels, kKvHeads * kDim),
      linear_case(kTokens, kChannels, kInner),
      linear_case(kTokens, kInner, kChannels),
      linear_case(1, kChannels, kInner),
      attention_case("causal", {1024, 1024, 1024, 1024}, kHeads, kKvHeads, kDim),
      attention_case("windows", std::vector<std::int32_t>(64, 64), 16, 16, 80, AttentionMask::kDocument),
      attention_case("documents", std::vector<std::int32_t>(32, 128), kHeads, kKvHeads, kDim),
      cross_entropy_case(1024, kVocabulary, kChannels, "plain"),
      cross_entropy_case(1024, kVocabulary, kChannels, "known"),
      adamw_case(16 << 20, true),
      squared_norm_case(32 << 20),
  };
}

}  // namespace loongforge::ops
