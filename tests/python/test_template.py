"""rtcg.template: rendering, values of Python and NumPy, errors at the template's lines."""

import numpy as np
import pytest

import rtcg.numpy as xp
from rtcg import template
from rtcg.compiler import SourceModule
from rtcg.driver import CompileError

KERNEL = """
__global__ void axpy({{ dtype|ctype }} *z, const {{ dtype|ctype }} *x, int n)
{
{% for k in range(items) %}
  {
    const int i = (blockIdx.x * {{ items }} + {{ k }}) * blockDim.x + threadIdx.x;
    if (i < n) z[i] += {{ factor|literal(dtype) }} * x[i];
  }
{% endfor %}
}
"""


@pytest.mark.parametrize("dtype", [np.float32, np.dtype(np.float64), "int32"], ids=str)
def test_a_template_makes_a_kernel(context, dtype):
    source = template.render(KERNEL, dtype=dtype, items=np.int64(4), factor=3)
    n = 1000
    x, z = xp.arange(n, dtype=dtype), xp.ones(n, dtype)
    SourceModule(source).get_function("axpy")(z, x, n, block=(64, 1, 1), grid=(-(-n // 256), 1))
    assert (z.get() == 1 + 3 * np.arange(n)).all()


def test_values_of_every_kind_are_rendered():
    text = "{{ a }} {{ b|length }} {{ c.key }} {{ d }} {{ e }} {{ f is none }} {{ g }} {{ h }}"
    values = {"a": True, "b": (1, 2, 3), "c": {"key": "v"}, "d": np.float32, "e": np.float64(2.5), "f": None}
    rendered = template.render(text, **values, g=np.dtype("u1"), h=2**63)
    assert str(rendered) == "true 3 v float32 2.5 true uint8 9223372036854775808"


def test_one_template_is_rendered_many_times():
    squares = template.Template("{% for i in range(n) %}\n{{ i * i }}\n{% endfor %}\n")
    assert [str(squares.render(n=n)) for n in (0, 1, 3)] == ["", "0\n", "0\n1\n4\n"]
    assert str(squares(n=2)) == "0\n1\n"


@pytest.mark.parametrize(
    "text, values, message",
    [
        ("a\nb {{ width * 2 }}", {}, "template, line 2: width has no value"),
        ("{% for i in %}", {}, "template, line 1"),
        ("\n{{ 'object'|ctype }}", {}, 'line 2: "object" is no dtype'),
        ("{{ ceil_div(n, 0) }}", {"n": 3}, "ceil_div"),
        ("{{ 2.5|literal('int32') }}", {}, "2.5 is no integer for int32"),
        ("{% if n > 3 %}{{ raise('n is too large') }}{% endif %}", {"n": 4}, "n is too large"),
    ],
)
def test_mistakes_name_the_line(text, values, message):
    with pytest.raises(ValueError, match="(?s).*" + message.replace("(", r"\(").replace(")", r"\)")):
        template.render(text, **values)


def test_compile_errors_speak_of_the_template(context):
    source = template.render(KERNEL.replace("z[i] +=", "z[j] +="), name="axpy.cu.j2", dtype="f4", items=2, factor=1)
    with pytest.raises(CompileError) as raised:
        SourceModule(source)
    message = str(raised.value)
    assert 'axpy.cu.j2(7): error: identifier "j" is undefined' in message
    assert "> 7 |     if (i < n) z[j] += {{ factor|literal(dtype) }} * x[i];" in message


def test_other_template_engines_work_as_ever(context):
    class Rendered:
        def __str__(self):
            return "__global__ void one(int *x) { *x = 1; }"

    x = xp.zeros(1, np.int32)
    SourceModule(Rendered()).get_function("one")(x, block=(1, 1, 1))
    assert x.get()[0] == 1


# -- Figure 5a of the paper: an addition, unrolled by a template ---------------------------------

UNROLLED_ADDITION = """
__global__ void add({{ type_name }} *target, const {{ type_name }} *a, const {{ type_name }} *b)
{
  const int first = threadIdx.x + {{ threads }} * {{ items }} * blockIdx.x;
{% for i in range(items) %}
  {% set offset = i * threads %}
  target[first + {{ offset }}] = a[first + {{ offset }}] + b[first + {{ offset }}];
{% endfor %}
}
"""


def jinja2_render(text, **values):
    import jinja2

    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    return environment.from_string(text).render(**values)


def test_templates_render_as_jinja2_does():
    for items in (1, 2, 16):
        values = {"type_name": "float", "threads": 64, "items": items}
        assert str(template.render(UNROLLED_ADDITION, **values)) == jinja2_render(UNROLLED_ADDITION, **values)


@pytest.mark.parametrize("render", [template.render, jinja2_render], ids=["rtcg.template", "jinja2"])
def test_the_unrolled_addition_runs(context, render):
    threads, items, blocks = 64, 8, 5
    n = threads * items * blocks
    a, b = xp.arange(n, dtype=np.float32), xp.ones(n, np.float32)
    target = xp.empty_like(a)
    source = render(UNROLLED_ADDITION, type_name="float", threads=threads, items=items)
    SourceModule(source).get_function("add")(target, a, b, block=(threads, 1, 1), grid=(blocks, 1))
    assert (target.get() == np.arange(n) + 1).all()


def test_the_unrolled_addition_is_tuned(context, tmp_path):
    from rtcg import tune

    n = 1 << 14
    unrolled = template.Template(UNROLLED_ADDITION)
    kernel = tune.Kernel(
        lambda threads, items: unrolled.render(type_name="float", threads=threads, items=items), "add",
        tune.Space(threads=[64, 128, 256], items=[1, 2, 4, 8, 16]), block="threads", grid="n // (threads * items)",
        problem=("n",), store=tune.Store(tmp_path),
    )  # fmt: skip
    a, b = xp.arange(n, dtype=np.float32), xp.ones(n, np.float32)
    target = xp.empty_like(a)
    report = kernel.tune(target, a, b, n=n, budget="15 evaluations", verify=lambda target, a, b: a + b, progress=False)
    assert len(report.trials) == 15 and not report.failures
    kernel(target, a, b, n=n)
    assert (target.get() == np.arange(n) + 1).all()
