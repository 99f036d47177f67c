#include <ATen/ops/stack.h>
#include <gtest/gtest.h>

#include "loongforge/base/error.h"
#include "loongforge/nn/attention_block.h"
#include "loongforge/nn/dropout.h"
#include "loongforge/nn/embedding.h"
#include "loongforge/nn/gated_mlp.h"
#include "loongforge/nn/head_loss.h"
#include "loongforge/nn/layer_norm.h"
#include "loongforge/nn/mlp.h"
#include "loongforge/nn/rms_norm.h"
#include "loongforge/nn/test_support.h"
#include "loongforge/nn/vision_attention.h"

namespace loongforge {
namespace {

using test::check_layer_gradients;
using test::documents;
using test::random_tensor;
using test::randomize;

const NameMap kNames({{"{}", "{}"}, {"attention.q.weight", "q_proj.weight"}, {"l.weight", "l_proj.weight"}});

ParamPlan double_plan() {
  ParamPlan plan;
  plan.compute = at::kDouble;
  return plan;
}

AttentionOptions small_attention() {
  AttentionOptions options;
  options.channels = 12;
  options.heads = 4;
  options.kv_heads = 2;
  options.head_dim = 6;
  options.qkv_bias = options.out_bias = true;
  return options;
}

TEST(Linear, HasRightGradientsWithBias) {
  ParamBuilder builder(double_plan(), kNames);
  LinearOptions options;
  options.bias = true;
  const Linear linear(builder, "l", 5, 3, options);
  randomize(builder.params());
  check_layer_gradients(builder.params(), random_tensor({4, 5}, "x"), documents({4}),
                        [&](const Context& c, const at::Tensor& x) { return linear.forward(c, x); });
}

TEST(Linear, HasRightGradientsWithAdapterAndDropoutAndFrozenBase) {
  ParamPlan plan = double_plan();
  plan.lora = LoraOptions{2, 4.0, 0.25, {"l_proj"}};
  ParamBuilder builder(plan, kNames);
  const Linear linear(builder, "l", 5, 3, {});
  randomize(builder.params());
  Context context = documents({4});
  context.training = true;
  EXPECT_FALSE(linear.weight->trainable);
  check_layer_gradients(builder.params(), random_tensor({4, 5}, "x"), context,
                        [&](const Context& c, const at::Tensor& x) { return linear.forward(c, x); });
}

TEST(Linear, StartsWithAnAdapterThatChangesNothing) {
  ParamPlan plan = double_plan();
  plan.lora = LoraOptions{2, 4.0, 0.0, {"l_proj"}};
  ParamBuilder builder(plan, kNames);
  const Linear linear(builder, "l", 5, 3, {});
  initialize(builder.params(), 1);
  ParamBuilder plain_builder(double_plan(), kNames);
  const Linear plain(plain_builder, "l", 5, 3, {});
  initialize(plain_builder.params(), 1);
  const at::Tensor x = random_tensor({4, 5}, "x");
  EXPECT_TRUE(linear.forward(documents({4}), x).equal(plain.forward(documents({4}), x)));
  EXPECT_GT(linear.lora->a->value.abs().max().item<double>(), 0.0);
}

TEST(RmsNorm, HasRightGradients) {
  ParamBuilder builder(double_plan(), kNames);
  const RmsNorm norm(builder, "n", 5, 1e-5);
  randomize(builder.params());
  check_layer_gradients(builder.params(), random_tensor({4, 5}, "x"), documents({4}),
                        [&](const Context& c, const at::Tensor& x) { return norm.forward(c, x); });
}

TEST(LayerNorm, HasRightGradients) {
  ParamBuilder builder(double_plan(), kNames);
  const LayerNorm norm(builder, "n", 5, 1e-5);
  randomize(builder.params());
  check_layer_gradients(builder.params(), random_tensor({4, 5}, "x"), documents({4}),
                        [&](const Context& c, const at::Tensor& x) { return norm.forward(c, x); });
}

TEST(Mlp, HasRightGradientsWithBothGelus) {
  for (const Gelu gelu : {Gelu::kErf, Gelu::kTanh}) {
    ParamBuilder builder(double_plan(), kNames);
    const Mlp mlp(builder, "m.", {.in = 5, .hidden = 7, .out = 3, .gelu = gelu});
    randomize(builder.params());
    check_layer_gradients(builder.params(), random_tensor({4, 5}, "x"), documents({4}),
                          [&](const Context& c, const at::Tensor& x) { return mlp.forward(c, x); });
  }
}

TEST(GatedMlp, HasRightGradients) {
  ParamBuilder builder(double_plan(), kNames);
  const GatedMlp mlp(builder, "m", 5, 7, true, 0.02);
  randomize(builder.params());
  check_layer_gradients(builder.params(), random_tensor({4, 5}, "x"), documents({4}),
                        [&](const Context& c, const at::Tensor& x) { return mlp.forward(c, x); });
}

TEST(SelfAttention, HasRightGradientsOverPackedDocuments) {
  ParamBuilder builder(double_plan(), kNames);
  const SelfAttention attention(builder, "attention", 0, small_attention());
  randomize(builder.params());
  check_layer_gradients(builder.params(), random_tensor({7, 12}, "x"), documents({4, 1, 2}),
                        [&](const Context& c, const at::Tensor& x) { return attention.forward(c, x); });
}

TEST(SelfAttention, HasRightGradientsOnSeveralAxesOfPositions) {
  ParamBuilder builder(double_plan(), kNames);
  AttentionOptions options = small_attention();
  options.rope.sections = {1, 1, 1};
  const SelfAttention attention(builder, "attention", 0, options);
  randomize(builder.params());
  Context context = documents({4, 3});
  const at::Tensor line = context.position_ids, x = random_tensor({7, 12}, "x");
  const auto with = [&](const at::Tensor& positions) {
    context.position_ids = positions;
    context.rope = std::make_shared<ops::RopeTables>();
    return attention.forward(context, x);
  };
  EXPECT_TRUE(with(line).equal(with(line.expand({3, 7}))));
  const at::Tensor spread = at::stack({line, line.mul(2), line.remainder(2)});
  EXPECT_FALSE(with(line).allclose(with(spread)));
  check_layer_gradients(builder.params(), x, context,
                        [&](const Context& c, const at::Tensor& y) { return attention.forward(c, y); });
}

TEST(VisionAttention, HasRightGradientsAndSeesItsWholeWindow) {
  ParamBuilder builder(double_plan(), kNames);
  const VisionAttention attention(builder, "vision", 8, 2, 0.02);
  randomize(builder.params());
  const at::Tensor windows = test::cu_seqlens_of({3, 4}), angle = random_tensor({7, 2}, "angle");
  const ops::RopeTables rope{angle.cos(), angle.sin()};
  const at::Tensor x = random_tensor({7, 8}, "x");
  check_layer_gradients(builder.params(), x, {}, [&](const Context& c, const at::Tensor& y) {
    return attention.forward(c, y, windows, &rope);
  });
  at::Tensor changed = x.clone();
  changed[6].fill_(3.0);
  const at::Tensor before = attention.forward({}, x, windows, &rope);
  const at::Tensor after = attention.forward({}, changed, windows, &rope);
  EXPECT_TRUE(before.narrow(0, 0, 3).equal(after.narrow(0, 0, 3)));
  EXPECT_FALSE(before[3].allclose(after[3]));
}

TEST(SelfAttention, KeepsDocumentsApart) {
  ParamBuilder builder(double_plan(), kNames);
  const SelfAttention attention(builder, "attention", 0, small_attention());
  randomize(builder.params());
  const at::Tensor x = random_tensor({7, 12}, "x");
  const at::Tensor packed = attention.forward(documents({3, 4}), x);
  at::Tensor changed = x.clone();
  changed.narrow(0, 0, 3).copy_(random_tensor({3, 12}, "other"));
  EXPECT_TRUE(packed.narrow(0, 3, 4).equal(attention.forward(documents({3, 4}), changed).narrow(0, 3, 4)));
  EXPECT_TRUE(packed.narrow(0, 3, 4).allclose(
      attention.forward(documents({4}), x.narrow(0, 3, 4).contiguous()), 1e-12, 1e-12));
}

TEST(SelfAttention, SeesNoLaterToken) {
  ParamBuilder builder(double_plan(), kNames);
  const SelfAttention attention(builder, "attention", 0, small_attention());
  randomize(builder.params());
  const at::Tensor x = random_tensor({5, 12}, "x");
  at::Tensor changed = x.clone();
  changed.narrow(0, 3, 2).fill_(9.0);
  EXPECT_TRUE(attention.forward(documents({5}), x)
                  .narrow(0, 0, 3)
                  .equal(attention.forward(documents({5}), changed).narrow(0, 0, 3)));
}

TEST(SelfAttention, HandsKeysAndValuesToTheCache) {
  struct Recorder : AttentionCache {
    at::Tensor attend(std::int64_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                      const at::Tensor&, double) override {
      seen_layer = layer;
      keys = k;
      values = v;
      return q;
    }
    std::int64_t seen_layer = -1;
    at::Tensor keys, values;
  } recorder;
  ParamBuilder builder(double_plan(), kNames);
  const SelfAttention attention(builder, "attention", 5, small_attention());
  randomize(builder.params());
  Context context = documents({3});
  context.cache = &recorder;
  EXPECT_EQ(attention.forward(context, random_tensor({3, 12}, "x")).sizes(), (at::IntArrayRef{3, 12}));
  EXPECT_EQ(recorder.seen_layer, 5);
  EXPECT_EQ(recorder.keys.sizes(), (at::IntArrayRef{3, 2, 6}));
  EXPECT_EQ(recorder.values.sizes(), (at::IntArrayRef{3, 2, 6}));
}

TEST(Embedding, SumsTheGradientsOfARepeatedToken) {
  ParamBuilder builder(double_plan(), kNames);
  const Embedding embedding(builder, "e", 6, 3, 0.02);
  randomize(builder.params());
  AccumulateGrads sink;
  const at::Tensor ids = test::cu_seqlens_of({2, 0, 3}).to(at::kLong);  // 0, 2, 2, 5
  embedding.forward(documents({4}, &sink), ids).sum().backward();
  EXPECT_EQ(embedding.weight->grad[2][0].item<double>(), 2.0);
  EXPECT_EQ(embedding.weight->grad[5][1].item<double>(), 1.0);
  EXPECT_EQ(embedding.weight->grad[1].abs().sum().item<double>(), 0.0);
}

TEST(HeadCrossEntropy, HasRightGradientsAndCountsOnlyTargets) {
  ParamBuilder builder(double_plan(), kNames);
  const Embedding head(builder, "head", 11, 5, 0.02);
  randomize(builder.params());
  at::Tensor targets = test::cu_seqlens_of({3, 0, 4, 1}).to(at::kLong);  // 0, 3, 3, 7, 8
  targets[1] = -100;
  check_layer_gradients(builder.params(), random_tensor({5, 5}, "x"), documents({5}),
                        [&](const Context& c, const at::Tensor& x) {
                          return head_cross_entropy(c, head.weight, x, targets).view({1});
                        });
}

TEST(HeadCrossEntropy, GivesTheSameGradientWhenItIsKnownBefore) {
  ParamBuilder builder(double_plan(), kNames);
  const Embedding head(builder, "head", 11, 5, 0.02);
  randomize(builder.params());
  const at::Tensor targets = test::cu_seqlens_of({3, 0, 4, 1}).to(at::kLong);
  AccumulateGrads sink;
  const Context context = documents({5}, &sink);
  std::vector<at::Tensor> input_grads, weight_grads;
  for (const bool known : {false, true}) {
    clear_grads(builder.params(), false);
    const at::Tensor x = random_tensor({5, 5}, "x").requires_grad_(true);
    HeadLossOptions options;
    if (known) options.known_gradient = 0.2;
    head_cross_entropy(context, head.weight, x, targets, options).mul(0.2).backward();
    input_grads.push_back(x.grad());
    weight_grads.push_back(head.weight->grad);
  }
  EXPECT_TRUE(input_grads[0].allclose(input_grads[1], 1e-12, 1e-14));
  EXPECT_TRUE(weight_grads[0].allclose(weight_grads[1], 1e-12, 1e-14));
}

TEST(Dropout, DependsOnTheGlobalTokenOnly) {
  Context context = documents({6});
  context.training = true;
  const at::Tensor x = random_tensor({6, 50}, "x");
  const at::Tensor whole = dropout(context, x, 0.5, "here");
  EXPECT_NEAR(whole.eq(0).to(at::kDouble).mean().item<double>(), 0.5, 0.1);
  context.random.token_offset = 4;
  EXPECT_TRUE(whole.narrow(0, 4, 2).equal(dropout(context, x.narrow(0, 4, 2), 0.5, "here")));
  EXPECT_FALSE(whole.narrow(0, 4, 2).equal(dropout(context, x.narrow(0, 4, 2), 0.5, "there")));
  context.training = false;
  EXPECT_TRUE(dropout(context, x, 0.5, "here").is_same(x));
}

}  // namespace
}  // namespace loongforge
