"""Errors of programs of data-parallel Python: their whole messages, their tracebacks, and what they advise.

`copperhead_wrong.py` has the programs, `copperhead_wrong.txt` the messages, in which lines count from that of ``def``.
``python -m tests.python.test_copperhead_errors`` writes the latter again, to be reviewed.
"""

import functools
import inspect
import linecache
import re
import sys
import traceback
from pathlib import Path

import copperhead_wrong
import numpy as np
import pytest

from rtcg import copperhead
from rtcg.copperhead import UntranslatableError, cu, op_add, places, to_numpy

WRONG, RIGHT = copperhead_wrong.WRONG, copperhead_wrong.RIGHT
MESSAGES = Path(copperhead_wrong.__file__).with_suffix(".txt")


def message_of(name):
    """The class and the text of the error that a call of a wrong program raises, with lines from that of ``def``."""
    program, args = WRONG[name]
    lines, first = inspect.getsourcelines(program.__wrapped__)
    first += next(place for place, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def ")))
    try:
        result = program(*args, target_place=places.gpu0)
    except Exception as error:
        path = re.escape(copperhead_wrong.__file__)
        text = re.sub(rf"{path}:(\d+)", lambda found: f"wrong.py:{int(found[1]) - first + 1}", str(error))
        return f"{type(error).__name__}: {text}"
    return f"the result {result!r}"


@functools.cache
def messages():
    parts = re.split(r"^== (\w+)\n", MESSAGES.read_text(), flags=re.M)
    return {name: text.rstrip("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.mark.parametrize("name", WRONG)
def test_the_message_of_a_wrong_program(name):
    assert message_of(name) == messages()[name]


def test_all_messages_belong_to_programs():
    assert list(messages()) == list(WRONG)
    assert len(WRONG) >= 100


@pytest.mark.parametrize("name", RIGHT)
def test_what_a_message_advises_runs(name):
    program, args = RIGHT[name]
    np.testing.assert_array_equal(
        to_numpy(program(*args, target_place=places.gpu0)), to_numpy(program(*args, target_place=places.here))
    )


def test_only_twenty_problems_are_shown():
    lines = [f"    v{k} = x + {k}" for k in range(25)]
    function = defined("def f(x):\n" + "\n".join(lines) + "\n    return x\n", "<many>")
    with pytest.raises(TypeError) as raised:
        function([1.0], target_place=places.gpu0)
    assert str(raised.value).count("the operands of `+`") == 20
    assert str(raised.value).endswith("\n\n... and 5 more")


def test_a_name_that_is_not_imported_is_named_with_its_import():
    """Each advice is an import that works."""
    for name in ("scan", "sqrt", "op_add", "cmp_lt", "int64", "argmin", "where"):
        assert hasattr(copperhead, name)
        function = defined(f"def f(x):\n    return {name}(x)\n", f"<without {name}>")
        with pytest.raises(UntranslatableError) as raised:
            function([1.0], target_place=places.gpu0)
        assert f"`{name}` is not defined [name]" in str(raised.value)
        assert f"help: write `from rtcg.copperhead import {name}`" in str(raised.value)


# -- functions whose source is not what runs --------------------------------------------------


def defined(text, file):
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {}
    exec(compile(text, file, "exec"), names)
    return cu(names["f"])


def test_a_function_without_a_source_is_refused():
    names = {}
    exec("def f(x):\n    return x\n", names)
    with pytest.raises(UntranslatableError) as raised:
        cu(names["f"])([1.0], target_place=places.gpu0)
    assert str(raised.value) == (
        'the source of `f` was not found: its file is "<string>". Programs are compiled from their source; write the '
        "function into a file or a cell of a notebook [source]"
    )


def test_a_function_that_is_no_longer_what_its_file_says_is_refused():
    function = defined("def f(x):\n    return [xi + 1 for xi in x]\n", "<changed>")
    text = "def f(x):\n    return [xi + 2 for xi in x]\n"
    linecache.cache["<changed>"] = (len(text), None, text.splitlines(keepends=True), "<changed>")
    with pytest.raises(UntranslatableError) as raised:
        function([1.0], target_place=places.gpu0)
    assert str(raised.value).startswith("the source of `f` is not that of the function")
    assert "<changed>" in str(raised.value)


def test_lambdas_in_one_line_are_told_apart_or_refused():
    one, other = cu(lambda x: [xi + 1 for xi in x]), cu(lambda x: [xi + 2 for xi in x])  # fmt: skip
    assert to_numpy(one([1.0], target_place=places.gpu0)).tolist() == [2]
    assert to_numpy(other([1.0], target_place=places.gpu0)).tolist() == [3]


# -- tracebacks -------------------------------------------------------------------------------


@cu
def beyond(x):
    return [x[xi] for xi in x]


@cu
def adds(x):
    return x + 1


def frames(call):
    with pytest.raises(Exception) as raised:  # noqa: PT011
        call()
    return [(Path(frame.filename).name, frame.name) for frame in traceback.extract_tb(raised.value.__traceback__)]


def call_at_device():
    adds([1.0], target_place=places.gpu0)


def call_here():
    beyond([5], target_place=places.here)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before 3.11 a frame that raises again is shown")
def test_tracebacks_end_with_the_call_or_the_program():
    here = Path(__file__).name
    assert frames(call_at_device)[-1] == (here, "call_at_device")
    names = [name for _, name in frames(call_here) if "comp" not in name]
    assert names[-2:] == ["call_here", "beyond"]
    assert {file for file, _ in frames(call_here)} == {here}


def test_full_tracebacks_show_the_frames_of_rtcg(monkeypatch):
    monkeypatch.setenv("RTCG_TRACEBACK", "full")
    assert ("_compiled.py", "call") in frames(call_at_device)


def test_an_index_out_of_bounds_is_raised_by_the_next_fetch():
    result = beyond(np.array([5]), target_place=places.gpu0)
    with pytest.raises(IndexError):
        to_numpy(result)


# -- functions as arguments -------------------------------------------------------------------


@cu
def applied(f, x):
    return map(f, x)


@cu
def doubled(xi):
    return 2 * xi


def test_functions_are_arguments():
    x, k = np.arange(4, dtype=np.int32), 3

    def plain(xi):
        return xi + k

    for function in [doubled, plain, lambda xi: xi * k, abs, np.sqrt, np.float64]:
        expected = applied(function, x, target_place=places.here)
        found = to_numpy(applied(function, x, target_place=places.gpu0))
        np.testing.assert_array_equal(found, expected, strict=True)
    k = 4
    assert to_numpy(applied(plain, x, target_place=places.gpu0)).tolist() == [4, 5, 6, 7]


def test_an_object_that_is_no_function_of_python_is_named():
    with pytest.raises(UntranslatableError, match=r"functools\.partial"):
        applied(functools.partial(max, 1), np.arange(3), target_place=places.gpu0)


def test_functions_in_tuples_are_arguments():
    program = defined("def f(fs, x):\n    g, h = fs\n    return map(g, map(h, x))\n", "<tuple of functions>")
    found = program((doubled, op_add_one), [1, 2], target_place=places.gpu0)
    assert to_numpy(found).tolist() == [4, 6]


@cu
def op_add_one(xi):
    return op_add(xi, 1)


if __name__ == "__main__":
    MESSAGES.write_text("\n".join(f"== {name}\n{message_of(name)}\n" for name in WRONG))
