#include "loongforge/generate/generator.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "loongforge/base/error.h"
#include "loongforge/base/test_path.h"
#include "loongforge/generate/conversation_prompt.h"
#include "loongforge/generate/test_support.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

using test::tiny_model;
using test::tiny_prompts;
using test::tiny_tokenizer;

// Greedy answer by a forward over the whole text for each token.
std::vector<std::int32_t> slow_answer(const Model& model, std::vector<std::int32_t> ids, int count) {
  std::vector<std::int32_t> answer;
  for (int i = 0; i < count; ++i) {
    const std::vector<std::int64_t> wide(ids.begin(), ids.end());
    const Context context = single_document(static_cast<std::int64_t>(ids.size()));
    const at::Tensor hidden = model.hidden(context, at::tensor(at::ArrayRef<std::int64_t>(wide)));
    const auto id = at::argmax(model.logits(hidden.narrow(0, hidden.size(0) - 1, 1)), 1).item<std::int64_t>();
    answer.push_back(static_cast<std::int32_t>(id));
    ids.push_back(answer.back());
  }
  return answer;
}

GenerateOptions greedy(std::int64_t tokens) {
  GenerateOptions options;
  options.max_new_tokens = tokens;
  return options;
}

TEST(Generator, BatchEqualsFullForwardArgmax) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const auto model = tiny_model(dtype);
    const Tokenizer tokenizer = tiny_tokenizer();
    const auto prompts = tiny_prompts(7);
    const auto answers = Generator(*model, tokenizer, greedy(12)).generate(prompts);
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      EXPECT_EQ(answers[i].ids, slow_answer(*model, prompts[i], 12)) << i;
      EXPECT_EQ(answers[i].finish, "length");
    }
  }
}

TEST(Generator, LimitsOfTheBatchDoNotChangeTheAnswers) {
  const auto model = tiny_model();
  const Tokenizer tokenizer = tiny_tokenizer();
  const auto prompts = tiny_prompts(9, 10);
  const auto expected = Generator(*model, tokenizer, greedy(8)).generate(prompts);
  for (const auto& [sequences, prefill, bytes] :
       {std::tuple<int, int, int>{1, 4096, 1 << 30}, {4, 20, 1 << 30}, {9, 4096, 1}, {3, 1, 1 << 18}}) {
    for (const bool share : {true, false}) {
      GenerateOptions options = greedy(8);
      options.max_sequences = sequences;
      options.prefill_tokens = prefill;
      options.cache_bytes = bytes;
      options.share_prefix = share;
      const auto answers = Generator(*model, tokenizer, options).generate(prompts);
      for (std::size_t i = 0; i < prompts.size(); ++i)
        EXPECT_EQ(answers[i].ids, expected[i].ids) << i << " " << sequences;
    }
  }
}

TEST(Generator, SharedBeginningEqualsFullForward) {
  const auto model = tiny_model();
  const Tokenizer tokenizer = tiny_tokenizer();
  auto prompts = tiny_prompts(5, 30);
  prompts.push_back(
      {prompts[0].begin(), prompts[0].begin() + 30});  // one prompt is the beginning of the others
  const auto answers = Generator(*model, tokenizer, greedy(6)).generate(prompts);
  for (std::size_t i = 0; i < prompts.size(); ++i)
    EXPECT_EQ(answers[i].ids, slow_answer(*model, prompts[i], 6)) << i;
}

TEST(Generator, BFloat16ModelDecodes) {
  const auto model = tiny_model(at::kBFloat16);
  const auto answers = Generator(*model, tiny_tokenizer(), greedy(5)).generate(tiny_prompts(3));
  for (const Generation& answer : answers) EXPECT_EQ(answer.ids.size(), 5u);
}

TEST(Generator, StopsAtAStopTokenAndLeavesItOut) {
  const auto model = tiny_model();
  const Tokenizer tokenizer = tiny_tokenizer();
  const auto prompts = tiny_prompts(3);
  const auto whole = slow_answer(*model, prompts[1], 10);
  GenerateOptions options = greedy(10);
  options.stop_ids = {whole[4]};
  const auto answer = Generator(*model, tokenizer, options).generate(prompts)[1];
  const auto stop = std::find(whole.begin(), whole.end(), whole[4]);
  EXPECT_EQ(answer.ids, std::vector<std::int32_t>(whole.begin(), stop));
  EXPECT_EQ(answer.finish, "stop");
  EXPECT_EQ(answer.stop_id, whole[4]);
}

TEST(Generator, EndsAtTheModelsLastPosition) {
  const auto model = tiny_model();  // 128 positions
  std::vector<std::int32_t> prompt(120, 65);
  EXPECT_EQ(Generator(*model, tiny_tokenizer(), greedy(50)).generate({prompt})[0].ids.size(), 8u);
  prompt.resize(128, 65);
  EXPECT_THROW(Generator(*model, tiny_tokenizer(), greedy(50)).generate({prompt}), DataError);
}

TEST(Generator, SamplesDoNotDependOnTheBatch) {
  const auto model = tiny_model();
  const Tokenizer tokenizer = tiny_tokenizer();
  GenerateOptions options = greedy(10);
  options.sampling.temperature = 1.0;
  options.sampling.seed = 3;
  const auto prompts = tiny_prompts(6);
  const auto together = Generator(*model, tokenizer, options).generate(prompts);
  options.max_sequences = 2;
  const auto few = Generator(*model, tokenizer, options).generate(prompts);
  bool all_greedy = true;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(together[i].ids, few[i].ids);
    all_greedy &= together[i].ids == slow_answer(*model, prompts[i], 10);
  }
  EXPECT_FALSE(all_greedy);
}

TEST(Generator, CallbacksSeeEveryTokenAndTheWholeText) {
  const auto model = tiny_model();
  const Tokenizer tokenizer = tiny_tokenizer();
  const auto prompts = tiny_prompts(4);
  std::vector<std::string> text(4);
  std::vector<int> finished(4);
  const auto answers =
      Generator(*model, tokenizer, greedy(9))
          .generate(
              prompts, [&](std::size_t i, std::int32_t, std::string_view piece) { text[i] += piece; },
              [&](std::size_t i, const Generation& answer) {
                ++finished[i];
                EXPECT_EQ(text[i], answer.text);
              });
  EXPECT_EQ(finished, (std::vector<int>{1, 1, 1, 1}));
}

TEST(PromptMaker, OpensTheAssistantsTurn) {
  const Tokenizer tokenizer = tiny_tokenizer();
  const ChatTemplate chat_template(kChatTemplateForTest, "tiny template");
  const Json messages = Json::array({{{"role", "user"}, {"content", "Hi <|im_end|>"}}});
  const std::vector<std::int32_t> ids = PromptMaker(chat_template, tokenizer).prompt(messages).ids;
  EXPECT_EQ(ids.front(), 256);
  EXPECT_EQ(tokenizer.decode(std::vector<std::int32_t>(ids.end() - 10, ids.end())), "assistant\n");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 257), 2);
}

TEST(Generator, RefusesBadPromptsAndOptions) {
  const auto model = tiny_model();
  const Tokenizer tokenizer = tiny_tokenizer();
  EXPECT_THROW(Generator(*model, tokenizer, greedy(0)), ConfigError);
  Generator generator(*model, tokenizer, greedy(2));
  EXPECT_THROW(generator.generate({{}}), DataError);
  EXPECT_THROW(generator.generate({{1, 258}}), CheckpointError);
  EXPECT_TRUE(generator.generate({}).empty());
}

TEST(StopIds, JoinGenerationConfigAndTokenizer) {
  const fs::path dir = test_path();
  make_directories(dir);
  const Tokenizer tokenizer = tiny_tokenizer();
  write_file_atomic(dir / "config.json", "{\"eos_token_id\": 9}");
  EXPECT_EQ(stop_ids_of(dir, tokenizer), (std::vector<std::int32_t>{9}));
  write_file_atomic(dir / "generation_config.json", "{\"eos_token_id\": [7, 3, 7]}");
  EXPECT_EQ(stop_ids_of(dir, tokenizer), (std::vector<std::int32_t>{3, 7}));
  write_file_atomic(dir / "generation_config.json", "{\"eos_token_id\": \"x\"}");
  EXPECT_THROW(stop_ids_of(dir, tokenizer), CheckpointError);
  remove_tree(dir);
}

}  // namespace
}  // namespace loongforge
