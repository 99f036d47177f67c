#include "loongforge/data/webdataset_conversations.h"

#include <gtest/gtest.h>

#include "loongforge/data/data_config.h"
#include "loongforge/data/visual_for_test.h"
#include "loongforge/formats/webdataset.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

using Parts = std::vector<std::pair<std::string, std::string>>;

class Shards : public ::testing::Test {
 protected:
  std::string put(const std::string& name, const Parts& parts) const {
    TarWriter writer(folder_ / name);
    for (const auto& [part, text] : parts) writer.add(part, std::as_bytes(std::span(text)));
    writer.commit();
    return (folder_ / name).string();
  }
  Conversation only(const Parts& parts, const std::string& prompt = "") const {
    return read_shards(find_shards(put("one.tar", parts)), prompt, 0, nullptr).at(0);
  }
  std::string refusal(const Parts& parts) const {
    return message_of<DataError>([&] { only(parts); });
  }
  static Json text_part(const char* text) { return {{"type", "text"}, {"text", text}}; }

  const TestFolder folder_;
  const std::string png_ = png_of(picture_for_test(16, 24));
  const Json image_ = {{"type", "image"}};
};

TEST_F(Shards, Captions) {
  for (const Parts& parts :
       {Parts{{"k.png", png_}, {"k.txt", "a hill"}},
        Parts{{"k.png", png_}, {"k.json", R"({"caption": "a hill"})"}},
        Parts{{"k.png", png_}, {"k.json", R"({"captions": [{"content": "a hill"}]})"}}}) {
    const Conversation one = only(parts);
    EXPECT_EQ(one.messages[0]["content"], Json::array({image_}));
    EXPECT_EQ(one.messages[1], (Json{{"role", "assistant"}, {"content", "a hill"}}));
    const MediaBytes bytes = one.media.at(0).sources[0].open();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size()), png_);
    EXPECT_EQ(only(parts, "Describe.").messages[0]["content"], Json::array({image_, text_part("Describe.")}));
  }
}

TEST_F(Shards, QuestionsAndAnswers) {
  const Conversation one =
      only({{"k.jpg", png_}, {"k.json", R"({"context": "who?", "answers": ["Kane", "he"]})"}});
  EXPECT_EQ(one.messages[0]["content"], Json::array({image_, text_part("who?")}));
  EXPECT_EQ(one.messages[1]["content"], "Kane");
  const Conversation marked =
      only({{"k.jpg", png_}, {"k.json", R"([{"content": "who is <image>?"}, {"content": "Kane"}])"}});
  EXPECT_EQ(marked.messages[0]["content"], Json::array({text_part("who is "), image_, text_part("?")}));
  EXPECT_EQ(marked.messages[1]["role"], "assistant");
}

TEST_F(Shards, MixedMediaByName) {
  const Conversation one = only({{"k.0_a.png", png_},
                                 {"k.1_b.MP4", "clip"},
                                 {"k.json", R"({"texts": [{"role": "user", "content": "<image> or <video>?"},
                                     {"role": "assistant", "content": "both"}], "media": "mix",
                                     "name": ["0_a.png", "1_b.MP4"]})"}});
  ASSERT_EQ(one.media.size(), 2U);
  EXPECT_FALSE(one.media[0].is_clip());
  EXPECT_TRUE(one.media[1].is_clip());
  EXPECT_TRUE(contains(one.media[1].name(), "one.tar: k.1_b.MP4"));
  const Conversation chat =
      only({{"k.0_a.png", png_}, {"k.json", R"({"messages": [{"from": "human", "value": "<image>q"},
                                      {"from": "gpt", "value": "a"}], "media": "image", "name": ["0_a.png"]})"}});
  EXPECT_EQ(chat.messages[0]["role"], "user");
  EXPECT_EQ(chat.media.size(), 1U);
  EXPECT_TRUE(
      only({{"k.json", R"({"texts": [{"role": "user", "content": "q"}], "media": "text"})"}}).media.empty());
}

TEST_F(Shards, ClipsOfFramesHaveTheirRate) {
  const Conversation one = only({{"k.0.png", png_},
                                 {"k.1.png", png_},
                                 {"k.json", R"({"texts": [{"role": "user", "content": "<video>?"}],
                                     "media": "video", "name": [["0.png", "1.png"]], "fps": 4})"}});
  EXPECT_EQ(one.media.at(0).sources.size(), 2U);
  EXPECT_EQ(one.media.at(0).frame_rate, 4);
}

TEST_F(Shards, WhatIsNotReadIsCounted) {
  const std::vector<std::pair<Parts, UnreadColumns>> rows = {
      {{{"k.jpg", png_}, {"k.png", png_}, {"k.txt", "a"}}, {{"*.png", 1}}},
      {{{"k.png", png_}, {"k.txt", "a"}, {"k.json", R"({"caption": "b", "source": "web"})"}},
       {{"*.txt", 1}, {"source", 1}}},
      {{{"k.png", png_}, {"k.txt", "a"}, {"k.json", R"({"license": "x", "note": null})"}}, {{"license", 1}}},
      {{{"k.png", png_}, {"k.txt", "a"}, {"k.json", "3"}}, {{"*.json", 1}}},
      {{{"k.png", png_}, {"k.json", R"({"question": "q", "context": "c", "answers": ["a"]})"}},
       {{"question", 1}}},
      {{{"k.png", png_}, {"k.json", R"([{"from": "gpt", "content": "q"}, {"content": "a"}])"}},
       {{"from", 1}}},
      {{{"k.0_a.png", png_},
        {"k.1_b.png", png_},
        {"k.2_c.png", png_},
        {"k.json", R"({"texts": [{"role": "user", "content": "<image>"}], "name": ["1_b.png"], "fps": 2,
                       "messages": [], "system": "s"})"}},
       {{"*.png", 1}, {"fps", 1}, {"messages", 1}, {"system", 1}}},
  };
  for (const auto& [parts, expected] : rows) {
    UnreadColumns unread;
    read_shards(find_shards(put("one.tar", parts)), "", 0, &unread);
    EXPECT_EQ(unread, expected) << parts.back().second;
  }
}

TEST_F(Shards, BadSamplesAreNamed) {
  const std::string where = "one.tar: sample 'k'";
  const std::vector<std::pair<Parts, std::string>> rows = {
      {{{"k.png", png_}}, "got the parts png"},
      {{{"k.txt", "a"}}, "expected a picture (jpg, jpeg, png or webp), got the parts txt"},
      {{{"k.png", png_}, {"k.json", "{"}}, "json: not valid JSON"},
      {{{"k.png", png_}, {"k.json", R"({"caption": 5})"}}, "expected the caption as text, got 5"},
      {{{"k.json", R"({"texts": [{"role": "user", "content": "<image>"}], "name": ["0_a.png"]})"}},
       "expected a part '0_a.png' of the sample, got the parts json"},
      {{{"k.0_a.png", png_},
        {"k.json", R"({"texts": [{"role": "user", "content": "q"}], "name": ["0_a.png"]})"}},
       "0 places <image> in the texts and 1 files"},
  };
  for (const auto& [parts, message] : rows) {
    EXPECT_TRUE(contains(refusal(parts), where));
    EXPECT_TRUE(contains(refusal(parts), message));
  }
}

TEST_F(Shards, PatternsFoldersAndSplits) {
  EXPECT_EQ(expand_braces("a-{08..10}.tar"), (std::vector<std::string>{"a-08.tar", "a-09.tar", "a-10.tar"}));
  EXPECT_EQ(expand_braces("{x,y}-{0..1}"), (std::vector<std::string>{"x-0", "x-1", "y-0", "y-1"}));
  EXPECT_EQ(expand_braces("plain.tar"), (std::vector<std::string>{"plain.tar"}));
  const auto sample = [&](const std::string& key) {
    return Parts{{key + ".png", png_}, {key + ".txt", key}};
  };
  for (const char* key : {"s-0", "s-1", "s-2"}) put(concat(key, ".tar"), sample(key));
  const auto count = [](const std::string& entry) {
    return read_conversations(entry, ConversationFormat::kAuto).size();
  };
  EXPECT_EQ(count((folder_ / "s-{0..1}.tar").string()), 2U);
  EXPECT_EQ(count(folder_.path().string()), 3U);
  EXPECT_EQ(read_conversations(folder_.path().string(), ConversationFormat::kAuto, 2).size(), 2U);
  make_directories(folder_ / ".nv-meta");
  folder_.put(
      ".nv-meta/split.yaml",
      "split_parts:\n  train: ['s-{0..1}.tar']\n  val: [s-2.tar]\n  test: []\nexclude: ['s-1.tar/0']\n");
  EXPECT_EQ(count(folder_.path().string()), 1U);
  EXPECT_EQ(count(folder_.path().string() + ":val"), 1U);
  EXPECT_TRUE(contains(message_of<DataError>([&] { count(folder_.path().string() + ":test"); }),
                       "split.yaml: expected shards in split_parts.test"));
  folder_.put(".nv-meta/split.yaml", "split_parts: [");
  EXPECT_TRUE(contains(message_of<DataError>([&] { count(folder_.path().string()); }), "split.yaml"));
  const TestFolder empty;
  EXPECT_TRUE(contains(message_of<DataError>([&] { count(empty.path().string()); }), "it has none"));
}

TEST_F(Shards, AreTrainedOn) {
  const Tokenizer tokenizer = test_tokenizer(2);
  const ChatTemplate chat_template(kTestVisualTemplate, "test");
  const VisualInfo visual = test_visual();
  SourceContext context;
  context.shape = {64, 1, 1};
  context.tokenizer = &tokenizer;
  context.chat_template = &chat_template;
  context.visual = &visual;
  context.processor = test_processor();
  DataConfig config;
  config.train = {put("s.tar", {{"a.png", png_}, {"a.txt", "hill"}, {"b.png", png_}, {"b.txt", "dale"}})};
  config.pack = false;
  const Batch batch = make_sft_source(config, context)->batch(0, 0);
  EXPECT_EQ(batch.counts.pictures, 1);
  EXPECT_EQ(batch.counts.trained, 5);  // four letters and the end
  config.train = {folder_.put("c.jsonl", R"({"instruction": "i", "output": "o"})").string()};
  config.caption_prompt = "Describe.";
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { make_sft_source(config, context); }),
                       "data.caption_prompt: has no effect without WebDataset shards"));
}

}  // namespace
}  // namespace loongforge
