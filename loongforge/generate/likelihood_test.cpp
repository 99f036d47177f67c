#include "loongforge/generate/likelihood.h"

#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

#include "loongforge/base/files.h"
#include "loongforge/base/test_path.h"
#include "loongforge/formats/indexed_dataset.h"
#include "loongforge/generate/conversation_prompt.h"
#include "loongforge/generate/test_support.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

using test::kTinyVocabulary;
using test::tiny_model;
using test::tiny_prompts;
using test::tiny_tokenizer;

// Log p of the tokens from `first` on, by whole logits.
double slow_score(const Model& model, const std::vector<std::int32_t>& ids, std::int64_t first) {
  const std::vector<std::int64_t> wide(ids.begin(), ids.end());
  const Context context = single_document(static_cast<std::int64_t>(ids.size()));
  const at::Tensor logits = model.logits(model.hidden(context, at::tensor(at::ArrayRef<std::int64_t>(wide))));
  const at::Tensor logp = at::log_softmax(logits, 1);
  double sum = 0;
  for (auto i = first; i < static_cast<std::int64_t>(ids.size()); ++i)
    sum += logp[i - 1][wide[static_cast<std::size_t>(i)]].item<double>();
  return sum;
}

class Likelihood : public testing::Test {
 protected:
  void SetUp() override {
    remove_tree(root_);
    make_directories(root_);
  }
  void TearDown() override { remove_tree(root_); }
  fs::path root_ = test_path();
  std::unique_ptr<Model> model_ = tiny_model(at::kDouble);
};

TEST_F(Likelihood, PackedScoresEqualWholeLogits) {
  std::vector<ScoredSequence> sequences;
  for (const auto& ids : tiny_prompts(6))
    sequences.push_back({ids, 1 + static_cast<std::int64_t>(ids.size()) / 2});
  for (const std::int64_t batch : {1, 40, 4096}) {
    const auto scores = score_sequences(*model_, sequences, batch);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      EXPECT_NEAR(scores[i].log_likelihood, slow_score(*model_, sequences[i].ids, sequences[i].first_counted),
                  1e-9);
      EXPECT_EQ(scores[i].tokens,
                static_cast<std::int64_t>(sequences[i].ids.size()) - sequences[i].first_counted);
    }
  }
}

TEST_F(Likelihood, PplIsTheMeanOverCountedTokens) {
  const auto documents = tiny_prompts(4);
  IndexedDatasetWriter writer(root_ / "held", kTinyVocabulary);
  double sum = 0;
  std::int64_t tokens = 0;
  for (const auto& ids : documents) {
    writer.add(ids);
    writer.end_document();
    sum -= slow_score(*model_, ids, 1);
    tokens += static_cast<std::int64_t>(ids.size()) - 1;
  }
  writer.commit();
  PplOptions options;
  options.documents = true;
  const Json result = eval_ppl(*model_, root_ / "held", options);
  EXPECT_EQ(result["tokens"], tokens);
  EXPECT_EQ(result["documents"], 4);
  EXPECT_NEAR(result["loss"].get<double>(), sum / static_cast<double>(tokens), 1e-9);
  EXPECT_NEAR(result["perplexity"].get<double>(), std::exp(sum / static_cast<double>(tokens)), 1e-6);
  EXPECT_NEAR(result["per_document"][2]["loss"].get<double>(),
              -slow_score(*model_, documents[2], 1) / static_cast<double>(documents[2].size() - 1), 1e-9);
}

TEST_F(Likelihood, PplCutsLongDocuments) {
  const auto ids = tiny_prompts(6)[5];  // 28 tokens: pieces of 10, 10, 8
  IndexedDatasetWriter writer(root_ / "held", kTinyVocabulary);
  writer.add(ids);
  writer.end_document();
  writer.commit();
  PplOptions options;
  options.seq_length = 10;
  const Json result = eval_ppl(*model_, root_ / "held", options);
  EXPECT_EQ(result["pieces"], 3);
  EXPECT_EQ(result["tokens"], 25);
  EXPECT_EQ(result["documents"], 1);
}

TEST_F(Likelihood, PplRefusesWhatCannotBeCounted) {
  IndexedDatasetWriter writer(root_ / "held", kTinyVocabulary);
  writer.add(std::vector<std::int32_t>{5});
  writer.end_document();
  writer.commit();
  EXPECT_THROW(eval_ppl(*model_, root_ / "held"), DataError);
  IndexedDatasetWriter foreign(root_ / "foreign", 1000);
  foreign.add(std::vector<std::int32_t>{5, 900});
  foreign.end_document();
  foreign.commit();
  EXPECT_THROW(eval_ppl(*model_, root_ / "foreign"), CheckpointError);
}

TEST_F(Likelihood, ChoiceTakesTheLikeliestOption) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const std::vector<std::string> choices = {"ab", "xyz", "q"};
  std::size_t by_sum = 0, by_mean = 0;
  std::vector<double> sums, means;
  for (const std::string& choice : choices) {
    const auto ids = tokenizer.encode("Question? " + choice);
    sums.push_back(slow_score(*model_, ids, 9));
    means.push_back(sums.back() / static_cast<double>(ids.size() - 9));
    if (sums.back() > sums[by_sum]) by_sum = sums.size() - 1;
    if (means.back() > means[by_mean]) by_mean = means.size() - 1;
  }
  std::string text;
  for (const Json& answer :
       {Json(by_sum), Json(choices[by_mean]), Json(std::string(1, static_cast<char>('A' + by_sum)))}) {
    text += dump_json({{"question", "Question?"}, {"choices", choices}, {"answer", answer}, {"task", "t"}}) +
            "\n";
  }
  write_file_atomic(root_ / "choices.jsonl", text);
  const Json result = eval_choice(*model_, tokenizer, nullptr, root_ / "choices.jsonl", {});
  EXPECT_EQ(result["questions"], 3);
  EXPECT_EQ(result["sum"]["right"], 2 + (by_sum == by_mean));
  EXPECT_EQ(result["tasks"]["t"]["mean"]["right"], 1 + 2 * (by_sum == by_mean));
}

TEST_F(Likelihood, ChoiceThroughAChatTemplateScoresTheAnswerOnly) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const ChatTemplate chat_template(kChatTemplateForTest, "tiny template");
  const PromptMaker maker(chat_template, tokenizer);
  write_file_atomic(
      root_ / "choices.jsonl",
      "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"choices\":[\"a\",\"bc\"],\"answer\":0}\n");
  const Json result = eval_choice(*model_, tokenizer, &maker, root_ / "choices.jsonl", {});
  double best = 0;
  for (const std::string choice : {"a", "bc"}) {
    const auto ids =
        tokenizer.encode("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n" + choice + "<|im_end|>");
    const double sum = slow_score(*model_, ids, static_cast<std::int64_t>(ids.size() - choice.size() - 1));
    if (choice == "a") best = sum;
    if (choice == "bc") {
      EXPECT_EQ(result["sum"]["right"], best > sum ? 1 : 0);
    }
  }
}

TEST_F(Likelihood, ChoiceErrorsNameTheLine) {
  const Tokenizer tokenizer = tiny_tokenizer();
  for (const char* line : {"{\"question\":\"a\",\"choices\":[\"x\"],\"answer\":0}",
                           "{\"question\":\"a\",\"choices\":[\"x\",\"y\"],\"answer\":2}",
                           "{\"question\":\"a\",\"choices\":[\"x\",\"y\"],\"answer\":\"z\"}",
                           "{\"choices\":[\"x\",\"y\"],\"answer\":1}"}) {
    write_file_atomic(root_ / "choices.jsonl", std::string(line) + "\n");
    try {
      eval_choice(*model_, tokenizer, nullptr, root_ / "choices.jsonl", {});
      FAIL() << line;
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("choices.jsonl:1"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace loongforge
