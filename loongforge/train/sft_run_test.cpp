#include <gtest/gtest.h>

#include "loongforge/train/run.h"
#include "loongforge/train/tiny_run.h"
#include "loongforge/train/tiny_tokenizer.h"

namespace loongforge {
namespace {

class SftRun : public ::testing::Test {
 protected:
  SftRun() {
    write_tiny_tokenizer(tiny_.root() / "tokenizer");
    std::string lines;
    for (int i = 0; i < 16; ++i) {
      const Json messages = {{{"role", "user"}, {"content", "question " + std::to_string(i)}},
                             {{"role", "assistant"}, {"content", "yes"}}};
      lines += dump_json({{"messages", messages}}) + "\n";
    }
    write_file_atomic(tiny_.root() / "chats.jsonl", lines);
  }

  RunConfig config() const {
    RunConfig config = tiny_.config("run");
    config.task = "sft";
    config.model.tokenizer = (tiny_.root() / "tokenizer").string();
    config.data.train = {(tiny_.root() / "chats.jsonl").string()};
    config.data.eval = config.data.train;
    config.train.seq_length = 128;
    config.train.steps = 4;
    return config;
  }

  TinyRun tiny_;
};

TEST_F(SftRun, LearnsOnlyTheAssistantsWords) {
  const RunConfig c = config();
  const RunOutcome outcome = run_training(c, {.quiet = true});
  EXPECT_EQ(outcome.kind, RunOutcome::Kind::kFinished);
  // "yes" and the end-of-turn marker of each of the 16 conversations.
  EXPECT_EQ(outcome.summary.at("heldout_tokens"), 16 * 4);
  EXPECT_LT(outcome.summary.at("heldout_loss_after").get<double>(),
            outcome.summary.at("heldout_loss_before").get<double>() - 1);
}

TEST_F(SftRun, CheckpointCarriesTheTokenizer) {
  run_training(config(), {.quiet = true});
  const fs::path hf = tiny_.run("run") / "checkpoints/step-00000004/hf";
  EXPECT_EQ(read_file(hf / "tokenizer.json"), read_file(tiny_.root() / "tokenizer" / "tokenizer.json"));
}

TEST_F(SftRun, ShowsAnswersBeforeAndAfter) {
  RunConfig c = config();
  c.sample.prompts = {"question 3", "question 4"};
  c.sample.max_new_tokens = 5;
  run_training(c, {.quiet = true});
  const JsonLines samples(tiny_.run("run") / "samples.jsonl", 100);
  ASSERT_EQ(samples.records().size(), 4U);
  EXPECT_EQ(samples.records()[0].at("when"), "before");
  EXPECT_EQ(samples.records()[3].at("when"), "after");
  EXPECT_EQ(samples.records()[3].at("step"), 4);
  EXPECT_EQ(samples.records()[3].at("prompt"), "question 4");
}

TEST_F(SftRun, RefusesATokenizerThatDoesNotFit) {
  const RunConfig c = config();
  const fs::path file = tiny_.root() / "tokenizer" / "tokenizer.json";
  Json tokenizer = read_json(file);
  tokenizer["model"]["vocab"]["too far"] = 512;
  write_file_atomic(file, dump_json(tokenizer));
  EXPECT_THROW(run_training(c, {.quiet = true}), CheckpointError);
}

TEST_F(SftRun, RefusesATokenizerWithoutAChatTemplate) {
  const RunConfig c = config();
  fs::remove(tiny_.root() / "tokenizer" / "tokenizer_config.json");
  EXPECT_THROW(run_training(c, {.quiet = true}), CheckpointError);
}

}  // namespace
}  // namespace loongforge
