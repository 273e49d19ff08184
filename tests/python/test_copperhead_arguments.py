"""Arguments of programs at all places: lists beside `numpy.asarray`, what is refused, indices of elements, methods."""

import array
import os
import random
import subprocess
import sys
import types

import numpy as np
import pytest

from rtcg.copperhead import (
    _values,
    cmp_lt,
    cu,
    cuarray,
    force,
    indices,
    map,
    places,
    ragged,
    sort,
    sum,
    to_numpy,
    transpose,
    unzip,
)
from tests.python.subprocesses import ROOT, run_python

PLACES = (places.here, places.gpu0)

pytestmark = pytest.mark.usefixtures("context")


@cu
def same(x):
    return x


@cu
def parts(x):
    return unzip(x)


# -- lists ------------------------------------------------------------------------------------


F32, I8 = np.float32, np.int8

PAIR = np.dtype([("f0", "i8"), ("f1", "f8")], align=True)

LISTS = [
    ([1, 2, 3], "i8", [1, 2, 3]),
    ([True, False], "?", [True, False]),
    ([True, 2], "i8", [1, 2]),
    ([1, 2.5], "f8", [1, 2.5]),
    ([1, 2.5, 3j], "c16", [1, 2.5, 3j]),
    ([1.5, 10**30], "f8", [1.5, 1e30]),
    ([F32(1), F32(2.5)], "f4", [1, 2.5]),
    ([np.bool_(True), np.bool_(False)], "?", [True, False]),
    ([I8(1), 2], "i1", [1, 2]),
    ([F32(1), 2.5, 3], "f4", [1, 2.5, 3]),
    ([F32(1), np.float64(2)], "f8", [1, 2]),
    ([I8(1), np.uint8(200)], "i2", [1, 200]),
    ([2**63, np.uint64(1)], "u8", [2**63, 1]),
    ([[1, 2], [3, 4.5]], "f8", [[1, 2], [3, 4.5]]),
    ([[True], [2]], "i8", [[1], [2]]),
    ([[F32(1)], [F32(2)]], "f4", [[1], [2]]),
    ([[F32(1), 2.5], [3, 4]], "f4", [[1, 2.5], [3, 4]]),
    ([[[1, 2], [3, 4]], [[5, 6], [7, 8.5]]], "f8", [[[1, 2], [3, 4]], [[5, 6], [7, 8.5]]]),
    ([np.arange(2, dtype=F32), np.ones(2, F32)], "f4", [[0, 1], [1, 1]]),
    ([np.arange(2, dtype=F32), np.ones(2, np.int64)], "f8", [[0, 1], [1, 1]]),
    ([np.ones((1, 2), I8), np.zeros((1, 2), I8)], "i1", [[[1, 1]], [[0, 0]]]),
    ([[], []], "f8", [[], []]),
    ([], "f8", []),
    ([range(2), range(2)], "i8", [[0, 1], [0, 1]]),
    ([(1, 2.5), (3, 4)], PAIR, [(1, 2.5), (3, 4)]),
    ([(True, F32(1)), (2, 2.5)], np.dtype([("f0", "i8"), ("f1", "f4")], align=True), [(1, 1), (2, 2.5)]),
    ([(1, (2, 3)), (4, (5, 6.5))], np.dtype([("f0", "i8"), ("f1", PAIR)], align=True), [(1, (2, 3)), (4, (5, 6.5))]),
]


@pytest.mark.parametrize("items, dtype, values", LISTS, ids=range(len(LISTS)))
@pytest.mark.parametrize("place", PLACES, ids=repr)
def test_the_dtypes_of_lists(place, items, dtype, values):
    found = to_numpy(same(items, target_place=place))
    assert found.dtype == dtype and found.tolist() == values


@pytest.mark.parametrize("place", PLACES, ids=repr)
def test_lists_of_rows_of_several_lengths(place):
    for rows, dtype in (([[1], [], [2, 3.5]], "f8"), ([[], [2]], "i8"), ([np.ones(1, F32), np.ones(2, F32)], "f4")):
        found = to_numpy(same(rows, target_place=place))
        assert found.equals(ragged.from_rows(rows)) and found.dtype == dtype
    x, y = parts([(1, [1, 2]), (2, [3.5, 4])], target_place=place)
    assert to_numpy(x).tolist() == [1, 2] and to_numpy(y).tolist() == [[1, 2], [3.5, 4]]


def drawn_list(draw):
    """A list of numbers, of rows of one length or of several, or of tuples, with numbers of one to three types."""
    numbers = [True, 3, 2.5, 1j, F32(2), I8(3), np.bool_(True), np.float16(1.5), np.complex64(2)]
    some, n = draw.sample(numbers, draw.choice([1, 1, 2, 3])), draw.randrange(1, 5)

    def row(length):
        return [draw.choice(some) for _ in range(length)]

    return draw.choice(
        [row(n), [row(n) for _ in "123"], [row(draw.randrange(3)) for _ in "123"], [tuple(row(n)) for _ in "123"]]
    )


def test_plain_lists_are_arrays_without_a_look_at_each_element():
    draw = random.Random(0)
    n_plain = 0
    for _ in range(400):
        items = drawn_list(draw)
        found, expected = _values._plain_list_to_array(items), _values.to_array(items)
        if found is not None:
            n_plain += 1
            assert found.dtype == expected.dtype and type(found) is type(expected)
            assert found.equals(expected) if isinstance(found, ragged) else np.array_equal(found, expected)
    assert n_plain > 150
    rows = np.ones((1000, 3)).tolist()
    for items in (rows[0], rows, [[], *rows], list(map(tuple, rows)), list(np.ones(3)), [np.ones(3)] * 9, [1, 2.5]):
        assert _values._plain_list_to_array(items) is not None


@pytest.mark.parametrize("place", PLACES, ids=repr)
@pytest.mark.parametrize(
    "items, error, said",
    [
        ([1, 2**70], OverflowError, f"x: {2**70} does not fit int64"),
        ([[1], [2**70]], OverflowError, f"x: {2**70} does not fit int64"),
        ([(1, 2), (1, 2**70)], OverflowError, f"x: {2**70} does not fit int64"),
        ([I8(1), 300], OverflowError, "x: Python integer 300 out of bounds for int8"),
        ([(1, 2), (3,)], TypeError, "x: elements are tuples of 1 and 2; expected one length"),
        ([1, [2]], TypeError, "x: elements are numbers and sequences; expected one of these"),
        ([1, (2,)], TypeError, "x: elements are numbers and tuples; expected one of these"),
        ([[[1], [2, 3]], [[4]]], TypeError, "x: sequences of different lengths are nested three deep; expected two"),
        ([int], TypeError, "x[0] is <class 'int'>; expected a number, a sequence or a tuple"),
        ([[int]], TypeError, "x: elements are of type type; expected numbers, sequences or tuples"),
        ([1, "a"], TypeError, "x[1] is 'a'; expected a number, an array, a list, a tuple or a function"),
        ([None, 1], TypeError, "x[0] is None; expected a number, an array, a list, a tuple or a function"),
    ],
)
def test_elements_that_lists_cannot_have_are_named(place, items, error, said):
    with pytest.raises(error) as raised:
        same(items, target_place=place)
    assert str(raised.value) == said


# -- what is refused --------------------------------------------------------------------------

MASKED = np.ma.masked_array([1.0, 2.0], [False, True])


@pytest.mark.parametrize("place", PLACES, ids=repr)
@pytest.mark.parametrize(
    "argument, name",
    [
        (MASKED, "x"),
        (MASKED.view(), "x"),
        (MASKED[0:0], "x"),
        (np.ma.masked, "x"),
        ((1, MASKED), "x[1]"),
        ((1, (MASKED, 2)), "x[1][0]"),
        ([MASKED], "x[0]"),
        ([(1, MASKED)], "x[0][1]"),
    ],
)
def test_masked_arrays_are_refused(place, argument, name):
    with pytest.raises(TypeError) as raised:
        same(argument, target_place=place)
    assert str(raised.value) == f"{name} is a masked array, whose mask would be lost; write `{name}.filled(value)`"


def test_masked_arrays_are_refused_beside_calls():
    for call in (
        lambda: to_numpy(MASKED),
        lambda: to_numpy((1, MASKED)),
        lambda: force(MASKED, places.here),
        lambda: force((1, MASKED), places.gpu0),
        lambda: cuarray(MASKED),
        lambda: ragged(MASKED, [0, 2]),
        lambda: ragged.from_rows([MASKED]),
        lambda: same.source(MASKED, target_place=places.gpu0),
        lambda: same.plan(MASKED, target_place=places.gpu0),
    ):
        with pytest.raises(
            TypeError, match=r"is a masked array, whose mask would be lost; write `\w+\.filled\(value\)`"
        ):
            call()
    for call in (lambda: sum(MASKED), lambda: same([[MASKED]], target_place=places.gpu0)):
        with pytest.raises(TypeError, match=r": a masked array is no sequence, its mask would be lost; write `x"):
            call()


@pytest.mark.parametrize("place", PLACES, ids=repr)
@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: (k for k in [1, 2]), r"of type generator; write `list\(x\)`"),
        (lambda: iter([1, 2]), r"of type list_iterator; write `list\(x\)`"),
        (lambda: {1, 2}, r"of type set; write `list\(x\)`"),
        (lambda: {1: 2}.values(), r"of type dict_values; write `list\(x\)`"),
        (lambda: array.array("d", [1, 2]), r"of type array; write `np.frombuffer\(x, 'd'\)` or `list\(x\)`"),
        (lambda: b"12", r"of type bytes; write `np.frombuffer\(x, dtype\)`"),
        (lambda: bytearray(b"12"), r"of type bytearray; write `np.frombuffer\(x, dtype\)`"),
        (lambda: "12", "x is '12'; expected a number, an array"),
        (lambda: {1: 2}, "x is {1: 2}; expected a number, an array"),
        (lambda: None, "x is None; expected a number, an array"),
        (lambda: np.datetime64("2020-01-01"), r"x has dtype datetime64\[D\]; expected bool"),
        (lambda: np.timedelta64(3, "s"), r"x has dtype timedelta64\[s\]; expected bool"),
        (lambda: np.longdouble(1), "x has dtype (float128|longdouble); expected bool"),
        (lambda: np.str_("a"), "x has dtype <U1; expected bool"),
    ],
)
def test_other_objects_are_named_with_what_to_write(place, make, said):
    with pytest.raises(TypeError, match=f"^x (is .*)?{said.removeprefix('x ')}"):
        same(make(), target_place=place)


@pytest.mark.parametrize("kind", ["coo", "csc", "bsr", "dia", "dok", "lil"])
@pytest.mark.parametrize("place", PLACES, ids=repr)
def test_sparse_matrices_of_other_formats_are_named(place, kind):
    sparse = pytest.importorskip("scipy.sparse")
    for make in (getattr(sparse, f"{kind}_array"), getattr(sparse, f"{kind}_matrix")):
        with pytest.raises(TypeError) as raised:
            same(make(np.eye(4)), target_place=place)
        assert str(raised.value) == f"x is a sparse matrix in the format '{kind}'; expected 'csr': write `x.tocsr()`"


@cu
def scaled(a, x):
    return [a * xi for xi in x]


@cu
def sums(rows):
    return [sum(row) for row in rows]


@cu
def added(pair):
    x, y = pair
    return [a + b for a, b in zip(x, y)]  # noqa: B905


def test_arrays_of_other_devices_are_named():
    call = "from tests.python import test_copperhead_arguments as here; here.check_arrays_of_other_devices()"
    paths = os.pathsep.join(sys.path)
    run_python(call, RTCG_LIBCUDA="none", RTCG_VIRTUAL_DEVICES=2, PYTHONPATH=paths)


def check_arrays_of_other_devices():
    x = force(np.arange(3), places.gpu0)
    cases = [
        (scaled, (2, x), "x"),
        (scaled, (force(np.ones(1), places.gpu0)[0], np.arange(3)), "a"),
        (sums, (ragged(x, [0, 1, 3]),), "rows"),
        (added, ((np.arange(3), x),), "pair[1]"),
    ]
    for program, args, name in cases:
        with pytest.raises(ValueError) as raised:
            program(*args, target_place=places.virtual1)
        text = f"{name} lies in memory of another device than places.virtual1, where the program runs"
        assert str(raised.value) == f"{text}; write `force({name}, places.virtual1)`"
    np.testing.assert_array_equal(scaled(2, force(x, places.virtual1), target_place=places.virtual1).get(), [0, 2, 4])


# -- elements ---------------------------------------------------------------------------------


@cu
def element(A, i, j):
    return A[i, j]


@cu
def column(A, j):
    return [A[i, j] for i in indices(A)]


@cu
def of_results(A):
    return transpose(A)[0, 1], map(lambda row: map(lambda v: 2 * v, row), A)[1, -1]


@cu
def three(A):
    return A[1, 0, 1]


@cu
def of_comprehension(A):
    B = [[v for v in row] for row in A]
    return B[1, 0]


@pytest.mark.parametrize("place", PLACES, ids=repr)
def test_elements_of_sequences_of_sequences(place):
    A = np.arange(6).reshape(2, 3)
    for rows in (A, A.tolist(), force(A, places.gpu0)):
        assert to_numpy(element(rows, 1, 2, target_place=place)) == 5
        assert to_numpy(element(rows, -1, np.int32(-3), target_place=place)) == 3
        for i, j in ((2, 0), (0, 3), (-3, 0), (0, -4)):
            with pytest.raises(IndexError):
                to_numpy(element(rows, i, j, target_place=place))
        assert to_numpy(column(rows, -1, target_place=place)).tolist() == [2, 5]
        assert to_numpy(of_results(rows, target_place=place)) == (3, 10)
    with pytest.raises(IndexError):
        to_numpy(element(A[:0], 0, 0, target_place=place))
    cube = np.arange(8).reshape(2, 2, 2)
    assert to_numpy(three(cube, target_place=place)) == 5
    assert to_numpy(element(cube, 1, 0, target_place=place)).tolist() == [4, 5]
    assert to_numpy(element([[1], [2, 3]], 1, 1, target_place=place)) == 3


def test_an_element_of_a_list_of_a_comprehension_is_refused_with_what_to_write():
    with pytest.raises(TypeError, match=r"of_comprehension: a list is indexed with a tuple.*write `B\[i\]\[j\]`"):
        of_comprehension(np.ones((2, 2)), target_place=places.here)


@cu
def transposed(A):
    return transpose(A)


@cu
def sums_of_columns(A):
    return map(sum, transpose(A))


@cu
def total(A):
    return sum(map(sum, A))


@pytest.mark.parametrize("program", [transposed, sums_of_columns, total])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_shapes_of_empty_arrays_are_those_of_the_device(program, shape):
    A = np.ones(shape, np.float32)
    found, expected = (to_numpy(program(A, target_place=place)) for place in PLACES)
    np.testing.assert_array_equal(found, expected, strict=True)


@cu
def sorted_(x):
    return sort(cmp_lt, x)


def test_nan_is_sorted_to_the_end_here():
    x = np.random.default_rng(0).permutation([*range(20), np.nan, np.nan, -np.inf, np.inf]).astype(np.float32)
    np.testing.assert_array_equal(sorted_(x, target_place=places.here), np.sort(x), strict=True)
    x[:] = np.nan
    np.testing.assert_array_equal(sorted_(x, target_place=places.here), x, strict=True)


# -- methods, recursion, places ---------------------------------------------------------------


class Holder:
    """Programs in a class."""

    @cu
    def bound(self, x):
        return [2 * xi for xi in x]

    @classmethod
    @cu
    def of_class(cls, x):
        return [2 * xi for xi in x]

    @staticmethod
    @cu
    def free(x):
        return [2 * xi for xi in x]

    def __call__(self):
        """What has a call is no function of a program for that."""


@pytest.mark.parametrize("place", PLACES, ids=repr)
def test_methods_are_bound_as_functions_are(place):
    holder = Holder()
    assert isinstance(holder.bound, types.MethodType) and holder.bound.__self__ is holder
    with pytest.raises(TypeError, match="^self is .*, of type Holder; .* write `@staticmethod` above"):
        holder.bound([1], target_place=place)
    with pytest.raises(TypeError, match="^cls is .*, of type type; .* write `@staticmethod`"):
        holder.of_class([1], target_place=place)
    with pytest.raises(TypeError, match=r"bound\(self, x\): missing a required argument: 'x'"):
        Holder.bound([1], target_place=place)
    for program in (Holder.free, holder.free):
        assert to_numpy(program([1, 2], target_place=place)).tolist() == [2, 4]


@cu
def counted(n, x):
    return x if n == 0 else counted(n - 1, x + 1)


def test_the_limit_of_recursion_is_said():
    with pytest.raises(RecursionError, match=r"^counted: the recursion is deeper than \d+ calls, the limit"):
        counted(200_000, 1, target_place=places.here)
    assert to_numpy(counted(2000, 1, target_place=places.here)) == 2001


def test_a_block_of_a_device_that_is_not_there_does_not_begin():
    before = places.default_place
    with pytest.raises(ValueError, match=r"^there is no places.gpu999: \d+ devices? found"):
        with places.gpu999:
            pytest.fail("the block began")
    with pytest.raises(ValueError, match="^there is no places.virtual999"):
        with places.virtual999:
            pytest.fail("the block began")
    assert places.default_place is before
    names = [name for name in dir(places) if name.startswith(("gpu", "virtual")) and name != "gpu_scope"]
    assert "gpu0" in names and "gpu999" not in names and "virtual999" not in names
    assert all(getattr(places, name).device for name in names)


def test_names_of_places_initialise_no_driver():
    code = (
        "from rtcg.copperhead import places; from rtcg import driver; places.gpu7\n"
        "assert [n for n in dir(places) if n[-1].isdigit()] == ['gpu0'], dir(places)\n"
        "try: driver.Device.count()\n"
        "except driver.Error: print('not yet')"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert found.stdout == "not yet\n", found.stderr
