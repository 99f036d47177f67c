// The language itself; tests/text/template_test.py compares the same and more with jinja2.
#include <gtest/gtest.h>

#include "loongforge/base/error.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

std::string render(const std::string& source, const Json& variables = Json::object()) {
  RenderOptions options;
  options.extra = variables;
  options.assistant_spans = false;
  options.now = 0;
  return ChatTemplate(source, "t").render(Json::array(), options).text;
}

TEST(TemplateLanguage, BlocksTakeTheirLineBreakAndIndent) {
  EXPECT_EQ(render("a\n  {% if true %}\n  b\n  {% endif %}\nc\n"), "a\n  b\nc");
  EXPECT_EQ(render("a\n  {%+ if true %}\nb{% endif +%}\nc"), "a\n  b\nc");
  EXPECT_EQ(render("a  \n {%- if true -%} \n b {%- endif -%} \n c"), "abc");
  EXPECT_EQ(render("a  {{- 1 -}}  b {# c #}\nd"), "a1b d");
}

TEST(TemplateLanguage, RawTextIsKept) {
  EXPECT_EQ(render("{% raw %}{{ x }}{% endraw %}"), "{{ x }}");
}

TEST(TemplateLanguage, ValuesPrintAsInPython) {
  EXPECT_EQ(render("{{ [1, 2.0, 'a\\'b', none, true, (1,), {'k': \"x\"}] }}"),
            "[1, 2.0, \"a'b\", None, True, (1,), {'k': 'x'}]");
  EXPECT_EQ(render("{{ 1e16 }} {{ 0.1 + 0.2 }} {{ 7 // -2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }}"),
            "1e+16 0.30000000000000004 -4 2 3.5 1024");
}

TEST(TemplateLanguage, UndefinedIsEmptyAndFalse) {
  EXPECT_EQ(render("[{{ x }}]{{ x is defined }}{% for a in x %}!{% endfor %}{{ x | default('d') }}"),
            "[]Falsed");
  EXPECT_EQ(render("{{ 'yes' if {}.a else 'no' }}[{{ 'a' if false }}]"), "no[]");
  EXPECT_THROW(render("{{ x.y }}"), DataError);
  EXPECT_THROW(render("{{ x + 1 }}"), DataError);
}

TEST(TemplateLanguage, MethodsComeBeforeKeys) {
  EXPECT_EQ(render("{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}{{ d['items'] }}",
                   {{"d", {{"items", 3}}}}),
            "items=3;3");
}

TEST(TemplateLanguage, LoopsKnowWhereTheyAre) {
  EXPECT_EQ(render("{% for i in 'abc' %}{{ loop.index }}{{ i }}{{ loop.previtem }}{{ ',' if not loop.last "
                   "}}{% endfor %}"),
            "1a,2ba,3cb");
  EXPECT_EQ(
      render("{% for i in range(9) if i is odd %}{% if i > 5 %}{% break %}{% endif %}{{ i }}{% endfor %}"),
      "135");
  EXPECT_EQ(render("{% for i in [[1, [2]], 3] recursive %}{{ loop(i) if i is iterable else i }}{% endfor %}"),
            "123");
}

TEST(TemplateLanguage, AssignmentsStayInTheirLoop) {
  EXPECT_EQ(render("{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = 9 %}{% endfor %}{{ x }}"), "111");
  EXPECT_EQ(
      render("{% set n = namespace(x=0) %}{% for i in [1, 2] %}{% set n.x = n.x + i %}{% endfor %}{{ n.x }}"),
      "3");
}

TEST(TemplateLanguage, MacrosAndCalls) {
  EXPECT_EQ(render("{% macro m(a, b='B') %}<{{ a }}{{ b }}{{ caller() if caller }}>{% endmacro %}"
                   "{{ m(1) }}{{ m(b=2, a=3) }}{% call m(4) %}in{% endcall %}"),
            "<1B><32><4Bin>");
  EXPECT_EQ(
      render(
          "{% set x %}a{{ 1 }}{% endset %}{{ x | upper }}{% filter replace('b', 'c') %}abb{% endfilter %}"),
      "A1acc");
}

TEST(TemplateLanguage, JsonIsThatOfTransformers) {
  EXPECT_EQ(render("{{ {'a': ['é', 1.0, none], 'b<': {}} | tojson }}"),
            "{\"a\": [\"é\", 1.0, null], \"b<\": {}}");
  EXPECT_EQ(render("{{ {'a': [1]} | tojson(indent=2) }}"), "{\n  \"a\": [\n    1\n  ]\n}");
  EXPECT_EQ(render("{{ '😀' | tojson(ensure_ascii=true) }}"), "\"\\ud83d\\ude00\"");
}

TEST(TemplateLanguage, TheTimeIsGiven) {
  EXPECT_EQ(render("{{ strftime_now('%Y') }}").substr(0, 2), "19");
}

TEST(TemplateLanguage, SlicesGoByCharacters) {
  EXPECT_EQ(render("{{ 'aé漢'[1:] }}{{ 'abc'[::-1] }}{{ [1, 2, 3][-2:] }}{{ 'é' | length }}"),
            "é漢cba[2, 3]1");
}

// Name, line and reason of an error.
std::string refusal(const std::string& source) {
  try {
    render(source);
  } catch (const Error& e) {
    return concat(e.exit_code(), " ", e.what());
  }
  return "no error";
}

TEST(TemplateLanguage, ErrorsNameTemplateAndLine) {
  EXPECT_EQ(refusal("a\n{% if %}").substr(0, 6), "4 t:2:");
  EXPECT_EQ(refusal("a\n\n{{ raise_exception('no\\nway') }}"), "3 t:3: no\\nway");
  EXPECT_EQ(refusal("{% include 'x' %}").substr(0, 6), "4 t:1:");
  EXPECT_EQ(refusal("{% for x in y %}").substr(0, 6), "4 t:1:");
  EXPECT_EQ(refusal("{{ [].append(1) }}").substr(0, 6), "3 t:1:");
  EXPECT_NE(refusal("{{ x | nothing }}").find("No filter named 'nothing'"), std::string::npos);
}

TEST(TemplateLanguage, RunawayTemplatesStop) {
  EXPECT_THROW(render("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), DataError);
  EXPECT_THROW(render("{{ 'a' * 999999999999 }}"), DataError);
  EXPECT_THROW(render("{{ range(1000000) }}"), DataError);
  EXPECT_THROW(
      render("{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}"),
      DataError);
  EXPECT_THROW(
      render("{% set n = namespace(x=0) %}{% for i in range(9999) %}{% set n.x = [n.x] %}{% endfor %}"),
      DataError);
  EXPECT_THROW(render("{{ " + std::string(5000, '(')), CheckpointError);
  EXPECT_THROW(render("{{ " + std::string(50000, '-') + "1 }}"), CheckpointError);
}

}  // namespace
}  // namespace loongforge
