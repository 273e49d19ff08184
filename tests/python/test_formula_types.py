"""Functions composed in Python meet integers, float16 and complex numbers: dtypes and values beside NumPy."""

import itertools

import numpy as np
import pytest
from depth import each_kind

import rtcg.numpy as rnp

DTYPES = [np.dtype(t) for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")]


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


def operands(dtype):
    """Eight small numbers, and eight that are not 0."""
    rng = np.random.default_rng(3)
    if dtype.kind == "b":
        return rng.random(8) < 0.5, rng.random(8) < 0.7
    a, b = rng.integers(0 if dtype.kind == "u" else -3, 5, 8).astype(dtype), rng.integers(1, 4, 8).astype(dtype)
    if dtype.kind == "c":
        a = (a + 1j * rng.integers(-2, 3, 8)).astype(dtype)
    return (a + dtype.type(0.25) if dtype.kind in "fc" else a), b


def of_one(names):
    return {name: (lambda xp, a, b, name=name: getattr(xp, name)(a)) for name in names.split()}


def of_two(names):
    return {name: (lambda xp, a, b, name=name: getattr(xp, name)(a, b)) for name in names.split()}


FORMULAS = {
    **of_one(
        "angle average corrcoef cov diff gradient i0 median nan_to_num real_if_close round sinc trapezoid unwrap "
        "isreal modf nanmean nanmedian ediff1d vander"
    ),
    **of_two("isclose allclose convolve correlate kron outer polyval linspace divmod"),
    "angle, degrees": lambda xp, a, b: xp.angle(a, deg=True),
    "average, weighted": lambda xp, a, b: xp.average(a, weights=b, returned=True),
    "cov, float32": lambda xp, a, b: xp.cov(a.reshape(2, -1), dtype=np.float32),
    "corrcoef, float32": lambda xp, a, b: xp.corrcoef(a.reshape(2, -1), dtype=np.float32),
    "gradient, strong": lambda xp, a, b: xp.gradient(a, np.float64(2)),
    "isclose, atol": lambda xp, a, b: xp.isclose(a, b, atol=5),
    "isclose, strong": lambda xp, a, b: xp.isclose(a, b, np.float64(0.5), np.float32(0.1)),
    "isclose, arrays": lambda xp, a, b: xp.isclose(a, b, rtol=b * b),
    "linspace, integers": lambda xp, a, b: xp.linspace(a.real, b.real, 4, dtype=np.int32),
    "pad, ramp": lambda xp, a, b: xp.pad(a, 3, "linear_ramp", end_values=5),
    "percentile": lambda xp, a, b: xp.percentile(a, 30),
    "percentile, float32": lambda xp, a, b: xp.percentile(a, np.array([25, 50], "f4")),
    "round, tens": lambda xp, a, b: xp.round(a, -1),
    "round, hundredths": lambda xp, a, b: xp.round(a, 2),
    "trapezoid, strong": lambda xp, a, b: xp.trapezoid(a, dx=np.float64(2)),
    "unwrap, integers": lambda xp, a, b: xp.unwrap(a, period=4),
    "power, strong": lambda xp, a, b: b ** np.float64(2),
    "product, strong": lambda xp, a, b: a * np.float32(2),
}
#: What NumPy refuses and is computed here: the period's negative half fits no unsigned integer, bools have no
#: differences.
ALLOWED = {("unwrap, integers", kind) for kind in ("u1", "u2", "u4", "u8")}
ALLOWED |= {("gradient", "b1"), ("gradient, strong", "b1")}
#: One dtype of each kind for each formula, in turns.
DTYPES_OF = {name: [] for name in FORMULAS}
for _name, _dtype in each_kind(itertools.product(FORMULAS, DTYPES)):
    DTYPES_OF[_name].append(_dtype)


def results(formula, xp, *arrays):
    try:
        with np.errstate(all="ignore"):
            value = formula(xp, *arrays)
    except (TypeError, ValueError, OverflowError):
        return None
    return list(value) if isinstance(value, (tuple, list)) else [value]


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.filterwarnings("ignore")
def test_formulas(name):
    for dtype in DTYPES_OF[name]:
        if (name, dtype.str[1:]) in ALLOWED:
            continue
        arrays = operands(dtype)
        expected = results(FORMULAS[name], np, *arrays)
        actual = results(FORMULAS[name], rnp, *map(rnp.to_gpu, arrays))
        assert (actual is None) == (expected is None), (dtype, actual, expected)
        for ours, theirs in zip(actual or [], expected or [], strict=True):
            ours, theirs = rnp.asnumpy(ours), np.asarray(theirs)
            assert ours.dtype == theirs.dtype, dtype
            eps = float(np.finfo(theirs.dtype).eps) if theirs.dtype.kind in "fc" else 0
            scale = float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0)) if eps else 0
            np.testing.assert_allclose(ours, theirs, rtol=50 * eps, atol=50 * eps * scale, err_msg=str(dtype))


#: Extremes of integers.
PAIRS = [("i4", -(2**31), 2**31 - 1), ("i8", -(2**63), 2**63 - 1), ("u1", 10, 9), ("u8", 2**64 - 1, 0),
         ("i1", -128, 127), ("?", True, False), ("?", True, True)]  # fmt: skip


@pytest.mark.parametrize("dtype, a, b", PAIRS)
def test_integers_are_close_without_wrapping(dtype, a, b):
    x, y = np.array([a, b, a], dtype), np.array([b, a, a], dtype)
    for options in ({}, {"atol": 5}, {"rtol": 0, "atol": 0}, {"rtol": 2}):
        for left, right in ((x, y), (x, y.astype("f4")), (x.astype("f8"), y)):
            expected = np.isclose(left, right, **options)
            np.testing.assert_array_equal(rnp.isclose(rnp.to_gpu(left), rnp.to_gpu(right), **options).get(), expected)
            assert rnp.allclose(rnp.to_gpu(left), rnp.to_gpu(right), **options) == expected.all()


RANGES = [(0.1, 10, 0.9), (0, 3), (3,), (2.5, 5), (5, 0, -1), (5, 0, -2), (0, 300), (-3, 3), (0, 1, 0.3), (0, 2),
          (0, -5), (1000.3, 1010, 0.7), (-1, 1, 1.0000001), (0, 1), (255, 256), (1j, 3j, 1j), (0, 3 + 3j, 1 + 1j),
          (7, 7), (2**53, 2**53 + 4), (2**63 - 2, 2**63), (True,), (10**30,), (0, float("inf")), (0, float("nan")),
          (0, 3, 0), (np.int8(1), np.int8(100), np.int8(30)), (np.float32(0.1), 1, 0.1)]  # fmt: skip


@pytest.mark.parametrize("arguments", RANGES, ids=str)
@np.errstate(all="ignore")
def test_ranges(arguments):
    for dtype in [None, *DTYPES]:
        if arguments == (10**30,) and (dtype is None or dtype.kind not in "b"):
            continue
        try:
            expected, error = np.arange(*arguments, dtype=dtype), None
        except (TypeError, ValueError, OverflowError, ZeroDivisionError) as raised:
            expected, error = None, type(raised)
        if error is not None:
            with pytest.raises((TypeError, ValueError, OverflowError, ZeroDivisionError)):
                rnp.arange(*arguments, dtype=dtype)
            continue
        actual = rnp.arange(*arguments, dtype=dtype).get()
        assert actual.dtype == expected.dtype and actual.shape == expected.shape, dtype
        np.testing.assert_array_equal(actual, expected, err_msg=str(dtype))


def test_linspace_of_unsigned_integers():
    a, b = np.array([10, 200], "u1"), np.array([5, 100], "u1")
    np.testing.assert_array_equal(rnp.linspace(rnp.to_gpu(a), rnp.to_gpu(b), 3).get(), np.linspace(a, b, 3))
    np.testing.assert_array_equal(rnp.linspace(0, 5e-324, 4).get(), np.linspace(0, 5e-324, 4))
    for dtype in ("u1", "i8", "f2", "c8"):
        np.testing.assert_array_equal(rnp.linspace(0, 10, 4, dtype=dtype).get(), np.linspace(0, 10, 4, dtype=dtype))


def test_rounded_integers_go_to_out():
    out = rnp.empty(3, "i4")
    assert rnp.round(rnp.to_gpu(np.array([14, 15, 25], "i4")), -1, out) is out and out.get().tolist() == [10, 20, 20]
