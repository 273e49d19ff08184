"""Dtypes of functions of elements beside `numpy.ufunc.resolve_dtypes`: all dtypes, Python's scalars, refused ones.

Arrays have no elements, so that types are decided and nothing is compiled.
"""

import itertools

import numpy as np
import pytest
from depth import at_depth

import rtcg.numpy as rnp

DTYPES = [np.dtype(t) for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")]
#: Python's scalars, which adapt to arrays.
WEAK = {int: 1, float: 1.5, complex: 1j}
UFUNCS = {
    name: function
    for name, function in vars(np).items()
    if isinstance(function, np.ufunc) and function.__name__ == name and function.signature is None
}
NAMES = sorted(name for name in UFUNCS if hasattr(rnp, name))
#: Functions of NumPy that are not there.
MISSING = {"frexp", "isnat"}
#: Where the result differs, and why.
DIFFERENT = {
    # NumPy takes any Python int for float16, in which ldexp(70000, exponents) is infinite; here it is float64.
    "ldexp": lambda operands, expected: operands[0] is int,
    # Computed in float32, where the next number is another one.
    **dict.fromkeys(["nextafter", "spacing"], lambda operands, expected: expected == (np.float16,)),
}
WITHOUT_DTYPE = {"degrees", "radians", "spacing", "modf", "divmod", "logical_and", "logical_or", "logical_not"}


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


def wanted(ufunc, operands, dtype=None):
    """NumPy's dtypes of the results, None where it refuses the operands."""
    outputs = (None,) * ufunc.nout
    signature = {} if dtype is None else {"signature": (None,) * ufunc.nin + (dtype,)}
    try:
        return ufunc.resolve_dtypes((*operands, *outputs), **signature)[ufunc.nin :]
    except TypeError:
        return None


def given(name, operands, **options):
    """Ours."""
    arrays = [rnp.empty(0, operand) if isinstance(operand, np.dtype) else WEAK[operand] for operand in operands]
    try:
        result = getattr(rnp, name)(*arrays, **options)
    except TypeError:
        return None
    return tuple(each.dtype for each in (result if isinstance(result, tuple) else (result,)))


def combinations(ufunc):
    """Operands with at least one array."""
    kinds = DTYPES if ufunc.nin == 1 else [*DTYPES, *WEAK]
    return [case for case in itertools.product(kinds, repeat=ufunc.nin) if any(each in DTYPES for each in case)]


def differences(name, cases, dtypes=(None,)):
    ufunc, differs = UFUNCS[name], DIFFERENT.get(name, lambda *_: False)
    found = []
    for operands, dtype in itertools.product(cases, dtypes):
        expected = wanted(ufunc, operands, dtype)
        actual = given(name, operands) if dtype is None else given(name, operands, dtype=dtype)
        if not differs(operands, expected) and expected != actual:
            found.append((operands, dtype, f"NumPy {expected}, here {actual}"))
    return found


def test_no_function_is_missing():
    assert {name for name in UFUNCS if not hasattr(rnp, name)} == MISSING


@pytest.mark.parametrize("name", NAMES)
def test_result_types(name):
    assert differences(name, combinations(UFUNCS[name])) == []


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_DTYPE])
def test_result_types_that_are_asked_for(name):
    cases = combinations(UFUNCS[name])
    step = at_depth(7, 1) if UFUNCS[name].nin > 1 else 1
    assert differences(name, cases[::step], DTYPES) == []


def test_results_that_are_asked_for_do_not_lose_their_kind():
    a = rnp.to_gpu(np.array([1.5, 2.5]))
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' input 0 from float64 to int32"):
        rnp.add(a, 1, dtype="i4")
    with pytest.raises(TypeError, match="input 0 from float64 to int32"):
        np.add(1.5, a.astype(int), dtype="i4", out=rnp.empty(2, "i4"))
    with pytest.raises(TypeError, match="input 0 from float64 to int32"):
        rnp.add(1.5, 1, dtype="i4")
    with pytest.raises(TypeError, match="'sin' has no results of dtype int32"):
        rnp.sin(a.astype("i4"), dtype="i4")
    with pytest.raises(TypeError, match="'less' has no results of dtype float32"):
        rnp.less(a, 1, dtype="f4")
    with pytest.raises(TypeError, match="'ldexp' is not supported for operands of type uint64"):
        rnp.ldexp(a, rnp.to_gpu(np.array([1, 2], "u8")))
    assert rnp.add(a, 1, dtype="f4").dtype == np.float32
    assert rnp.absolute(rnp.to_gpu(np.array([3 + 4j], "c8")), dtype="f8").get().tolist() == [5.0]


def test_three_operands():
    host = {dtype: np.empty(0, dtype) for dtype in DTYPES}
    device = {dtype: rnp.empty(0, dtype) for dtype in DTYPES}
    weak = [value for value in WEAK.values()]
    for x, y in itertools.product([*DTYPES, *weak], DTYPES):
        chosen = rnp.where(device[np.dtype("?")], device.get(x, x) if isinstance(x, np.dtype) else x, device[y])
        assert chosen.dtype == np.where(host[np.dtype("?")], host[x] if isinstance(x, np.dtype) else x, host[y]).dtype
    for x, low, high in itertools.product(DTYPES, repeat=3):
        if any(dtype.kind == "b" for dtype in (x, low, high)):
            continue
        assert rnp.clip(device[x], device[low], device[high]).dtype == np.clip(host[x], host[low], host[high]).dtype


# What unlike pairs give, through kernels: one pair for each rule.
PAIRS = [("arctan2", "i1", "u2"), ("hypot", "u1", "i1"), ("copysign", "u2", "i2"), ("logaddexp", "i1", "u1"),
         ("ldexp", "f4", "i4"), ("ldexp", "i1", "u2"), ("add", "u8", "i8"), ("power", "i2", "u1"),
         ("maximum", "f2", "i2")]  # fmt: skip


@pytest.mark.parametrize("name, x, y", PAIRS)
def test_values_of_unlike_pairs(name, x, y):
    a, b = np.array([3, 100, 7, 0], x), np.array([2, 1, 5, 3], y)
    expected = getattr(np, name)(a, b)
    actual = getattr(rnp, name)(rnp.to_gpu(a), rnp.to_gpu(b)).get()
    assert actual.dtype == expected.dtype
    rtol = 4 * float(np.finfo(expected.dtype).eps) if expected.dtype.kind == "f" else 0
    np.testing.assert_allclose(actual.astype("f8"), expected.astype("f8"), rtol=rtol)


def test_exponents_beyond_int_are_held():
    x = np.array([1.5, -1.5, 0.0, np.inf, 3.0])
    e = np.array([2**62, -(2**62), 2**40, 3, -1074])
    with np.errstate(all="ignore"):
        expected = np.ldexp(x, e)
    np.testing.assert_array_equal(rnp.ldexp(rnp.to_gpu(x), rnp.to_gpu(e)).get(), expected)
