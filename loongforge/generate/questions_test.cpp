#include "loongforge/generate/questions.h"

#include <gtest/gtest.h>

#include <fstream>

#include "loongforge/base/error.h"
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

TEST_F(Questions, ErrorsNameFileAndLine) {
  EXPECT_NE(error_of("{\"question\":\"a\",\"answer\":\"b\"}\n{\"question\":\"a\"}\n").find(".jsonl:2: "),
            std::string::npos);
  EXPECT_NE(error_of("{\"answer\":\"b\"}\n").find("\"messages\" or \"question\""), std::string::npos);
  EXPECT_NE(error_of("{\"messages\":[],\"answer\":\"b\"}\n").find("messages"), std::string::npos);
  EXPECT_NE(error_of("{\"messages\":[{\"role\":1}],\"answer\":\"b\"}\n").find("messages[0]"),
            std::string::npos);
  EXPECT_NE(error_of("{\"question\":\"a\",\"answer\":[1]}\n").find("answer: expected text"),
            std::string::npos);
  EXPECT_NE(error_of("[1]\n").find("JSON object"), std::string::npos);
  EXPECT_NE(error_of("").find("empty"), std::string::npos);
}

}  // namespace
}  // namespace loongforge
