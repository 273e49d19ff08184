"""`rtcg.copperhead` beside its programs: places, arguments and results, functions, `ragged`, and names."""

# ruff: noqa: B905

import doctest
import importlib
import inspect
import io
import json
import linecache
import os
import pickle
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import rtcg
from rtcg import copperhead, tracing
from rtcg.copperhead import (
    _compiled,
    _prelude,
    cu,
    cuarray,
    float64,
    force,
    indices,
    map,
    minimum,
    places,
    ragged,
    reduce,
    scan,
    shift,
    sort,
    sum,
    to_numpy,
)  # fmt: skip
from tests.python.subprocesses import run_python


@cu
def double(x):
    """Twice the elements."""
    return map(lambda xi: 2 * xi, x)


@cu
def saxpy(a, x, y):
    return [a * xi + yi for xi, yi in zip(x, y)]


@cu
def same(x):
    return x


# -- places -----------------------------------------------------------------------------------


@pytest.fixture
def calls(monkeypatch):
    """The names of the places that programs are compiled for, in order; nothing is compiled."""
    seen = []
    monkeypatch.setattr(_compiled, "call", lambda function, args, place: seen.append(place.name))
    return seen


def test_the_default_place_is_the_first_device(calls):
    double([1])
    assert calls == ["gpu0"] and places.default_place is places.gpu0


def test_blocks_nest_and_the_innermost_counts(calls, on_virtual_device):
    # The device that is there, by another name if it has one.
    inner = places.virtual0 if on_virtual_device else places.gpu0
    with inner:
        double([1])
        with places.here:
            assert to_numpy(double([1])) == 2
            with inner, places.gpu_scope():
                double([1])
        double([1])
    double([1])
    assert calls == [inner.name, "gpu0", inner.name, "gpu0"]


def test_a_place_in_a_call_counts_before_blocks(calls):
    with places.here:
        double([1], target_place=places.gpu0)
    double([1], target_place=places.here)
    assert calls == ["gpu0"]


def test_blocks_end_with_errors():
    with pytest.raises(ZeroDivisionError), places.here:
        raise ZeroDivisionError
    assert places.default_place is places.gpu0


def test_blocks_belong_to_their_thread(calls):
    with places.here:
        thread = threading.Thread(target=double, args=([1],))
        thread.start()
        thread.join()
    assert calls == ["gpu0"]


def test_the_default_place_can_be_replaced(monkeypatch, calls):
    monkeypatch.setattr(places, "_default", None)
    places.default_place = places.here
    assert to_numpy(double([1])) == 2 and calls == []
    with places.gpu0:
        double([1])
    assert calls == ["gpu0"]
    with pytest.raises(TypeError, match="default_place is 'gpu0'; expected a place"):
        places.default_place = "gpu0"


def test_places_are_the_same_objects(on_virtual_device):
    assert places.gpu3 is places.gpu3 and places.gpu_scope(3) is places.gpu3 and places.host_scope() is places.here
    assert pickle.loads(pickle.dumps([places.here, places.virtual1])) == [places.here, places.virtual1]
    assert repr(places.gpu0) == "places.gpu0" and {"here", "gpu0"} <= set(dir(places))
    assert ("virtual0" in dir(places)) == on_virtual_device


@pytest.mark.parametrize("name", ["gpu", "gpu01", "cpu0", "sequential", "virtual-1"])
def test_unknown_places(name):
    with pytest.raises(AttributeError, match=f"there is no place {name!r}; expected here, gpu0"):
        getattr(places, name)


def test_places_name_devices(context, on_virtual_device):
    assert places.gpu0.device.is_virtual == on_virtual_device
    with pytest.raises(ValueError, match=r"there is no places.virtual99: \d+ virtual devices? found; RTCG_VIRTUAL_DEV"):
        places.virtual99.device  # noqa: B018
    with pytest.raises(ValueError, match="there is no places.gpu99: "):
        force([1], places.gpu99)


def test_a_place_uses_the_current_context_of_its_device(context):
    import rtcg.driver

    with places.gpu0.scope():
        assert rtcg.driver.Context.get_current() == context


def test_contexts_of_several_devices():
    code = """
        import numpy as np
        from rtcg import driver
        from rtcg.copperhead import force, places, to_numpy
        x = force([1, 2], places.virtual1)
        assert x.device == places.virtual1.device == driver.Device(1)
        y = force(x, places.virtual0)
        assert y.device == driver.Device(0) and force(y, places.gpu0) is y
        assert to_numpy(x).tolist() == to_numpy(y).tolist() == [1, 2]
    """
    run_python(code, RTCG_LIBCUDA="none", RTCG_VIRTUAL_DEVICES=2)


def test_the_interpreter_needs_no_device():
    code = """
        from rtcg.copperhead import *
        @cu
        def f(x):
            return scan(op_add, x)
        with places.here:
            print(f([1, 2, 3]))
    """
    assert run_python(code, RTCG_LIBCUDA="none", RTCG_VIRTUAL_DEVICES=0).stdout == "[1 3 6]\n"


# -- functions --------------------------------------------------------------------------------


def test_a_program_looks_like_its_function():
    assert (double.__name__, double.__doc__) == ("double", "Twice the elements.")
    assert str(inspect.signature(saxpy)) == "(a, x, y)" and repr(saxpy) == "<cu function saxpy(a, x, y)>"
    assert double.__wrapped__([1, 2]) == [2, 4] and cu(double) is double
    assert "map(lambda xi: 2 * xi, x)" in double.get_source()
    assert pickle.loads(pickle.dumps(double)) is double


@pytest.mark.parametrize("value", [3, print, "f", int, np.sqrt], ids=str)
def test_what_is_no_python_function(value):
    with pytest.raises(TypeError, match=r"^cu: .* is of type .*; expected a function of Python"):
        cu(value)


def test_a_lambda_is_a_program():
    assert to_numpy(cu(lambda x: [xi + 1 for xi in x])([1, 2], target_place=places.here)).tolist() == [2, 3]


def test_a_function_without_source():
    scope = {}
    exec("def f(x):\n    return [xi + 1 for xi in x]", scope)
    program = cu(scope["f"])
    assert program([1], target_place=places.here) == 2
    with pytest.raises(TypeError, match=r"the source of f is not found in '<string>'.*write the function into a file"):
        program.get_source()


def test_arguments_by_name():
    x = np.ones(2, np.float32)
    assert saxpy(2, y=x, x=x, target_place=places.here).tolist() == [3, 3]
    with pytest.raises(TypeError, match=r"saxpy\(a, x, y\): missing a required argument: 'y'"):
        saxpy(2, x, target_place=places.here)
    with pytest.raises(TypeError, match=r"saxpy\(a, x, y\): got an unexpected keyword argument 'z'"):
        saxpy(2, x, x, z=1)
    with pytest.raises(TypeError, match="target_place is 'here'; expected a place"):
        saxpy(2, x, x, target_place="here")


def test_verbose_calls_print_what_ran(capsys):
    saxpy(np.float32(2), np.ones(3, np.float32), [1, 2, 3], target_place=places.here, verbose=True)
    printed = capsys.readouterr().err
    assert printed.startswith("saxpy at here: (float32, float32[3], list[3]) -> float64[3], ") and printed.endswith(
        " ms\n"
    )


def test_names_of_python_are_the_preludes():
    """A program that imports nothing means the prelude by `map`, `len`, `sum` and others."""
    scope = {"cu": cu}
    exec("@cu\ndef f(x):\n    return len(map(abs, x)), sum(x), range(2), max(x), any(x)", scope)
    length, total, indices, greatest, is_any = scope["f"](np.array([-1, 2], np.int8), target_place=places.here)
    assert (type(length), type(total), type(is_any)) == (np.int64, np.int8, np.bool_)
    assert indices.dtype == np.int64 and (total, greatest) == (1, 2)


def test_functions_of_math_keep_dtypes():
    from math import exp

    scope = {"cu": cu, "exp": exp}
    exec("import math\n@cu\ndef f(x):\n    return math.sqrt(x), exp(x), math.isnan(x), math.floor(x)", scope)
    root, power, is_nan, floor = scope["f"](np.float32(-1), target_place=places.here)
    assert np.isnan(root) and root.dtype == power.dtype == np.float32
    assert (power, is_nan, floor) == (np.exp(np.float32(-1)), False, -1)


def test_names_are_looked_up_at_the_call():
    scope = {"cu": cu, "factor": 2}
    exec("@cu\ndef f(x):\n    return x * factor", scope)
    with places.here:
        assert scope["f"](3) == 6
        scope["factor"] = 5
        assert scope["f"](3) == 15
        del scope["factor"]
        with pytest.raises(NameError, match="factor"):
            scope["f"](3)


def test_programs_call_each_other():
    @cu
    def is_even(n):
        return True if n == 0 else is_odd(n - 1)

    @cu
    def is_odd(n):
        return False if n == 0 else is_even(n - 1)

    # Deeper than Python's limit, which is as it was afterwards.
    limit = sys.getrecursionlimit()
    assert is_even(4 * limit, target_place=places.here) and sys.getrecursionlimit() == limit


def test_endless_recursion_is_an_error():
    @cu
    def endless(n):
        return endless(n + 1)

    @cu
    def endless_in_map(x):
        return map(lambda xi: endless_in_map([xi + 1]), x)

    limit = sys.getrecursionlimit()
    for program, argument in ((endless, 0), (endless_in_map, [0])):
        with pytest.raises(RecursionError):
            program(argument, target_place=places.here)
    assert sys.getrecursionlimit() == limit


def test_an_error_leaves_no_run_behind(calls):
    with pytest.raises(IndexError):
        cu(lambda x: x[9])([1], target_place=places.here)
    double([1])
    assert calls == ["gpu0"]


def test_threads_run_programs_at_once():
    results = []

    def work(k):
        with places.here:
            results.append((k, scan_of(np.full(200, k)).tolist()))

    @cu
    def scan_of(x):
        return scan(lambda a, b: a + b, x)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [(k, [k * (i + 1) for i in range(200)]) for k in range(8)]


def test_functions_that_are_no_programs():
    def helper(x):
        return x + 1

    assert cu(lambda x: map(helper, x))([1, 2], target_place=places.here).tolist() == [2, 3]


# -- arguments and results ----------------------------------------------------------------------


def test_arguments_are_not_changed():
    x = [3, 1, 2]
    array = np.array(x)
    program = cu(lambda a: copperhead.sort(copperhead.cmp_lt, copperhead.update(a, [(0, 9)])))
    for argument in (x, array):
        assert program(argument, target_place=places.here).tolist() == [1, 2, 9]
    assert x == [3, 1, 2] and array.tolist() == [3, 1, 2]


def test_offsets_of_rows_on_the_device_stay_there(context):
    import rtcg.numpy as xp

    offsets = xp.asarray(np.array([0, 2, 3]))
    rows = ragged(xp.asarray(np.arange(3.0)), offsets)
    assert _compiled.argument("rows", rows)[1] is offsets
    unsigned = ragged(rows.values, np.array([0, 2, 3], np.uint32))
    assert _compiled.argument("rows", unsigned)[1].dtype == np.int64


def test_device_arrays_are_arguments(context):
    import rtcg.numpy as device_arrays

    class Foreign:
        """Another library's array, by its interface only."""

        def __init__(self, array):
            self.array = array
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    array = device_arrays.to_gpu(np.arange(4, dtype=np.int16))
    for argument in (array, array[::-1][::-1], Foreign(array)):
        result = double(argument, target_place=places.here)
        assert isinstance(result, np.ndarray) and result.dtype == np.int16 and result.tolist() == [0, 2, 4, 6]
    rows = ragged(array, device_arrays.to_gpu(np.array([0, 1, 4])))
    assert cu(lambda r: map(sum, r))(rows, target_place=places.here).tolist() == [0, 6]


def test_dlpack_arguments():
    class Exporter:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    result = double(Exporter(np.arange(3, dtype=np.float32)), target_place=places.here)
    assert result.dtype == np.float32 and result.tolist() == [0, 2, 4]


def test_sparse_matrices_are_pairs_of_nested_sequences(context):
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
    import rtcg.sparse

    matrix = sparse.csr_array(np.array([[0, 2.5, 0], [0, 0, 0], [1, 0, 3]]))
    for argument in (matrix, rtcg.sparse.csr_array(matrix)):
        values, columns = same(argument, target_place=places.here)
        assert values.to_list() == [[2.5], [], [1, 3]] and columns.to_list() == [[1], [], [0, 2]]
        assert columns.dtype == matrix.indices.dtype
    with pytest.raises(
        TypeError, match=r"x is a sparse matrix in the format 'csc'; expected 'csr': write `x.tocsr\(\)`"
    ):
        same(matrix.tocsc(), target_place=places.here)


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    x = np.array([1, 2, 3], ml_dtypes.bfloat16)
    with places.here:
        assert cu(lambda a: map(copperhead.op_add, a, a))(x).dtype == ml_dtypes.bfloat16
        least, greatest = cu(lambda a: (copperhead.min_bound_el(a), copperhead.bfloat16(a[0] / 3.0)))(x)
    assert least == ml_dtypes.finfo(ml_dtypes.bfloat16).min and greatest.dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (None, r"x is None; expected a number, an array, a list, a tuple or a function"),
        ("text", r"x is 'text'"),
        ({1: 2}, r"x is \{1: 2\}"),
        (["a", "b"], r"x\[0\] is 'a'"),
        ([1, None], r"x\[1\] is None"),
        ([1, [2]], r"x: elements are numbers and sequences; expected one of these"),
        ([(1, 2), (1,)], r"x: elements are tuples of 1 and 2; expected one length"),
        ((1, "b"), r"x\[1\] is 'b'"),
        (np.array(["a"]), r"x has dtype <U1; expected bool, integers, floats"),
        (np.longdouble(1), r"x has dtype float128|x has dtype longdouble"),
        (ragged(np.array(["a"]), [0, 1]), r"x has dtype <U1"),
    ],
    ids=str,
)
def test_arguments_that_are_none(argument, said):
    with pytest.raises(TypeError, match=said):
        same(argument, target_place=places.here)


def test_integers_that_do_not_fit():
    with pytest.raises(OverflowError, match=r"x: 9223372036854775808 does not fit int64"):
        same([2**63], target_place=places.here)
    with pytest.raises(OverflowError, match=r"<lambda>: 18446744073709551616 does not fit int64"):
        cu(lambda x: x * x)(2**32, target_place=places.here)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (lambda x: None, r"the result is None; expected numbers, sequences and tuples \(is a `return` missing\?\)"),
        (lambda x: "text", r"the result is 'text'; expected numbers, sequences and tuples"),
        (lambda x: [x, [x]], r"elements are numbers and sequences; expected one of these"),
        (lambda x: [(x, 1), x], r"elements are numbers and tuples"),
        (lambda x: [[[1]], [[1, 2]]], r"three deep; expected two"),
        (lambda x: [(1, [1]), (2, [1, 2])], r"tuples that hold sequences of different lengths at \[1\]"),
    ],
)
def test_results_that_are_none(program, said):
    with pytest.raises(TypeError, match=said):
        cu(program)(1, target_place=places.here)


def test_results_in_places(context):
    import rtcg.numpy as device_arrays

    for place, kind in ((places.here, np.ndarray), (places.gpu0, device_arrays.GPUArray)):
        with place:
            array, (rows, number) = cuarray([1, 2]), force((ragged([1.5], [0, 1]), 3), place)
        assert isinstance(array, kind) and isinstance(rows.values, kind) and number == 3
        assert force(array, place) is array and force(rows, place) is rows
        assert to_numpy(array).tolist() == [1, 2] and to_numpy(rows).to_list() == [[1.5]]
    assert isinstance(force(cuarray(np.float32([[1]])), places.here), np.ndarray)


def test_cuarray_keeps_types():
    with places.here:
        for dtype in (np.int32, np.int64, np.float32, np.float64, np.bool_):
            source = np.array([1], dtype)
            copied = cuarray(source)
            assert type(copied[0]) is dtype and not np.shares_memory(copied, source)
        assert cuarray([[1, 2], [3]]).equals([[1, 2], [3]])
    with pytest.raises(TypeError, match="x is <function .*; expected a number, an array"):
        to_numpy(lambda: 0)
    with pytest.raises(TypeError, match="x has dtype object; expected bool"):
        to_numpy(np.array([None]))
    with pytest.raises(TypeError, match="place is 'here'"):
        force([1], "here")


# -- ragged -----------------------------------------------------------------------------------


def test_ragged_is_a_sequence():
    rows = ragged([1, 2, 3], [0, 2, 2, 3])
    assert len(rows) == 3 and [row.tolist() for row in rows] == [[1, 2], [], [3]] == rows.to_list()
    assert rows[-1].tolist() == [3] and rows[np.int8(0)].tolist() == [1, 2]
    assert rows.lengths.tolist() == [2, 0, 1] and rows.dtype == np.int64
    assert repr(rows) == "ragged([[1, 2], [], [3]], dtype=int64)"
    assert repr(ragged(np.zeros(9), np.arange(10))).endswith("[0.], ...], dtype=float64)")
    assert np.shares_memory(rows[0], rows.values)
    assert ragged([], [0]).to_list() == [] and len(ragged([], [0])) == 0


def test_ragged_equality():
    rows = ragged([1, 2, 3], [0, 2, 2, 3])
    assert rows.equals([[1, 2], [], [3]]) and rows.equals(ragged.from_rows([[1, 2], [], [3]]))
    for other in ([[1, 2], [3]], [[1, 2], [], [4]], [[1], [2], [3]], 3, [[[1]]]):
        assert not rows.equals(other)
    assert ragged([1, 2], [0, 1, 2]).equals(np.array([[1], [2]]))


def test_ragged_from_rows():
    rows = ragged.from_rows([[], np.array([1, 2], np.int8), []])
    assert rows.dtype == np.int8 and rows.offsets.tolist() == [0, 0, 2, 2]
    assert ragged.from_rows([[], []]).dtype == np.float64 and ragged.from_rows([]).to_list() == []
    assert ragged.from_rows(row for row in ([1], [2, 3])).to_list() == [[1], [2, 3]]
    with pytest.raises(ValueError, match=r"row 1 has shape \(1, 1\); expected one axis"):
        ragged.from_rows([[1], [[2]]])


@pytest.mark.parametrize(
    ("values", "offsets", "kind", "said"),
    [
        ([1], [0.0, 1.0], TypeError, "offsets has dtype float64; expected integers"),
        ([1], [True], TypeError, "offsets has dtype bool; expected integers"),
        ([[1]], [0, 1], ValueError, r"values has shape \(1, 1\); expected one axis"),
        ([1], [[0, 1]], ValueError, r"offsets has shape \(1, 2\); expected one axis of the number of rows plus 1"),
        ([], np.empty(0, int), ValueError, r"offsets has shape \(0,\)"),
        ([1], [1, 1], ValueError, r"offsets\[0\] is 1; expected 0"),
        ([1, 2], [0, 2, 1, 2], ValueError, r"offsets\[2\] is 1; expected at least the 2 before it"),
        ([1, 2], [0, 1], ValueError, r"offsets\[-1\] is 1; expected the number of values, 2"),
        ([1, 2], np.array([0, 3], np.uint64), ValueError, r"offsets\[-1\] is 3; expected the number of values, 2"),
        ([None], [0, 1], TypeError, r"values is \[None\]; expected numbers"),
    ],
)
def test_ragged_input(values, offsets, kind, said):
    with pytest.raises(kind, match=said):
        ragged(values, offsets)


def test_ragged_indices():
    rows = ragged([1], [0, 1])
    with pytest.raises(IndexError, match="index is 1; expected a row of 1"):
        rows[1]
    with pytest.raises(TypeError, match=r"index is slice\(0, 1, None\); expected the number of a row"):
        rows[0:1]


def test_ragged_on_the_device(context):
    import rtcg.numpy as device_arrays

    rows = ragged(device_arrays.to_gpu(np.array([1, 2, 3])), device_arrays.to_gpu(np.array([0, 1, 3])))
    assert repr(rows) == "<ragged of 2 rows, 3 values of int64 on the device>"
    assert rows.to_list() == [[1], [2, 3]] and rows.equals([[1], [2, 3]])
    assert isinstance(rows[1], device_arrays.GPUArray) and rows[1].get().tolist() == [2, 3]


# -- the prelude as functions ---------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [list, tuple, np.array, iter, lambda x: map(copperhead.int64, x)])
def test_functions_take_any_sequence(wrap):
    numbers = lambda x: [int(value) for value in x]  # noqa: E731
    x = [3, 1, 2]
    assert numbers(copperhead.map(lambda a: 2 * a, wrap(x))) == [6, 2, 4]
    assert numbers(copperhead.scan(copperhead.op_add, wrap(x))) == [3, 4, 6]
    assert numbers(copperhead.gather(wrap(x), wrap([0, 2]))) == [3, 2]
    assert numbers(copperhead.shift(wrap(x), 1, 0)) == [1, 2, 0]
    assert numbers(copperhead.sort(copperhead.cmp_lt, wrap(x))) == [1, 2, 3]
    assert int(copperhead.sum(wrap(x))) == 6 and int(copperhead.max(wrap(x))) == 3
    assert numbers(copperhead.exclusive_scan(copperhead.op_add, 0, wrap(x))) == [0, 3, 4]


def test_the_original_definitions():
    """What was measured on the original: lengths of shifts, rotations without a modulus, scans of nothing."""
    add, subtract = copperhead.op_add, copperhead.op_sub
    assert copperhead.shift([1, 2, 3], 5, 0) == copperhead.shift([1, 2, 3], -5, 0) == [0] * 5
    assert copperhead.rotate([1, 2, 3], 7) == copperhead.rotate([1, 2, 3], -5) == [1, 2, 3]
    assert copperhead.rotate([1, 2, 3], -1) == [3, 1, 2]
    assert copperhead.exclusive_scan(add, 0, []) == copperhead.exclusive_rscan(add, 0, []) == [0]
    assert copperhead.scan(add, []) == []
    assert copperhead.rscan(subtract, [1, 2, 3, 4]) == [-2, -1, 1, 4]
    assert copperhead.exclusive_rscan(subtract, 10, [1, 2, 3, 4]) == [1, 3, 6, 10]
    pairs = [(1, 0), (1, 1), (0, 2), (1, 3), (0, 4)]
    by_key = lambda compare: copperhead.sort(lambda a, b: compare(a[0], b[0]), pairs)  # noqa: E731
    assert by_key(copperhead.cmp_le) == [(0, 4), (0, 2), (1, 3), (1, 1), (1, 0)]
    assert by_key(copperhead.cmp_lt) == [(0, 2), (0, 4), (1, 0), (1, 1), (1, 3)]
    assert copperhead.zip([1, 2, 3], [4]) == [(1, 4)]


def test_sorts_of_many_elements():
    rng = np.random.default_rng(1)
    keys = rng.integers(0, 20, 500)
    pairs = list(zip(keys.tolist(), range(500), strict=True))
    stable = [pairs[i] for i in np.argsort(keys, kind="stable")]
    assert copperhead.sort(lambda a, b: a[0] < b[0], pairs) == stable
    reversed_ties = sorted(pairs, key=lambda pair: (pair[0], -pair[1]))
    assert copperhead.sort(lambda a, b: a[0] <= b[0], pairs) == reversed_ties


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda p: p.map(3, [1]), TypeError, r"map: f is 3; expected a function"),
        (lambda p: p.map(abs), TypeError, r"map: expected a function and at least one sequence"),
        (lambda p: p.map(abs, 3), TypeError, r"map: 3 is not a sequence"),
        (lambda p: p.map(p.op_add, [1], [1, 2]), ValueError, r"map: the sequences have the lengths 1, 2; expected one"),
        (lambda p: p.len((1, 2)), TypeError, r"len: \(1, 2\) is a tuple; expected a sequence"),
        (lambda p: p.len(3), TypeError, r"len: 3 is not a sequence"),
        (lambda p: p.range(2.5), TypeError, r"range: n is 2.5; expected an integer"),
        (lambda p: p.bounded_range(0, "a"), TypeError, r"bounded_range: b is 'a'; expected an integer"),
        (lambda p: p.replicate(1, 1.0), TypeError, r"replicate: n is 1.0; expected an integer"),
        (lambda p: p.shift([1], 0.5, 0), TypeError, r"shift: offset is 0.5; expected an integer"),
        (lambda p: p.rotate([1], None), TypeError, r"rotate: offset is None; expected an integer"),
        (lambda p: p.split_at([1], 0.5), TypeError, r"split_at: k is 0.5; expected an integer"),
        (lambda p: p.gather([1], [1]), IndexError, r"gather: an index is 1; expected one of a sequence of length 1"),
        (lambda p: p.gather([1], [0.0]), TypeError, r"gather: an index is 0.0; expected an integer"),
        (lambda p: p.scatter([1], [], [1]), ValueError, r"scatter: there are 1 values and 0 indices; expected as many"),
        (lambda p: p.permute([1], [-2]), IndexError, r"permute: an index is -2"),
        (lambda p: p.update([1], [2]), TypeError, r"update: an update is 2; expected a pair of an index and a value"),
        (lambda p: p.unzip([1]), TypeError, r"unzip: an element is 1; expected tuples"),
        (lambda p: p.transpose([[1], []]), ValueError, r"transpose: rows have lengths from 0 to 1; expected one"),
        (lambda p: p.min([]), ValueError, r"min: the sequence is empty; expected at least one element"),
        (lambda p: p.argmax([]), ValueError, r"argmax: the sequence is empty"),
        (lambda p: p.sqrt([1]), TypeError, r"sqrt: \[1\] is not a number; write map\(sqrt, x\) for each element"),
        (lambda p: p.minimum(1, (2,)), TypeError, r"minimum: \(2,\) is not a number"),
        (lambda p: p.float32([1]), TypeError, r"float32: \[1\] is not a number"),
        (lambda p: p.min_bound(True), TypeError, r"min_bound: True has dtype bool; expected an integer or a float"),
        (lambda p: p.max_bound_el([]), ValueError, r"max_bound_el: the sequence is empty and has no dtype"),
    ],
)
def test_bad_input_of_the_prelude(call, kind, said):
    with pytest.raises(kind, match=f"^{said}"):
        call(copperhead)


UNARY_ELEMENTARY = [
    *("abs", "sqrt", "cbrt", "square", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan"),
    *(
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "arcsinh",
        "arctanh",
        "deg2rad",
        "rad2deg",
        "floor",
        "ceil",
    ),
    *(
        "trunc",
        "rint",
        "fabs",
        "sign",
        "signbit",
        "isnan",
        "isinf",
        "isfinite",
        "conjugate",
        "reciprocal",
        "frexp",
        "modf",
    ),
]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_elementary_functions_are_numpys(dtype):
    x, y = np.array([0.5, 0.25], dtype)
    for name in UNARY_ELEMENTARY:
        found, expected = getattr(copperhead, name)(x), getattr(np, name)(x)
        assert found == expected and np.asarray(found).dtype == np.asarray(expected).dtype, name
        weak = getattr(copperhead, name)(0.5)
        assert all(type(part) in (bool, int, float) for part in (weak if isinstance(weak, tuple) else (weak,))), name
    for name in (
        "arctan2",
        "hypot",
        "copysign",
        "nextafter",
        "fmod",
        "minimum",
        "maximum",
        "fmin",
        "fmax",
        "logaddexp",
    ):
        found, expected = getattr(copperhead, name)(x, y), getattr(np, name)(x, y)
        assert found == expected and found.dtype == expected.dtype, name
        assert getattr(copperhead, name)(x, 0.25).dtype == dtype, name
    assert (copperhead.asin(x), copperhead.atan2(x, y)) == (np.arcsin(x), np.arctan2(x, y))
    assert copperhead.ldexp(x, 3) == 4 and (copperhead.gcd(12, 18), copperhead.lcm(4, 6)) == (6, 12)
    assert (copperhead.real(np.complex64(1 + 2j)), copperhead.imag(np.complex64(1 + 2j))) == (1, 2)


def test_functions_of_numbers_warn_of_nothing():
    with places.here:
        results = cu(lambda x, i: (copperhead.log(x), 1 / x, i // 0, i * i))(np.float32(0), np.int32(2**30))
    assert results[0] == -np.inf and results[1] == np.inf and results[2:] == (0, 0)


def test_the_names_of_the_original_are_there():
    """The import name `copperhead` has upstream's names, and no others."""
    code = """
        import copperhead
        from copperhead import *
        from copperhead import prelude
        @cu
        def axpy(a, x, y):
            return map(lambda xi, yi: a * xi + yi, x, y)
        with places.here:
            print(axpy(2, [1, 2], [3, 4]), copperhead.__version__, runtime.backends, runtime.places is places)
        print(*sorted(copperhead.__all__))
    """
    package = Path(rtcg.__file__).parent
    run = run_python(code, PYTHONPATH=f"{package / 'compat/copperhead'}:{package.parent}")
    first, names = run.stdout.splitlines()
    assert first == "[5 8] 0.2a2 [places.here, places.gpu0] True"
    assert set(names.split()) <= {*copperhead.__all__, "prelude", "runtime"}
    for added in ("argmin", "collect", "ragged", "where", "sin", "op_floordiv"):
        assert added not in names.split()


@pytest.mark.parametrize("name", ["_function", "_places", "_prelude", "_ragged"])
def test_examples_in_docstrings(name):
    module = importlib.import_module(f"rtcg.copperhead.{name}")
    report = io.StringIO()
    failed, attempted = doctest.DocTestRunner(verbose=False), 0
    for test in doctest.DocTestFinder().find(module):
        attempted += failed.run(test, out=report.write).attempted
    assert attempted > 2 and report.getvalue() == ""


def test_every_function_of_the_prelude_says_what_it_returns():
    for name in _prelude.__all__:
        text = inspect.getdoc(getattr(copperhead, name))
        assert text and len(text) > 15, name


# -- reductions in order ----------------------------------------------------------------------


@cu
def last_natural(x, first):
    return reduce(lambda a, b: b if b >= 0 else a, x, first)


@cu
def composed(x, y):
    """The composition of the functions t -> x t + y, from the first on."""
    return reduce(lambda f, g: (f[0] * g[0], f[1] * g[0] + g[1]), zip(x, y), (1, 0))


@pytest.mark.parametrize("n", [1, 2, 33, 64, 511, 512, 513, 4097, 16_385, 70_001])
@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "float64"])
def test_reductions_keep_the_order_whatever_lanes_warps_and_blocks_take(context, n, dtype):
    x = np.arange(1, n + 2).astype(dtype)
    for part in (x[:-1], x[1:]):  # 16 bytes at once, and one by one
        expected = [value for value in part if value >= 0][-1:] or [0]
        with places.gpu0:
            assert to_numpy(last_natural(part, part.dtype.type(0))) == expected[0]
    x, y = (np.random.default_rng(seed).integers(0, 7, n) for seed in range(2))
    with places.gpu0:
        found = [int(to_numpy(part)) for part in composed(x, y)]
    factor, sum = 1, 0
    for a, b in zip(x.tolist(), y.tolist()):
        factor, sum = factor * a % 2**64, (sum * a + b) % 2**64
    assert [value % 2**64 for value in found] == [factor, sum]


# -- sorts ------------------------------------------------------------------------------------


@cu
def ascending(x):
    return sort(lambda a, b: a < b, x)


@cu
def by_second(x, y):
    return sort(lambda a, b: a[1] < b[1], zip(x, y))


@cu
def by_both(x, y):
    return sort(lambda a, b: a[0] < b[0] or (a[0] == b[0] and a[1] > b[1]), zip(x, y))


@cu
def by_no_order(x, y):
    return sort(lambda a, b: a[0] != b[1], zip(x, y))


def map_nan(row):
    """A row whose NaN are equal to each other."""
    return tuple("nan" if value != value else value for value in row)


@pytest.mark.parametrize("n", [1, 2, 3, 100, 5000])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_sorts_lose_no_element_whatever_the_order(context, n, dtype):
    rng = np.random.default_rng(n)
    x, y = (rng.integers(0, 50, n).astype(dtype) for _ in range(2))
    if dtype != "int32":
        x[rng.random(n) < 0.3], y[rng.random(n) < 0.3] = np.nan, np.nan
        x[rng.random(n) < 0.1] = -0.0
    number = np.arange(n)
    with places.gpu0:
        np.testing.assert_array_equal(to_numpy(ascending(x)), np.sort(x, kind="stable"))
        found = to_numpy(by_second(number, y))
        np.testing.assert_array_equal(found["f0"], np.argsort(y, kind="stable"))
        for function in (by_both, by_no_order):
            found = to_numpy(function(x, y))
            columns = [np.column_stack(pair).astype(np.float64) for pair in ((found["f0"], found["f1"]), (x, y))]
            one, other = (Counter(map_nan(row) for row in column.tolist()) for column in columns)
            assert one == other
        if dtype == "int32":
            found = to_numpy(by_both(x, y))
            expected = sorted(zip(x.tolist(), y.tolist()), key=lambda pair: (pair[0], -pair[1]))
            assert found.tolist() == expected


# -- loops ------------------------------------------------------------------------------------


@cu
def smoothed(u, steps):
    def element(i):
        return u[i] if i == 0 or i == len(u) - 1 else (u[i - 1] + u[i] + u[i + 1]) / 3

    return smoothed(map(element, indices(u)), steps - 1) if steps > 0 else u


@cu
def drifting(u, steps):
    moved = map(lambda left, here: (left + 3 * here) / 4, shift(u, -1, 0), u)
    return drifting(moved, steps - 1) if steps > 0 else u


@cu
def exchanged(a, b, c, steps):
    if steps > 0:
        return exchanged(map(lambda x, y: x + y % 7, b, c), a, c, steps - 1)
    else:
        return a, b, c


@cu
def counted(x, step, last):
    """The kernel of a round gets a number that changes."""
    return counted([e * 3 + step for e in x], step + 1, last) if step < last else x


@cu
def last_step(total, steps):
    """A number on the device becomes one that the host computes."""
    return last_step(float64(steps), steps - 1) if steps > 0 else total


@cu
def last_step_of(x, steps):
    return last_step(sum(x), steps)


@cu
def until(x, steps):
    """The device decides."""
    return until([e + 1 for e in x], steps + 1) if sum(x) < 1000 else (x, steps)


@cu
def nested(x, outer, inner):
    def rounds(x, n):
        return rounds([e * 5 % 1009 for e in x], n - 1) if n > 0 else x

    return nested(rounds(x, inner), outer - 1, inner) if outer > 0 else x


@cu
def read_beyond(x, at, steps):
    return read_beyond([e + x[at] for e in x], at, steps - 1) if steps > 0 else x


ROUNDS = [*range(9), 130, 257, 258, 259, 260, 261, 262, 1000]


@pytest.mark.parametrize("steps", ROUNDS)
def test_loops_of_equal_rounds_compute_what_single_rounds_do(context, steps):
    x, y, z = (np.arange(k, k + 40) for k in (1, 50, 90))
    u = np.random.default_rng(1).random(50)
    calls = [
        (smoothed, (u, steps)),
        (exchanged, (x, y, z, steps)),
        (counted, (x, 1, 1 + steps)),
        (last_step_of, (np.floor(8 * u), steps)),
        (until, (x, -steps)),
        (nested, (x, 3, steps)),
    ]
    for function, args in calls:
        with places.gpu0:
            found = function(*args)
        with places.here:
            expected = function(*args)
        found, expected = ((part if isinstance(part, tuple) else (part,)) for part in (found, expected))
        for one, other in zip(found, expected):
            np.testing.assert_array_equal(to_numpy(one), to_numpy(other), err_msg=function.__name__)


@cu
def until_lengths_differ(x, steps):
    added = map(lambda e, i: e + i, x, range(minimum(steps, 10)))
    return until_lengths_differ(added, steps - 1) if steps > 0 else x


@pytest.mark.parametrize("place", [places.here, places.gpu0], ids=lambda place: place.name)
def test_lengths_that_differ_in_a_late_round_are_told(context, place):
    with pytest.raises(ValueError, match="10"):
        to_numpy(until_lengths_differ(np.arange(10), 600, target_place=place))


def test_equal_rounds_are_launched_as_graphs(context, tmp_path):
    u = np.random.default_rng(1).random(50)
    with tracing.trace(tmp_path / "trace.json"), places.gpu0:
        to_numpy(smoothed(u, 1000))
    text = (tmp_path / "trace.json").read_text()
    # Of 1000 rounds 128 are in each graph.
    assert text.count('"cuGraphLaunch') == 7 and text.count('"cuLaunchKernel') < 400
    # The lengths of shifted sequences are checked once, too.
    with tracing.trace(tmp_path / "trace.json"), places.gpu0:
        to_numpy(drifting(u, 400))
    assert (tmp_path / "trace.json").read_text().count('"cuGraphLaunch') == 3
    with tracing.trace(tmp_path / "trace.json"), places.gpu0:
        to_numpy(counted(np.arange(40), 1, 300))
    assert '"cuGraphLaunch' not in (tmp_path / "trace.json").read_text()


def test_an_index_out_of_bounds_is_told_after_repeated_rounds(context):
    x = np.arange(10)
    with places.gpu0:
        to_numpy(read_beyond(x, 3, 600))
        with pytest.raises(IndexError, match="out of bounds"):
            to_numpy(read_beyond(x, 10, 600))
        np.testing.assert_array_equal(to_numpy(double(x)), 2 * x)


def test_threads_repeat_rounds_beside_each_other(context):
    x = np.arange(40)
    with places.here:
        expected = [to_numpy(part) for part in exchanged(x, x, x, 700)]
    wrong = []

    def call():
        for _ in range(5):
            with places.gpu0:
                found = [to_numpy(part) for part in exchanged(x, x, x, 700)]
            wrong.extend(at for at in range(3) if not np.array_equal(found[at], expected[at]))

    threads = [threading.Thread(target=call) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


# -- compilation ------------------------------------------------------------------------------

SEVERAL_KERNELS = """
@cu
def several(x, y):
    sums = scan(op_add, map(lambda e: e * UNIQUE, x))
    kept = filter(lambda e: e > 3 * UNIQUE, sums)
    if sum(kept) > UNIQUE:
        return scatter(y, [int64(e) % 7 for e in x], x), reduce(lambda a, b: a if a > b else b, x, UNIQUE)
    return map(lambda e: e + UNIQUE, x), max(sums)
"""


def test_the_first_call_compiles_on_all_cores_what_the_run_needs(context, tmp_path):
    # Nothing is in a cache: the kernels have constants of their own.
    source = SEVERAL_KERNELS.replace("UNIQUE", f"{time.time_ns()}.0")
    linecache.cache["several.py"] = (len(source), None, source.splitlines(True), "several.py")
    names = dict(vars(copperhead))
    exec(compile(source, "several.py", "exec"), names)
    x = np.arange(1.0, 300.0)
    with tracing.trace(tmp_path / "trace.json"), places.gpu0:
        found = [to_numpy(part) for part in names["several"](x, x[::-1].copy())]
    with places.here:
        expected = [to_numpy(part) for part in names["several"](x, x[::-1].copy())]
    np.testing.assert_allclose(found[1], expected[1])
    events = json.loads((tmp_path / "trace.json").read_text())
    threads = [event["tid"] for event in events if event.get("cat") == "compiler"]
    # Both branches are compiled; a run by itself would compile one of them, in its own thread.
    assert len(threads) >= 6 and (os.cpu_count() == 1 or threading.get_native_id() not in threads), threads


def test_contraction_rounds_once_where_it_is_allowed():
    x = np.full(100, 1 + 2.0**-12, np.float32)

    def square_minus(x, y):
        return map(lambda a, b: a * a - b, x, y)

    rounded = x * x
    plain = to_numpy(cu(square_minus)(x, rounded, target_place=places.gpu0))
    np.testing.assert_array_equal(plain, 0)
    once = to_numpy(cu(square_minus, contract=True)(x, rounded, target_place=places.gpu0))
    np.testing.assert_array_equal(once, np.float32(2.0**-24))
    with pytest.raises(TypeError, match="contract is 1; expected a bool"):
        cu(square_minus, contract=1)
    program = cu(contract=True)(square_minus)
    assert cu(program) is program and to_numpy(program(x, rounded, target_place=places.gpu0))[0] == np.float32(2.0**-24)
    plain = cu(program, contract=False)
    np.testing.assert_array_equal(to_numpy(plain(x, rounded, target_place=places.gpu0)), 0)
