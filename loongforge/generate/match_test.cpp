#include "loongforge/generate/match.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loongforge/base/files.h"
#include "loongforge/base/test_path.h"
#include "loongforge/generate/test_support.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

using test::tiny_model;
using test::tiny_tokenizer;

class Match : public testing::Test {
 protected:
  void SetUp() override {
    remove_tree(root_);
    make_directories(root_);
    options_.max_new_tokens = 3;
    match_.answers = root_ / "answers.jsonl";
  }
  void TearDown() override { remove_tree(root_); }

  std::string answer_to(const std::string& question) {
    const Json messages = Json::array({{{"role", "user"}, {"content", question}}});
    return Generator(*model_, tokenizer_, options_).generate_prompts({maker_.prompt(messages)})[0].text;
  }
  // `right` of six questions expect what the model says; tasks alternate.
  void write_questions(int right) {
    std::string text;
    for (int i = 0; i < 6; ++i) {
      const std::string question = concat("q", i);
      text += dump_json({{"question", question},
                         {"answer", i < right ? answer_to(question) : "never"},
                         {"task", i % 2 ? "odd" : "even"}}) +
              "\n";
    }
    write_file_atomic(root_ / "questions.jsonl", text);
  }
  Json run() {
    Generator generator(*model_, tokenizer_, options_);
    return eval_match(generator, maker_, root_ / "questions.jsonl", match_);
  }

  fs::path root_ = test_path();
  std::unique_ptr<Model> model_ = tiny_model();
  Tokenizer tokenizer_ = tiny_tokenizer();
  ChatTemplate template_{kChatTemplateForTest, "tiny template"};
  PromptMaker maker_{template_, tokenizer_};
  GenerateOptions options_;
  MatchOptions match_;
};

TEST_F(Match, CountsRightAnswersOfEachTask) {
  write_questions(3);
  const Json result = run();
  EXPECT_EQ(result["questions"], 6);
  EXPECT_EQ(result["right"], 3);
  EXPECT_DOUBLE_EQ(result["standard_error"], std::sqrt(0.25 / 6));
  EXPECT_EQ(result["tasks"]["even"]["right"], 2);
  EXPECT_EQ(result["tasks"]["odd"]["right"], 1);
  EXPECT_EQ(result["answers"], "answers.jsonl");
}

TEST_F(Match, GoesOnFromStoredAnswers) {
  write_questions(6);
  run();
  // Keep the header, one answer, and half of another, as a killed run leaves them; mark the one kept.
  const std::string text = read_file(match_.answers);
  const auto header = text.find('\n') + 1, first = text.find('\n', header) + 1;
  Json kept = Json::parse(text.substr(header, first - header));
  kept["right"] = false;
  write_file_atomic(match_.answers, text.substr(0, header) + dump_json(kept) + "\n" + text.substr(first, 20));
  int calls = 0;
  match_.on_progress = [&](std::int64_t, std::int64_t total) {
    ++calls;
    EXPECT_EQ(total, 6);
  };
  EXPECT_EQ(run()["right"], 5);
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(run()["right"], 5);
  EXPECT_EQ(calls, 5);
}

TEST_F(Match, AnswersOfOtherWeightsAreNotUsed) {
  write_questions(6);
  run();
  model_ = tiny_model(at::kFloat, 2);
  int calls = 0;
  match_.on_progress = [&](std::int64_t, std::int64_t) { ++calls; };
  run();
  EXPECT_EQ(calls, 6);
}

TEST_F(Match, LimitCountsEachTask) {
  write_questions(6);
  match_.limit = 2;
  const Json result = run();
  EXPECT_EQ(result["questions"], 4);
  EXPECT_EQ(result["tasks"]["odd"]["questions"], 2);
}

TEST_F(Match, WorksWithoutAFileOfAnswers) {
  write_questions(1);
  match_.answers.clear();
  EXPECT_EQ(run()["right"], 1);
}

}  // namespace
}  // namespace loongforge
