#include "loongforge/train/config.h"

#include <gtest/gtest.h>

#include "loongforge/base/config/fields.h"
#include "loongforge/base/config/load.h"
#include "loongforge/base/test_path.h"

namespace loongforge {
namespace {

RunConfig sound() {
  RunConfig config;
  config.model.preset = "llama-tiny";
  config.data.train = {"data/x"};
  config.train.steps = 10;
  config.train.output_dir = "runs/x";
  return config;
}

bool mentions(const std::vector<std::string>& texts, const std::string& part) {
  for (const std::string& text : texts) {
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(RunConfig, ASoundOneHasNoViolations) {
  for (const std::string& text : violations(sound())) ADD_FAILURE() << text;
}

TEST(RunConfig, AllViolationsAreListedAtOnce) {
  RunConfig config = sound();
  config.model.path = "both";
  config.train.global_batch_size = 3;
  config.train.micro_batch_size = 2;
  config.optim.lr = -1;
  config.optim.warmup_steps = 11;
  config.lora.alpha = 3;
  config.eval.every = 5;
  config.data.train.clear();
  const std::vector<std::string> texts = violations(config);
  for (const char* key : {"model.path", "train.global_batch_size", "optim.lr", "optim.warmup_steps",
                          "lora.rank", "eval.every", "data.train"}) {
    EXPECT_TRUE(mentions(texts, key)) << key;
  }
  EXPECT_THROW(validate(config), ConfigError);
}

TEST(RunConfig, LoraNeedsAPretrainedModel) {
  RunConfig config = sound();
  config.lora.rank = 8;
  EXPECT_TRUE(mentions(violations(config), "lora.rank: adapters need a pretrained model"));
}

TEST(RunConfig, SftAndSamplesNeedATokenizer) {
  RunConfig config = sound();
  config.task = "sft";
  config.sample.prompts = {"Hello"};
  EXPECT_EQ(violations(config).size(), 2U);
}

TEST(RunConfig, EveryKeyCanBeSetFromText) {
  RunConfig config;
  Fields fields;
  config.fields(fields);
  load_overrides(fields, {"task=pretrain", "model.preset=llama-tiny", "data.train=[a, b]", "train.steps=3",
                          "train.output_dir=runs/x", "optim.lr=0.5", "lora.targets=[q_proj]",
                          "precision.compute=bfloat16", "recompute.mode=full", "numeric.on_nan=skip"});
  EXPECT_EQ(config.data.train, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config.optim.lr, 0.5);
  EXPECT_EQ(config.precision.compute, "bfloat16");
  EXPECT_EQ(config.recompute.mode, "full");
}

TEST(RunConfig, ResolvedFileGivesTheSameRun) {
  const RunConfig config = sound();
  const fs::path file = test_path(".yaml");
  write_file_atomic(file, resolved_yaml(config));
  RunConfig again;
  Fields fields;
  again.fields(fields);
  load_config(fields, file, {});
  fs::remove(file);
  EXPECT_EQ(resolved_yaml(again), resolved_yaml(config));
}

TEST(ResumeChanges, TellsFreeNoticedAndRefusedApart) {
  const RunConfig before = sound();
  RunConfig now = sound();
  now.train.output_dir = "elsewhere";
  now.checkpoint.every = 3;
  now.train.steps = 20;
  now.optim.lr = 1;
  const ResumeChanges changes = resume_changes(resume_identity(before), resume_identity(now));
  ASSERT_EQ(changes.noticed.size(), 1U);
  EXPECT_NE(changes.noticed[0].find("train.steps: 10 in the checkpoint, 20 now"), std::string::npos);
  ASSERT_EQ(changes.refused.size(), 1U);
  EXPECT_NE(changes.refused[0].find("optim.lr"), std::string::npos);
}

}  // namespace
}  // namespace loongforge
