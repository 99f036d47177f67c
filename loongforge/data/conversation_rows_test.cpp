#include "loongforge/data/conversation_rows.h"

#include <gtest/gtest.h>

#include "loongforge/data/visual_for_test.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

class Rows : public ::testing::Test {
 protected:
  // Conversation i shows one picture and has an answer of i + 1 letters; every third shows a clip instead.
  std::shared_ptr<const ConversationSet> set_of(int count) const {
    folder_.put("large.png", png_of(picture_for_test(200, 200)));
    folder_.put("clip.mov", clip_for_test(4, 16, 24, 2));
    std::string lines;
    for (int i = 0; i < count; ++i) {
      Json record = {{"instruction", i % 3 == 0 ? "<video>" : "<image>"},
                     {"output", std::string(static_cast<std::size_t>(i + 1), 'a')}};
      record[i % 3 == 0 ? "video" : "image"] = i % 3 == 0 ? "clip.mov" : "large.png";
      lines += dump_json(record) + "\n";
    }
    ConversationSetOptions options;
    options.media = std::make_shared<const MediaLoader>(visual_, test_processor());
    const ConversationTokeniser tokeniser(template_, tokenizer_, {.visual = &visual_});
    return std::make_shared<ConversationSet>(std::vector<std::string>{folder_.put("c.jsonl", lines).string()},
                                             tokeniser, options);
  }

  const TestFolder folder_;
  const Tokenizer tokenizer_ = test_tokenizer(2);
  const ChatTemplate template_{kTestVisualTemplate, "test template"};
  const VisualInfo visual_ = test_visual();
};

TEST_F(Rows, EachSideOfASplitTellsItsOwnCounts) {
  constexpr int kCount = 12;
  const auto set = set_of(kCount);
  ConversationRowsOptions options{.seq_length = 128, .pack = false, .held_out_fraction = 0.4};
  std::map<std::string, std::int64_t> sums;
  for (const bool held_out : {false, true}) {
    options.held_out = held_out;
    Json side = ConversationRows(set, options).describe();
    const Json media = side.at("media");
    side.update(media);
    EXPECT_EQ(side.at("pictures").get<int>() + side.at("clips").get<int>(), side.at("conversations"));
    EXPECT_EQ(side.at("reduced"), side.at("pictures"));
    EXPECT_LT(side.at("conversations"), kCount);
    for (const char* key : {"conversations", "clips", "trained_tokens", "visual_tokens"})
      sums[key] += side.at(key).get<std::int64_t>();
  }
  EXPECT_EQ(sums.at("conversations"), kCount);
  EXPECT_EQ(sums.at("clips"), kCount / 3);
  EXPECT_EQ(sums.at("trained_tokens"), kCount * (kCount + 1) / 2 + kCount);  // letters and ends
  const Json all = ConversationRows(set, {.seq_length = 128}).describe();
  EXPECT_EQ(all.at("media").at("visual_tokens"), sums.at("visual_tokens"));
  EXPECT_EQ(all.at("trained_tokens"), sums.at("trained_tokens"));
}

}  // namespace
}  // namespace loongforge
