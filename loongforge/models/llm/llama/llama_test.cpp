#include <gtest/gtest.h>

#include "loongforge/base/error.h"
#include "loongforge/models/card.h"
#include "loongforge/models/llm/llama/config.h"
#include "loongforge/nn/head_loss.h"
#include "loongforge/nn/test_support.h"

namespace loongforge {
namespace {

Json tiny() {
  Json config = preset_config("llama-tiny");
  config["vocab_size"] = 40;
  config["hidden_size"] = 24;
  config["intermediate_size"] = 32;
  return config;
}

std::unique_ptr<Model> tiny_model(const ParamPlan& plan, const Json& config = tiny()) {
  std::unique_ptr<Model> model = build_model(config, plan, "test");
  initialize(model->params(), 5);
  return model;
}

at::Tensor some_ids(std::int64_t n) {
  return test::random_tensor({n}, "ids").abs().mul(1e4).to(at::kLong).remainder(40);
}

// The message of the CheckpointError for the tiny configuration with `key` set to `value`.
std::string refusal(const std::string& key, const Json& value) {
  Json config = tiny();
  config[key] = value;
  try {
    llama::read_config(config, "config.json");
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return "accepted";
}

void backward(const Model& model, GradSink& sink, const at::Tensor& ids,
              const std::vector<std::int64_t>& lengths,
              RecomputePolicy::Mode mode = RecomputePolicy::Mode::kNone) {
  Context context = test::documents(lengths, &sink);
  context.training = true;
  context.recompute.mode = mode;
  const at::Tensor hidden = model.hidden(context, ids);
  head_cross_entropy(context, model.head(), hidden, ids.roll(-1)).backward();
}

TEST(LlamaConfig, NamesTheKeyThatItRefuses) {
  EXPECT_EQ(
      refusal("hidden_act", "gelu"),
      "config.json: key 'hidden_act': expected null or \"silu\" (the gated MLP's activation), got \"gelu\"");
  EXPECT_NE(refusal("sliding_window", 64).find("'sliding_window'"), std::string::npos);
  EXPECT_NE(refusal("num_key_value_heads", 4).find("a divisor of num_attention_heads 6, got 4"),
            std::string::npos);
  EXPECT_NE(refusal("hidden_size", "many").find("'hidden_size': expected a whole number"), std::string::npos);
  EXPECT_NE(refusal("rms_norm_eps", -1.0).find("'rms_norm_eps'"), std::string::npos);
  EXPECT_NE(refusal("head_dim", 5).find("'head_dim'"), std::string::npos);
  EXPECT_NE(refusal("num_hidden_layers", nullptr).find("'num_hidden_layers'"), std::string::npos);
  EXPECT_NE(refusal("attention_dropout", 0.1).find("'attention_dropout'"), std::string::npos);
  EXPECT_NE(refusal("quantization_config", Json::object({{"bits", 4}})).find("'quantization_config'"),
            std::string::npos);
}

TEST(LlamaConfig, ReadsBothFormsOfRotaryScaling) {
  const Json scaling = {{"rope_type", "llama3"},
                        {"factor", 8.0},
                        {"low_freq_factor", 1.0},
                        {"high_freq_factor", 4.0},
                        {"original_max_position_embeddings", 64}};
  Json old_form = tiny(), new_form = tiny();
  old_form["rope_theta"] = 500000.0;
  old_form["rope_scaling"] = scaling;
  new_form.erase("rope_theta");
  new_form["rope_parameters"] = scaling;
  new_form["rope_parameters"]["rope_theta"] = 500000.0;
  for (const Json& config : {old_form, new_form}) {
    const RopeOptions rope = llama::read_config(config, "config.json").rope;
    EXPECT_EQ(rope.theta, 500000.0);
    ASSERT_TRUE(rope.llama3);
    EXPECT_EQ(rope.llama3->original_max_positions, 64.0);
  }
}

TEST(LlamaConfig, RefusesOtherRotaryScaling) {
  const std::string message = refusal("rope_scaling", {{"type", "yarn"}, {"factor", 4.0}});
  EXPECT_EQ(message,
            "config.json: rope_scaling: key 'type': expected default, linear or llama3, got \"yarn\"");
}

TEST(Registry, NamesTheFamiliesItKnows) {
  try {
    build_model(Json{{"model_type", "gpt9"}}, {}, "config.json");
    FAIL();
  } catch (const CheckpointError& error) {
    EXPECT_NE(std::string(error.what()).find("expected one of llama, "), std::string::npos) << error.what();
  }
}

TEST(Registry, FindsByArchitectureWhereTheTypeIsMissing) {
  Json config = tiny();
  config.erase("model_type");
  EXPECT_EQ(model_registry().find(config, "config.json").family, "llama");
}

TEST(Presets, HaveTheSizesOfTheReleasedModel) {
  ParamPlan plan;
  plan.train = false;
  const auto model = build_model(preset_config("smollm2-135m"), plan, "smollm2-135m");
  EXPECT_EQ(model->parameter_count(), 134515008);
  EXPECT_EQ(model->info().vocab_size, 49152);
}

TEST(Presets, ListThemselvesForAnUnknownName) {
  try {
    preset_config("smollm3");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("smollm2-135m"), std::string::npos) << error.what();
  }
}

TEST(LlamaModel, TiesTheHeadToTheEmbedding) {
  const auto tied = tiny_model({});
  EXPECT_EQ(tied->head()->spec.name, "embedding.weight");
  Json config = tiny();
  config["tie_word_embeddings"] = false;
  const auto untied = tiny_model({}, config);
  EXPECT_EQ(untied->head()->spec.name, "head.weight");
  EXPECT_EQ(untied->parameter_count() - tied->parameter_count(), 40 * 24);
}

TEST(LlamaModel, StartsAtTheLossOfAnEvenGuess) {
  const auto model = tiny_model({});
  const at::NoGradGuard no_grad;
  const Context context = test::documents({30});
  const at::Tensor ids = some_ids(30);
  const double sum =
      head_cross_entropy(context, model->head(), model->hidden(context, ids), ids.roll(-1)).item<double>();
  EXPECT_NEAR(sum / 30.0, std::log(40.0), 0.1);
}

TEST(LlamaModel, GivesPackedDocumentsTheGradientsOfSeparateRuns) {
  ParamPlan plan;
  plan.compute = at::kDouble;
  const auto model = tiny_model(plan);
  const at::Tensor ids = some_ids(12);
  const auto targets = [&](std::int64_t begin, std::int64_t length) {
    return ids.narrow(0, begin, length).roll(-1);
  };
  const auto step = [&](AccumulateGrads& sink, const std::vector<std::int64_t>& lengths, const at::Tensor& in,
                        const at::Tensor& out) {
    const Context context = test::documents(lengths, &sink);
    head_cross_entropy(context, model->head(), model->hidden(context, in), out).backward();
  };
  AccumulateGrads sink;
  step(sink, {5}, ids.narrow(0, 0, 5), targets(0, 5));
  step(sink, {7}, ids.narrow(0, 5, 7), targets(5, 7));
  std::vector<at::Tensor> apart;
  for (const ParamRef& param : model->params()) apart.push_back(param->grad.clone());
  clear_grads(model->params(), true);
  at::Tensor both = ids.clone();
  both.narrow(0, 0, 5).copy_(targets(0, 5));
  both.narrow(0, 5, 7).copy_(targets(5, 7));
  step(sink, {5, 7}, ids, both);
  for (std::size_t i = 0; i < apart.size(); ++i) {
    EXPECT_TRUE(apart[i].allclose(model->params()[i]->grad, 1e-10, 1e-12)) << model->params()[i]->spec.name;
  }
}

TEST(LlamaModel, RecomputesToBitwiseTheSameGradients) {
  const auto model = tiny_model({});
  AccumulateGrads sink;
  const at::Tensor ids = some_ids(9);
  backward(*model, sink, ids, {4, 5});
  std::vector<at::Tensor> plain;
  for (const ParamRef& param : model->params()) plain.push_back(param->grad.clone());
  clear_grads(model->params(), true);
  backward(*model, sink, ids, {4, 5}, RecomputePolicy::Mode::kLayer);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(plain[i].equal(model->params()[i]->grad)) << i;
}

TEST(LlamaModel, TrainsAdaptersOnlyAndAlsoUnderRecompute) {
  ParamPlan plan;
  plan.lora = LoraOptions{4, 8.0, 0.0, {"all-linear"}};
  const auto model = tiny_model(plan);
  AccumulateGrads sink;
  backward(*model, sink, some_ids(9), {4, 5}, RecomputePolicy::Mode::kLayer);
  std::int64_t adapters = 0;
  for (const ParamRef& param : model->params()) {
    EXPECT_EQ(param->has_grad, param->spec.adapter) << param->spec.name;
    if (!param->spec.name.ends_with(".lora_b")) continue;
    ++adapters;
    EXPECT_GT(param->grad.abs().max().item<float>(), 0.0F) << param->spec.name;
  }
  EXPECT_EQ(adapters, 2 * 7);
}

TEST(LlamaModel, RunsInBfloat16WithFloat32Gradients) {
  ParamPlan plan;
  plan.compute = at::kBFloat16;
  const auto model = tiny_model(plan);
  AccumulateGrads sink;
  backward(*model, sink, some_ids(9), {4, 5});
  for (const ParamRef& param : model->params()) {
    ASSERT_TRUE(param->has_grad) << param->spec.name;
    EXPECT_EQ(param->grad.scalar_type(), at::kFloat);
    EXPECT_EQ(param->value.scalar_type(), at::kBFloat16);
    EXPECT_EQ(param->master.scalar_type(), at::kFloat);
  }
}

TEST(LlamaModel, NarrowsNothingInFloat64) {
  ParamPlan plan;
  plan.compute = at::kDouble;
  const auto model = tiny_model(plan);
  AccumulateGrads sink;
  backward(*model, sink, some_ids(5), {5});
  for (const ParamRef& param : model->params()) EXPECT_EQ(param->grad.scalar_type(), at::kDouble);
  const at::Tensor ids = some_ids(5);
  EXPECT_EQ(model->logits(model->hidden(test::documents({5}), ids)).scalar_type(), at::kDouble);
}

}  // namespace
}  // namespace loongforge
