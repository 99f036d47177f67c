// What CUDA tensors take instead of a CPU kernel, executed on CPU tensors against the operators' references.
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <vector>

#include "loongforge/ops/attention.h"
#include "loongforge/ops/layer_norm.h"
#include "loongforge/ops/plain/blocks.h"

namespace loongforge::ops {
namespace {

constexpr at::ScalarType kDtypes[] = {at::kDouble, at::kFloat, at::kBFloat16};

double tolerance(at::ScalarType dtype) {
  if (dtype == at::kDouble) return 1e-13;
  return dtype == at::kFloat ? 2e-6 : 8e-3;
}

at::Tensor numbers(std::vector<std::int64_t> shape, double shift) {
  std::int64_t n = 1;
  for (std::int64_t s : shape) n *= s;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i)
    values.push_back(2 * std::sin(static_cast<double>(i * i % 977) + shift));
  return at::tensor(values, at::TensorOptions().dtype(at::kDouble)).view(shape);
}

void expect_close(const at::Tensor& x, const at::Tensor& reference, at::ScalarType dtype, const char* what) {
  ASSERT_EQ(x.sizes(), reference.sizes()) << what;
  const at::Tensor r = reference.to(at::kDouble);
  const double scale = r.norm().item().toDouble(), error = x.to(at::kDouble).sub(r).norm().item().toDouble();
  EXPECT_LE(error, tolerance(dtype) * scale) << what << " " << at::toString(dtype);
}

TEST(PlainProduct, MixesDtypesAndStridesAndAdds) {
  for (const at::ScalarType from : kDtypes)
    for (const at::ScalarType with : kDtypes)
      for (const at::ScalarType to : kDtypes) {
        const bool wide = from == at::kDouble;
        if (wide != (with == at::kDouble) || wide != (to == at::kDouble)) continue;
        const at::Tensor a = numbers({33, 20}, 1).to(from).t(),
                         b = numbers({33, 17}, 2).to(with).narrow(1, 2, 9);
        const at::Tensor held = numbers({20, 12}, 3).to(to);
        const at::Tensor expected = a.to(at::kDouble).matmul(b.to(at::kDouble));
        for (const bool accumulate : {false, true}) {
          const at::Tensor out = held.clone().narrow(1, 0, 9);
          plain::product(out, a, b, accumulate);
          expect_close(out, accumulate ? expected.add(held.narrow(1, 0, 9).to(at::kDouble)) : expected, to,
                       "product");
        }
      }
}

void compare_attention(const std::vector<std::int32_t>& ends, std::int64_t heads, std::int64_t kv_heads,
                       std::int64_t dim, at::ScalarType dtype, AttentionMask mask = AttentionMask::kCausal) {
  const bool causal = mask == AttentionMask::kCausal;
  const std::int64_t n = ends.back();
  const double scale = 1 / std::sqrt(static_cast<double>(dim));
  const at::Tensor cu_seqlens = at::tensor(ends, at::TensorOptions().dtype(at::kInt));
  // Slices of a joint projection: the stride between tokens is not the row's length.
  const at::Tensor joint = numbers({n, heads + 2 * kv_heads, dim}, 4).to(dtype);
  const at::Tensor q = joint.narrow(1, 0, heads), k = joint.narrow(1, heads, kv_heads),
                   v = joint.narrow(1, heads + kv_heads, kv_heads);
  const at::Tensor dout = numbers({n, heads, dim}, 5).to(dtype);
  const plain::AttentionOutput ours = plain::attention_forward(q, k, v, cu_seqlens, scale, causal);
  const plain::AttentionGradients g =
      plain::attention_backward(q, k, v, ours, dout, cu_seqlens, scale, causal);

  std::vector<at::Tensor> leaves;
  for (const at::Tensor& x : {q, k, v})
    leaves.push_back(x.to(at::kDouble).clone().detach().set_requires_grad(true));
  const at::Tensor theirs = attention_reference(leaves[0], leaves[1], leaves[2], cu_seqlens, scale, mask);
  const auto gradients = torch::autograd::grad({theirs}, leaves, {dout.to(at::kDouble)});
  expect_close(ours.out, theirs.detach(), dtype, "out");
  expect_close(g.dq, gradients[0], dtype, "dq");
  expect_close(g.dk, gradients[1], dtype, "dk");
  expect_close(g.dv, gradients[2], dtype, "dv");
}

TEST(PlainAttention, IsTheReferenceInEveryDtype) {
  for (const at::ScalarType dtype : kDtypes) {
    compare_attention({0, 1}, 1, 1, 2, dtype);
    compare_attention({0, 5, 5, 6, 23}, 3, 1, 6, dtype);
    compare_attention({0, 33, 129, 136}, 6, 2, 16, dtype);
    compare_attention({0, 5, 5, 38}, 4, 2, 6, dtype, AttentionMask::kDocument);
  }
}

// 16 heads x 1,200 x 1,200 scores do not fit one block.
TEST(PlainAttention, CutsALongDocumentIntoBlocks) {
  compare_attention({0, 7, 1207}, 16, 4, 4, at::kDouble);
  compare_attention({0, 7, 1207}, 16, 4, 4, at::kDouble, AttentionMask::kDocument);
}

TEST(PlainAttention, TakesNoToken) {
  const at::Tensor q = numbers({0, 2, 8}, 0), k = numbers({0, 1, 8}, 0),
                   cu_seqlens =
                       at::tensor(std::vector<std::int32_t>{0, 0}, at::TensorOptions().dtype(at::kInt));
  const plain::AttentionOutput y = plain::attention_forward(q, k, k, cu_seqlens, 1, true);
  EXPECT_EQ(y.out.numel(), 0);
  EXPECT_EQ(plain::attention_backward(q, k, k, y, q, cu_seqlens, 1, true).dk.numel(), 0);
}

TEST(PlainLayerNorm, IsTheReferenceInEveryDtype) {
  for (const at::ScalarType dtype : kDtypes) {
    const at::Tensor x = numbers({5, 3, 34}, 8).add(2).to(dtype), dy = numbers({5, 3, 34}, 9).to(dtype);
    const at::Tensor weight = numbers({34}, 10).to(dtype), bias = numbers({34}, 11).to(dtype);
    const plain::LayerNormOutput ours = plain::layer_norm_forward(x, weight, bias, 1e-5);
    const plain::LayerNormGradients g = plain::layer_norm_backward(x, weight, ours, dy);
    std::vector<at::Tensor> leaves;
    for (const at::Tensor& t : {x, weight, bias})
      leaves.push_back(t.to(at::kDouble).clone().detach().set_requires_grad(true));
    const at::Tensor theirs = layer_norm_reference(leaves[0], leaves[1], leaves[2], 1e-5);
    const auto gradients = torch::autograd::grad({theirs}, leaves, {dy.to(at::kDouble)});
    expect_close(ours.y, theirs.detach(), dtype, "y");
    expect_close(g.dx, gradients[0], dtype, "dx");
    expect_close(g.dweight.squeeze(0), gradients[1], dtype, "dweight");
    expect_close(g.dbias.squeeze(0), gradients[2], dtype, "dbias");
  }
}

TEST(PlainCrossEntropy, GivesLossesAndTheirGradient) {
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat}) {
    const at::Tensor logits = numbers({6, 11}, 6).mul(3).to(dtype).set_requires_grad(true);
    const at::Tensor targets = at::tensor(std::vector<std::int64_t>{0, 10, 3, 3, 7, 1});
    for (const bool weighted : {false, true}) {
      const at::Tensor weights = weighted ? numbers({6}, 7).to(dtype) : at::Tensor();
      const at::Tensor expected =
          at::log_softmax(logits, -1).gather(1, targets.unsqueeze(1)).squeeze(1).neg();
      const at::Tensor losses = weighted ? expected.mul(weights) : expected;
      const at::Tensor gradient = torch::autograd::grad({losses.sum().mul(0.5)}, {logits})[0];
      const at::Tensor x = logits.detach().clone(), ours = logits.detach().select(1, 0).clone();
      plain::cross_entropy(x, {targets, weights, ours, 0.5, false});
      expect_close(ours, losses.detach(), dtype, "losses");
      EXPECT_TRUE(x.equal(logits.detach()));
      plain::cross_entropy(x, {targets, weights, {}, 0.5, true});
      expect_close(x, gradient, dtype, "gradient");
    }
  }
}

}  // namespace
}  // namespace loongforge::ops
