"""Small templates, each about one feature of the language."""

MESSAGES = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
VARIABLES = {
    "n": 7, "x": 2.5, "s": "Hello, Wörld", "empty": "", "none_": None, "yes": True,
    "list": [3, 1, 2], "words": ["b", "A", "c", "a"], "nested": [[1, 2], [3]], "blank": "  pad \n",
    "d": {"b": 1, "a": 2, "C": 3}, "items_key": {"items": 1, "keys": 2, "pop": 3, "x y": 4},
    "people": [{"name": "Zoe", "age": 3, "tag": {"k": "p"}}, {"name": "adam", "age": 2, "tag": {"k": "q"}},
               {"name": "Bob", "age": 3}],
    "unicode": "straße ΑΣ ǆ İ ŉ 漢字 😀 e\u0301", "lines": "one\ntwo\r\nthree\u2028four\n",
    "html": "<a href='x'>T&amp;C</a> \"q\"", "quotes": "it's \"q\" \\ \n\t\x01\x7f\u200b\u00e9",
    "floats": [0.1, 1e22, 1e-7, 100.0, -0.0, 123456789.123, 1e16, 5e-324],
    "messy": {"k": [1, {"z": None, "é": "ü</s>"}], "e": {}, "l": [], "t": True, "f": 1.5},
}

OUTPUT = """
{{ n }}{{ x }}{{ s }}{{ none_ }}{{ yes }}{{ list }}{{ d }}{{ nested }}
{{ floats }}|{{ quotes }}|{{ [quotes] }}|{{ {'a': quotes} }}
{{ 1_000 }} {{ 0x1f }} {{ 0b101 }} {{ 0o17 }} {{ 1e3 }} {{ 1.5e-3 }} {{ 12_3.5 }}
{{ 'a' 'b' "c" }} {{ 'x\\n\\t\\'\\"\\\\\\x41\\u00e9\\101\\q' }}
{{ (1,) }} {{ () }} {{ (1, 'a') }} {{ 1, 2 }} {{ [] }} {{ {} }} {{ {1: 2, 'a': [none]} }}
{{ true }} {{ True }} {{ false }} {{ none }} {{ None }}
{{ range(3) }} {{ range(1, 10, 3) | list }} {{ range(3, 0, -1) | list }}
{{ d.items() }} {{ d.keys() }} {{ d.values() }} {{ d.items() | list }}
""".strip().split("\n")

OPERATORS = """
{{ 7 + 2 }} {{ 7 - 9 }} {{ 7 * 2 }} {{ 7 / 2 }} {{ 8 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 2 ** 3 }}
{{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 2 ** -1 }} {{ 2 ** 0.5 }} {{ 1 + 2.0 }} {{ true + 1 }} {{ -n }} {{ +n }} {{ --n }}
{{ 2 + 3 * 4 - 1 }} {{ (2 + 3) * 4 }} {{ 2 * 3 ** 2 }} {{ -2 ** 2 }} {{ 2 ** 3 ** 2 }} {{ 10 - 3 - 2 }} {{ 100 // 7 % 4 }}
{{ 'a' + 'b' }} {{ 'a' ~ 1 ~ none ~ 2.5 ~ [1] }} {{ 'ab' * 3 }} {{ 3 * 'ab' }} {{ [1] + [2] }} {{ [0] * 3 }} {{ (1,) + (2,) }}
{{ 1 ~ 2 + 3 }} {{ 'a' ~ 'b' == 'ab' }} {{ 1 + 1 == 2 }} {{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 }} {{ 1 == true }}
{{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ (1, 2) == (1, 2) }} {{ [1] == (1,) }} {{ none == none }} {{ 1 != 2 }} {{ 2 >= 2 }}
{{ 1 in [1, 2] }} {{ 'e' in s }} {{ 'z' not in s }} {{ 'a' in d }} {{ 5 not in range(3) }} {{ none in [none] }} {{ 'b' in ('b',) }}
{{ true and false }} {{ 1 and 2 }} {{ 0 or 'x' }} {{ '' or none }} {{ not 1 }} {{ not not 1 }} {{ not '' and 1 }} {{ 1 or 2 and 0 }}
{{ 'yes' if n > 5 else 'no' }} {{ 'yes' if n > 50 }} {{ 1 if 0 else 2 if 0 else 3 }} {{ ('a' if yes) ~ 'b' }}
{{ undefined_ == undefined2 }} {{ undefined_ != 1 }} {{ undefined_ in [1] }} {{ 1 in undefined_ }} {{ undefined_ ~ 'x' }}
{{ 1 / 0 }}
{{ 1 // 0 }}
{{ 'a' + 1 }}
{{ 1 + 'a' }}
{{ [1] + 'a' }}
{{ 'a' < 1 }}
{{ none + 1 }}
{{ undefined_ + 1 }}
{{ 1 + undefined_ }}
{{ undefined_ < 1 }}
{{ -undefined_ }}
{{ 1 in 5 }}
{{ 1 in 'abc' }}
{{ {} < {} }}
""".strip().split("\n")

ACCESS = """
{{ d.a }} {{ d['a'] }} {{ d.missing }} {{ d['missing'] }} {{ list[0] }} {{ list[-1] }} {{ list[9] }} {{ list.0 }} {{ nested.0.1 }}
{{ s[0] }} {{ s[-1] }} {{ s[7:] }} {{ s[:3] }} {{ s[::2] }} {{ s[::-1] }} {{ s[-3:-1] }} {{ s[2:2] }} {{ s[99:] }} {{ unicode[3:6] }}
{{ list[1:] }} {{ list[:-1] }} {{ list[::-1] }} {{ list[5:1:-2] }} {{ (1, 2, 3)[1:] }} {{ list[:] }} {{ list[-100:100] }}
{{ items_key['items'] }} {{ items_key['x y'] }} {{ items_key.items() | list }} {{ items_key['pop'] }}
{{ messages[0].role }} {{ messages[-1]['content'] }} {{ messages | length }} {{ people[0].tag.k }} {{ people[2].tag is defined }}
{{ d.get('a') }} {{ d.get('z') }} {{ d.get('z', 5) }} {{ d.copy() }} {{ list.index(1) }} {{ list.count(3) }} {{ list.copy() }}
{{ 'abc'['upper']() }} {{ n['x'] is defined }} {{ none_.foo is defined }} {{ 5.foo is defined }} {{ yes.a is defined }}
{{ undefined_ }} {{ undefined_ is defined }} {{ undefined_ | length }} {{ undefined_ | list }} {{ undefined_ | default('d') }}
{{ undefined_.foo }}
{{ undefined_['foo'] }}
{{ d.missing.foo }}
{{ undefined_() }}
{{ n() }}
{{ list.append(1) }}
{{ d.update({}) }}
{{ d.pop('a') }}
{{ list.index(99) }}
{{ list['a':] }}
{{ list[::0] }}
{{ s.__class__ }}
{{ s.__class__.__mro__ }}
{{ d[[1]] is defined }}
{{ nosuchfunction(1) }}
""".strip().split("\n")

STRINGS = r"""
{{ s.upper() }} {{ s.lower() }} {{ unicode.upper() }} {{ unicode.lower() }} {{ unicode.title() }} {{ unicode.capitalize() }} {{ s.swapcase() }}
[{{ blank.strip() }}] [{{ blank.lstrip() }}] [{{ blank.rstrip() }}] [{{ 'xxaxx'.strip('x') }}] [{{ 'abcab'.lstrip('ab') }}] [{{ 'é漢é'.strip('é') }}]
{{ 'a,b,,c'.split(',') }} {{ 'a b  c'.split() }} {{ ' a b '.split(' ') }} {{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ '  a b c'.split(none, 1) }} {{ 'a b c '.rsplit(None, 1) }} {{ ''.split() }} {{ ''.split(',') }}
{{ lines.splitlines() }} {{ lines.splitlines(true) }} {{ 'a<think>b</think>c'.split('</think>')[-1] }}
{{ s.startswith('Hell') }} {{ s.startswith(('x', 'H')) }} {{ s.endswith('d') }} {{ s.endswith('x') }} {{ s.startswith('e', 1) }} {{ ''.startswith('') }}
{{ s.replace('l', 'L') }} {{ s.replace('l', 'L', 1) }} {{ s.replace('', '-') }} {{ s.find('W') }} {{ s.find('zz') }} {{ unicode.find('漢') }} {{ s.rfind('l') }} {{ s.index('l') }} {{ s.count('l') }} {{ 'aaa'.count('') }}
{{ ', '.join(words) }} {{ ''.join([]) }} {{ '-'.join('abc') }} {{ '12'.isdigit() }} {{ 'ab'.isalpha() }} {{ 'a1'.isalnum() }} {{ ' '.isspace() }} {{ 'AB'.isupper() }} {{ 'ab'.islower() }} {{ ''.isdigit() }} {{ '½'.isnumeric() }} {{ '٣'.isdecimal() }}
[{{ 'a'.center(5) }}] [{{ 'ab'.center(5, '*') }}] [{{ 'a'.ljust(3) }}] [{{ 'a'.rjust(3, '0') }}] {{ '7'.zfill(3) }} {{ '-7'.zfill(4) }}
{{ 'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('bc') }} {{ 'a=b=c'.partition('=') }} {{ 'a=b=c'.rpartition('=') }} {{ 'abc'.partition('x') }}
{{ '%s is %d' % ('a', 3) }} {{ '%5.2f|%-5s|%05d|%x|%%|%r' % (1.239, 'a', 42, 255, 'q') }} {{ '%(a)s' % {'a': 1} }} {{ '%s' % 5 }} {{ '%s' % none }} {{ '%e %g %G' % (12345.678, 0.00001, 1e20) }} {{ '%+d % d' % (3, 4) }} {{ '%s' % undefined_ }} {{ '%c' % 'z' }} {{ '%.2s' % 'abc' }} {{ '%*d' % (4, 7) }}
{{ '{} {}'.format(1, 'a') }} {{ '{1} {0}'.format(1, 2) }} {{ '{a} {b!r}'.format(a=1, b='x') }} {{ '{:>5}|{:<5}|{:^5}|{:05d}|{:.2f}|{:,}|{:x}|{:%}'.format('a', 'b', 'c', 42, 1.239, 1234567, 255, 0.25) }} {{ '{0.a}{0[b]}'.format(d) }} {{ '{{}}'.format() }} {{ '{:*^7}'.format('ab') }} {{ '{:+} {:e}'.format(3, 1234.5) }} {{ '{!s:>4}'.format(1) }}
{{ '%d' % 'a' }}
{{ '%s %s' % ('a',) }}
{{ '%s' % ('a', 'b') }}
{{ '{} {}'.format(1) }}
{{ '{x}'.format(y=1) }}
{{ s.index('zz') }}
{{ 'a'.split('') }}
{{ ','.join([1]) }}
{{ s.startswith(1) }}
""".strip().split("\n")

FILTERS = r"""
{{ s | upper }} {{ s | lower }} {{ unicode | upper }} {{ 'hello world-wide (web)' | title }} {{ 'hELLO' | capitalize }} {{ 5 | upper }} {{ none_ | lower }}
[{{ blank | trim }}] [{{ 'xax' | trim('x') }}] {{ s | replace('l', 'L') }} {{ s | replace('l', 'L', 2) }} {{ 5 | replace('5', 'x') }} {{ none_ | trim }}
{{ words | join(', ') }} {{ words | join }} {{ list | join('-') }} {{ people | join(',', attribute='name') }} {{ 'abc' | join('.') }} {{ d | join(',') }}
{{ list | length }} {{ s | length }} {{ d | count }} {{ list | first }} {{ list | last }} {{ '' | first }} {{ [] | last }} {{ s | first }} {{ d | first }}
{{ list | sort }} {{ list | sort(reverse=true) }} {{ words | sort }} {{ words | sort(case_sensitive=true) }} {{ people | sort(attribute='age') | map(attribute='name') | list }} {{ people | sort(attribute='age,name') | map(attribute='name') | list }} {{ d | sort }}
{{ list | reverse | list }} {{ s | reverse }} {{ d | dictsort }} {{ d | dictsort(true) }} {{ d | dictsort(false, 'value') }} {{ d | dictsort(reverse=true) }} {{ d | items | list }} {{ undefined_ | items | list }}
{{ [1, 1, 2, 'A', 'a'] | unique | list }} {{ words | unique(case_sensitive=true) | list }} {{ people | unique(attribute='age') | map(attribute='name') | list }} {{ list | min }} {{ list | max }} {{ words | min }} {{ [] | max }} {{ people | max(attribute='age') }}
{{ people | map(attribute='name') | list }} {{ people | map(attribute='tag.k', default='?') | list }} {{ words | map('upper') | list }} {{ words | map('replace', 'a', 'z') | join }} {{ nested | map('first') | list }} {{ nested | map(attribute=0) | list }}
{{ list | select('gt', 1) | list }} {{ list | select | list }} {{ list | reject('odd') | list }} {{ people | selectattr('age', 'equalto', 3) | map(attribute='name') | list }} {{ people | selectattr('tag') | list | length }} {{ people | rejectattr('tag', 'defined') | map(attribute='name') | list }} {{ messages | selectattr('role', '==', 'user') | list }} {{ people | selectattr('name', 'in', ['Bob']) | list | length }}
{{ list | batch(2) | list }} {{ list | batch(2, 'x') | list }} {{ list | slice(2) | list }} {{ list | slice(2, 'x') | list }} {{ range(7) | slice(3) | list }} {{ list | sum }} {{ people | sum(attribute='age') }} {{ nested | sum(start=[]) }} {{ [] | sum }}
{{ people | groupby('age') | length }} {% for g in people | groupby('age') %}{{ g.grouper }}:{{ g.list | map(attribute='name') | join('+') }} {% endfor %}{% for a, l in people | groupby('tag.k', default='-') %}{{ a }}{{ l | length }}{% endfor %}
{{ '3' | int }} {{ '3.7' | int }} {{ 'x' | int }} {{ 'x' | int(5) }} {{ 3.9 | int }} {{ -3.9 | int }} {{ '0x1f' | int(0, 16) }} {{ true | int }} {{ none_ | int }} {{ ' 42 ' | int }} {{ '1_000' | int }} {{ '-5' | int }}
{{ '3.5' | float }} {{ 'x' | float }} {{ 'x' | float(1.5) }} {{ 3 | float }} {{ '1e3' | float }} {{ ' 2.5 ' | float }} {{ 'inf' | float }} {{ -3 | abs }} {{ 2.5 | abs }}
{{ 2.5 | round }} {{ 3.5 | round }} {{ 2.567 | round(2) }} {{ 2.567 | round(1, 'floor') }} {{ 2.511 | round(1, 'ceil') }} {{ 42.55 | round(1) }} {{ 7 | round }} {{ 2.675 | round(2) }} {{ 1234.5 | round(-2) }}
{{ undefined_ | default('d') }} {{ '' | default('d') }} {{ '' | default('d', true) }} {{ none_ | d('x') }} {{ none_ | d('x', boolean=true) }} {{ 0 | default(1) }}
{{ html | escape }} {{ html | e }} {{ html | safe }} {{ (html | safe) + '<' }} {{ '<' + (html | escape) }} {{ (html | e) | e }} {{ html | forceescape }} {{ (html | e) is escaped }} {{ html is escaped }}
[{{ 'a\nb\n\nc' | indent }}] [{{ 'a\nb\n\nc' | indent(2, true) }}] [{{ 'a\nb\n\nc' | indent(2, blank=true) }}] [{{ 'a\nb' | indent('> ') }}] [{{ 'a\n' | indent(1) }}] [{{ lines | indent(1, first=true) }}]
{{ 'The quick brown fox' | truncate(9, leeway=0) }} {{ 'The quick brown fox' | truncate(9, true, leeway=0) }} {{ 'short' | truncate(9) }} {{ 'The quick brown' | truncate(10, end='…', leeway=0) }} [{{ 'ab' | center(6) }}] {{ 'a b_c d-e' | wordcount }} {{ 'a b/ü&?' | urlencode }}
{{ '%s-%s' | format('a', 1) }} {{ '%(x)s' | format(x=1) }} {{ 5 | string }} {{ none_ | string }} {{ list | string }} {{ 'ab' | list }} {{ d | list }} {{ s | attr('upper') is defined }} {{ d | attr('a') is defined }}
{{ messy | tojson }} {{ messy | tojson(indent=2) }} {{ messy | tojson(indent=0) }} {{ messy | tojson(sort_keys=true) }} {{ messy | tojson(separators=(',', ':')) }} {{ messy | tojson(ensure_ascii=true) }} {{ messy | tojson(indent='\t') }}
{{ quotes | tojson }} {{ html | tojson }} {{ floats | tojson }} {{ (1, 2) | tojson }} {{ none | tojson }} {{ true | tojson }} {{ {1: 2, none: 3, true: 4, 1.5: 5} | tojson }} {{ '😀\x7f' | tojson(ensure_ascii=true) }} {{ [] | tojson(indent=2) }} {{ [[], {}] | tojson(indent=2) }}
{{ undefined_ | tojson }}
{{ [undefined_] | tojson }}
{{ (list | map('string')) | tojson }}
{{ 5 | length }}
{{ none_ | join }}
{{ none_ | first }}
{{ 5 | list }}
{{ list | map | list }}
{{ list | map('nosuch') | list }}
{{ list | select('nosuch') | list }}
{{ s | nosuch }}
{{ s is nosuch }}
{{ ['a', 1] | sort }}
{{ list | join(1, 2, 3, 4) }}
{{ list | sort(nosuch=1) }}
""".strip().split("\n")

TESTS = """
{{ n is odd }} {{ n is even }} {{ n is divisibleby 7 }} {{ n is divisibleby(2) }} {{ n is number }} {{ n is integer }} {{ n is float }} {{ x is float }} {{ yes is integer }} {{ yes is number }} {{ yes is boolean }} {{ n is boolean }}
{{ s is string }} {{ n is string }} {{ list is sequence }} {{ s is sequence }} {{ d is sequence }} {{ n is sequence }} {{ range(2) is sequence }} {{ undefined_ is sequence }} {{ list is iterable }} {{ n is iterable }} {{ undefined_ is iterable }} {{ d is mapping }} {{ list is mapping }} {{ undefined_ is mapping }}
{{ none_ is none }} {{ undefined_ is none }} {{ n is defined }} {{ undefined_ is undefined }} {{ d.zz is not defined }} {{ yes is true }} {{ 1 is true }} {{ false is false }} {{ none is false }}
{{ 'a' is lower }} {{ 'A' is upper }} {{ 'aB' is lower }} {{ '1' is upper }} {{ n is eq 7 }} {{ n is equalto(7) }} {{ n is ne 7 }} {{ n is gt 3 }} {{ n is lt 3 }} {{ n is ge 7 }} {{ n is le 7 }} {{ n is sameas n }} {{ none is sameas none }} {{ 1 is sameas true }}
{{ 1 is in [1, 2] }} {{ 'x' is not in 'abc' }} {{ range is callable }} {{ s is callable }} {{ 'upper' is filter }} {{ 'nosuch' is filter }} {{ 'odd' is test }} {{ 'zz' is test }}
{{ n is odd and n > 3 }} {{ not n is odd }} {{ n is not odd or true }} {{ 'yes' if s is string and s is not none else 'no' }} {{ (n is odd) == true }} {{ n + 1 is even }} {{ [1] is sequence }}
{{ s is odd }}
""".strip().split("\n")

STATEMENTS = [
    "{% for i in list %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}"
    "{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('a', 'b') }};{% endfor %}",
    "{% for i in list if i > 1 %}{{ i }}{{ loop.index }}{% else %}none{% endfor %}",
    "{% for i in [] %}{{ i }}{% else %}empty{% endfor %}{% for i in list if i > 9 %}x{% else %}empty{% endfor %}",
    "{% for a, b in [[1, 2], [3, 4]] %}{{ a }}-{{ b }};{% endfor %}{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for a, (b, c) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for a, b in [[1]] %}{{ a }}{% endfor %}", "{% for a, b in [[1, 2, 3]] %}{{ a }}{% endfor %}",
    "{% for i in 5 %}{% endfor %}", "{% for i in none_ %}{% endfor %}", "{% for i in undefined_ %}x{% endfor %}ok",
    "{% for k in d %}{{ k }}{% endfor %}{% for c in 'aé' %}[{{ c }}]{% endfor %}",
    "{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% for i in nested %}{% for j in i %}{{ loop.index }}{{ j }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% for i in nested recursive %}[{{ loop(i) if i is iterable else i }}{{ loop.depth }}]{% endfor %}",
    "{% for i in [1, 1, 2] %}{{ loop.changed(i) }}{% endfor %}",
    "{% set x = 1 %}{% for i in list %}{% set x = x + i %}{{ x }};{% endfor %}{{ x }}",
    "{% set ns = namespace(a=1, b='x') %}{% for i in list %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns.b }}{{ ns.c is defined }}",
    "{% set ns = namespace({'q': 1}, r=2) %}{{ ns.q }}{{ ns.r }}{{ ns['q'] is defined }}", "{% set n.x = 1 %}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set (c, e) = [3, 4] %}{{ c }}{{ e }}{% set t = 1, 2 %}{{ t }}",
    "{% set x %}a{{ n }}{% endset %}{{ x }}{{ x | length }}{% set y | upper | replace('A', 'b') %}a{{ s }}{% endset %}{{ y }}",
    "{% if n > 5 %}a{% elif n > 3 %}b{% else %}c{% endif %}{% if not n %}x{% elif none_ %}y{% else %}z{% endif %}",
    "{% if undefined_ %}x{% endif %}{% if undefined_ is defined and undefined_.x %}y{% endif %}ok",
    "{% if true %}{% set q = 1 %}{% endif %}{{ q }}{% if false %}{% set w = 1 %}{% endif %}{{ w is defined }}",
    "{% macro m(a, b=2, c='x' ~ a) %}{{ a }}{{ b }}{{ c }};{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=4, a=5) }}{{ m() }}{{ m.name }}{{ m.arguments }}",
    "{% macro m(a) %}{{ varargs }}{{ kwargs }}{{ caller is defined }}{% endmacro %}{{ m(1, 2, 3, k=4) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, z=2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(*[1]) }}{{ m(**{'a': 2}) }}",
    "{% macro fact(k) %}{{ k * (fact(k - 1) | int) if k > 1 else 1 }}{% endmacro %}{{ fact(6) }}",
    "{% set v = 1 %}{% macro m() %}{{ v }}{% set v = 5 %}{{ v }}{% endmacro %}{{ m() }}{{ v }}{% set v = 2 %}{{ m() }}",
    "{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}in{{ n }}{% endcall %}",
    "{% macro m(l) %}{% for i in l %}{{ caller(i) }}{% endfor %}{% endmacro %}{% call(i) m(list) %}<{{ i }}>{% endcall %}",
    "{% filter upper %}abc{{ s }}{% endfilter %}{% filter replace('a', 'b') | upper %}aa{% endfilter %}",
    "{% with %}{% set z = 1 %}{{ z }}{% endwith %}{{ z is defined }}{% with a=1, b=n %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}",
    "{% set a = 5 %}{% with a=1, b=a %}{{ b }}{% endwith %}",
    "{% raw %}{{ x }} {% if %}{% endraw %}|{% raw -%}  a {%- endraw %}|", "{# comment {{ x }} #}a{#- b -#} c",
    "{% print n, s %}", "{{ dict(a=1, b=2) }}{{ dict([['a', 1]]) }}{{ dict({'q': 2}, z=3) }}",
    "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.next() }}{% set j = joiner(';') %}{{ j() }}{{ j() }}",
    "{{ strftime_now('%Y-%m-%d %H:%M:%S %d %b %A') }}", "{{ raise_exception('bad') }}", "{{ range(200000) }}",
    "{% generation %}a{% set inside = 1 %}{% endgeneration %}{{ inside is defined }}",
    "{% set g = list | map('string') %}{{ g | join }}{{ g | join }}{{ (list | map('string')) is sequence }}",
    "{{ list | map('string') | length }}", "{{ (list | map('string'))[0] is defined }}",
    "{% set m = messages[1:] %}{% for x in m %}{{ x.role }}{% endfor %}{% for x in messages[::-1] %}{{ x.role }}{% endfor %}",
    "{{ '' if true }}{{ loop is defined }}{{ varargs is defined }}",
    "{% set messages = 5 %}{{ messages }}", "{% set range = 5 %}{{ range }}",
]

WHITE_SPACE = [
    "a\n  {% if true %}\n  b\n  {% endif %}\n  c\n", "a\n  {%+ if true %}\n  b\n  {%+ endif +%}\n  c\n\n",
    "  {% if true %}x{% endif %}  \n y", "x {% if true %} y {% endif %} z", "a {%- if true -%} b {%- endif -%} c",
    "a\n\n{{- n -}}\n\nb", "a {{ n }} \n b", "a\n {# c #}\n b", "a\n {#- c -#} \n b", "\n\na\n", "a\r\nb\rc\r\n", "a\n\n",
    "{% if true %}\n\n a{% endif %}", "{% if true -%}\n\n a{% endif %}", "\t{% if true %}a{% endif %}", "x\n\t {% set q = 1 %}\ny",
    "{% for i in list %}\n{{ i }}\n{% endfor %}\n", "{%- for i in list -%}\n{{ i }}\n{%- endfor -%}\n", "a\u00a0{%- if true %}b{% endif %}",
    "  {{ n }}\n  {% if true %}  \n{% endif %}", "{{ n }}\n{{ n }}", "a{% if true %}\n{% endif %}\nb", "{{ '{{' }} {{ '}}' }} {{ \"%}\" }}",
    "{{ {'a': {'b': 1}}}}", "{{ {'a': {'b': 1}}['a']['b'] }}", "{% set x = {'a': 1} %}{{ x }}", "a{{ 1 -}}   \n b", "a   {{- 1 }} b",
    "{%+ if true +%} \n x {%+ endif +%} \n", "a{#\n\n#}\nb", "{ { x } } {a} %} }} #}", "{{ n\n  +\n 1 }}", "a\n  {#+ c +#}\n b",
]

SYNTAX_ERRORS = [
    "{{ }}", "{{ n", "{% if %}x{% endif %}", "{% if n %}", "{% endif %}", "{% nosuch %}", "{{ n + }}", "{{ (n }}", "{{ n) }}", "{{ [1 }}",
    "{% for i %}{% endfor %}", "{% for in list %}{% endfor %}", "{% set = 1 %}", "{% set x %}", "{{ 'a }}", "{{ n is }}", "{{ n | }}",
    "{{ n.}}", "{{ n..a }}", "{{ 1 2 }}", "{# open", "{% raw %}x", "{{ a ! b }}", "{{ n ? 1 : 2 }}", "{% macro %}{% endmacro %}",
    "{% macro m(a=1, b) %}{% endmacro %}", "{% call n %}{% endcall %}", "{% for i in list %}{% endif %}", "{{ f(a=1, 2) }}", "{{ n is odd is even }}",
    "{% break %}", "{% do x %}", "{% set true = 1 %}", "{{ not }}", "{{ {1 2} }}", "{% if n %}{% else %}{% elif n %}{% endif %}", "{{ '\\xZ' }}",
]

SNIPPETS = OUTPUT + OPERATORS + ACCESS + STRINGS + FILTERS + TESTS + STATEMENTS + WHITE_SPACE + SYNTAX_ERRORS
