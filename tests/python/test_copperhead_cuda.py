"""The CUDA beside the programs of data-parallel Python: it finds the same results, and has more lines."""

import importlib.util
import json
import statistics
import sys

import numpy as np
import pytest

from rtcg.copperhead import places
from tests.python.subprocesses import ROOT


def load(folder, name):
    """The module of a file that is no part of a package."""
    spec = importlib.util.spec_from_file_location(f"{folder}_of_{name}", ROOT / folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    before = list(sys.path)
    sys.path.insert(0, str(ROOT / folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = before
    return module


bench = load("benches", "copperhead")
lines = load("tools", "copperhead_lines")

#: Sizes that fill neither vectors nor tiles nor blocks; the programs of the benchmark that are the same but for their
#: size take a second one here.
SIZES = {
    "axpy": [1, 4099],
    "benchmark": [3, 4099],
    "black_scholes": [1027],
    "extrema": [5, 20_003],
    "fibonacci": [7, 5003],
    "mandelbrot": [37],
    "p14": [2, 1000],
    "laplace": [(19, 7)],
    "laplace, large": [(150, 2)],
    "radix_sort": [5003],
    "gemv, square": [(67, 260)],
    "gemv, narrow": [(300, 8), (300, 12)],
    "gemv, long": [(2, 5004)],
    "spmv, Poisson": [11],
    "spmv, R-MAT": [7],
    "of_cg": [(17, 4)],
    "svm_train": [(301, 20), (77, 7)],
    "counting_sort": [1601],
}
CASES = [pytest.param(name, size, id=f"{name} {size}") for name, found in SIZES.items() for size in found]


@pytest.fixture
def device():
    with places.gpu0, places.gpu0.scope():
        yield


def test_each_program_of_the_benchmark_is_compared():
    assert list(SIZES) == list(bench.CASES)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(("name", "size"), CASES)
def test_cuda_by_hand_agrees_with_the_program(name, size):
    make, _ = bench.CASES[name]
    case = make.__wrapped__(size)
    # Scratch memory is as it was: a second call finds the same.
    assert [bench.disagreement(case), bench.disagreement(case)] == ["", ""]


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda x: x * np.float32(1.001), "result 0: 32 of 32 differ by up to 1.0e-03"),
        (lambda x: x.astype(np.float64), "result 0: float32(32,) and by hand float64(32,)"),
        (lambda x: x * np.float32(np.nan), "result 0: 32 of 32 differ by up to nan"),
    ],
)
def test_wrong_results_are_told(wrong, message):
    case = bench.CASES["axpy"][0].__wrapped__(32)
    right = case.hand
    case.hand = lambda: wrong(right())
    assert bench.disagreement(case) == message


@pytest.mark.usefixtures("device")
def test_the_benchmark_writes_its_table(tmp_path, capsys, monkeypatch):
    path = tmp_path / "table.json"
    monkeypatch.setitem(bench.CASES, "benchmark", (lambda scale: 1 // 0, 1.0))
    found = bench.main(
        ["axpy", "benchmark", "--no-first-calls", "--scale", "small", "--rounds", "1", "--output", str(path)]
    )
    assert found == 1, "one program failed"
    table = json.loads(path.read_text())["programs"]
    assert table[0]["program"] == "axpy" and table[0]["ratio"] > 0 and table[0]["disagreement"] == ""
    assert table[1] == {"program": "benchmark", "error": "ZeroDivisionError: integer division or modulo by zero"}
    printed = capsys.readouterr().out
    assert "agree" in printed and "ours over the launch alone" in printed
    assert printed.count("axpy            jax ") == 1, "a peer has a figure or a reason"


def test_programs_have_a_quarter_of_the_lines_of_cuda_in_the_median():
    rows = lines.count()
    assert {row.program for row in rows} == {path.stem for path in (lines.FOLDER / "cuda").glob("*.cu")}
    assert statistics.median(row.ratio for row in rows) >= 4, rows


def test_neither_comments_nor_docstrings_are_lines():
    program = '''
@cu
def helper(x):
    """Text of
    two lines."""
    # A comment.

    return x


@cu
def whole(x):
    return helper(x)


@cu
def other(x):
    return x
'''
    functions = lines.needed(lines.functions_of(program), "whole")
    assert sorted(function.name for function in functions) == ["helper", "whole"]
    assert lines.count_python(program, functions) == 6
    assert lines.count_cuda("// text\n\n/* two\nlines */\nint x; // why\n}\n") == 2
