"""The Array API standard, element by element: every function over every dtype that the reference takes."""

import numpy as np
import pytest
from array_api_reference import ALL, COMPLEX, FLOATS, NUMERIC, agree, allowed, arrays, few, ours, specials, strict
from depth import each_kind
from hypothesis import given, strategies as st

UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan "
    "log log10 log1p log2 logical_not negative positive real reciprocal round sign signbit sin sinh sqrt square tan "
    "tanh trunc"
).split()
BINARY = (
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal "
    "floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum "
    "minimum multiply nextafter not_equal pow remainder subtract"
).split()
# Units in the last place, after CUDA's tables; the others are exact or correctly rounded.
ULPS = {name: 4 for name in UNARY if name.startswith(("a", "cos", "exp", "log", "sin", "tan")) and name != "abs"}
ULPS |= {"atan2": 4, "hypot": 4, "pow": 16, "reciprocal": 1}
# A sum of two logarithms may cancel.
ULPS |= {"logaddexp": 256}
COMPLEX_ULPS = {name: 32 for name in [*ULPS, "abs", "multiply", "divide", "square", "sqrt", "sign"]}

# Test -> why it cannot pass. One that passes all the same fails.
EXPECTED_FAILURES = {}


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


def ulps(name, dtype):
    return (COMPLEX_ULPS if dtype in COMPLEX else ULPS).get(name, 0)


def cases(names, call, tag):
    for name in names:
        for dtype in allowed(lambda xp, make, name=name: call(getattr(xp, name), make), ALL):
            key = f"{tag}-{name}-{dtype}"
            reason = EXPECTED_FAILURES.get(key)
            marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
            yield pytest.param(name, dtype, id=key, marks=marks)


def thinned(parameters):
    return each_kind(parameters, lambda p: p.values[1], lambda p: p.values[0])


def unary_cases(tag):
    return thinned(cases(UNARY, lambda f, make: f(make()), tag))


def binary_cases(tag):
    return thinned(cases(BINARY, lambda f, make: f(make(), make()), tag))


# The standard leaves the sign of these zeros open: quotients and powers of complex numbers, and extremes of zeros of
# both signs.
UNSIGNED_ZERO = {
    "expm1": COMPLEX,
    "pow": COMPLEX,
    "sign": COMPLEX,
    "reciprocal": COMPLEX,
    "divide": COMPLEX,
    "maximum": FLOATS,
    "minimum": FLOATS,
}


def settled(name, dtype):
    """How a result is compared: without the signs of zeros that are open."""
    return (lambda result: result + 0.0) if dtype in UNSIGNED_ZERO.get(name, ()) else (lambda result: result)


def has_quotient(values):
    """Complex numbers that the standard defines quotients and powers of."""
    return np.isfinite(values) & (values != 0) if values.dtype.kind == "c" else np.ones(values.shape, bool)


@pytest.mark.parametrize("name, dtype", unary_cases("special"))
def test_special_values_of_one_operand(name, dtype):
    values = specials(dtype)
    if name == "reciprocal":
        values = values[has_quotient(values)]
    if name == "sign" and dtype in COMPLEX:
        # The reference divides by the absolute value; NumPy, and we, give infinite numbers a sign.
        values = values[~np.isinf(values)]
    if name == "expm1" and dtype in COMPLEX:
        # NumPy's results are NaN where the standard has others, which are tested below.
        values = values[np.isfinite(values)]
    agree(lambda xp, x: getattr(xp, name)(x), values, ulps=ulps(name, dtype), finish=settled(name, dtype))


@pytest.mark.parametrize("name, dtype", unary_cases("drawn"))
@given(data=st.data())
@few
def test_one_operand(name, dtype, data):
    x = data.draw(arrays(dtype))
    if name == "reciprocal":
        x = np.where(has_quotient(x), x, np.asarray(1, x.dtype))
    agree(lambda xp, x: getattr(xp, name)(x), x, ulps=ulps(name, dtype), finish=settled(name, dtype))


def defined(name, x, y):
    """Which pairs the standard gives a result for."""
    if name in ("divide", "pow") and x.dtype.kind == "c":
        return has_quotient(x) & has_quotient(y)
    if x.dtype.kind in "iu":
        if name in ("floor_divide", "remainder"):
            lowest = (x == np.iinfo(x.dtype).min) & (y == -1) if x.dtype.kind == "i" else False
            return (y != 0) & ~np.asarray(lowest)
        if name.endswith("shift"):
            return (y >= 0) & (y < 8 * x.dtype.itemsize)
        if name == "pow":
            return (y >= 0) & (y <= 7)
    return np.ones(np.broadcast_shapes(x.shape, y.shape), bool)


@pytest.mark.parametrize("name, dtype", binary_cases("special"))
def test_special_values_of_two_operands(name, dtype):
    values = specials(dtype)
    if dtype in COMPLEX:
        # Products and quotients of infinite complex numbers are not defined by the standard.
        values = values[np.isfinite(values)]
    x, y = (a.ravel() for a in np.meshgrid(values, values))
    chosen = defined(name, x, y)
    x, y = x[chosen], y[chosen]
    agree(lambda xp, x, y: getattr(xp, name)(x, y), x, y, ulps=ulps(name, dtype), finish=settled(name, dtype))


@pytest.mark.parametrize("name, dtype", binary_cases("drawn"))
@given(data=st.data())
@few
def test_two_operands(name, dtype, data):
    x = data.draw(arrays(dtype, max_ndim=2))
    y = data.draw(arrays(dtype, shape=x.shape))
    chosen = defined(name, x, y)
    x[~chosen], y[~chosen] = 1, 1
    agree(lambda xp, x, y: getattr(xp, name)(x, y), x, y, ulps=ulps(name, dtype), finish=settled(name, dtype))


@pytest.mark.parametrize("name", BINARY)
@given(data=st.data())
@few
def test_operands_are_broadcast(name, data):
    dtype = allowed(lambda xp, make: getattr(xp, name)(make(), make()))[-1]
    shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=3)))
    parts = [tuple(n if data.draw(st.booleans()) else 1 for n in shape)[data.draw(st.integers(0, len(shape))) :]]
    x, y = data.draw(arrays(dtype, shape=shape)), data.draw(arrays(dtype, shape=parts[0]))
    y[~defined(name, y, y)] = 1
    agree(lambda xp, x, y: getattr(xp, name)(y, x), x, y, ulps=ulps(name, dtype))


def promotable():
    for one in ALL:
        for other in ALL:
            try:
                strict.result_type(getattr(strict, one), getattr(strict, other))
            except TypeError:
                continue
            yield one, other


@pytest.mark.parametrize("one, other", list(promotable()))
def test_types_are_promoted(one, other):
    a, b = np.ones(3, one), np.ones(3, other)
    agree(lambda xp, a, b: xp.result_type(a, b), a, b)
    agree(lambda xp, a, b: xp.equal(a, b), a, b)
    if "bool" not in (one, other):
        agree(lambda xp, a, b: (a * b, xp.add(a, b)), a, b)


SCALARS = {"b": [True], "i": [3, True], "u": [3, True], "f": [2.5, 3, True], "c": [1.5 - 2j, 2.5, 3, True]}
OPERATORS = [
    ("arithmetic", lambda x, s: (x + s, s + x, x - s, s - x, x * s, s * x), "iufc"),
    ("division", lambda x, s: (x / s, s / x), "fc"),
    ("whole", lambda x, s: (x // s, s // x, x % s, s % x), "iuf"),
    ("power", lambda x, s: (x**s, s**x), "iufc"),
    ("bits", lambda x, s: (x & s, s & x, x | s, s | x, x ^ s, s ^ x), "biu"),
    ("shifts", lambda x, s: (x << s, s << x, x >> s, s >> x), "iu"),
    ("order", lambda x, s: (x < s, x <= s, x > s, x >= s), "iuf"),
    ("equality", lambda x, s: (x == s, x != s), "biufc"),
]


def operator_cases():
    for label, body, kinds in OPERATORS:
        for dtype in ALL:
            kind = np.dtype(dtype).kind
            for scalar in SCALARS[kind] if kind in kinds else []:
                # A Python bool goes with arrays of bool alone.
                if isinstance(scalar, bool) == (kind == "b"):
                    yield pytest.param(body, dtype, scalar, id=f"{label}-{dtype}-{scalar}")


@pytest.mark.parametrize("body, dtype, scalar", list(operator_cases()))
def test_operators_with_python_scalars(body, dtype, scalar):
    x = np.array([1, 0, 1], bool) if dtype == "bool" else np.array([1, 2, 3], dtype)
    agree(lambda xp, x: body(x, scalar), x, ulps=64 if dtype in COMPLEX else 4)


IN_PLACE = "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("dtype", ALL)
def test_operators_in_place(name, dtype):
    """Those of two arrays, and those of an array and itself, where the reference takes the dtype."""
    method = f"__i{name}__"

    def body(xp, x, y):
        return getattr(x, method)(y)

    x, y = np.array([3, 2, 1]).astype(dtype), np.array([1, 2, 1]).astype(dtype)
    if not allowed(lambda xp, make: getattr(make(), method)(make()), [dtype]):
        pytest.skip("the standard does not define it for this dtype")
    agree(body, x, y, ulps=64 if dtype in COMPLEX else 4)


@pytest.mark.parametrize("name", ["__neg__", "__pos__", "__invert__", "__abs__"])
@pytest.mark.parametrize("dtype", NUMERIC)
def test_operators_of_one_operand(name, dtype):
    x = np.array([3, 2, 1]).astype(dtype)
    if not allowed(lambda xp, make: getattr(make(), name)(), [dtype]):
        pytest.skip("the standard does not define it for this dtype")
    agree(lambda xp, x: getattr(x, name)(), x, ulps=4)


@pytest.mark.parametrize("dtype", [d for d in NUMERIC if d not in COMPLEX])
@given(data=st.data())
@few
def test_clip(dtype, data):
    x = data.draw(arrays(dtype))
    low, high = sorted([data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))])
    low, high = (data.draw(st.sampled_from([None, bound])) for bound in (low, high))
    agree(lambda xp, x: xp.clip(x, low, high), x)
    agree(lambda xp, x, bound: xp.clip(x, min=bound), x, np.asarray(2, dtype))


# Real and imaginary parts of an argument and of the standard's result.
INF, NAN = np.inf, np.nan
COMPLEX_SPECIALS = {
    "expm1": [
        (0.0, 0.0, 0.0, 0.0), (-0.0, 0.0, 0.0, 0.0), (1.0, INF, NAN, NAN), (1.0, NAN, NAN, NAN), (INF, 0.0, INF, 0.0),
        (-INF, 1.0, -1.0, 0.0), (-INF, 3.0, -1.0, 0.0), (-INF, 4.0, -1.0, -0.0), (INF, 1.0, INF, INF),
        (INF, 3.0, -INF, INF), (-INF, INF, -1.0, 0.0), (INF, INF, INF, NAN), (-INF, NAN, -1.0, 0.0),
        (INF, NAN, INF, NAN), (NAN, 0.0, NAN, 0.0), (NAN, 1.0, NAN, NAN), (NAN, NAN, NAN, NAN),
    ],
    "tanh": [
        (0.0, 0.0, 0.0, 0.0), (1.0, INF, NAN, NAN), (0.0, INF, 0.0, NAN), (1.0, NAN, NAN, NAN), (0.0, NAN, 0.0, NAN),
        (INF, 1.0, 1.0, 0.0), (INF, INF, 1.0, 0.0), (INF, NAN, 1.0, 0.0), (NAN, 0.0, NAN, 0.0), (NAN, 1.0, NAN, NAN),
        (NAN, NAN, NAN, NAN), (25.0, NAN, NAN, NAN), (-300.0, NAN, NAN, NAN), (25.0, INF, NAN, NAN),
    ],
}  # fmt: skip


def is_same_part(actual, expected):
    if np.isnan(expected):
        return np.isnan(actual)
    return actual == expected and np.signbit(actual) == np.signbit(expected)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", COMPLEX_SPECIALS)
def test_complex_special_values_of_the_standard(name, dtype):
    for a, b, real, imag in COMPLEX_SPECIALS[name]:
        result = complex(getattr(ours, name)(ours.asarray(complex(a, b), dtype=getattr(ours, dtype))))
        assert is_same_part(result.real, real) and is_same_part(result.imag, imag), f"{name}({a} + {b}j) is {result}"
