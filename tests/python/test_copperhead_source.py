"""Python functions as the compiler of programs takes them: trees, places, names from outside, and what is refused."""

import ast
import gc
import itertools
import linecache
import math
import operator
import re
import sys
import types
import weakref

import numpy as np
import pytest

import rtcg.copperhead as cp
from rtcg import numpy as rnp
from rtcg._native import WalkedSource, lang_surface
from rtcg.copperhead import cu
from rtcg.copperhead._errors import UntranslatableError

PLACE = re.compile(r"@(\d+):(\d+)-(\d+):(\d+)")
FILES = itertools.count()


def define(text, name="f", /, **names):
    """A function of a text that `linecache` has, as it has the cells of notebooks."""
    file = f"<cell {next(FILES)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec", dont_inherit=True), names)
    return names[name]


def without_places(text):
    return PLACE.sub("", text)


def tree_of(function):
    """The tree of the first function, in one line and without places."""
    text = lang_surface(function).split("\n", 1)
    text = text[0].split(" def ", 1)[1] + "\n" + text[1].partition("\n@" if "\n@" in text[1] else "\0")[0]
    return " ".join(without_places(text).split())


def outside_of(function, index=0):
    """What the names of a function stand for."""
    part = re.split(r"^#\d+ ", lang_surface(function), flags=re.M)[index + 1]
    return dict(re.findall(r"^  (\w+) = (.*)$", re.split(r"^@.*$", part, maxsplit=1, flags=re.M)[1], re.M))


def texts_of(rendered, lines):
    """The text at each place of a rendering, in its order."""
    found = []
    for line, start, end_line, end in (map(int, place) for place in PLACE.findall(rendered)):
        part = lines[line - 1 : end_line]
        part[-1] = part[-1][:end]
        part[0] = part[0][start:]
        found.append("".join(part))
    return found


def tree_part(function):
    return lang_surface(function).split("\n  ", 1)[1]


# -- expressions and statements ---------------------------------------------------------------

EXPRESSIONS = {
    "a": "a",
    "True": "True",
    "False": "False",
    "12": "12",
    "0x7f": "127",
    "10_000": "10000",
    "1.5": "1.5",
    "1e-30": "1e-30",
    "1e400": "inf",
    "2j": "complex(0.0,2.0)",
    "a + b": "(Add a b)",
    "a - b * 2": "(Sub a (Mult b 2))",
    "a / b": "(Div a b)",
    "a // b % c": "(Mod (FloorDiv a b) c)",
    "a ** b": "(Pow a b)",
    "a << b >> c": "(RShift (LShift a b) c)",
    "a & b | c ^ d": "(BitOr (BitAnd a b) (BitXor c d))",
    "-a": "(USub a)",
    "+a": "(UAdd a)",
    "~a": "(Invert a)",
    "not a": "(Not a)",
    "-1": "(USub 1)",
    "a == b": "(compare a Eq b)",
    "a != b": "(compare a NotEq b)",
    "a < b <= c": "(compare a Lt b LtE c)",
    "a > b >= c": "(compare a Gt b GtE c)",
    "a and b and c": "(and a b c)",
    "a or b and c": "(or a (and b c))",
    "a if b else c": "(if b a c)",
    "(a, b)": "(tuple a b)",
    "()": "(tuple )",
    "(a,)": "(tuple a)",
    "[a, 1]": "(list a 1)",
    "[]": "(list )",
    "a[b]": "(subscript a b)",
    "a[b, 1]": "(subscript a (tuple b 1))",
    "a[-1][0]": "(subscript (subscript a (USub 1)) 0)",
    "a.real": "(. a real)",
    "a.b.c": "(. (. a b) c)",
    "a()": "(call a )",
    "a(b, 1)": "(call a b 1)",
    "a(b)(c)": "(call (call a b) c)",
    "a.b(c)": "(call (. a b) c)",
    "lambda: 1": "(lambda () return 1)",
    "lambda x, y: x + a": "(lambda (x y) return (Add x a))",
    "(lambda x: lambda y: x)(a)": "(call (lambda (x) return (lambda (y) return x)) a)",
    "[x for x in a]": "(comprehension x for x in a)",
    "[x + y for x, y in zip(a, b)]": "(comprehension (Add x y) for (x y) in (call zip a b))",
    "[x for x, (y, z) in a if y if z]": "(comprehension x for (x (y z)) in a if y if z)",
    "[x for r in a for x in r if x]": "(comprehension x for r in a for x in r if x)",
    "[[x for x in r] for r in a]": "(comprehension (comprehension x for x in r) for r in a)",
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_becomes_its_tree(text):
    function = define(f"def f(a, b, c, d):\n    return {text}\n")
    assert tree_of(function) == f"f(a b c d): return {EXPRESSIONS[text]}"


STATEMENTS = {
    "x = a": "x = a",
    "x, (y, z) = a": "(x (y z)) = a",
    "[x, y] = a": "(x y) = a",
    "x: int = a": "x = a",
    "x: int": "nothing",
    "x = a; x += b": "x = a x = (Add x b)",
    "a //= 2": "a = (FloorDiv a 2)",
    "return": "return",
    "return a, b": "return (tuple a b)",
    "pass": "nothing",
    "'text'": "nothing",
    "if a: return b\n  else: return 1": "if a then return b else return 1",
    "if a: pass\n  elif b: x = 1": "if a then nothing else if b then x = 1 else",
    "def g(x): return x\n  return g(a)": "def g(x): return x return (call g a)",
    "def g(x):\n    def h(y): return y\n    return h(x)": "def g(x): def h(y): return y return (call h x)",
    "def g(x: int, y: 'T') -> int: return x": "def g(x y): return x",
    "def g(x, /, y): return x": "def g(x y): return x",
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_statement_becomes_its_tree(text):
    function = define(f"def f(a, b):\n  {text}\n")
    assert tree_of(function) == f"f(a b): {STATEMENTS[text]}"


def places_by_ast(tree, lines):
    """The places of what programs have, from Python's tree and in characters."""
    kinds = (ast.expr, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.If, ast.FunctionDef)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, kinds):
            starts = (len(lines[node.lineno - 1].encode()[: node.col_offset].decode()), node.lineno)
            ends = (len(lines[node.end_lineno - 1].encode()[: node.end_col_offset].decode()), node.end_lineno)
            found.add((starts[1], starts[0], ends[1], ends[0]))
    return found


POSITIONS = {
    "unicode": "def f(é, 𝛼):\n    μ = é + 𝛼; ß = μ * 2\n    return [ẋ / ß for ẋ in é]\n",
    "tabs": "def f(a):\n\tif a:\n\t\treturn\ta + 1\n\treturn a\n",
    "continued": "def f(a,\n      b\n):\n    x = a + \\\n  b\n    return (x,\n  [b,\n# comment\n  a])\n",
    "comments at the margin": "def f(a):\n    x = a\n# no end\n\n    return x\n",
    "a text at the margin": "def f(a):\n    '''One\ntwo 'three'\n'''\n    return a\n",
    "one line": "x = 1\ndef f(a): return lambda b: a + b\ny = 2\n",
    "branches": "def f(a):\n  if a > 1:\n    b = a\n  elif a < 0: b = 1\n  else:\n    b = -a\n  b -= 1\n  return b\n",
    "form feed": "x = 1\n\x0c\ndef f(a):\n    return a\n",
}


@pytest.mark.parametrize("name", POSITIONS)
def test_places_are_those_of_pythons_tree_in_characters(name):
    text = POSITIONS[name]
    function = define(text)
    lines = text.split("\n")
    rendered = lang_surface(function)
    tree = next(stmt for stmt in ast.parse(text).body if isinstance(stmt, ast.FunctionDef))
    docstring = {id(stmt.value) for stmt in ast.walk(tree) if isinstance(stmt, ast.Expr)}
    for stmt in ast.walk(tree):
        if hasattr(stmt, "body") and isinstance(stmt.body, list):
            stmt.body = [inner for inner in stmt.body if id(getattr(inner, "value", None)) not in docstring]
    found = {tuple(map(int, place)) for place in PLACE.findall(rendered)}
    # The body of a lambda is a `return` of the same place.
    assert found == places_by_ast(tree, lines)


def test_the_text_at_the_place_of_a_name_is_the_name():
    text = """
def f(x, ünder):
    s = ("ä€𝄞", x)[1]; ŝ = s + x; t = ünder if s else np.sqrt(ŝ)
    def größe(x): return x * ŝ  # ähm
    return [größe(v) for v in zip(x, ünder) if v > t]
"""
    rendered = lang_surface(define(text))
    lines = text.splitlines()
    names = re.findall(r"([^\W\d]\w*)@(\d+):(\d+)-(\d+):(\d+)", rendered)
    assert len(names) == 23
    for name, line, start, end_line, end in names:
        assert line == end_line and lines[int(line) - 1][int(start) : int(end)] == name


# -- where functions are ----------------------------------------------------------------------


def decorator(*arguments, **keywords):
    return lambda function: function


class Holder:
    @staticmethod
    @decorator([1, 2], key=")")
    def method(a, b=()):
        return a + 1 if b else __private(a)  # noqa: F821

    lambda_of_class = lambda a: a - 1  # noqa: E731


@decorator(lambda f: 1, lambda f: 2)
@cu
def decorated(
    a,
    b,
):
    # Decorators that follow each other.
    return a * b
    # At the margin, before the end.
    return 0  # noqa: E115


several_lines = cu(lambda a, b: a + b * (2 - a))
one, two = cu(lambda x: x + 1), cu(lambda x: x * 2)
same, twins = (lambda x: x), (lambda x: x)
inner_lambdas = lambda x: lambda y: lambda z: x  # noqa: E731


def test_functions_are_found_below_decorators_and_in_classes():
    assert tree_of(decorated) == "decorated(a b): return (Mult a b) return 0"
    assert tree_of(Holder.method) == (
        'method(a b): !"a default value" "leave it out and pass the argument in every call; names from outside need no '
        '`name=name`" return (if b (Add a 1) (call __private a))'
    )
    assert tree_of(Holder.lambda_of_class) == "<lambda>(a): return (Sub a 1)"


def test_lambdas_are_told_apart_by_their_code():
    assert tree_of(several_lines) == "<lambda>(a b): return (Add a (Mult b (Sub 2 a)))"
    assert tree_of(one) == "<lambda>(x): return (Add x 1)"
    assert tree_of(two) == "<lambda>(x): return (Mult x 2)"
    assert tree_of(same) == tree_of(twins) == "<lambda>(x): return x"
    assert tree_of(inner_lambdas) == "<lambda>(x): return (lambda (y) return (lambda (z) return x))"


def test_lambdas_in_lambdas_are_told_apart():
    if sys.version_info < (3, 11):
        # Their code has names of the scopes around them, of which only the whole file tells.
        with pytest.raises(
            UntranslatableError, match="has several functions of the name `<lambda>`, and which of them"
        ):
            lang_surface(inner_lambdas(1))
    else:
        assert tree_of(inner_lambdas(1)) == "<lambda>(y): return (lambda (z) return x)"
    assert tree_of(inner_lambdas(1)(2)) == "<lambda>(z): return x"


def test_functions_in_functions_are_found():
    u = cu(lambda x: x)

    def outer(shift):
        if shift:

            @cu
            def inner(a):
                def deepest(b):
                    return np.add(b, shift) + u(b)

                return deepest(a)  # fmt: skip

            return inner
        return cu(lambda a: a + shift)

    assert tree_of(outer(1)).startswith("inner(a): def deepest(b): return (Add (call (. np add) b shift) (call u b))")
    assert outside_of(outer(1))["shift"] == "number 1"
    assert outside_of(outer(1))["u"] == "function #1"
    assert tree_of(outer(0)) == "<lambda>(a): return (Add a shift)"


def test_methods_that_an_imported_module_has_do_not_hide_the_function():
    # Code that calls attributes depends on what the module imports.
    for imports in ("import numpy as np", "np = __import__('numpy')", "from numpy import linalg as np"):
        function = define(f"{imports}\ndef f(a):\n    return np.sqrt(a) + np.pi()\n")
        assert tree_of(function) == "f(a): return (Add (call (. np sqrt) a) (call (. np pi) ))"


def test_features_of_the_future_and_private_names():
    text = (
        "from __future__ import annotations\nclass A:\n  def __g(self): pass\n  def f(a: B) -> C:\n    return a + __k\n"
    )
    assert tree_of(define(text, "A").f) == "f(a): return (Add a __k)"


def test_functions_that_tests_have_rewritten_are_refused_for_what_they_are():
    def asserts(a):
        assert a > 1
        return a

    assert '!"an `assert` statement"' in tree_of(asserts)


def test_a_changed_file_is_refused(tmp_path):
    file = tmp_path / "module.py"
    names = {}

    def write(text):
        file.write_text(text)
        linecache.clearcache()

    write("import math\n\ndef f(a):\n    return a + 1\n\ng = lambda a: a\n")
    exec(compile(file.read_text(), str(file), "exec"), names)
    assert tree_of(names["f"]) == "f(a): return (Add a 1)"
    write("import math\n\ndef f(a):\n    return a + 2\n\ng = lambda a: -a\n")
    with pytest.raises(
        UntranslatableError, match=r"source of `f` is not that.* began at line 3 of .*, which is now `def f"
    ):
        lang_surface(names["f"])
    with pytest.raises(UntranslatableError, match="source of `<lambda>` is not that of the function that runs"):
        lang_surface(names["g"])
    for text in ("\n", "x = (\n\n\n\n\n\n", "import math\n\ndef h(a):\n    return a + 1\n"):
        write(text)
        with pytest.raises(UntranslatableError, match=re.escape(f'line 3 of "{file}"')):
            lang_surface(names["f"])
    # Elsewhere a file may change.
    write("import math\n\ndef f(a):\n    return a + 1\n\ndef g(): pass\n")
    assert tree_of(names["f"]) == "f(a): return (Add a 1)"


def test_code_with_other_lines_than_its_file_is_refused():
    for line in (0, 2, 1000):
        function = define("def f(a):\n    return a\n")
        function.__code__ = function.__code__.replace(co_firstlineno=line)
        with pytest.raises(UntranslatableError, match=f"source of `f` is not that .*: it began at line {line} of"):
            lang_surface(function)


def test_functions_without_source_are_refused():
    names = {}
    exec("def f(x): return x", names)
    with pytest.raises(
        UntranslatableError, match='source of `f` was not found: its file is "<string>".*write the function'
    ):
        lang_surface(names["f"])
    with pytest.raises(UntranslatableError, match="source of `<lambda>` was not found"):
        lang_surface(eval("lambda x: x"))


@pytest.mark.parametrize("value", [len, np.sqrt, 3, Holder, Holder().method.__call__, None, "f"])
def test_what_is_no_function_of_python_is_refused(value):
    with pytest.raises(UntranslatableError, match="cannot be translated; expected a function written in Python"):
        lang_surface(value)


def test_an_untranslatable_error_is_a_type_error():
    assert issubclass(UntranslatableError, TypeError)


# -- what the language does not have ----------------------------------------------------------

# A statement with the problem between marks, what it is called, and a part of the advice.
UNSUPPORTED = [
    ("«for i in a:\n    b = i»", "a `for` loop", "scan(op_add, x)"),
    ("«while a:\n    a = a - 1»", "a `while` loop", "last step is to call itself"),
    ("«with a:\n    pass»", "a `with` statement", "around the call"),
    ("«try:\n    pass\n  except E:\n    pass»", "a `try` statement", "`if` and `else`"),
    ("«raise E»", "a `raise` statement", "check the arguments"),
    ("«assert a»", "an `assert` statement", "check the arguments"),
    ("«del a»", "a `del` statement", "leave it out"),
    ("«import os»", "an `import` statement", "top of the file"),
    ("«from os import path»", "an `import` statement", "top of the file"),
    ("«global g»", "a `global` statement", "return the value"),
    ("«class C: pass»", "a class", "functions and tuples"),
    ("«match a:\n    case 1: pass»", "a `match` statement", "`elif`"),
    ("«x = y = a»", "a chain of assignments", "for each target"),
    ("«a[0]» = b", "an assignment to an element", "update(x, [(i, v)])"),
    ("«a[0]» += b", "an assignment to an element", "update(x, [(i, v)])"),
    ("«a.b» = b", "an assignment to an attribute", "changes nothing outside"),
    ("x, «*y» = a", "a starred expression", "write out"),
    ("x = «a @ b»", "the operator `@`", "sum(map(op_mul, x, y))"),
    ("«a @= b»", "the operator `@`", "sum(map(op_mul, x, y))"),
    ("«a(b)»", "an expression whose value is not used", "assign it to a name"),
    ("«print(a)»", "`print`", "return what to print"),
    ("«a»", "an expression whose value is not used", "assign it to a name"),
    ("«...»", "`...`", "indices"),
    ("«yield a»", "`yield`", "whole sequence"),
    ("x = «yield from a»", "`yield from`", "whole sequence"),
    ("x = «'text'»", "a string", "numbers, tuples and sequences"),
    ("x = «b'text'»", "a bytes literal", "numbers, tuples and sequences"),
    ("x = «f'{a}'»", "an f-string", "numbers, tuples and sequences"),
    ("x = «None»", "`None`", "on every path"),
    ("x = a[«...»]", "`...`", "indices"),
    ("x = a[«1:»]", "a slice", "bounded_range(start, stop)"),
    ("x = a[b, «::2»]", "a slice", "shift(x, n, default)"),
    ("x = «{a, b}»", "a set", "list or a tuple"),
    ("x = «{a: b}»", "a dictionary", "a tuple"),
    ("x = «{v for v in a}»", "a set comprehension", "list comprehension"),
    ("x = «{v: v for v in a}»", "a dictionary comprehension", "list comprehension"),
    ("x = a(«(v for v in b)»)", "a generator expression", "list comprehension"),
    ("x = («y := a»)", "an assignment expression, `:=`", "statement of its own"),
    ("x = a(«*b»)", "a starred expression", "write out"),
    ("x = a(b, «key=b»)", "a keyword argument", "by position"),
    ("x = a(«**b»)", "a keyword argument", "by position"),
    ("x = «a is b»", "`is`", "`==`"),
    ("x = «a is not b»", "`is not`", "`!=`"),
    ("x = «a in b»", "`in`", "any([value == element"),
    ("x = «a not in b»", "`not in`", "all([value != element"),
    ("x = «[v for v[0] in a]»", "an assignment to an element", "update(x, [(i, v)])"),
    ("x = «1" + "0" * 40 + "»", "an integer of 133 bits", "at most 64 bits"),
    ("def g(x, y=«1»): return x", "a default value", "in every call"),
    ("def g(*«x»): return x", "a starred parameter", "a parameter for each"),
    ("def g(**«x»): return x", "a parameter for keyword arguments", "a parameter for each"),
    ("def g(*, «x»): return x", "a keyword-only parameter", "leave out the `*`"),
    ("g = lambda x=«1»: x", "a default value", "in every call"),
    ("@«a»\n  def g(x): return x", "a decorator of an inner function", "leave it out"),
    ("«async def g(x): return x»", "an `async` function", "without `async`"),
    ("def g():\n    «nonlocal b»", "a `nonlocal` statement", "return the value"),
]  # fmt: skip


@pytest.mark.parametrize("text, what, advice", UNSUPPORTED)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_what_programs_do_not_have_is_named_at_its_place(text, what, advice):
    marked = f"def f(a, b):\n  {text}\n"
    plain = marked.replace("«", "").replace("»", "")
    found = re.findall(r'!"(.*?)" "(.*?)"(@\S+?-\d+:\d+)', lang_surface(define(plain)))
    assert [problem[0] for problem in found] == [what]
    assert advice in found[0][1]
    inside = re.search("«(.*)»", marked, re.S)[1]
    lines = plain.splitlines(keepends=True)
    assert texts_of(found[0][2], lines) == [inside]


def test_asynchronous_functions_and_comprehensions_are_refused():
    text = "async def f(a):\n  await a\n  async with a: pass\n  async for i in a: pass\n  return [i async for i in a]\n"
    found = re.findall(r'!"(.*?)"', lang_surface(define(text)))
    assert found == [
        "an `async` function",
        "`await`",
        "an `async with` statement",
        "an `async for` loop",
        "`async for`",
    ]


def test_all_problems_are_reported():
    text = (
        "def f(a, *b, c=1):\n  for x in a: pass\n  y = {1}\n  if a: return a[1:], 'text'\n  print(y)\n  return None\n"
    )
    found = re.findall(r'!"(.*?)"', lang_surface(define(text)))
    assert found == [
        "a starred parameter", "a keyword-only parameter", "a `for` loop", "a set", "a slice", "a string", "`print`",
        "`None`",
    ]  # fmt: skip


def test_deep_nesting_is_refused():
    long = define("def f(a):\n  return " + " + ".join(["a"] * 1000) + "\n")
    assert '!"an expression or a block within too many others"' in lang_surface(long)
    flat = define("def f(a):\n  return " + " + ".join(["a"] * 300) + "\n")
    assert "!" not in lang_surface(flat)
    calls = define("def f(a):\n  return " + "a(" * 80 + "a" + ")" * 80 + "\n")
    assert "!" not in lang_surface(calls)


# -- names from outside -----------------------------------------------------------------------

ANY_MODULE = types.ModuleType("any_module")
ANY_MODULE.number, ANY_MODULE.inner, ANY_MODULE.other = 3, math, object()
NAMES = {
    "np": np, "rnp": rnp, "math": math, "operator": operator, "cp": cp, "mod": ANY_MODULE,
    "whole": 7, "yes": True, "real": 2.5, "z": 1 + 2j, "huge": 1 << 200, "nothing": None, "items": [1, 2],
    "half": np.float16(0.5), "big": np.uint64(2**64 - 1), "truth": np.True_, "point": np.array(3, np.int16),
    "pair": (1, (np.float32(2), 3.5)), "array": np.zeros(3), "dtype": np.dtype("i2"), "f32": np.float32,
    "wide": np.longdouble(1), "record": np.dtype("i4,f4"), "plain": decorator, "instance": Holder(), "klass": Holder,
    "text": "text", "my_scan": cp.scan, "shadowed": cp.map,
}  # fmt: skip

OUTSIDE = {
    "whole": "number 7",
    "yes": "number True",
    "real": "number 2.5",
    "z": "number complex(1.0,2.0)",
    "huge": 'unusable "an integer of 201 bits" "integers have at most 64 bits"',
    "half": "float16 0.5",
    "big": "uint64 18446744073709551615",
    "truth": "bool True",
    "point": "int16 3",
    "pair": "(number 1, (float32 2.0, number 3.5))",
    "dtype": "dtype int16",
    "f32": "dtype float32",
    "np.complex64": "module numpy {complex64 = dtype complex64}",
    "np.bool_": "module numpy {bool_ = dtype bool}",
    "np.sqrt": "module numpy {sqrt = elementwise sqrt}",
    "np.true_divide": "module numpy {true_divide = elementwise divide}",
    "np.abs": "module numpy {abs = elementwise absolute}",
    "np.where": "module numpy {where = elementwise where}",
    "np.pi": "module numpy {pi = number 3.141592653589793}",
    "np.arange": 'module numpy {arange = unusable "`numpy.arange`, which programs do not have" "write `range(n)`"}',
    "np.floating": 'module numpy {floating = unusable "the class `floating`" "the nearest known name is `float`"}',
    "np.linalg.norm": 'module numpy {linalg = module numpy.linalg {norm = unusable "`numpy.linalg.norm`, which '
    'programs do not have" ""}}',
    "np.sqroot": 'module numpy {sqroot = unusable "a name that numpy does not have" "the nearest known name is '
    '`sqrt`"}',
    "rnp.hypot": "module rtcg.numpy {hypot = elementwise hypot}",
    "rnp.abs": "module rtcg.numpy {abs = elementwise absolute}",
    "math.sqrt": "module math {sqrt = elementwise sqrt}",
    "math.atan2": "module math {atan2 = elementwise arctan2}",
    "math.e": "module math {e = number 2.718281828459045}",
    "math.gamma": 'module math {gamma = unusable "`math.gamma`, which programs do not have" ""}',
    "math.floor": 'module math {floor = unusable "`math.floor`, which programs do not have" "write '
    '`int64(numpy.floor(x))`"}',
    "operator.add": "module operator {add = elementwise add}",
    "operator.and_": "module operator {and_ = elementwise bitwise_and}",
    "cp.scan": "module rtcg.copperhead {scan = prelude scan}",
    "cp.op_add": "module rtcg.copperhead {op_add = prelude op_add}",
    "mod.number": "module any_module {number = number 3}",
    "mod.inner.pi": "module any_module {inner = module math {pi = number 3.141592653589793}}",
    "mod.other": 'module any_module {other = unusable "an object of type object" "pass it as an argument"}',
    "my_scan": "prelude scan",
    "shadowed": "prelude map",
    "map": "prelude map",
    "zip": "prelude zip",
    "len": "prelude len",
    "abs": "prelude abs",
    "float": "prelude float",
    "print": 'unusable "`print`, which programs do not have" "return what to print: a program is compiled, and its '
    'values are on a device"',
    "sorted": 'unusable "`sorted`, which programs do not have" "write `sort(op, x)`, as in `sort(cmp_lt, x)`"',
    "list": 'unusable "the class `list`" "leave it out: the prelude\'s functions give sequences"',
    "text": 'unusable "a string" "values are numbers, tuples and sequences"',
    "nothing": 'unusable "`None`" "return a value on every path: programs have numbers, tuples and sequences alone"',
    "items": 'unusable "a list" "pass it as an argument, or make it a tuple if it is short"',
    "array": 'unusable "an object of type numpy.ndarray" "pass it as an argument"',
    "wide": 'unusable "an object of type numpy.longdouble" "pass it as an argument"',
    "record": 'unusable "an object of type numpy.dtypes.VoidDType" "pass it as an argument"',
    "plain": 'unusable "a function that is not decorated with @cu" "decorate it with @cu"',
    "klass": 'unusable "the class `Holder`" ""',
    "undefined_name": 'unusable "a name that is not defined" ""',
    "gahter": 'unusable "a name that is not defined" "the nearest known name is `gather`"',
}


@pytest.mark.parametrize("text", OUTSIDE)
def test_a_name_from_outside_stands_for(text):
    function = define(f"def f(a):\n    return {text}\n", **NAMES)
    assert outside_of(function) == {text.split(".")[0]: OUTSIDE[text]}


def test_names_of_the_function_are_not_from_outside():
    function = define(
        "def f(whole, x):\n"
        "    real = lambda z: z + whole\n"
        "    def half(big): return big + real(x) + truth\n"
        "    truth = 1\n"
        "    for point in x: pair = point\n"
        "    return [f32 + np.pi for f32 in dtype if f32], [z for z in z], half, pair, point\n",
        **NAMES,
    )
    assert list(outside_of(function)) == ["dtype", "np", "z"]
    function = define("def f(a):\n    b = [z for z in a]\n    return map(lambda y: y + z, b)\n", **NAMES)
    assert outside_of(function) == {"map": "prelude map", "z": "number complex(1.0,2.0)"}


def test_uses_of_one_module_are_put_together():
    function = define("def f(a):\n    return np.sqrt(a) + np.pi * np.sqrt(a)\n", **NAMES)
    assert outside_of(function) == {"np": "module numpy {sqrt = elementwise sqrt, pi = number 3.141592653589793}"}


@cu
def is_even(n):
    return True if n == 0 else is_odd(n - 1)


@cu
def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@cu
def calls_both(n):
    return is_odd(n) and is_even(n) and calls_both(n - 1)


def undecorated(n):
    return undecorated(n - 1)


def test_functions_that_call_each_other_are_read_once():
    assert re.findall(r"^#\d .* def (\w+)", lang_surface(is_even), re.M) == ["is_even", "is_odd"]
    assert outside_of(is_even) == {"is_odd": "function #1"}
    assert outside_of(is_even, 1) == {"is_even": "function #0"}
    assert outside_of(calls_both) == {"is_odd": "function #1", "is_even": "function #2", "calls_both": "function #0"}
    assert outside_of(undecorated) == {"undecorated": "function #0"}


def test_functions_of_a_program_may_be_in_several_files():
    callee = define("\n\n\ndef g(a): return a\n", "g")
    caller = define("def f(a): return g(a)\n", g=cu(callee))
    files = re.findall(r'^#(\d) "(<cell \d+>)" .*?@(\d+):', lang_surface(caller), re.M)
    assert files == [("0", caller.__code__.co_filename, "1"), ("1", callee.__code__.co_filename, "4")]


def test_a_variable_without_a_value_is_unusable():
    def outer():
        def inner(a):
            return a + later

        yield inner
        later = 3
        yield inner

    functions = outer()
    assert outside_of(next(functions)) == {"later": 'unusable "a name that is not defined" ""'}
    assert outside_of(next(functions)) == {"later": "number 3"}


# -- what a source depends on -----------------------------------------------------------------


def test_a_source_is_current_until_a_name_has_another_value():
    names = dict(NAMES, helper=cu(define("def g(a): return a + k\n", "g", k=1)))
    function = define("def f(a):\n    return map(helper, a) + whole + mod.number\n", **names)
    scope = function.__globals__
    walked = WalkedSource(function)
    assert walked.is_current()
    scope["unrelated"] = 1
    scope["whole"] = int("7") + 0
    assert walked.is_current()  # The same object.

    def changes(change, undo):
        change()
        assert not walked.is_current()
        undo()
        assert walked.is_current()

    changes(lambda: scope.update(whole=8), lambda: scope.update(whole=7))
    changes(lambda: scope.update(map=cp.map), lambda: scope.pop("map"))
    helper = scope.pop("helper")
    assert not walked.is_current()
    scope["helper"] = helper
    changes(lambda: setattr(ANY_MODULE, "number", 4), lambda: setattr(ANY_MODULE, "number", 3))
    inner = helper.__wrapped__.__globals__
    changes(lambda: inner.update(k=2), lambda: inner.update(k=1))
    code = function.__code__
    changes(lambda: setattr(function, "__code__", undecorated.__code__), lambda: setattr(function, "__code__", code))


def test_a_source_depends_on_variables_around_the_function():
    def outer():
        value = 1

        def set_value(new):
            nonlocal value
            value = new

        return cu(lambda a: a + value), set_value

    function, set_value = outer()
    walked = WalkedSource(function)
    assert walked.is_current() and outside_of(function) == {"value": "number 1"}
    set_value(2)
    assert not walked.is_current() and outside_of(function) == {"value": "number 2"}


def test_a_source_depends_on_the_element_of_an_array():
    point = np.array(3, np.int16)
    function = define("def f(a): return a + pair\n", pair=(1, point))
    walked = WalkedSource(function)
    assert walked.is_current()
    point[...] = 4
    assert not walked.is_current() and outside_of(function) == {"pair": "(number 1, int16 4)"}


def test_a_name_that_was_not_defined_may_be_later():
    function = define("def f(a): return a + later\n")
    walked = WalkedSource(function)
    assert walked.is_current()
    function.__globals__["later"] = 1
    assert not walked.is_current()


def test_a_source_that_its_function_holds_is_collected():
    def outer():
        @cu
        def again(a):
            return again(a)

        again.source = WalkedSource(again)
        return weakref.ref(again)

    function = outer()
    gc.collect()
    assert function() is None


def test_the_text_of_a_source_is_its_tree():
    assert str(WalkedSource(is_even)) == lang_surface(is_even)
