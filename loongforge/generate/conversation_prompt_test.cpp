#include "loongforge/generate/conversation_prompt.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "loongforge/data/visual_for_test.h"
#include "loongforge/data/visual_inputs.h"
#include "loongforge/generate/questions.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

class ConversationPrompt : public ::testing::Test {
 protected:
  ConversationPrompt() {
    folder_.put("one.jpg", jpeg_of(picture_for_test(16, 24)));
    folder_.put("clip.mov", clip_for_test(4, 16, 16, 2));
  }

  Conversation read(const Json& line) const {
    return question_conversation(line, "q.jsonl:1", folder_.path() / "q.jsonl");
  }
  Conversation two_media() const {
    return read(
        Json::parse(R"({"messages": [{"role": "user", "content": [{"type": "image", "image": "one.jpg"},
        {"type": "text", "text": "and"}, {"type": "video", "video": "clip.mov"}]}]})"));
  }

  TestFolder folder_;
  const VisualInfo visual_ = test_visual();
  const Tokenizer tokenizer_ = test_tokenizer(2);
  const ChatTemplate template_{kTestVisualTemplate, "template"};
  const MediaLoader media_{visual_, test_processor()};
  const PromptMaker maker_{template_, tokenizer_, &media_};
};

TEST_F(ConversationPrompt, HoldsAPlaceForEachTokenOfPicturesAndClips) {
  const Conversation conversation = two_media();
  const Prompt prompt = maker_.prompt(conversation);
  std::int64_t places[2] = {0, 0}, patches = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const MediaGrid grid = media_.grid(conversation.media[i]);
    places[i] = media_.tokens(grid);
    patches += grid.patches();
  }
  EXPECT_EQ(std::count(prompt.ids.begin(), prompt.ids.end(), kTestImage), places[0]);
  EXPECT_EQ(std::count(prompt.ids.begin(), prompt.ids.end(), kTestVideo), places[1]);
  EXPECT_EQ(prompt.visual.pixel_values.size(0), patches);
  EXPECT_EQ(prompt.visual.grid_thw.size(0), 2);
  EXPECT_EQ(prompt.visual.seconds[0], 0);
  EXPECT_GT(prompt.visual.seconds[1], 0);
  EXPECT_TRUE(tokenizer_.decode(prompt.ids, true).ends_with("assistant\n"));
}

TEST_F(ConversationPrompt, AnswersFollowThePromptAndAreCountedWhole) {
  const Conversation conversation = two_media();
  const Prompt prompt = maker_.prompt(conversation);
  const auto sequences = maker_.answered(conversation, {"yes", "not at all"});
  ASSERT_EQ(sequences.size(), 2U);
  for (const ScoredSequence& one : sequences) {
    ASSERT_EQ(one.first_counted, std::ssize(prompt.ids));
    EXPECT_TRUE(std::equal(prompt.ids.begin(), prompt.ids.end(), one.ids.begin()));
    EXPECT_EQ(one.ids.back(), kTestEnd);
    EXPECT_TRUE(one.visual.pixel_values.equal(prompt.visual.pixel_values));
  }
  EXPECT_EQ(std::ssize(sequences[1].ids), sequences[1].first_counted + 10 + 1);
}

TEST_F(ConversationPrompt, EarlierAnswersAreNotCounted) {
  const Conversation conversation = read(Json::parse(
      R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
          {"role": "user", "content": "c"}]})"));
  const ScoredSequence sequence = maker_.answered(conversation, {"dd"}).front();
  EXPECT_EQ(std::ssize(sequence.ids), sequence.first_counted + 3);
  EXPECT_EQ(sequence.first_counted, std::ssize(maker_.prompt(conversation).ids));
}

TEST_F(ConversationPrompt, MarksStandForTheFilesOfAColumn) {
  const Conversation conversation =
      read({{"question", "<image>What?"}, {"images", Json::array({"one.jpg"})}});
  EXPECT_EQ(maker_.prompt(conversation).visual.grid_thw.size(0), 1);
  EXPECT_EQ(shown_text(conversation.messages.back().at("content")), "[picture]\nWhat?");
}

TEST_F(ConversationPrompt, RefusesWhatCannotBeShown) {
  const auto message = [&](const PromptMaker& maker, const Json& line) -> std::string {
    try {
      maker.prompt(read(line));
    } catch (const DataError& error) {
      return error.what();
    }
    return "nothing";
  };
  const Json line = {{"question", "<image>"}, {"image", "none.jpg"}};
  EXPECT_NE(message(maker_, line).find("none.jpg"), std::string::npos);
  const PromptMaker blind(template_, tokenizer_);
  EXPECT_NE(message(blind, line).find("reads text alone"), std::string::npos);
  EXPECT_NE(message(maker_, {{"question", "no place"}, {"image", "one.jpg"}}).find("0 places"),
            std::string::npos);
}

TEST_F(ConversationPrompt, TakesTheAnswerOff) {
  Conversation conversation = read(Json::parse(
      R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})"));
  EXPECT_EQ(take_answer(conversation), "b");
  EXPECT_EQ(conversation.messages.size(), 1U);
  EXPECT_EQ(take_answer(conversation), std::nullopt);
}

}  // namespace
}  // namespace loongforge
