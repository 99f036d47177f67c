#include "loongforge/train/run.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loongforge/checkpoint/hf_save.h"
#include "loongforge/checkpoint/run_folder.h"
#include "loongforge/formats/safetensors.h"
#include "loongforge/models/card.h"
#include "loongforge/train/tiny_run.h"

namespace loongforge {
namespace {

RunOutcome train(const RunConfig& config, bool resume = false, std::int64_t stop_after = 0) {
  return run_training(config, {.resume = resume, .quiet = true, .stop_after = stop_after});
}

bool same_file(const fs::path& a, const fs::path& b) {
  return read_file(a) == read_file(b);
}

// Every later loss, rate and norm, and the last weights and moments of two runs, bit for bit.
void expect_same_run(const fs::path& a, const fs::path& b, std::int64_t steps) {
  for (const char* key : {"step", "loss", "lr", "grad_norm", "tokens"})
    EXPECT_EQ(metric(a, key), metric(b, key)) << key;
  EXPECT_EQ(metric(a, "step").size(), static_cast<std::size_t>(steps));
  const fs::path x = RunFolder(a).checkpoint(steps), y = RunFolder(b).checkpoint(steps);
  EXPECT_TRUE(same_file(x / "state" / "state.safetensors", y / "state" / "state.safetensors"));
}

// An unbroken run, and one that is stopped after 1 and after 3 further steps.
void expect_exact_resume(const TinyRun& tiny, RunConfig config) {
  config.train.output_dir = tiny.run("whole").string();
  EXPECT_EQ(train(config).kind, RunOutcome::Kind::kFinished);
  config.train.output_dir = tiny.run("broken").string();
  EXPECT_EQ(train(config, false, 1).exit_code, 130);
  EXPECT_EQ(train(config, true, 3).kind, RunOutcome::Kind::kInterrupted);
  EXPECT_EQ(train(config, true).kind, RunOutcome::Kind::kFinished);
  expect_same_run(tiny.run("whole"), tiny.run("broken"), config.train.steps);
}

TEST(Run, LeavesTheWholeRunFolder) {
  const TinyRun tiny;
  RunConfig config = tiny.config("run");
  config.checkpoint.every = 2;
  config.eval.every = 3;
  config.log.tensorboard = true;
  const RunOutcome outcome = train(config);
  EXPECT_EQ(outcome.exit_code, 0);
  const fs::path run = tiny.run("run");
  for (const char* name :
       {"config.yaml", "metrics.jsonl", "eval.jsonl", "log.txt", "summary.json", "machine.json",
        "tensorboard", "checkpoints/step-00000006/hf/model.safetensors",
        "checkpoints/step-00000006/hf/config.json", "checkpoints/step-00000006/COMPLETE"}) {
    EXPECT_TRUE(fs::exists(run / name)) << name;
  }
  EXPECT_EQ(RunFolder(run).complete().size(), 2U);
  EXPECT_EQ(JsonLines(run / "eval.jsonl", 100).records().size(), 3U);
  const Json summary = read_json(run / "summary.json");
  EXPECT_EQ(summary, outcome.summary);
  EXPECT_LT(summary.at("heldout_loss_after").get<double>(),
            summary.at("heldout_loss_before").get<double>() - 0.3);
  EXPECT_EQ(summary.at("steps"), 6);
  EXPECT_EQ(summary.at("tokens"), 6 * 4 * 32);
}

TEST(Run, JudgesByAsManyHeldOutBatchesAsWanted) {
  const TinyRun tiny;
  const auto counted = [&](const std::string& name, std::int64_t batches) {
    RunConfig config = tiny.config(name);
    config.train.steps = 2;
    config.eval.max_batches = batches;
    train(config);
    return JsonLines(tiny.run(name) / "eval.jsonl", 100)
        .records()
        .front()
        .at("counted_tokens")
        .get<std::int64_t>();
  };
  const std::int64_t all = counted("all", 0);
  EXPECT_LT(counted("one", 1), all);
  EXPECT_EQ(counted("many", 1000), all);
}

TEST(Run, ResumesBitForBitInFloat32) {
  const TinyRun tiny;
  RunConfig config = tiny.config("");
  config.train.threads = 2;
  config.checkpoint.every = 2;
  config.eval.every = 2;
  expect_exact_resume(tiny, config);
}

TEST(Run, ResumesBitForBitInBfloat16WithRecompute) {
  const TinyRun tiny;
  RunConfig config = tiny.config("");
  config.precision.compute = "bfloat16";
  config.recompute.mode = "full";
  config.optim.schedule = "wsd";
  config.optim.decay_steps = 2;
  config.checkpoint.async = false;
  expect_exact_resume(tiny, config);
}

// A pretrained directory in `tiny` for adapters to stand on.
fs::path make_base(const TinyRun& tiny) {
  const std::unique_ptr<Model> model =
      build_model(preset_config("llama-tiny"), ParamPlan{.train = false}, "test");
  initialize(model->params(), 7);
  save_hf(*model, tiny.root() / "base");
  return tiny.root() / "base";
}

RunConfig lora_config(const TinyRun& tiny) {
  RunConfig config = tiny.config("");
  config.model.preset = "";
  config.model.path = make_base(tiny).string();
  config.lora.rank = 4;
  config.lora.dropout = 0.1;
  config.lora.targets = {"all-linear"};
  return config;
}

TEST(Run, ResumesBitForBitWithAdapters) {
  const TinyRun tiny;
  expect_exact_resume(tiny, lora_config(tiny));
}

TEST(Run, AdapterFolderHoldsOnlyTheAdapter) {
  const TinyRun tiny;
  RunConfig config = lora_config(tiny);
  config.train.output_dir = tiny.run("run").string();
  train(config);
  const fs::path hf = RunFolder(tiny.run("run")).checkpoint(6) / "hf";
  EXPECT_TRUE(fs::exists(hf / "adapter_model.safetensors"));
  EXPECT_FALSE(fs::exists(hf / "model.safetensors"));
  const SafetensorsFile state(RunFolder(tiny.run("run")).checkpoint(6) / "state" / "state.safetensors");
  for (const TensorInfo& info : state.tensors())
    EXPECT_NE(info.name.find("lora"), std::string::npos) << info.name;
}

TEST(Run, GoesOnFromTheModelOfAnotherRun) {
  const TinyRun tiny;
  const RunOutcome first = train(tiny.config("first"));
  RunConfig config = tiny.config("second");
  config.model.preset = "";
  config.model.path = tiny.run("first").string();
  const RunOutcome second = train(config);
  EXPECT_EQ(second.summary.at("heldout_loss_before"), first.summary.at("heldout_loss_after"));
  EXPECT_NE(read_file(tiny.run("second") / "config.yaml").find("first/checkpoints/step-00000006/hf"),
            std::string::npos);
}

TEST(Run, RefusesAdaptersAloneAsAModel) {
  const TinyRun tiny;
  RunConfig config = lora_config(tiny);
  config.train.output_dir = tiny.run("adapters").string();
  train(config);
  RunConfig next = tiny.config("next");
  next.model.preset = "";
  next.model.path = tiny.run("adapters").string();
  EXPECT_THROW(train(next), CheckpointError);
}

TEST(Run, RefusesAnotherBaseUnderTheAdapters) {
  const TinyRun tiny;
  RunConfig config = lora_config(tiny);
  config.train.output_dir = tiny.run("run").string();
  train(config, false, 2);
  const std::unique_ptr<Model> other =
      build_model(preset_config("llama-tiny"), ParamPlan{.train = false}, "test");
  initialize(other->params(), 8);
  save_hf(*other, tiny.root() / "base");
  EXPECT_THROW(train(config, true), ConfigError);
}

TEST(Run, RefusesAUsedFolder) {
  const TinyRun tiny;
  const RunConfig config = tiny.config("run");
  train(config, false, 2);
  EXPECT_THROW(train(config), ConfigError);
}

TEST(Run, SaysThatItIsFinished) {
  const TinyRun tiny;
  const RunConfig config = tiny.config("run");
  const RunOutcome first = train(config);
  const RunOutcome second = train(config, true);
  EXPECT_EQ(second.kind, RunOutcome::Kind::kAlreadyFinished);
  EXPECT_EQ(second.summary, first.summary);
  EXPECT_EQ(metric(tiny.run("run"), "step").size(), 6U);
}

TEST(Run, ResumeStartsAFreshRunWhereThereIsNone) {
  const TinyRun tiny;
  EXPECT_EQ(train(tiny.config("run"), true).kind, RunOutcome::Kind::kFinished);
}

TEST(Run, RefusesOtherSettingsOnResume) {
  const TinyRun tiny;
  RunConfig config = tiny.config("run");
  train(config, false, 2);
  config.optim.lr = 0.5;
  try {
    train(config, true);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("optim.lr: 0.01 in the checkpoint, 0.5 now"), std::string::npos)
        << error.what();
  }
}

TEST(Run, GoesOnFromTheLastWholeCheckpointAfterAKill) {
  const TinyRun tiny;
  RunConfig config = tiny.config("whole");
  config.checkpoint.every = 2;
  train(config);
  config.train.output_dir = tiny.run("killed").string();
  train(config, false, 5);
  // As a kill while step 5 was being written leaves it.
  const RunFolder folder(tiny.run("killed"));
  fs::remove(folder.checkpoint(5) / kCompleteMarker);
  make_directories(folder.checkpoint(6).string() + kPartialSuffix);
  train(config, true);
  expect_same_run(tiny.run("whole"), tiny.run("killed"), 6);
}

TEST(Run, StopsOnANumberThatIsNotFiniteAndKeepsTheGoodCheckpoints) {
  const TinyRun tiny;
  RunConfig config = tiny.config("run");
  config.optim.lr = 1e30;
  config.optim.warmup_steps = 0;
  config.checkpoint.every = 1;
  config.checkpoint.keep = 2;
  EXPECT_THROW(train(config), NumericError);
  const auto last = RunFolder(tiny.run("run")).last_complete();
  ASSERT_TRUE(last);
  const SafetensorsFile file(last->path / "hf" / "model.safetensors");
  for (const TensorInfo& info : file.tensors()) {
    const auto bytes = file.bytes(info.name);
    const auto* values = reinterpret_cast<const float*>(bytes.data());
    for (std::size_t i = 0; i < bytes.size() / sizeof(float); ++i)
      ASSERT_TRUE(std::isfinite(values[i])) << info.name;
  }
}

TEST(Run, SkipsAreCountedAndEndInAnError) {
  const TinyRun tiny;
  RunConfig config = tiny.config("run");
  config.optim.lr = 1e30;
  config.optim.warmup_steps = 0;
  config.train.steps = 20;
  config.data.eval.clear();
  config.numeric.on_nan = "skip";
  config.numeric.max_skips = 3;
  try {
    train(config);
    FAIL() << "went on";
  } catch (const NumericError& error) {
    EXPECT_NE(std::string(error.what()).find("3 steps in a row"), std::string::npos) << error.what();
  }
  const std::vector<Json> skipped = metric(tiny.run("run"), "skipped");
  EXPECT_EQ(std::count_if(skipped.begin(), skipped.end(), [](const Json& text) { return text.is_string(); }),
            2);
}

TEST(Run, AFailedStartLeavesNoFolder) {
  const TinyRun tiny;
  RunConfig config = tiny.config("run");
  config.data.train = {(tiny.root() / "absent").string()};
  EXPECT_THROW(train(config), DataError);
  EXPECT_FALSE(fs::exists(tiny.run("run")));
}

}  // namespace
}  // namespace loongforge
