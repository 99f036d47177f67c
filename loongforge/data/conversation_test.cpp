#include "loongforge/data/conversation.h"

#include <gtest/gtest.h>

#include "loongforge/data/test_support.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

Conversation parse(const std::string& text, const std::string& format = "auto",
                   std::map<std::string, std::int64_t>* unread = nullptr) {
  return parse_conversation(parse_json(text, "test"), conversation_format(format), "f:1", unread);
}

Json turn(const char* role, const char* content) {
  return {{"role", role}, {"content", content}};
}

TEST(Conversation, OpenAiMessagesAndTools) {
  const Conversation one = parse(R"({"messages": [{"role": "user", "content": "q"},
      {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\": 1}"}}]}],
      "tools": [{"type": "function"}]})");
  ASSERT_EQ(one.messages.size(), 2U);
  EXPECT_EQ(one.messages[0], turn("user", "q"));
  EXPECT_EQ(one.messages[1]["content"], "");
  EXPECT_EQ(one.messages[1]["tool_calls"][0]["function"]["arguments"]["x"], 1);
  EXPECT_EQ(one.tools.size(), 1U);
}

TEST(Conversation, TextPartsAreJoined) {
  const Conversation one = parse(
      R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]})");
  EXPECT_EQ(one.messages[0]["content"], "ab");
}

TEST(Conversation, ShareGptRoles) {
  const Conversation one = parse(R"({"system": "s", "conversations": [{"from": "human", "value": "q"},
      {"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {\"x\": 1}}"},
      {"from": "observation", "value": "r"}, {"from": "gpt", "value": "a"}], "tools": "[]"})");
  EXPECT_EQ(one.messages[0], turn("system", "s"));
  EXPECT_EQ(one.messages[1], turn("user", "q"));
  EXPECT_EQ(one.messages[2]["tool_calls"][0]["function"]["name"], "f");
  EXPECT_EQ(one.messages[3], turn("tool", "r"));
  EXPECT_EQ(one.messages[4], turn("assistant", "a"));
  EXPECT_TRUE(one.tools.is_null());
}

TEST(Conversation, AlpacaHistoryComesBeforeTheInstruction) {
  const Conversation one =
      parse(R"({"instruction": "i", "input": "x", "output": "o", "history": [["q1", "a1"], ["q2", "a2"]]})");
  EXPECT_EQ(one.messages,
            Json::array({turn("user", "q1"), turn("assistant", "a1"), turn("user", "q2"),
                         turn("assistant", "a2"), turn("user", "i\nx"), turn("assistant", "o")}));
}

TEST(Conversation, AlpacaWithoutInput) {
  EXPECT_EQ(parse(R"({"instruction": "i", "input": "", "output": "o"})").messages[0], turn("user", "i"));
}

TEST(Conversation, UnreadColumnsAreCounted) {
  std::map<std::string, std::int64_t> unread;
  parse(R"({"messages": [{"role": "user", "content": "q"}], "source": "web"})", "auto", &unread);
  EXPECT_EQ(unread.at("source"), 1);
}

TEST(Conversation, WrongRecordsAreNamed) {
  const std::vector<std::array<const char*, 3>> rows = {
      {"auto", "[]", "f:1: expected a JSON object, got array"},
      {"auto", R"({"text": "x"})", "got the fields text"},
      {"openai", R"({"conversations": []})", "expected a field 'messages'"},
      {"auto", R"({"messages": []})", "an empty list"},
      {"auto", R"({"messages": "hi"})", "got string"},
      {"auto", R"({"messages": [{"content": "x"}]})", "message 1: expected a field 'role'"},
      {"auto", R"({"messages": [{"role": "bot", "content": "x"}]})", "got 'bot'"},
      {"auto", R"({"messages": [{"role": "user"}]})", "message 1: expected 'content'"},
      {"auto", R"({"messages": [{"role": "user", "content": 5}]})", "'content': expected text, got number"},
      {"auto", R"({"messages": [{"role": "user", "content": [{"type": "audio"}]}]})",
       "expected text or parts"},
      {"auto", R"({"messages": [{"role": "user", "content": "x"}], "tools": 5})", "'tools': expected a list"},
      {"auto", R"({"conversations": [{"from": "alien", "value": "x"}]})", "turn 1: 'from'"},
      {"auto", R"({"conversations": [{"from": "gpt"}]})", "expected a field 'value'"},
      {"auto", R"({"conversations": [{"from": "function_call", "value": "call f"}]})", "not valid JSON"},
      {"alpaca", R"({"instruction": "x"})", "expected a field 'output'"},
      {"auto", R"({"instruction": "x", "output": "y", "history": [["only one"]]})", "'history'"},
  };
  for (const auto& [format, record, part] : rows) {
    EXPECT_TRUE(contains(message_of<DataError>([&] { parse(record, format); }), part)) << record;
  }
}

TEST(Conversation, UnknownFormatIsNamed) {
  EXPECT_TRUE(contains(message_of<ConfigError>([] { conversation_format("csv"); }), "data.format"));
}

TEST(ReadConversations, LinesAndListsAreToldApart) {
  const TestFolder folder;
  const std::string record = R"({"instruction": "i", "output": "o"})";
  const auto lines = folder.put("a.json", record + "\n" + record + "\n");
  const auto list = folder.put("b.jsonl", "\xEF\xBB\xBF\n [" + record + ",\n" + record + "]");
  EXPECT_EQ(read_conversations(lines.string(), ConversationFormat::kAuto).size(), 2U);
  EXPECT_EQ(read_conversations(list.string(), ConversationFormat::kAuto).size(), 2U);
  EXPECT_EQ(read_conversations(lines.string(), ConversationFormat::kAuto, 1).size(), 1U);
}

TEST(ReadConversations, BadFilesAreNamed) {
  const TestFolder folder;
  const auto message = [&](const fs::path& path) {
    return message_of<DataError>([&] { read_conversations(path.string(), ConversationFormat::kAuto); });
  };
  EXPECT_TRUE(contains(message(folder / "none"), "none"));
  EXPECT_TRUE(contains(message(folder.put("a", " \n")), "file is empty"));
  EXPECT_TRUE(contains(message(folder.put("b", "hello")), "begins with another"));
  EXPECT_TRUE(contains(message(folder.put("c", "[]")), "empty list"));
  EXPECT_TRUE(contains(message(folder.put("d", "[{\"instruction\": ")), "not valid JSON"));
  EXPECT_TRUE(contains(message(folder.put("e", "{\"instruction\": \"i\", \"output\": \"o\"}\n{}\n")), "e:2"));
  EXPECT_TRUE(contains(message(folder.path()), folder.path().string()));
}

class Tokenise : public ::testing::Test {
 protected:
  TokenisedConversation run(const Json& messages, ConversationOptions options = {}) const {
    return ConversationTokeniser(template_, tokenizer_, options).tokenise({messages, Json(), "f:1"});
  }
  std::string trained_text(const TokenisedConversation& one) const {
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < one.ids.size(); ++i) {
      if (one.trained[i] != 0) ids.push_back(one.ids[i]);
    }
    return tokenizer_.decode(ids);
  }
  const Tokenizer tokenizer_ = test_tokenizer();
  const ChatTemplate template_{kChatTemplateForTest, "test template"};
  const Json two_turns_ =
      Json::array({turn("user", "q1"), turn("assistant", "x1"), turn("user", "q2"), turn("assistant", "y2")});
};

TEST_F(Tokenise, EveryAnswerAndItsEndMarkerAreTrained) {
  const TokenisedConversation one = run(two_turns_);
  EXPECT_EQ(trained_text(one), "x1<|im_end|>y2<|im_end|>");
  EXPECT_EQ(one.trained_tokens(), 6);
}

TEST_F(Tokenise, IdsAreThoseOfTheWholeText) {
  const TokenisedConversation one = run(two_turns_);
  EXPECT_EQ(one.ids, tokenizer_.encode(template_.render(two_turns_).text));
}

TEST_F(Tokenise, TokenMergedOverTheBorderIsNotTrained) {
  // "\n" of the header and "A" of the answer are one token here.
  const TokenisedConversation one = run(Json::array({turn("user", "q"), turn("assistant", "AB")}));
  EXPECT_EQ(std::count(one.ids.begin(), one.ids.end(), kTestMerged), 1);
  EXPECT_EQ(trained_text(one), "B<|im_end|>");
}

TEST_F(Tokenise, TypedMarkersStayText) {
  const Json messages = Json::array({turn("user", "a<|im_end|>b"), turn("assistant", "c<|im_start|>d")});
  const TokenisedConversation one = run(messages);
  EXPECT_EQ(std::count(one.ids.begin(), one.ids.end(), kTestEnd), 2);
  EXPECT_EQ(std::count(one.ids.begin(), one.ids.end(), kTestStart), 2);
  EXPECT_EQ(tokenizer_.decode(one.ids), template_.render(messages).text);
  EXPECT_EQ(trained_text(one), "c<|im_start|>d<|im_end|>");
  const TokenisedConversation control = run(messages, {.specials = ContentSpecials::kControl});
  EXPECT_EQ(std::count(control.ids.begin(), control.ids.end(), kTestEnd), 3);
}

TEST_F(Tokenise, CutsAtTheRight) {
  const TokenisedConversation whole = run(two_turns_);
  const TokenisedConversation cut = run(two_turns_, {.max_tokens = 20});
  EXPECT_EQ(cut.ids, std::vector<std::int32_t>(whole.ids.begin(), whole.ids.begin() + 20));
  EXPECT_EQ(cut.trained, std::vector<std::uint8_t>(whole.trained.begin(), whole.trained.begin() + 20));
  EXPECT_EQ(cut.cut_tokens, std::ssize(whole.ids) - 20);
}

TEST_F(Tokenise, WeightZeroIsNotTrained) {
  Json messages = two_turns_;
  messages[1]["weight"] = 0;
  EXPECT_EQ(trained_text(run(messages)), "y2<|im_end|>");
}

TEST_F(Tokenise, TemplateErrorsNameTheRecord) {
  const ChatTemplate strict("{{ raise_exception('roles must alternate') }}", "strict");
  const std::string message = message_of<DataError>([&] {
    ConversationTokeniser(strict, tokenizer_).tokenise({two_turns_, Json(), "f:9"});
  });
  EXPECT_TRUE(contains(message, "f:9: "));
  EXPECT_TRUE(contains(message, "roles must alternate"));
}

}  // namespace
}  // namespace loongforge
