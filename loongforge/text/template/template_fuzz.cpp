#include "loongforge/formats/fuzz.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {

std::vector<std::string> fuzz_seeds() {
  return {
      "{% for message in messages %}{{ '<|' + message['role'] + '|>\\n' + message.content | trim + '<|end|>' "
      "}}"
      "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}",
      "{%- set ns = namespace(n=0, x=[]) -%}\n  {%- for m in messages[::-1] if m.role != 'tool' recursive "
      "%}\n"
      "{%- set ns.n = ns.n + loop.index0 ** 2 // 3 % 5 %}{{ loop.cycle('a', 'b') }}{% else %}none{% endfor "
      "%}\n"
      "{{ ns.n ~ [1, 2.5, none, true] ~ {'k': (1,)} }}",
      "{% macro show(x, y='é', *z) %}{{ x }}{{ y | upper }}{{ caller() if caller }}{{ varargs }}{% endmacro "
      "%}"
      "{% call(u) show('q', y=\"w\") %}{{ u | default('d') }}{% endcall %}{{ show(1)[0:2] }}",
      "{% set t %}{% generation %}{{ messages[0].content.split('a')[-1].strip().replace('b', 'cc') }}"
      "{% endgeneration %}{% endset %}{{ t | indent(2) | tojson(indent=2) }}{# c #}{% raw %}{{ }}{% endraw "
      "%}",
      "{{ '%05.2f|%-4s|%(k)s' % 3 }}{{ '{0:>8}{x!r}'.format(1, x='y') }}"
      "{{ messages | map(attribute='role') | unique | list | sort | join(', ') }}"
      "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ range(5) | batch(2) | list "
      "}}",
      "{% with a = 1, b = 'x' %}{% filter upper %}{{ a }}{{ b * 3 }}{% endfilter %}{% endwith %}"
      "{% for k, v in {'a': 1} | dictsort %}{% if v is odd and k is not none %}{{ k }}{% break %}{% endif %}"
      "{% endfor %}{{ raise_exception('bad\\n' ~ 1e3) if undefined_name else strftime_now('%Y') }}"};
}

}  // namespace loongforge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loongforge;
  static const Json messages = {{{"role", "user"}, {"content", "abab é"}},
                                {{"role", "assistant"}, {"content", "ok"}}};
  expect_read_or<Error>([&] {
    const ChatTemplate chat_template(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
    RenderOptions options;
    options.now = 0;
    chat_template.render(messages, options);
  });
  return 0;
}
