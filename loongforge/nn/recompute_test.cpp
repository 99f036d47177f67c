#include "loongforge/nn/recompute.h"

#include <ATen/ops/add.h>
#include <gtest/gtest.h>

#include "loongforge/nn/attention_block.h"
#include "loongforge/nn/gated_mlp.h"
#include "loongforge/nn/rms_norm.h"
#include "loongforge/nn/test_support.h"

namespace loongforge {
namespace {

const NameMap kNames(std::vector<std::pair<std::string, std::string>>{{"a.q.weight", "q_proj.weight"},
                                                                      {"m.up.weight", "up_proj.weight"},
                                                                      {"a.k.weight", "k.weight"},
                                                                      {"a.v.weight", "v.weight"},
                                                                      {"a.o.weight", "o.weight"},
                                                                      {"m.gate.weight", "gate.weight"},
                                                                      {"m.down.weight", "down.weight"}});

AttentionOptions options() {
  AttentionOptions out;
  out.channels = 16;
  out.heads = 4;
  out.kv_heads = 2;
  out.head_dim = 4;
  return out;
}

struct Block final : Segment {
  explicit Block(ParamBuilder& builder)
      : norm(builder, "n", 16, 1e-5),
        attention(builder, "a", 0, options()),
        mlp(builder, "m", 16, 24, false, 0.02) {}
  Flow forward(const Context& context, Flow flow) const override {
    ++calls;
    const at::Tensor x = flow.at("hidden");
    const at::Tensor y = at::add(x, attention.forward(context, norm.forward(context, x)));
    return {{"hidden", at::add(y, mlp.forward(context, y))}};
  }
  bool is_layer() const override { return true; }
  bool has_trainable() const override { return true; }
  RmsNorm norm;
  SelfAttention attention;
  GatedMlp mlp;
  mutable int calls = 0;
};

struct Outcome {
  at::Tensor output, input_grad;
  std::vector<at::Tensor> grads;
  int calls = 0;
};

Outcome run(RecomputePolicy::Mode mode, bool input_needs_grad, const std::optional<LoraOptions>& lora) {
  ParamPlan plan;
  plan.lora = lora;
  ParamBuilder builder(plan, kNames);
  const Block block(builder);
  test::randomize(builder.params());
  AccumulateGrads sink;
  Context context = test::documents({5, 3}, &sink);
  context.training = true;
  context.recompute.mode = mode;
  const at::Tensor x = test::random_tensor({8, 16}, "x", at::kFloat).requires_grad_(input_needs_grad);
  Flow flow = run_segment(block, context, {{"hidden", x}});
  flow = run_segment(block, context, std::move(flow));
  const at::Tensor w = test::random_tensor({8, 16}, "w", at::kFloat);
  flow.at("hidden").mul(w).sum().backward();
  Outcome result{flow.at("hidden").detach(), x.grad(), {}, block.calls};
  for (const ParamRef& param : builder.params()) {
    EXPECT_EQ(param->has_grad, param->trainable) << param->spec.name;
    if (param->has_grad) result.grads.push_back(param->grad);
  }
  return result;
}

void expect_same(const Outcome& a, const Outcome& b) {
  EXPECT_TRUE(a.output.equal(b.output));
  ASSERT_EQ(a.grads.size(), b.grads.size());
  for (std::size_t i = 0; i < a.grads.size(); ++i) EXPECT_TRUE(a.grads[i].equal(b.grads[i])) << i;
}

TEST(Recompute, GivesBitwiseTheSameGradients) {
  const Outcome plain = run(RecomputePolicy::Mode::kNone, true, std::nullopt);
  const Outcome again = run(RecomputePolicy::Mode::kLayer, true, std::nullopt);
  expect_same(plain, again);
  EXPECT_TRUE(plain.input_grad.equal(again.input_grad));
  EXPECT_EQ(plain.calls, 2);
  EXPECT_EQ(again.calls, 4);
}

TEST(Recompute, TrainsAdaptersBehindAFrozenInput) {
  const LoraOptions lora{4, 8.0, 0.1, {"q_proj", "up_proj"}};
  const Outcome plain = run(RecomputePolicy::Mode::kNone, false, lora);
  const Outcome again = run(RecomputePolicy::Mode::kLayer, false, lora);
  expect_same(plain, again);
  ASSERT_EQ(again.grads.size(), 4U);
  for (const at::Tensor& grad : again.grads) EXPECT_GT(grad.abs().max().item<float>(), 0.0F);
}

TEST(Recompute, KeepsNothingWithoutGradients) {
  ParamBuilder builder(ParamPlan{}, kNames);
  const Block block(builder);
  test::randomize(builder.params());
  Context context = test::documents({8});
  context.recompute.mode = RecomputePolicy::Mode::kLayer;
  const at::NoGradGuard no_grad;
  run_segment(block, context, {{"hidden", test::random_tensor({8, 16}, "x", at::kFloat)}});
  EXPECT_EQ(block.calls, 1);
}

}  // namespace
}  // namespace loongforge
