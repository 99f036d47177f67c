#include "loongforge/nn/param.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "loongforge/base/error.h"
#include "loongforge/nn/grad_sink.h"

namespace loongforge {
namespace {

const NameMap kNames(std::vector<std::pair<std::string, std::string>>{{"a.{}.weight", "m.{}.a_proj.weight"}});

ParamSpec spec(const std::string& name, std::vector<std::int64_t> shape,
               Init init = {Init::Kind::kNormal, 0.5}) {
  ParamSpec out;
  out.name = name;
  out.shape = std::move(shape);
  out.init = init;
  return out;
}

TEST(ParamBuilder, SharesTheMastersMemoryInFloat32) {
  ParamBuilder builder(ParamPlan{}, kNames);
  const ParamRef p = builder.add(spec("w", {3}));
  assign(*p, at::full({3}, 2.0));
  EXPECT_TRUE(p->master.is_alias_of(p->value));
  EXPECT_EQ(p->value[1].item<float>(), 2.0F);
  EXPECT_TRUE(p->value.requires_grad());
}

TEST(ParamBuilder, KeepsAFloat32MasterBesideBfloat16) {
  ParamPlan plan;
  plan.compute = at::kBFloat16;
  ParamBuilder builder(plan, kNames);
  const ParamRef p = builder.add(spec("w", {1}));
  assign(*p, at::full({1}, 1.0009765625));
  EXPECT_EQ(p->master.item<float>(), 1.0009765625F);
  EXPECT_EQ(p->value.item<float>(), 1.0F);
}

TEST(ParamBuilder, WidensTheMasterToFloat64) {
  ParamPlan plan;
  plan.compute = at::kDouble;
  ParamBuilder builder(plan, kNames);
  EXPECT_EQ(builder.add(spec("w", {1}))->master.scalar_type(), at::kDouble);
}

TEST(ParamBuilder, FreezesByNameAndWithoutTraining) {
  ParamPlan plan;
  plan.components = {{.prefix = "embedding", .frozen = true}};
  ParamBuilder builder(plan, kNames);
  const ParamRef frozen = builder.add(spec("embedding.weight", {2}));
  EXPECT_FALSE(frozen->trainable);
  EXPECT_FALSE(frozen->master.defined());
  EXPECT_TRUE(builder.add(spec("w", {2}))->trainable);
  plan.train = false;
  EXPECT_FALSE(ParamBuilder(plan, kNames).add(spec("w", {2}))->trainable);
}

TEST(ParamBuilder, GivesEachComponentItsOwnHabits) {
  ParamPlan plan;
  plan.compute = at::kBFloat16;
  plan.components = {{.prefix = "vision.", .rate = 0.1, .compute = at::kFloat},
                     {.prefix = "language.", .lora = LoraOptions{2, 4.0, 0.0, {"all-linear"}}}};
  const NameMap names({{"vision.{}", "{}"}, {"language.a.{}.weight", "a.{}.weight"}, {"other", "other"}});
  ParamBuilder builder(plan, names);
  {
    const ParamBuilder::Scope scope(builder, "vision.");
    const ParamRef tower = builder.add(spec("1", {2}));
    EXPECT_EQ(tower->spec.name, "vision.1");
    EXPECT_EQ(tower->value.scalar_type(), at::kFloat);
    EXPECT_EQ(tower->rate, 0.1);
    EXPECT_TRUE(tower->trainable);
  }
  {
    const ParamBuilder::Scope scope(builder, "language.");
    EXPECT_NE(builder.lora_target("a.0"), nullptr);
    const ParamRef base = builder.add(spec("a.0.weight", {2}));
    EXPECT_FALSE(base->trainable);
    EXPECT_EQ(base->value.scalar_type(), at::kBFloat16);
  }
  EXPECT_TRUE(builder.add(spec("other", {2}))->trainable);
  EXPECT_TRUE(builder.any_trainable(2));
  EXPECT_FALSE(builder.any_trainable(3));
}

TEST(ParamBuilder, RefusesANameTwice) {
  ParamBuilder builder(ParamPlan{}, kNames);
  builder.add(spec("w", {2}));
  EXPECT_THROW(builder.add(spec("w", {2})), InternalError);
}

TEST(ParamBuilder, RefusesSectionsThatDoNotAddUp) {
  ParamBuilder builder(ParamPlan{}, kNames);
  ParamSpec wrong = spec("w", {8});
  wrong.sections = {{{4, 2, Placement::kTensorSplit}}};
  EXPECT_THROW(builder.add(wrong), InternalError);
}

TEST(ParamBuilder, NamesLoraTargetsThatMeetNothing) {
  ParamPlan plan;
  plan.lora = LoraOptions{};
  plan.lora->targets = {"a_proj", "b_proj"};
  ParamBuilder builder(plan, kNames);
  EXPECT_NE(builder.lora_target("a.0"), nullptr);
  try {
    builder.check_targets_met();
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("'b_proj'"), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find("'a_proj'"), std::string::npos) << error.what();
  }
}

TEST(Initialize, DependsOnSeedNameAndIndexOnly) {
  ParamBuilder one(ParamPlan{}, kNames), two(ParamPlan{}, kNames);
  const ParamRef a = one.add(spec("w", {70000}));
  two.add(spec("v", {5}));
  const ParamRef b = two.add(spec("w", {70000}));
  initialize(one.params(), 3);
  initialize(two.params(), 3);
  EXPECT_TRUE(a->value.equal(b->value));
  initialize(two.params(), 4);
  EXPECT_FALSE(a->value.equal(b->value));
}

TEST(Initialize, HasTheStatedMoments) {
  ParamBuilder builder(ParamPlan{}, kNames);
  const ParamRef normal = builder.add(spec("n", {100000}));
  const ParamRef uniform = builder.add(spec("u", {100000}, {Init::Kind::kUniform, 0.3}));
  initialize(builder.params(), 1);
  EXPECT_NEAR(normal->value.mean().item<double>(), 0.0, 0.01);
  EXPECT_NEAR(normal->value.std().item<double>(), 0.5, 0.01);
  EXPECT_LE(uniform->value.abs().max().item<double>(), 0.3);
  EXPECT_NEAR(uniform->value.std().item<double>(), 0.3 / std::sqrt(3.0), 0.005);
}

TEST(GradSink, SumsInFloat32BesideBfloat16) {
  ParamPlan plan;
  plan.compute = at::kBFloat16;
  ParamBuilder builder(plan, kNames);
  const ParamRef p = builder.add(spec("w", {2}));
  AccumulateGrads sink;
  sink.add(*p, at::full({2}, 1.0));
  sink.add(*p, at::full({2}, 1.0F / 4096));
  EXPECT_EQ(p->grad.scalar_type(), at::kFloat);
  EXPECT_EQ(p->grad[0].item<float>(), 1.0F + 1.0F / 4096);
}

TEST(GradSink, OverwritesKeptMemoryAtTheFirstPart) {
  ParamBuilder builder(ParamPlan{}, kNames);
  const ParamRef p = builder.add(spec("w", {2}));
  AccumulateGrads sink;
  sink.add(*p, at::full({2}, 5.0));
  const void* memory = p->grad.const_data_ptr();
  clear_grads(builder.params(), true);
  EXPECT_FALSE(p->has_grad);
  sink.add(*p, at::full({2}, 1.0));
  EXPECT_EQ(p->grad[0].item<float>(), 1.0F);
  EXPECT_EQ(p->grad.const_data_ptr(), memory);
}

}  // namespace
}  // namespace loongforge
