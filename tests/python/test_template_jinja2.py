"""Templates that Jinja2 renders, rendered by both: the same text, or a difference that is listed here."""

import copy
import threading

import jinja2
import pytest

from rtcg import template

VALUES = {
    "p": {"out": "float *", "in": "const float *", "n": "int"}, "n": 7, "m": -7, "big": 2**63, "x": 0.1, "half": 2.5,
    "f20": 1e20, "fm7": 1e-7, "one": 1.0, "flag": True, "off": False, "none": None, "s": "Hello World", "empty": "",
    "items": ["b", "a", "C"], "nums": [3, 1, 2], "t": (1, 2), "nested": {"k": {"j": [1, 2]}},
    "ids": {1: "one", 2: "two"}, "rows": [{"a": 2, "b": "y"}, {"a": 1, "b": "x"}, {"a": 2, "b": "z"}],
    "html": "<a & 'b'>", "code": "a < b && c > d", "words": "a b  c", "lines": "l1\nl2\nl3", "elist": [], "edict": {},
}  # fmt: skip

#: Expressions, each in a tag of its own.
EXPRESSIONS = """
p.items() | list; p.keys() | list; p.values() | list; p|list; p|length; p|items|list; p|dictsort
p|dictsort(by='value'); p.get('n'); p.get('zz', 'd'); p['out']; p.out; 'out' in p; 'zz' not in p
n // 2; m // 2; n // -2; m // -2; n % 3; m % 3; n % -3; m % -3; n / 2; 6 / 2; m / 2; n ** 2; 2 ** 10; 2 ** -1
2 ** 0.5; -n; -n ** 2; n - -1; 7 // 2.0; 7.5 // 2; -7.5 // 2; 7.5 % 2; -7.5 % 2; 1 + 2 * 3; (1 + 2) * 3; n + 0.5
1 - 1.0; 3 * 'ab'; 'ab' * 3; [1] + [2]; [1, 2] * 2; 'a' ~ 1; 'a' ~ none; 'a' + 'b'; n * half; 10 // 3 * 3
2 ** 3 ** 2; 100 // 7 % 3
x; half; f20; fm7; one; 1e3; 1.5e-10; 123456789.125; 1e16; 1e15; 1e100; 0.1 + 0.2; 3.0; -0.0; 1 / 3; big; none
none is none; [none, 1]; items; nums; t; p; nested; ids; elist; edict; [1.0, 'a\\'b', "q"]; ('x',); {'a': 1}
[[1], [2.5]]
ids[1]; ids.get(2); 1 in ids; ids.items()|list; nested.k.j[1]; nested['k']['j']; t[0]; t[-1]; items[1:]; items[::-1]
items[:2]; s[0]; s[-1]; s[1:4]; s[::-1]; nums[-2:]; t + (3,)
s.upper(); s.lower(); s.replace('o', '0'); s.split(); s.split('o'); words.split(' '); words.split()
s.startswith('He'); s.endswith('ld'); s.find('o'); s.rfind('o'); s.count('o'); s.strip('Hd'); s.lstrip('H')
s.rstrip('d'); s.title(); s.capitalize(); s.isdigit(); '12'.isdigit(); 'ab'.isalpha(); ','.join(items); s.swapcase()
s.center(15); s.ljust(13) ~ '|'; s.rjust(13); '7'.zfill(3); s.partition(' '); s.rpartition('o'); s.index('o')
s.splitlines(); lines.splitlines(); 'a%d' % 3; '%s_%s' % ('a', 1); '%.3f' % half; '%02x' % 10; '{}-{}'.format(1, 2)
'{0:>5}'.format('a'); '{:.2f}'.format(x); '{a}'.format(a=1); s.removeprefix('Hello'); s.removesuffix('World')
'a-b-c'.rsplit('-', 1); 'a-b-c'.split('-', 1); 'aXb'.casefold(); 'x'.isidentifier(); 'a\\tb'.expandtabs(4)
'abc'.encode() is defined
items.index('a'); nums.count(1); items.append('d'); nums.copy(); p.copy()
s|upper; s|lower; s|title; s|capitalize; s|length; s|replace('o', '0'); s|trim; '  a '|trim; s|reverse; s|first
s|last; items|first; items|last; items|join; items|join(', '); nums|join('+'); nums|sort; items|sort
items|sort(case_sensitive=true); nums|sort(reverse=true); rows|sort(attribute='a')|map(attribute='b')|list
rows|map(attribute='b')|join(','); rows|selectattr('a', 'equalto', 2)|map(attribute='b')|list
rows|rejectattr('a', 'equalto', 2)|list|length; nums|map('string')|join; nums|select('odd')|list
nums|reject('odd')|list; nums|select('greaterthan', 1)|list; nums|sum; rows|sum(attribute='a'); nums|max; nums|min
items|min; nums|unique|list; ['a','A','b']|unique|list; nums|batch(2)|list; nums|batch(2, 0)|list
nums|slice(2)|list; rows|groupby('a')|list|length; nums|random is defined; n|string; n|float; half|int; '3'|int
'z'|int; 'z'|int(5); '2.5'|float; 'z'|float; '1f'|int(base=16); half|round; 2.567|round(2); 2.5|round(0, 'floor')
2.1|round(0, 'ceil'); 42.55|round; 0.5|round; 1.5|round; 7|abs; m|abs; m|abs|string; s|wordcount; s|wordwrap(5)
s|truncate(8); s|truncate(5, true); s|center(15); s|indent; lines|indent(4); lines|indent(2, true)
lines|indent(2, first=true); 'a\\n\\nb'|indent(2); 'a\\n\\nb'|indent(2, blank=true); html|escape; html|e; html|safe
html|forceescape; code; html; s|default('d'); zz|default('d'); ''|default('d'); ''|default('d', true)
none|default('d'); none|d('x', true); s|list; p|string; nums|string; nums|tojson; p|tojson; s|tojson; html|tojson
s|urlencode; '%s'|format(3); '%s and %s'|format('a', 'b'); '%05.2f'|format(half); n|filesizeformat; html|striptags
s|pprint; items|pprint; p|xmlattr; items|map('upper')|list; items|map('replace', 'a', 'z')|list; items|reverse|list
nums|list; 'abc'|list; p|map('upper')|list; 5|pprint; s|attr('x') is defined; rows[0]|attr('a') is defined
'a,b'.split(',')|map('trim')|list; [1,[2,3]]|length
flag and off; flag or off; not flag; n and 3; empty or 'x'; none or 0; n > 3 and n < 10; 1 < 2 < 3; n == 7.0
1 == true; '1' == 1; [1] == [1]; (1, 2) == [1, 2]; 'a' < 'b'; n != 8; n is odd; n is even; n is divisibleby 7
n is number; half is float; n is integer; flag is boolean; s is string; items is sequence; p is mapping
items is iterable; none is none; zz is defined; s is defined; zz is undefined; s is upper; 'A' is upper; s is lower
n is eq 7; n is gt 3; n is in nums; 3 in nums; 'ell' in s; n is sameas n; true is true; false is false
n is callable; s is escaped; 'upper' is filter; 'odd' is test
'yes' if n > 3 else 'no'; 'yes' if n > 30; range(3)|list; range(1, 7, 2)|list; range(3); dict(a=1).a; dict(a=1, b=2)
lipsum is defined; cycler('a', 'b').next(); namespace(a=1).a; joiner(',') is defined; true; True; none; None; false
False; 1_000; 0x10; 0o17; 0b11; "a\\nb"; 'a' 'b'; 1.; (1); (); []; {}; {'a': 1, 'b': 2}.b; {'a': 1}['a']
n|string|length; (n + 1)|string; n|string ~ 'x'; -n|abs; -m|abs; n + 1|float; 'a' in 'abc' and 'b' not in 'xyz'
"""

TEMPLATES = [
    "{% for k in p %}{{ k }}={{ p[k] }}{% if not loop.last %}, {% endif %}{% endfor %}",
    "{% for k, v in p.items() %}{{ v }}{{ k }};{% endfor %}",
    "{% for k, v in p|items %}{{ k }}{% endfor %}",
    "{% for k, v in p|dictsort %}{{ k }}{% endfor %}",
    "{% for i in range(3) %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.first|int }}{{ loop.length }}{% endfor %}",
    "{% for i in [] %}x{% else %}none{% endfor %}",
    "{% for i in nums if i > 1 %}{{ i }}{% endfor %}",
    "{% for a, b in [(1, 2), (3, 4)] %}{{ a }}{{ b }}{% endfor %}",
    "{% for i in nums %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for i in nums %}{{ loop.previtem|default('-') }}{{ loop.nextitem|default('-') }}{% endfor %}",
    "{% for i in nums %}{% if loop.changed(i) %}c{% endif %}{% endfor %}",
    "{% for i in nums recursive %}{{ i }}{% endfor %}",
    "{% for x in [[1,[2]],[3]] recursive %}{{ loop(x) if x is iterable else x }}{% endfor %}",
    "{% set a = 1 %}{{ a }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "{% set a %}x{{ n }}{% endset %}{{ a }}",
    "{% set a | upper %}x{% endset %}{{ a }}",
    "{% set ns = namespace(c=0) %}{% for i in nums %}{% set ns.c = ns.c + i %}{% endfor %}{{ ns.c }}",
    "{% set a = 1 %}{% for i in nums %}{% set a = a + i %}{% endfor %}{{ a }}",
    "{% macro f(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}{{ f(1, 3) }}{{ f(a=5) }}",
    "{% macro f() %}[{{ caller() }}]{% endmacro %}{% call f() %}x{% endcall %}",
    "{% macro f() %}{% for v in varargs %}{{ v }}{% endfor %}{% endmacro %}{{ f(1, 2) }}",
    "{% macro f() %}{{ kwargs.a }}{% endmacro %}{{ f(a=2) }}",
    "{% macro f(a) %}{{ a }}{% endmacro %}{{ f.name }}",
    "{% macro f(t) %}{% for i in t %}{{ caller(i)}}{% endfor %}{% endmacro %}{% call(i) f(nums) %}{{ i }}{% endcall %}",
    "{% if n > 3 %}a{% elif n %}b{% else %}c{% endif %}",
    "{% if items %}a{% endif %}{% if elist %}b{% endif %}{% if edict %}c{% endif %}{% if empty %}d{% endif %}",
    "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}",
    "{% filter upper %}abc{% endfilter %}",
    "{% raw %}{{ x }}{% endraw %}",
    "{# c #}a",
    "a{# c\nd #}b",
    "{% autoescape true %}{{ html }}{% endautoescape %}",
    "{% autoescape false %}{{ html }}{% endautoescape %}",
    "{% for i in nums %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
    "{% for i in nums %}{% if i == 1 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% do items.append('z') %}{{ items }}",
    "{{ items.append('z') }}",
    "a\n  {% if n %}\n  b\n  {% endif %}\nc\n",
    "a\n  {%- if n %}\n  b\n  {%- endif %}\nc\n",
    "a\n  {% if n -%}\n  b\n  {% endif -%}\nc\n",
    "  {{ n }}  \n  {{- n -}}  \n x",
    "a {%+ if n %} b {% endif %} c",
    "a\n    {%+ if n %}b{%+ endif %}\n",
    "{% if n +%}\nb{% endif %}",
    "x\n{# c #}\ny",
    "x\n  {# c #}\ny",
    "x {# c #}\ny",
    "a\r\nb",
    "a\n\n\n",
    "{{ n }}\n",
    "{{ n }}\n\n",
    "\n{{ n }}",
    "  {% set a = 1 %}  \nb",
    "{% raw %}\n  a\n{% endraw %}\nb",
    "{%- raw -%}\n  a\n{%- endraw -%}\nb",
    "{{ '}}' }}",
    "{{ '{{' }}",
    "{{ {'a': {'b': 1}} }}",
    "{{{'a': 1}}}",
    "#if 1\n{{ n }}\n#endif",
    "{{ n -}} x",
    "{% for i in range(2) -%}\n  {{ i }},\n{% endfor %}",
    "{% block b %}x{% endblock %}",
    "{% block b %}{{ n }}{% endblock %}{{ self.b() }}",
    "{{ zz }}",
    "{{ p.zz }}",
    "{{ zz.a }}",
    "{{ p['zz'] }}",
    "{{ items[9] }}",
    "{% if zz %}a{% endif %}",
    "{% for i in zz %}{% endfor %}",
    "{{ zz|upper }}",
    "{{ 1 // 0 }}",
    "{{ n.foo }}",
    "{{ n() }}",
    "{{ s.nope() }}",
    "{{ s|nope }}",
    "{{ 'a' + 1 }}",
    "{{ 'a' < 1 }}",
    "{{ [] + 1 }}",
    "{{ n[0] }}",
    "{{ none.a }}",
    "{{ none + 1 }}",
    "{{ p.zz.yy }}",
    "{{ s[20] }}",
    "{{ n }}{% if flag %} {{ x }}{% endif %};{{ s|lower|replace(' ', '_') }}",
    "{{ p.items()|map('join', ' ')|join(', ') }}",
    "{% for k, v in ids.items() %}{{ k + 1 }}{{ v }}{% endfor %}",
    "{% for g in rows|groupby('a') %}{{ g.grouper }}:{% for r in g.list %}{{ r.b }}{% endfor %};{% endfor %}",
    "{% for a, rs in rows|groupby('a') %}{{ a }}:{{ rs|length }};{% endfor %}",
    "{{ '%s %s' % ('a', n) }}",
    "{% set d = dict(p, extra='int') %}{{ d|list }}",
    "{% set d = {} %}{% set _ = d.update({'a': 1}) %}{{ d }}",
    "{% set l = [] %}{% set _ = l.append(1) %}{{ l }}",
    "{{ range(n)|map('string')|join(', ') }}",
    "{{ ('%d' % n) ~ 'f' }}",
    "{{ loop }}",
    "{{ lines.split('\\n')|join(';') }}",
    "{% for l in lines.splitlines() %}{{ l }};{% endfor %}",
    "{{ [1,2,3][1] }}{{ (1,2)[0] }}",
]  # fmt: skip

#: What only Jinja2 renders: values that change, formatting by ``%``, and what no source of C needs.
REFUSED = {
    "{% macro f() %}{% for v in varargs %}{{ v }}{% endfor %}{% endmacro %}{{ f(1, 2) }}",
    "{% macro f() %}{{ kwargs.a }}{% endmacro %}{{ f(a=2) }}",
    "{% do items.append('z') %}{{ items }}",
    "{{ items.append('z') }}",
    "{{ '%s %s' % ('a', n) }}",
    "{% set d = {} %}{% set _ = d.update({'a': 1}) %}{{ d }}",
    "{% set l = [] %}{% set _ = l.append(1) %}{{ l }}",
    "{{ ('%d' % n) ~ 'f' }}",
    "{{ 'a%d' % 3 }}",
    "{{ '%s_%s' % ('a', 1) }}",
    "{{ '%.3f' % half }}",
    "{{ '%02x' % 10 }}",
    "{{ 'abc'.encode() is defined }}",
    "{{ items.append('d') }}",
    "{{ nums|random is defined }}",
    "{{ 'z'|int }}",
    "{{ 'z'|float }}",
    "{{ s|wordwrap(5) }}",
    "{{ s|truncate(8) }}",
    "{{ s|truncate(5, true) }}",
    "{{ s|center(15) }}",
    "{{ html|forceescape }}",
    "{{ nums|tojson }}",
    "{{ p|tojson }}",
    "{{ s|tojson }}",
    "{{ html|tojson }}",
    "{{ p|xmlattr }}",
    "{{ n is callable }}",
    "{{ cycler('a', 'b').next() }}",
}  # fmt: skip

#: What renders to another text: HTML's escapes, how containers of this engine print, names that Jinja2 makes up.
DIFFERENT = {
    "{% autoescape true %}{{ html }}{% endautoescape %}",
    "{% raw %}\n  a\n{% endraw %}\nb",
    "{{ html|escape }}",
    "{{ html|e }}",
    "{{ items|pprint }}",
    "{{ rows[0]|attr('a') is defined }}",
    "{{ range(3) }}",
    "{{ lipsum is defined }}",
}  # fmt: skip

#: What only this engine renders.
ACCEPTED = {
    "{{ 'a' < 1 }}",
    "{{ 1. }}",
}  # fmt: skip


def render_with_jinja2(text):
    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined,
        extensions=["jinja2.ext.loopcontrols", "jinja2.ext.do"],
        # Bools are C's.
        finalize=lambda value: str(value).lower() if isinstance(value, bool) else value,
    )  # fmt: skip
    return environment.from_string(text).render(**copy.deepcopy(VALUES))


def outcome(render, text):
    try:
        return str(render(text))
    except Exception:
        return None


def battery():
    expressions = [each.strip() for line in EXPRESSIONS.strip().splitlines() for each in line.split("; ")]
    return [*TEMPLATES, *("{{ " + each + " }}" for each in expressions)]


def test_templates_render_as_jinja2_renders_them():
    found = {"REFUSED": [], "DIFFERENT": [], "ACCEPTED": []}
    for text in battery():
        ours = outcome(lambda text: template.render(text, **VALUES), text)
        theirs = outcome(render_with_jinja2, text)
        kind = "REFUSED" if ours is None else "ACCEPTED" if theirs is None else "DIFFERENT"
        if ours != theirs:
            found[kind].append(text)
    assert len(battery()) > 400
    assert set(found["DIFFERENT"]) == DIFFERENT
    assert set(found["REFUSED"]) == REFUSED
    assert set(found["ACCEPTED"]) == ACCEPTED


@pytest.mark.parametrize("text", ["{{ 1{} }}", "{{ n{} }}", "{{ p{} }}"])
@pytest.mark.parametrize(
    "part", [" + 1", "~1", "|string", ".d", "[0]", "()", " and 1", " or 0", " is defined", " if 0 else 1", "**1"]
)
def test_expressions_that_are_long_are_refused(text, part):
    with pytest.raises(ValueError, match="template, line 1: .*more than 500 operators"):
        template.render(text.replace("{}", part * 100_000), **VALUES)


@pytest.mark.parametrize(
    "text",
    [
        "{% if 0 %}" + "{% elif 0 %}" * 100_000 + "{% endif %}", "{{ " + "not " * 100_000 + "1 }}",
        "{{ " + "-" * 100_000 + "1 }}", "{{ " + "(" * 100_000, "{% for i in [1] %}" * 100_000,
        "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}", "{% filter " + "upper|" * 100_000 + "upper %}a",
        "{% set ns = namespace(x=0) %}{% for i in range(99999) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace(x=0) %}{% set ns.x = ns %}{{ ns }}", "{% set a = 1 %}" + "{% set a = (a,) %}" * 10_000,
        "{{ 1" + " ~ 1" * 100_000 + " }}", "{{ 1" + " < 1" * 100_000 + " }}", "{{ a" + ".b" * 100_000 + " }}",
        "{{ f" + "()" * 100_000 + " }}", "{{ 1" + " if 0 else 1" * 100_000 + " }}",
        "{{ 1" + "|string" * 100_000 + " }}",
        "{{ 1" + " is odd" * 100_000 + " }}", "{{ 1" + " and 1" * 100_000 + " }}", "{{ " + "[" * 100_000,
        "{{ " + "{1:" * 100_000, "{% block a %}" * 100_000, "{% macro f() %}" * 100_000, "{% set a %}" * 100_000,
        "{% call f() %}" * 100_000, "{% with %}" * 100_000, "{% filter upper %}" * 100_000, "{% if 1 %}" * 100_000,
        "{% autoescape true %}" * 100_000, "{% set a = " + "-" * 100_000 + "1 %}", "{% if " + "not " * 100_000 + "1 %}",
    ],
    ids=range(30),
)  # fmt: skip
@pytest.mark.parametrize("stack_bytes", [0, 512 << 10])
def test_templates_that_nest_are_refused(text, stack_bytes):
    messages = []

    def render():
        with pytest.raises(ValueError, match="template, line 1: ") as raised:
            template.render(text)
        messages.append(str(raised.value))

    before = threading.stack_size(stack_bytes)
    try:
        thread = threading.Thread(target=render)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert messages


def test_values_that_nest_are_refused():
    value = loop = []
    for _ in range(100_000):
        value = [value]
    loop.append(loop)
    for deep in (value, loop):
        with pytest.raises(ValueError, match='value "v": more than 100 containers'):
            template.render("{{ v }}", v=deep)
