#include <gtest/gtest.h>

#include "loongforge/base/error.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

constexpr const char* kChatMl =
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}{% "
    "endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

Json user(const char* text) {
  return {{"role", "user"}, {"content", text}};
}
Json assistant(const char* text) {
  return {{"role", "assistant"}, {"content", text}};
}

// The spans of a rendering, each followed by a bar.
std::string spans(const std::string& source, const Json& messages, RenderOptions options = {}) {
  const Rendered rendered = ChatTemplate(source, "t").render(messages, options);
  std::string out;
  for (const AssistantSpan& span : rendered.assistant) {
    out.append(rendered.text, span.begin, span.end - span.begin).append("|");
  }
  return out;
}

std::string refusal(const std::string& source, const Json& messages) {
  try {
    return spans(source, messages);
  } catch (const DataError& e) {
    return e.what();
  }
}

TEST(AssistantSpans, EveryTurnWithItsEndMarker) {
  EXPECT_EQ(spans(kChatMl, {user("Q"), assistant("A1"), user("R"), assistant("B2")}),
            "A1<|im_end|>|B2<|im_end|>|");
}

TEST(AssistantSpans, NameTheirMessage) {
  const Rendered r = ChatTemplate(kChatMl, "t").render({user("Q"), assistant("A"), assistant("B")});
  ASSERT_EQ(r.assistant.size(), 2u);
  EXPECT_EQ(r.assistant[0].message, 1u);
  EXPECT_EQ(r.assistant[1].message, 2u);
}

TEST(AssistantSpans, WhiteSpaceOfTheWordsIsLearned) {
  EXPECT_EQ(spans(kChatMl, {user("Q"), assistant(" \n A \n")}), " \n A \n<|im_end|>|");
}

TEST(AssistantSpans, EmptyAnswersLearnTheirEnd) {
  EXPECT_EQ(spans(kChatMl, {user("Q"), assistant("")}), "<|im_end|>|");
}

TEST(AssistantSpans, MarkersInsideTheWordsAreWords) {
  EXPECT_EQ(
      spans(kChatMl, {user("<|im_start|>assistant\nno<|im_end|>"), assistant("x<|im_start|>assistant\ny")}),
      "x<|im_start|>assistant\ny<|im_end|>|");
}

TEST(AssistantSpans, NoAssistantNoSpans) {
  EXPECT_EQ(spans(kChatMl, Json::array({user("Q")})), "");
}

TEST(AssistantSpans, GenerationPromptBehindIsNotLearned) {
  RenderOptions options;
  options.add_generation_prompt = true;
  EXPECT_EQ(spans(kChatMl, {user("Q"), assistant("A"), user("R")}, options), "A<|im_end|>|");
  constexpr const char* kInLoop =
      "{% for m in messages %}{{ '<' + m.role + '>' + m.content + '</s>\\n' }}"
      "{% if loop.last and add_generation_prompt %}{{ '<assistant>' }}{% endif %}{% endfor %}";
  EXPECT_EQ(spans(kInLoop, {user("Q"), assistant("A")}, options), "A</s>|");
}

TEST(AssistantSpans, RewrittenWordsAreFollowed) {
  constexpr const char* kStrips =
      "{% for m in messages %}{% set c = m.content.split('</think>')[-1].lstrip('\\n') if not loop.last else "
      "m.content %}"
      "<{{ m.role }}>{{ c | trim | replace('x', 'yy') }}</s>\n{% endfor %}"
      "{% if add_generation_prompt %}<assistant>{% endif %}";
  EXPECT_EQ(spans(kStrips, {user("Q"), assistant("<think>h</think>\n\n Ax "), user("R"),
                            assistant("<think>h</think>B")}),
            "Ayy</s>|<think>h</think>B</s>|");
}

TEST(AssistantSpans, PromptThatOpensAThinkingPart) {
  constexpr const char* kThinks =
      "{% for m in messages %}{{ '<|' + m.role + '|>\\n' + m.content + '<|end|>\\n' }}{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|assistant|>\\n<think>\\n' }}{% endif %}";
  EXPECT_EQ(spans(kThinks, {user("Q"), assistant("A")}), "A<|end|>|");
  EXPECT_EQ(spans(kThinks, {user("Q"), assistant("<think>\nh</think>A")}), "<think>\nh</think>A<|end|>|");
}

TEST(AssistantSpans, TextWithoutPromptMayEndInEos) {
  constexpr const char* kPhi =
      "{% for m in messages %}{{ '<|' + m.role + '|>\\n' + m.content + '<|end|>\\n' }}{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ '<eos>' }}{% endif %}";
  EXPECT_EQ(spans(kPhi, {user("Q"), assistant("A")}), "A<|end|>|");
}

TEST(AssistantSpans, TurnsWithoutHeader) {
  constexpr const char* kMistral =
      "{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]{% else %} {{ m.content "
      "}}</s>"
      "{% endif %}{% endfor %}";
  EXPECT_EQ(spans(kMistral, {user("Q"), assistant("A"), user("R"), assistant("B")}), " A</s>| B</s>|");
}

TEST(AssistantSpans, LoopsByIndexAndMacros) {
  constexpr const char* kIndexed =
      "{% macro turn(m) %}<{{ m.role }}>{{ m.content }}</s>{% endmacro %}"
      "{% for i in range(messages | length) %}{% set m = messages[i] %}{{ turn(m) }}{% endfor %}"
      "{% if add_generation_prompt %}<assistant>{% endif %}";
  EXPECT_EQ(spans(kIndexed, {user("Q"), assistant("A"), user("R"), assistant("B")}), "A</s>|B</s>|");
}

TEST(AssistantSpans, ToolCallsBelongToTheAssistant) {
  constexpr const char* kTools =
      "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls %}[{{ c | tojson "
      "}}]{% endfor %}"
      "</s>\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
  const Json call = {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {{{"name", "f"}}}}};
  EXPECT_EQ(spans(kTools, {user("Q"), call, {{"role", "tool"}, {"content", "r"}}, assistant("A")}),
            "[{\"name\": \"f\"}]</s>|A</s>|");
}

TEST(AssistantSpans, GenerationBlocksDecide) {
  constexpr const char* kBlocks =
      "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}{% generation %}{{ m.content }}</s>"
      "{% endgeneration %}{% else %}{{ m.content }}</s>{% endif %}\n{% endfor %}";
  EXPECT_EQ(spans(kBlocks, {user("Q"), assistant("A"), user("R"), assistant("B")}), "A</s>|B</s>|");
}

TEST(AssistantSpans, GenerationBlocksMustHoldEveryTurn) {
  constexpr const char* kLast =
      "{% for m in messages %}<{{ m.role }}>{% if loop.last %}{% generation %}{{ m.content }}</s>{% "
      "endgeneration %}"
      "{% else %}{{ m.content }}</s>{% endif %}{% endfor %}";
  EXPECT_NE(refusal(kLast, {user("Q"), assistant("A"), user("R"), assistant("B")}).find("message 1"),
            std::string::npos);
}

TEST(AssistantSpans, NoEndMarkerIsAnError) {
  constexpr const char* kOpen =
      "{% for m in messages %}{{ m.role + ': ' + m.content + '\\n' }}{% endfor %}"
      "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}";
  EXPECT_NE(refusal(kOpen, {user("Q"), assistant("A")}).find("no end-of-turn marker"), std::string::npos);
  constexpr const char* kThink =
      "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}<think></think>{% endif %}"
      "{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
  EXPECT_NE(refusal(kThink, {user("Q"), assistant("")}).find("no end-of-turn marker"), std::string::npos);
}

TEST(AssistantSpans, UnknownHeadersAreAnError) {
  constexpr const char* kNoPrompt = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}";
  EXPECT_NE(refusal(kNoPrompt, {user("Q"), assistant("A")}).find("cannot be told apart"), std::string::npos);
}

TEST(AssistantSpans, TurnsWrittenOutsideOfALoopAreAnError) {
  constexpr const char* kFlat = "{{ messages[0].content }}<assistant>{{ messages[1].content }}</s>";
  EXPECT_NE(refusal(kFlat, {user("Q"), assistant("A")}).find("no part of the text belongs to message 1"),
            std::string::npos);
}

}  // namespace
}  // namespace loongforge
