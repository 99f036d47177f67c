#include "loongforge/data/conversation_media.h"

#include <gtest/gtest.h>

#include "loongforge/data/test_support.h"

namespace loongforge {
namespace {

Conversation parse(const std::string& text, std::map<std::string, std::int64_t>* unread = nullptr) {
  return parse_conversation(parse_json(text, "test"), ConversationFormat::kAuto, "f:1", unread,
                            files_of("/data"));
}

std::string refusal(const std::string& text) {
  return message_of<DataError>([&] { parse(text); });
}

Json text_part(const char* text) {
  return {{"type", "text"}, {"text", text}};
}

const Json kImage = {{"type", "image"}}, kVideo = {{"type", "video"}};

// A record with one user message of this content, and further columns.
std::string record(const std::string& content, const std::string& columns = "") {
  return R"({"messages": [{"role": "user", "content": )" + content + "}]" + columns + "}";
}

TEST(ConversationMedia, MarksInTextsTakeTheFilesOfTheColumns) {
  const Conversation one = parse(R"({"messages": [
      {"role": "user", "content": "<image>Who? <video>"}, {"role": "assistant", "content": "Kane."},
      {"role": "user", "content": "And<image>"}], "images": ["a.jpg", "/b.png"], "videos": "c.mp4"})");
  EXPECT_EQ(one.messages[0]["content"], Json::array({kImage, text_part("Who? "), kVideo}));
  EXPECT_EQ(one.messages[1]["content"], "Kane.");
  EXPECT_EQ(one.messages[2]["content"], Json::array({text_part("And"), kImage}));
  ASSERT_EQ(one.media.size(), 3U);
  EXPECT_EQ(one.media[0].name(), "/data/a.jpg");
  EXPECT_EQ(one.media[1].name(), "/data/c.mp4");
  EXPECT_TRUE(one.media[1].is_clip());
  EXPECT_EQ(one.media[2].name(), "/b.png");
}

TEST(ConversationMedia, ShareGptAndAlpacaHaveMarksToo) {
  const Conversation chat =
      parse(R"({"conversations": [{"from": "human", "value": "<image>\nq"}, {"from": "gpt", "value": "a"}],
                "image": "x.jpg"})");
  EXPECT_EQ(chat.messages[0]["content"], Json::array({kImage, text_part("\nq")}));
  EXPECT_EQ(chat.media.at(0).name(), "/data/x.jpg");
  const Conversation alpaca =
      parse(R"({"instruction": "<video>q", "input": "", "output": "a", "videos": ["x.mp4"]})");
  EXPECT_EQ(alpaca.messages[0]["content"], Json::array({kVideo, text_part("q")}));
}

TEST(ConversationMedia, PartsNameTheirFiles) {
  const Conversation one =
      parse(record(R"([{"type": "image", "image": "a.png"}, {"type": "text", "text": "q"},
      {"type": "image_url", "image_url": {"url": "file:///b.png"}}, {"type": "video", "video": "c.mp4"},
      {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}},
      {"type": "video", "video": ["1.png", "2.png"], "fps": "4"}])"));
  EXPECT_EQ(one.messages[0]["content"],
            Json::array({kImage, text_part("q"), kImage, kVideo, kImage, kVideo}));
  ASSERT_EQ(one.media.size(), 5U);
  EXPECT_EQ(one.media[1].name(), "/b.png");
  const MediaBytes bytes = one.media[3].sources[0].open();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size()), "hello");
  EXPECT_EQ(one.media[4].sources.size(), 2U);
  EXPECT_EQ(one.media[4].frame_rate, 4);
}

TEST(ConversationMedia, PartsWithoutFilesTakeThoseOfTheColumn) {
  const Conversation one =
      parse(record(R"([{"type": "image"}, {"type": "text", "text": "q"}])", R"(, "images": ["a.png"])"));
  EXPECT_EQ(one.messages[0]["content"], Json::array({kImage, text_part("q")}));
  EXPECT_EQ(one.media.at(0).name(), "/data/a.png");
}

TEST(ConversationMedia, TextAloneStaysAsItIs) {
  std::map<std::string, std::int64_t> unread;
  EXPECT_EQ(parse(record(R"("what is <image> in HTML?")"), &unread).messages[0]["content"],
            "what is <image> in HTML?");
  EXPECT_EQ(unread.at("<image>"), 1);  // a warning: the column may have another name
  EXPECT_EQ(parse(record(R"("q")", R"(, "images": [], "videos": null)"), &unread).messages[0]["content"],
            "q");
  EXPECT_TRUE(parse(record(R"("q")", R"(, "images": [])")).media.empty());
}

// What nothing reads of a record with these columns.
std::map<std::string, std::int64_t> unread_of(const std::string& content, const std::string& columns = "") {
  std::map<std::string, std::int64_t> unread;
  parse(record(content, columns), &unread);
  return unread;
}

using Unread = std::map<std::string, std::int64_t>;

TEST(ConversationMedia, EitherNameOfAColumnIsReadAndBothAreRefused) {
  for (const char* columns :
       {R"(, "images": [], "image": "cat.jpg")", R"(, "images": "cat.jpg", "image": [])",
        R"(, "images": null, "image": ["cat.jpg"])"})
    EXPECT_EQ(parse(record(R"("<image>q")", columns)).media.at(0).name(), "/data/cat.jpg") << columns;
  EXPECT_TRUE(contains(refusal(record(R"("q")", R"(, "images": [], "image": "cat.jpg")")), "and 1 files"));
  EXPECT_TRUE(contains(refusal(record(R"("<image>q")", R"(, "images": ["a.png"], "image": "b.png")")),
                       "f:1: expected files in 'images' or in 'image', got both"));
  EXPECT_TRUE(contains(refusal(record(R"("<video>q")", R"(, "videos": ["a.mp4"], "video": ["a.mp4"])")),
                       "f:1: expected files in 'videos' or in 'video', got both"));
}

TEST(ConversationMedia, WhatHasNoEffectIsCounted) {
  EXPECT_EQ(unread_of(R"("q")", R"(, "fps": 2)"), (Unread{{"fps", 1}}));
  EXPECT_EQ(unread_of(R"("<video>q")", R"(, "video": "a.mp4", "fps": 2)"), (Unread{{"fps", 1}}));
  EXPECT_EQ(unread_of(R"("<video>q")", R"(, "videos": [["1.png", "2.png"]], "fps": 2)"), Unread{});
  EXPECT_EQ(unread_of(R"("<image>q")", R"(, "image": "a.png", "video": null, "fps": null)"), Unread{});
  EXPECT_EQ(
      unread_of(R"([{"type": "image", "image": "a.png", "path": "b.png", "max_pixels": 9},
                          {"type": "image_url", "image_url": {"url": "c.png", "detail": "low"}},
                          {"type": "video", "video": "d.mp4", "fps": 2},
                          {"type": "video", "video": ["1.png"], "fps": 2},
                          {"type": "text", "text": "<image>", "weight": 0}])"),
      (Unread{{"path", 1}, {"max_pixels", 1}, {"detail", 1}, {"fps", 1}, {"<image>", 1}, {"weight", 1}}));
}

TEST(ConversationMedia, RatesOfFramesAreInRange) {
  const auto with = [](const char* rate) {
    return record(R"("<video>q")", concat(R"(, "videos": [["1.png", "2.png"]], "fps": )", rate));
  };
  EXPECT_EQ(parse(with("0.001")).media.at(0).frame_rate, 0.001);
  for (const char* rate : {"0", "-1", "1e-300", "1e300", R"("1e999")", R"("x")", "[]"})
    EXPECT_TRUE(contains(refusal(with(rate)), "f:1: 'fps': expected a number of frames a second from"))
        << rate;
}

// VLM-1.
TEST(ConversationMedia, PlacesAndFilesMustBeAsMany) {
  const auto lines = [](int places, int files) {
    std::string content, columns;
    for (int i = 0; i < places; ++i) content += "<image>";
    for (int i = 0; i < files; ++i) columns += concat(i == 0 ? "" : ", ", "\"", i, ".png\"");
    return record("\"" + content + "q\"", ", \"images\": [" + columns + "]");
  };
  EXPECT_EQ(parse(lines(1, 1)).media.size(), 1U);
  for (const auto& [places, files] : {std::pair{2, 1}, {1, 2}, {0, 1}, {1, 0}}) {
    const std::string message = refusal(lines(places, files));
    EXPECT_TRUE(contains(message, "f:1: ")) << message;
    EXPECT_TRUE(contains(message, concat(places, " places <image> in the texts and ", files, " files")));
  }
}

TEST(ConversationMedia, WrongRecordsAreNamed) {
  const std::vector<std::array<std::string, 2>> rows = {
      {record(R"([{"type": "audio", "audio": "a.mp3"}])"),
       "f:1: message 1: 'content': expected text or parts"},
      {record(R"([{"type": "image", "image": "https://x.org/a.png"}])"), "nothing is read from the network"},
      {record(R"([{"type": "image", "image": "data:image/png,abc"}])"), "expected data:KIND;base64,BYTES"},
      {record(R"([{"type": "image", "image": "data:image/png;base64,!"}])"), "cannot be decoded"},
      {record(R"([{"type": "image", "image": 7}])"), "expected a path, got number"},
      {record(R"([{"type": "image", "image": ""}])"), "got an empty text"},
      {record(R"([{"type": "video", "video": ["1.png", "2.png"]}])"), "needs 'fps'"},
      {record(R"([{"type": "video", "video": [], "fps": 2}])"), "got an empty list"},
      {record(R"([{"type": "video", "video": ["1.png"], "fps": 0}])"), "'fps': expected a number"},
      {record(R"("<image>q")", R"(, "images": [["a.png"]])"), "images 1: expected a path, got array"},
      {record(R"([{"type": "image"}])"), "1 places <image> in the texts and 0 files"},
  };
  for (const auto& [text, part] : rows) EXPECT_TRUE(contains(refusal(text), part)) << text;
}

}  // namespace
}  // namespace loongforge
