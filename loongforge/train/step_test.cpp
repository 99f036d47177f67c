#include "loongforge/train/step.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loongforge/data/data_config.h"
#include "loongforge/models/card.h"
#include "loongforge/train/evaluate.h"
#include "loongforge/train/tiny_run.h"

namespace loongforge {
namespace {

class StepTest : public ::testing::Test {
 protected:
  StepTest() { task_ = make_task("pretrain"); }

  static std::unique_ptr<Model> make_model(at::ScalarType compute = at::kFloat) {
    ParamPlan plan;
    plan.compute = compute;
    std::unique_ptr<Model> model = build_model(preset_config("llama-tiny"), plan, "test");
    initialize(model->params(), 3);
    return model;
  }

  StepBatches batches(std::int64_t micro_batch_size, std::int64_t step = 0) const {
    DataConfig data;
    data.train = {(tiny_.root() / "train").string()};
    const auto source = make_pretrain_source(
        data, {.shape = {.seq_length = 32, .micro_batch_size = micro_batch_size, .global_batch_size = 8}});
    return read_step(*source, step);
  }

  // One step at rate 0 (or `lr`), so that different splits start from the same weights.
  StepResult step(Model& model, StepBatches batches, double lr = 0, RecomputePolicy recompute = {}) const {
    AdamW optimizer(OptimConfig{}, model.params());
    return train_step(model, *task_, optimizer, std::move(batches),
                      {.lr = lr, .clip_norm = 1, .recompute = recompute, .rows_per_micro_batch = 1});
  }

  TinyRun tiny_;
  std::unique_ptr<Task> task_;
};

TEST_F(StepTest, LossAtRandomWeightsIsThatOfGuessing) {
  const auto model = make_model();
  EXPECT_NEAR(step(*model, batches(1)).loss, std::log(512.0), 0.1);
}

TEST_F(StepTest, LossAndNormDoNotDependOnTheSplit) {
  const auto model = make_model(at::kDouble);
  const StepResult whole = step(*model, batches(8));
  for (const std::int64_t micro : {1, 2, 4}) {
    const StepResult parts = step(*model, batches(micro));
    EXPECT_NEAR(parts.loss, whole.loss, 1e-10 * whole.loss) << micro;
    EXPECT_NEAR(parts.grad_norm, whole.grad_norm, 1e-10 * whole.grad_norm) << micro;
    EXPECT_EQ(parts.weight, whole.weight);
  }
}

TEST_F(StepTest, MicroBatchesWithFewTargetsWeighLittle) {
  const auto model = make_model(at::kDouble);
  StepBatches split = batches(4), whole = batches(8);
  for (StepBatches* both : {&split, &whole}) {
    // All but two labels of the first four rows are ignored.
    at::Tensor labels = both->micro_batches[0].tensors.at("labels");
    const std::int64_t counted = labels.slice(0, 2, 128).ne(kIgnoredLabel).sum().item<std::int64_t>();
    labels.slice(0, 2, 128).fill_(kIgnoredLabel);
    both->micro_batches[0].counts.trained -= counted;
  }
  const StepResult a = step(*model, std::move(split)), b = step(*model, std::move(whole));
  EXPECT_NEAR(a.loss, b.loss, 1e-10 * b.loss);
  EXPECT_NEAR(a.grad_norm, b.grad_norm, 1e-10 * b.grad_norm);
}

TEST_F(StepTest, TokenWeightsScaleTheirTokens) {
  const auto model = make_model(at::kDouble);
  StepBatches split = batches(4), whole = batches(8);
  const auto weigh = [](Batch& batch, std::int64_t first) {
    at::Tensor weights = at::full({batch.at("labels").size(0)}, 1.0, at::kFloat);
    for (std::int64_t i = 0; i < weights.size(0); ++i) {
      weights[i] = static_cast<double>((first + i) % 5) * 0.5;
    }
    batch.tensors["loss_weights"] = weights;
  };
  weigh(split.micro_batches[0], 0);
  weigh(split.micro_batches[1], 4 * 32);
  weigh(whole.micro_batches[0], 0);
  const StepResult a = step(*model, std::move(split)), b = step(*model, std::move(whole));
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_NEAR(a.loss, b.loss, 1e-10 * b.loss);
  EXPECT_NEAR(a.grad_norm, b.grad_norm, 1e-10 * b.grad_norm);
}

TEST_F(StepTest, RecomputeChangesNothing) {
  const auto model = make_model();
  const StepResult plain = step(*model, batches(4));
  const StepResult again = step(*model, batches(4), 0, {.mode = RecomputePolicy::Mode::kLayer});
  EXPECT_EQ(plain.loss, again.loss);
  EXPECT_EQ(plain.grad_norm, again.grad_norm);
}

TEST_F(StepTest, StepWithoutTargetsUpdatesNothing) {
  const auto model = make_model();
  StepBatches empty = batches(8);
  empty.micro_batches[0].tensors.at("labels").fill_(kIgnoredLabel);
  empty.micro_batches[0].counts.trained = 0;
  const at::Tensor before = model->head()->value.detach().clone();
  EXPECT_EQ(step(*model, std::move(empty), 1.0).kind, StepResult::Kind::kNoTargets);
  EXPECT_TRUE(model->head()->value.equal(before));
}

TEST_F(StepTest, NamesWhatIsNotFiniteAndUpdatesNothing) {
  const auto model = make_model();
  Param& norm = *model->find("norm.weight");
  norm.value.detach()[0] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor before = model->head()->value.detach().clone();
  const StepResult result = step(*model, batches(4, 2), 1.0);
  EXPECT_EQ(result.kind, StepResult::Kind::kNotFinite);
  EXPECT_NE(result.reason.find("step 3, micro-batch 1 of 2"), std::string::npos) << result.reason;
  EXPECT_NE(result.reason.find("every token"), std::string::npos) << result.reason;
  EXPECT_TRUE(model->head()->value.equal(before));
  for (const ParamRef& param : model->params()) EXPECT_FALSE(param->has_grad);
}

TEST_F(StepTest, BlameNamesTheDocument) {
  const Batch batch = batches(8).micro_batches[0];
  at::Tensor hidden = at::full({8 * 32, 4}, 1.0);
  const std::int64_t second = batch.at("cu_seqlens")[1].item<std::int64_t>();
  hidden[second + 1][2] = std::numeric_limits<float>::infinity();
  const std::string text = task_->blame({{"hidden", hidden}}, batch);
  EXPECT_NE(text.find("token 1 of document 1"), std::string::npos) << text;
}

TEST_F(StepTest, GradientMemoryIsFreedAfterTheStep) {
  const auto model = make_model();
  step(*model, batches(4));
  for (const ParamRef& param : model->params()) EXPECT_FALSE(param->grad.defined()) << param->spec.name;
}

TEST_F(StepTest, AdaptersLearnAndFrozenWeightsStayBitwise) {
  std::vector<double> norms;
  for (const auto mode : {RecomputePolicy::Mode::kNone, RecomputePolicy::Mode::kLayer}) {
    ParamPlan plan;
    plan.lora = LoraOptions{.rank = 4, .targets = {"all-linear"}};
    const std::unique_ptr<Model> model = build_model(preset_config("llama-tiny"), plan, "test");
    initialize(model->params(), 3);
    std::vector<at::Tensor> before;
    for (const ParamRef& param : model->params()) before.push_back(param->value.detach().clone());
    AdamW optimizer(OptimConfig{}, model->params());
    for (std::int64_t i = 0; i < 3; ++i) {
      norms.push_back(train_step(*model, *task_, optimizer, batches(4, i),
                                 {.lr = 1e-2, .clip_norm = 1, .recompute = {.mode = mode}})
                          .grad_norm);
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      const Param& param = *model->params()[i];
      EXPECT_EQ(param.value.equal(before[i]), !param.trainable) << param.spec.name;
    }
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(norms[i], norms[i + 3]);
}

TEST_F(StepTest, HeldOutLossIsTheMeanOverAllCountedTokens) {
  const auto model = make_model(at::kDouble);
  DataConfig data;
  data.train = {"unused"};
  data.eval = {(tiny_.root() / "heldout").string()};
  std::vector<EvalResult> results;
  for (const std::int64_t micro : {1, 3}) {
    const auto source = make_pretrain_eval_source(
        data, {.shape = {.seq_length = 32, .micro_batch_size = micro, .global_batch_size = micro}});
    results.push_back(evaluate(*model, *task_, *source));
  }
  EXPECT_EQ(results[0].weight, results[1].weight);
  EXPECT_NEAR(results[0].loss, results[1].loss, 1e-10);
}

}  // namespace
}  // namespace loongforge
