#include "loongforge/data/data_config.h"

#include <gtest/gtest.h>

#include "loongforge/base/config/load.h"
#include "loongforge/data/describe.h"
#include "loongforge/data/manifest.h"
#include "loongforge/data/prepare.h"
#include "loongforge/data/test_support.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

class Sources : public ::testing::Test {
 protected:
  Sources() {
    context_.shape = {32, 2, 4};
    context_.seed = 3;
    context_.tokenizer = &tokenizer_;
    context_.chat_template = &template_;
    context_.embedding_rows = 260;
    context_.threads = 2;
  }
  // `count` one-turn conversations; conversation i has a question of i % 7 + 1 letters.
  std::string put_conversations(const char* name, int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) {
      const std::string question(static_cast<std::size_t>(i % 7 + 1), 'q');
      lines += dump_json({{"instruction", question}, {"output", "a"}}) + "\n";
    }
    return folder_.put(name, lines).string();
  }
  std::string put_text(const std::string& text) {
    PrepareOptions options;
    options.inputs = {folder_.put("text.txt", text).string()};
    options.tokenizer = &tokenizer_;
    options.out = (folder_ / "text").string();
    return prepare(options).train.prefix;
  }
  const TestFolder folder_;
  const Tokenizer tokenizer_ = test_tokenizer();
  const ChatTemplate template_{kChatTemplateForTest, "test template"};
  SourceContext context_;
  DataConfig config_;
};

TEST_F(Sources, KeysAreRead) {
  Fields fields;
  config_.fields(fields);
  load_overrides(fields, {"data.train=[a, b]", "data.train_weights=[1, 2]", "data.pack=false"});
  EXPECT_EQ(config_.train.size(), 2U);
  EXPECT_EQ(config_.train_weights.at(1), 2);
  EXPECT_FALSE(config_.pack);
}

TEST_F(Sources, PreparedTextIsTrainedOn) {
  config_.train = {put_text("some words to learn from")};
  const auto source = make_pretrain_source(config_, context_);
  const StepBatches step = read_step(*source, 0);
  EXPECT_EQ(step.micro_batches.size(), 2U);
  EXPECT_EQ(step.counts.rows, 4);
  EXPECT_EQ(source->describe().at("sets").at(0).at("documents"), 1);
  EXPECT_EQ(make_pretrain_eval_source(config_, context_), nullptr);
}

TEST_F(Sources, AnotherTokenizerIsRefused) {
  config_.train = {put_text("text")};
  const Tokenizer other = test_tokenizer(1);
  context_.tokenizer = &other;
  context_.embedding_rows = 300;
  EXPECT_TRUE(contains(message_of<CheckpointError>([&] { make_pretrain_source(config_, context_); }),
                       "another tokenizer"));
}

TEST_F(Sources, TokenizerWithMoreIdsThanRowsIsRefused) {
  config_.train = {put_text("text")};
  context_.embedding_rows = 259;
  const std::string message = message_of<CheckpointError>([&] { make_pretrain_source(config_, context_); });
  EXPECT_TRUE(contains(message, "260"));
  EXPECT_TRUE(contains(message, "259"));
}

TEST_F(Sources, FingerprintIsThatOfTheTokenizerNotOfItsFile) {
  EXPECT_EQ(tokenizer_fingerprint(test_tokenizer()), tokenizer_fingerprint(tokenizer_));
  EXPECT_NE(tokenizer_fingerprint(test_tokenizer(1)), tokenizer_fingerprint(tokenizer_));
}

TEST_F(Sources, ConversationsArePackedWhole) {
  config_.train = {put_conversations("c.jsonl", 50)};
  context_.shape.seq_length = 100;
  const auto source = make_sft_source(config_, context_);
  const StepBatches step = read_step(*source, 0);
  EXPECT_GT(step.counts.documents, 4);
  for (const Batch& batch : step.micro_batches) {
    const auto ids = values_of(batch, "input_ids"), labels = values_of(batch, "labels");
    const auto borders = values_of(batch, "cu_seqlens"), positions = values_of(batch, "position_ids");
    for (std::size_t d = 0; d + 1 < borders.size(); ++d) {
      const auto begin = static_cast<std::size_t>(borders[d]), end = static_cast<std::size_t>(borders[d + 1]);
      EXPECT_EQ(positions[begin], 0);
      EXPECT_EQ(labels[end - 1], kIgnoredLabel);
      const auto starts = std::count(ids.begin() + borders[d], ids.begin() + borders[d + 1], kTestStart);
      EXPECT_EQ(starts, ids[begin] == kTestStart ? 2 : 0);
    }
  }
  // "a<|im_end|>" of each conversation.
  EXPECT_EQ(step.counts.trained, 2 * step.counts.documents);
}

TEST_F(Sources, EachConversationIsReadOnceAPass) {
  for (const bool pack : {true, false}) {
    config_.train = {put_conversations("c.jsonl", 60)};
    config_.pack = pack;
    context_.shape = {64, 1, 1};
    const auto source = make_sft_source(config_, context_);
    const auto rows = source->describe().at("sets").at(0).at("rows").get<std::int64_t>();
    EXPECT_EQ(rows == 60, !pack);
    BatchCounts counts;
    for (std::int64_t step = 0; step < rows; ++step) counts += source->batch(step, 0).counts;
    EXPECT_EQ(counts.documents, 60);
    EXPECT_EQ(counts.trained, 120);
  }
}

TEST_F(Sources, EvalConversationsAreReadOnce) {
  config_.train = {put_conversations("c.jsonl", 9)};
  config_.eval = {put_conversations("e.jsonl", 11)};
  const auto source = make_sft_eval_source(config_, context_);
  BatchCounts counts;
  for (std::int64_t step = 0; step < *source->steps(); ++step) counts += read_step(*source, step).counts;
  EXPECT_EQ(counts.documents, 11);
}

TEST_F(Sources, EvalFractionSplitsConversations) {
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += dump_json({{"instruction", concat(i)}, {"output", "a"}}) + "\n";
  config_.train = {folder_.put("c.jsonl", lines).string()};
  config_.eval_fraction = 0.25;
  context_.shape = {64, 1, 1};
  const auto kept = [](const BatchSource& source) {
    return source.describe().at("sets").at(0).at("conversations").get<std::int64_t>();
  };
  const std::int64_t train = kept(*make_sft_source(config_, context_));
  const std::int64_t eval = kept(*make_sft_eval_source(config_, context_));
  EXPECT_EQ(train + eval, 200);
  EXPECT_NEAR(static_cast<double>(eval), 50, 25);
}

TEST_F(Sources, CutAndDroppedConversationsAreCounted) {
  const std::string question(100, 'q');
  config_.train = {
      folder_
          .put("c.jsonl", dump_json({{"instruction", question}, {"output", "a"}}) + "\n" +
                              dump_json({{"instruction", "q"}, {"output", std::string(90, 'b')}}) + "\n")
          .string()};
  const Json set = make_sft_source(config_, context_)->describe().at("sets").at(0);
  EXPECT_EQ(set.at("conversations_read"), 2);
  EXPECT_EQ(set.at("dropped_untrained"), 1);
  EXPECT_EQ(set.at("cut"), 2);
  EXPECT_EQ(set.at("conversations"), 1);
}

TEST_F(Sources, NothingToTrainOnIsAnError) {
  config_.train = {folder_.put("c.jsonl", R"({"messages": [{"role": "user", "content": "q"}]})").string()};
  EXPECT_TRUE(contains(message_of<DataError>([&] { make_sft_source(config_, context_); }), "got none in 1"));
}

TEST_F(Sources, SettingsThatDoNotFitAreNamed) {
  EXPECT_TRUE(
      contains(message_of<ConfigError>([&] { make_pretrain_source(config_, context_); }), "data.train"));
  config_.train = {put_conversations("c.jsonl", 3)};
  config_.train_weights = {1, 2};
  EXPECT_TRUE(
      contains(message_of<ConfigError>([&] { make_sft_source(config_, context_); }), "data.train_weights"));
  config_.train_weights.clear();
  context_.chat_template = nullptr;
  EXPECT_TRUE(
      contains(message_of<ConfigError>([&] { make_sft_source(config_, context_); }), "chat template"));
}

TEST_F(Sources, KeysWithoutEffectAreRefused) {
  config_.train = {"x"};
  config_.pack = false;
  EXPECT_TRUE(
      contains(message_of<ConfigError>([&] { make_pretrain_source(config_, context_); }), "data.pack"));
  config_.pack_window = 7;
  EXPECT_TRUE(
      contains(message_of<ConfigError>([&] { make_sft_source(config_, context_); }), "data.pack_window"));
  config_ = {.train = {"x"}, .eval = {"y"}, .eval_fraction = 0.1};
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { make_pretrain_source(config_, context_); }),
                       "data.eval_fraction"));
}

TEST_F(Sources, DescribesAPreparedDataset) {
  const Json out = describe_data(put_text("abcdef"), {.tokenizer = &tokenizer_, .sample_tokens = 3});
  EXPECT_EQ(out.at("kind"), "prepared");
  EXPECT_EQ(out.at("tokens"), 7);
  EXPECT_EQ(out.at("lengths").at("histogram").at("4-7"), 1);
  EXPECT_EQ(out.at("samples").at(0).at("text"), "abc");
}

TEST_F(Sources, DescribesConversations) {
  const Json out = describe_data(put_conversations("c.jsonl", 5),
                                 {.tokenizer = &tokenizer_, .chat_template = &template_, .samples = 1});
  EXPECT_EQ(out.at("conversations"), 5);
  EXPECT_EQ(out.at("roles").at("assistant"), 5);
  EXPECT_EQ(out.at("trained_tokens"), 10);
  EXPECT_EQ(out.at("samples").at(0).at("trained_text"), "a<|im_end|>");
}

TEST_F(Sources, DescribesNothingThatIsMissing) {
  EXPECT_TRUE(contains(message_of<DataError>([&] { describe_data((folder_ / "none").string()); }), "none"));
}

}  // namespace
}  // namespace loongforge
