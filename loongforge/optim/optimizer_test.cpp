#include "loongforge/optim/optimizer.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

ParamRef make_param(const std::string& name, std::vector<std::int64_t> shape, double value,
                    at::ScalarType compute, DecayGroup decay = DecayGroup::kDecay) {
  auto param = std::make_shared<Param>();
  param->spec.name = name;
  param->spec.shape = shape;
  param->spec.decay = decay;
  param->value = at::full(shape, value, compute);
  param->master = compute == at::kFloat ? param->value : at::full(shape, value, at::kFloat);
  param->filled = true;
  return param;
}

void set_grad(Param& param, double value) {
  param.grad = at::full(param.spec.shape, value, at::kFloat);
  param.has_grad = true;
}

double first(const at::Tensor& tensor) {
  return tensor.flatten()[0].item<double>();
}

TEST(AdamW, MakesManyTinyUpdatesInBfloat16) {
  OptimConfig config;
  config.weight_decay = 0;
  const ParamRef param = make_param("norm.weight", {8}, 1.0, at::kBFloat16, DecayGroup::kNoDecay);
  AdamW optimizer(config, {param});
  for (int i = 0; i < 100; ++i) {
    set_grad(*param, 1.0);
    optimizer.step(6e-4, 1.0);
  }
  EXPECT_NEAR(first(param->master), 0.94, 1e-4);
  EXPECT_NEAR(first(param->value), 0.94, 4e-3);
}

TEST(AdamW, DecaysMatricesInBfloat16AndLeavesNormsAlone) {
  OptimConfig config;
  config.weight_decay = 0.01;
  const ParamRef matrix = make_param("w", {2, 4}, 1.0, at::kBFloat16);
  const ParamRef norm = make_param("n", {4}, 1.0, at::kBFloat16, DecayGroup::kNoDecay);
  AdamW optimizer(config, {matrix, norm});
  for (int i = 0; i < 10000; ++i) {
    set_grad(*matrix, 0.0);
    set_grad(*norm, 0.0);
    optimizer.step(1e-4, 1.0);
  }
  EXPECT_NEAR(first(matrix->master), 0.99, 3e-4);
  EXPECT_EQ(first(norm->master), 1.0);
}

TEST(AdamW, NormIsTakenOverAllGradients) {
  const ParamRef a = make_param("a", {1}, 0.0, at::kFloat);
  const ParamRef b = make_param("b", {1}, 0.0, at::kFloat);
  AdamW optimizer(OptimConfig{}, {a, b});
  set_grad(*a, 3.0);
  set_grad(*b, 4.0);
  EXPECT_DOUBLE_EQ(optimizer.grad_norm(), 5.0);
  EXPECT_DOUBLE_EQ(clip_factor(5.0, 1.0), 0.2);
  EXPECT_DOUBLE_EQ(clip_factor(5.0, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(clip_factor(0.5, 1.0), 1.0);
}

TEST(AdamW, NormIgnoresStaleGradients) {
  const ParamRef a = make_param("a", {1}, 0.0, at::kFloat);
  AdamW optimizer(OptimConfig{}, {a});
  set_grad(*a, 3.0);
  a->has_grad = false;
  EXPECT_EQ(optimizer.grad_norm(), 0.0);
}

TEST(AdamW, ParameterWithoutGradientStillDecays) {
  OptimConfig config;
  config.weight_decay = 0.5;
  const ParamRef param = make_param("w", {1, 1}, 1.0, at::kFloat);
  AdamW optimizer(config, {param});
  optimizer.step(0.1, 1.0);
  EXPECT_NEAR(first(param->value), 0.95, 1e-6);
}

TEST(AdamW, LeavesFrozenParametersOut) {
  const ParamRef frozen = make_param("frozen", {2}, 1.0, at::kFloat);
  frozen->trainable = false;
  const ParamRef trained = make_param("trained", {3}, 1.0, at::kFloat);
  const AdamW optimizer(OptimConfig{}, {frozen, trained});
  EXPECT_EQ(optimizer.trained_elements(), 3);
  EXPECT_EQ(optimizer.state().size(), 3U);
  EXPECT_THROW(AdamW(OptimConfig{}, {frozen}), ConfigError);
}

TEST(AdamW, StateRestoresTheExactCourse) {
  const auto run = [](AdamW& optimizer, Param& param, int from, int to) {
    for (int i = from; i < to; ++i) {
      set_grad(param, std::sin(i));
      optimizer.step(1e-2, 1.0);
    }
  };
  const ParamRef whole = make_param("w", {3}, 1.0, at::kBFloat16);
  AdamW unbroken(OptimConfig{}, {whole});
  run(unbroken, *whole, 0, 5);
  const ParamRef again = make_param("w", {3}, 7.0, at::kBFloat16);
  AdamW resumed(OptimConfig{}, {again});
  const auto from = unbroken.state(), to = resumed.state();
  for (std::size_t i = 0; i < to.size(); ++i) to[i].tensor.copy_(from[i].tensor);
  resumed.set_updates(unbroken.updates());
  resumed.refresh_values();
  EXPECT_TRUE(again->value.equal(whole->value));
  run(unbroken, *whole, 5, 9);
  run(resumed, *again, 5, 9);
  EXPECT_TRUE(again->master.equal(whole->master));
  EXPECT_TRUE(again->value.equal(whole->value));
}

}  // namespace
}  // namespace loongforge
