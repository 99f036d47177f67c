#include "loongforge/generate/questions.h"

#include <gtest/gtest.h>

#include <fstream>

#include "loongforge/base/error.h"
#include "loongforge/base/log.h"
#include "loongforge/base/test_path.h"

namespace loongforge {
namespace {

class Questions : public testing::Test {
 protected:
  std::vector<Question> read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_questions(path_);
  }
  std::string error_of(const std::string& text) {
    try {
      read(text);
    } catch (const DataError& error) {
      return error.what();
    }
    return "no error";
  }
  void TearDown() override { fs::remove(path_); }

  fs::path path_ = test_path(".jsonl");
};

TEST_F(Questions, PlainQuestionBecomesAUserMessage) {
  const auto read_back = read("{\"question\":\"1+1?\",\"answer\":2,\"task\":\"sum\"}\n");
  ASSERT_EQ(read_back.size(), 1u);
  EXPECT_EQ(read_back[0].task, "sum");
  EXPECT_EQ(read_back[0].expected, "2");
  EXPECT_EQ(read_back[0].conversation.messages, Json::parse(R"([{"role":"user","content":"1+1?"}])"));
}

TEST_F(Questions, LastAssistantMessageIsTheAnswer) {
  const auto read_back =
      read(R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})"
           "\n");
  EXPECT_EQ(read_back[0].expected, "b");
  EXPECT_EQ(read_back[0].conversation.messages.size(), 1u);
}

TEST_F(Questions, AnswerFieldWinsOverTheAssistantMessage) {
  const auto read_back =
      read(R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"answer":"c"})"
           "\n");
  EXPECT_EQ(read_back[0].expected, "c");
  EXPECT_EQ(read_back[0].conversation.messages.size(), 1u);
}

TEST_F(Questions, ToolsAreReadAsForTraining) {
  const auto read_back = read(
      R"({"messages":[{"role":"user","content":"a"},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":"{\"x\":1}"}}]},)"
      R"({"role":"tool","content":"r"}],"tools":"[{\"type\":\"function\"}]","answer":"b"})"
      "\n");
  const Conversation& one = read_back.at(0).conversation;
  EXPECT_EQ(one.tools, Json::parse(R"([{"type":"function"}])"));
  EXPECT_EQ(one.messages[1]["tool_calls"][0]["function"]["arguments"]["x"], 1);
}

TEST_F(Questions, FieldsThatAreNotReadAreCounted) {
  const auto unread_of = [&](const char* line, const std::set<std::string_view>& read) {
    UnreadColumns unread;
    question_conversation(Json::parse(line), "q.jsonl:1", path_, read, &unread);
    return unread;
  };
  EXPECT_EQ(unread_of(R"({"question":"<image>Who?","picture":"cat.jpg","answer":"A cat"})", {"answer"}),
            (UnreadColumns{{"<image>", 1}, {"picture", 1}}));
  EXPECT_EQ(unread_of(R"({"question":"<image>Who?","image":"cat.jpg","answer":"A cat"})", {"answer"}),
            UnreadColumns{});
  EXPECT_EQ(unread_of(R"({"messages":[{"role":"user","content":"a"}],"question":"b","answer":"c"})", {}),
            (UnreadColumns{{"question", 1}, {"answer", 1}}));
}

TEST_F(Questions, AFileIsWarnedOfOncePerField) {
  const std::int64_t before = warning_count();
  read("{\"question\":\"a\",\"answer\":\"b\",\"task\":\"t\"}\n");
  EXPECT_EQ(warning_count(), before);
  read("{\"question\":\"a\",\"answer\":\"b\",\"x\":1}\n{\"question\":\"a\",\"answer\":\"b\",\"x\":1}\n");
  EXPECT_EQ(warning_count(), before + 1);
}

TEST_F(Questions, ErrorsNameFileAndLine) {
  EXPECT_NE(error_of("{\"question\":\"a\",\"answer\":\"b\"}\n{\"question\":\"a\"}\n").find(".jsonl:2: "),
            std::string::npos);
  EXPECT_NE(error_of("{\"answer\":\"b\"}\n").find("\"messages\" or \"question\""), std::string::npos);
  EXPECT_NE(error_of("{\"messages\":[],\"answer\":\"b\"}\n").find("messages"), std::string::npos);
  EXPECT_NE(
      error_of("{\"messages\":[{\"role\":1}],\"answer\":\"b\"}\n").find(".jsonl:1: message 1: field 'role'"),
      std::string::npos);
  EXPECT_NE(error_of("{\"question\":\"<image>a\",\"images\":[],\"answer\":\"b\"}\n").find("1 places <image>"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"messages":[{"role":"user","content":"a"},)"
                     R"({"role":"assistant","content":null,"tool_calls":[]}]})")
                .find("calls of tools"),
            std::string::npos);
  EXPECT_NE(error_of("{\"question\":\"a\",\"answer\":[1]}\n").find("answer: expected text"),
            std::string::npos);
  EXPECT_NE(error_of("[1]\n").find("JSON object"), std::string::npos);
  EXPECT_NE(error_of("").find("empty"), std::string::npos);
}

}  // namespace
}  // namespace loongforge
