"""The Array API standard: names, signatures, and every function that is not element by element."""

import inspect

import numpy as np
import pytest
from array_api_reference import (
    ALL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    LATER,
    NUMERIC,
    OWN,
    REAL,
    VERSION,
    agree,
    allowed,
    arrays,
    few,
    ours,
    same_value,
    strict,
)
from depth import each_kind
from hypothesis import given, strategies as st

from tests.python.subprocesses import run_python

# Test -> why it cannot pass. One that passes all the same fails.
EXPECTED_FAILURES = {}


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


# -- names and signatures -----------------------------------------------------------------------------

NAMES = sorted(set(strict.__all__) - LATER - OWN)
FUNCTIONS = [name for name in NAMES if inspect.isfunction(getattr(strict, name))]


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    assert hasattr(ours, name) and name in (*ours.__all__, "__array_api_version__", "__array_namespace_info__")
    if isinstance(getattr(strict, name), float):
        same_value(float(getattr(ours, name)), getattr(strict, name))


def test_version():
    assert ours.__array_api_version__ == VERSION == ours.asarray(1).__array_namespace__().__array_api_version__
    assert ours.asarray(1).__array_namespace__(api_version=VERSION) is ours


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures(name):
    """Parameters have the standard's names, kinds and defaults; keywords of our own may follow."""
    wanted = inspect.signature(getattr(strict, name)).parameters.values()
    given_ = inspect.signature(getattr(ours, name)).parameters
    for parameter in wanted:
        assert parameter.name in given_, f"{name} has no parameter {parameter.name}"
        own = given_[parameter.name]
        assert own.kind == parameter.kind, f"{name}: {parameter.name} is {own.kind.description}"
        # A default that is an object of the reference's own says that there is one.
        has_default = parameter.default is not parameter.empty
        assert (own.default is not own.empty) == has_default, f"{name}: default of {parameter.name}"
        if has_default and isinstance(parameter.default, (int, float, str, type(None))):
            assert own.default == parameter.default, f"{name}: default of {parameter.name}"
    extra = [p for p in given_.values() if p.name not in {p.name for p in wanted}]
    assert all(p.kind == p.KEYWORD_ONLY and p.default is not p.empty for p in extra), f"{name}: {extra}"


# -- inspection and dtypes ----------------------------------------------------------------------------


def test_inspection():
    info, wanted = ours.__array_namespace_info__(), strict.__array_namespace_info__()
    assert info.capabilities() == wanted.capabilities()
    device = info.default_device()
    assert device in info.devices() and ours.zeros(1).device == device
    assert set(info.default_dtypes(device=device)) == set(wanted.default_dtypes())
    for name, dtype in wanted.default_dtypes().items():
        assert info.default_dtypes()[name] == dtype._np_dtype
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"]
    for kind in [None, *kinds, ("bool", "integral")]:
        assert set(info.dtypes(kind=kind, device=device)) == set(wanted.dtypes(kind=kind))
        for dtype in ALL:
            assert kind is None or ours.isdtype(getattr(ours, dtype), kind) == strict.isdtype(
                getattr(strict, dtype), kind
            )
    with pytest.raises(ValueError, match="'whole'"):
        info.dtypes(kind="whole")


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(dtype):
    x = np.ones(2, dtype)
    for other in ALL:
        try:
            wanted = strict.can_cast(getattr(strict, dtype), getattr(strict, other))
        except TypeError:
            continue
        assert ours.can_cast(getattr(ours, dtype), getattr(ours, other)) == wanted
        assert ours.can_cast(ours.asarray(x), getattr(ours, other)) == wanted
        if dtype in COMPLEX and other not in COMPLEX:
            continue
        agree(lambda xp, x, other=other: xp.astype(x, getattr(xp, other)), x)
    agree(lambda xp, x: xp.isdtype(x.dtype, getattr(xp, dtype)), x)
    assert ours.zeros(1, dtype=getattr(ours, dtype)).dtype == getattr(ours, dtype)
    assert (getattr(ours, dtype) == ours.int32) == (dtype == "int32")


def test_astype_copies():
    x = ours.asarray([1, 2])
    assert ours.astype(x, x.dtype, copy=False) is x and ours.astype(x, x.dtype) is not x
    y = ours.astype(x, x.dtype)
    y[0] = 9
    assert int(x[0]) == 1
    assert ours.astype(x, ours.float32, device=x.device).device == x.device
    with pytest.raises((TypeError, ValueError), match="complex"):
        ours.astype(ours.asarray([1j]), ours.float64)


@pytest.mark.parametrize("dtype", [d for d in NUMERIC])
def test_limits_of_dtypes(dtype):
    x = np.ones(1, dtype)
    name = "iinfo" if dtype in INTEGERS else "finfo"
    for argument in (getattr(ours, dtype), ours.asarray(x)):
        own, wanted = getattr(ours, name)(argument), getattr(strict, name)(getattr(strict, dtype))
        for field in ("bits", "min", "max") + (("eps", "smallest_normal") if name == "finfo" else ()):
            value, expected = getattr(own, field), getattr(wanted, field)
            assert value == expected and type(value) is type(expected), (field, type(value), type(expected))
        assert own.dtype == wanted.dtype._np_dtype


@given(data=st.data())
@few
def test_result_type_of_several(data):
    kinds = data.draw(st.sampled_from([INTEGERS[:4], INTEGERS[4:], FLOATS, FLOATS + COMPLEX]))
    names = data.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    agree(lambda xp: xp.result_type(*(getattr(xp, n) for n in names)))
    agree(lambda xp: xp.result_type(xp.ones(2, dtype=getattr(xp, names[0])), *(getattr(xp, n) for n in names)))
    agree(lambda xp: xp.result_type(xp.ones(2, dtype=getattr(xp, names[0])), 1))


# -- functions ----------------------------------------------------------------------------------------

CASES = []


def case(name, dtypes=ALL):
    """Registers ``draw(data, dtype)``, which gives a body and its host arrays, as a test of function `name`."""

    def register(draw):
        CASES.extend((name, dtype, draw) for dtype in dtypes)
        return draw

    return register


def cases():
    """Every case with a name of its own; usually with one dtype of each kind."""
    seen, all_cases = {}, []
    for name, dtype, draw in CASES:
        seen[name, dtype] = nth = seen.get((name, dtype), 0) + 1
        all_cases.append((name, nth, dtype, draw))
    for name, nth, dtype, draw in each_kind(all_cases, lambda case: case[2], lambda case: case[:2]):
        key = f"{name}-{dtype}" if nth == 1 else f"{name}-{dtype}-{nth}"
        reason = EXPECTED_FAILURES.get(key)
        marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
        yield pytest.param(dtype, draw, id=key, marks=marks)


def axis_of(data, x):
    return data.draw(st.integers(-x.ndim, x.ndim - 1))


def axes_of(data, x):
    """None, an axis, or several."""
    if x.ndim == 0 or data.draw(st.booleans()):
        return data.draw(st.sampled_from([None, ()])) if x.ndim == 0 else None
    several = data.draw(st.lists(st.integers(0, x.ndim - 1), unique=True, min_size=1, max_size=x.ndim))
    signed = tuple(a - x.ndim if data.draw(st.booleans()) else a for a in several)
    return signed[0] if len(signed) == 1 and data.draw(st.booleans()) else signed


# Making arrays.

for _name in ("ones", "zeros", "empty"):

    @case(_name)
    def _(data, dtype, name=_name):
        shape = data.draw(st.integers(0, 4) | st.lists(st.integers(0, 3), max_size=3).map(tuple))
        finish = (lambda a: (a.shape, a.dtype)) if name == "empty" else (lambda a: a)
        call = lambda xp: getattr(xp, name)(shape, dtype=getattr(xp, dtype))  # noqa: E731
        return lambda xp: (finish(call(xp)), finish(getattr(xp, name)(shape))), []

    @case(f"{_name}_like")
    def _(data, dtype, name=_name):
        x = data.draw(arrays(dtype))
        other = data.draw(st.sampled_from(ALL))
        finish = (lambda a: (a.shape, a.dtype)) if name == "empty" else (lambda a: a)
        call = lambda xp, x: getattr(xp, f"{name}_like")  # noqa: E731
        return lambda xp, x: (finish(call(xp, x)(x)), finish(call(xp, x)(x, dtype=getattr(xp, other)))), [x]


@case("full")
def _(data, dtype):
    shape = data.draw(st.integers(0, 4) | st.lists(st.integers(0, 3), max_size=3).map(tuple))
    value = {"b": True, "i": -3, "u": 3, "f": 2.5, "c": 1 - 2j}[np.dtype(dtype).kind]
    return lambda xp: (xp.full(shape, value, dtype=getattr(xp, dtype)), xp.full(shape, value)), []


@case("full_like")
def _(data, dtype):
    x = data.draw(arrays(dtype))
    value = {"b": True, "i": -3, "u": 3, "f": 2.5, "c": 1 - 2j}[np.dtype(dtype).kind]
    return lambda xp, x: (xp.full_like(x, value), xp.full_like(x, 1, dtype=xp.float32)), [x]


@case("arange", REAL)
def _(data, dtype):
    low = 0 if dtype.startswith("u") else -5
    start, stop = data.draw(st.integers(low, 9)), data.draw(st.integers(low, 9))
    step = data.draw(st.sampled_from([1, 2, 3] if low == 0 else [1, 2, -1, -3]))
    if low == 0 and stop < start:
        start, stop = stop, start
    return (
        lambda xp: (xp.arange(start, stop, step, dtype=getattr(xp, dtype)), xp.arange(abs(stop)), xp.arange(1.5, 4.0)),
        [],
    )


@case("linspace", FLOATS + COMPLEX)
def _(data, dtype):
    num, endpoint = data.draw(st.integers(0, 6)), data.draw(st.booleans())
    stop = data.draw(st.sampled_from([4, -8.0, 0] + ([2 + 4j] if dtype in COMPLEX else [])))
    return lambda xp: xp.linspace(0, stop, num, dtype=getattr(xp, dtype), endpoint=endpoint), [], 2


@case("eye")
def _(data, dtype):
    n, m, k = data.draw(st.integers(0, 4)), data.draw(st.none() | st.integers(0, 4)), data.draw(st.integers(-5, 5))
    return lambda xp: xp.eye(n, m, k=k, dtype=getattr(xp, dtype)), []


@case("asarray")
def _(data, dtype):
    x = data.draw(arrays(dtype, min_length=1))
    other = data.draw(st.sampled_from([dtype, "complex128"]))
    return (
        lambda xp, a: (
            xp.asarray(x.tolist()),
            xp.asarray(x.tolist(), dtype=getattr(xp, dtype)),
            xp.asarray(a, dtype=getattr(xp, other), copy=True),
        ),
        [x],
    )


@case("meshgrid", NUMERIC)
def _(data, dtype):
    xs = [data.draw(arrays(dtype, min_ndim=1, max_ndim=1)) for _ in range(data.draw(st.integers(1, 3)))]
    indexing = data.draw(st.sampled_from(["xy", "ij"]))
    return lambda xp, *xs: xp.meshgrid(*xs, indexing=indexing), xs


for _name in ("tril", "triu"):

    @case(_name)
    def _(data, dtype, name=_name):
        k = data.draw(st.integers(-4, 4))
        return lambda xp, x: (getattr(xp, name)(x), getattr(xp, name)(x, k=k)), [data.draw(arrays(dtype, min_ndim=2))]


# Rearranging.


@case("broadcast_to")
def _(data, dtype):
    x = data.draw(arrays(dtype))
    shape = (*data.draw(st.lists(st.integers(0, 2), max_size=2)), *(3 if n == 1 else n for n in x.shape))
    return lambda xp, x: xp.broadcast_to(x, shape), [x]


@case("broadcast_arrays")
def _(data, dtype):
    x = data.draw(arrays(dtype, min_ndim=1, min_length=1))
    return lambda xp, x: xp.broadcast_arrays(x, x[:1, ...], xp.asarray(1.0)), [x]


@case("concat")
def _(data, dtype):
    x = data.draw(arrays(dtype, min_ndim=1))
    axis = data.draw(st.none() | st.just(axis_of(data, x)))
    return lambda xp, x: (xp.concat([x, x], axis=axis), xp.concat((x,), axis=axis)), [x]


@case("stack")
def _(data, dtype):
    x = data.draw(arrays(dtype))
    axis = data.draw(st.integers(-x.ndim - 1, x.ndim))
    return lambda xp, x: (xp.stack([x, x, x], axis=axis), xp.stack((x, x))), [x]


@case("unstack")
def _(data, dtype):
    x = data.draw(arrays(dtype, min_ndim=1))
    axis = axis_of(data, x)
    return lambda xp, x: xp.unstack(x, axis=axis), [x]


@case("expand_dims")
def _(data, dtype):
    x = data.draw(arrays(dtype))
    axis = data.draw(st.integers(-x.ndim - 1, x.ndim))
    return lambda xp, x: xp.expand_dims(x, axis=axis), [x]


@case("squeeze")
def _(data, dtype):
    x = data.draw(arrays(dtype, max_ndim=2))
    return lambda xp, x: (xp.squeeze(x[None, ...], 0), xp.squeeze(x[None, ..., None], (0, -1))), [x]


@case("flip")
def _(data, dtype):
    x = data.draw(arrays(dtype))
    axis = axes_of(data, x)
    return lambda xp, x: xp.flip(x, axis=axis), [x]


@case("roll")
def _(data, dtype):
    x = data.draw(arrays(dtype, min_ndim=1))
    axis, shift = axis_of(data, x), data.draw(st.integers(-5, 5))
    return (
        lambda xp, x: (xp.roll(x, shift, axis=axis), xp.roll(x, shift), xp.roll(x, (shift, 1), axis=(axis, axis))),
        [x],
    )


@case("permute_dims")
def _(data, dtype):
    x = data.draw(arrays(dtype))
    axes = tuple(data.draw(st.permutations(range(x.ndim))))
    return lambda xp, x: xp.permute_dims(x, axes), [x]


@case("moveaxis")
def _(data, dtype):
    x = data.draw(arrays(dtype, min_ndim=1))
    a, b = axis_of(data, x), axis_of(data, x)
    return lambda xp, x: (xp.moveaxis(x, a, b), xp.moveaxis(x, (a,), (b,))), [x]


@case("reshape")
def _(data, dtype):
    x = data.draw(arrays(dtype, min_length=1))
    shape = data.draw(st.sampled_from([(-1,), (1, -1), x.shape[::-1], (x.size, 1)]))
    copy = data.draw(st.sampled_from([None, True, False]))
    return lambda xp, x: xp.reshape(x, shape, copy=copy), [x]


@case("repeat")
def _(data, dtype):
    x = data.draw(arrays(dtype, min_ndim=1))
    axis = axis_of(data, x)
    counts = np.random.default_rng(1).integers(0, 3, x.shape[axis])
    n = data.draw(st.integers(0, 3))
    return (
        lambda xp, x, counts: (xp.repeat(x, counts, axis=axis), xp.repeat(x, n, axis=axis), xp.repeat(x, n)),
        [x, counts],
    )


@case("tile")
def _(data, dtype):
    reps = tuple(data.draw(st.lists(st.integers(0, 2), max_size=4)))
    return lambda xp, x: xp.tile(x, reps), [data.draw(arrays(dtype))]


# Searching, sorting, sets.


@case("sort", REAL)
@case("argsort", REAL)
def _(data, dtype):
    x = data.draw(arrays(dtype, min_ndim=1))
    axis, descending = axis_of(data, x), data.draw(st.booleans())
    return (
        lambda xp, x: (xp.sort(x, axis=axis, descending=descending), xp.argsort(x, axis=axis, descending=descending)),
        [x],
    )


@case("searchsorted", REAL)
def _(data, dtype):
    x = data.draw(arrays(dtype, min_ndim=1, max_ndim=1))
    side = data.draw(st.sampled_from(["left", "right"]))
    values = data.draw(arrays(dtype))
    return (
        lambda xp, x, v, s: (xp.searchsorted(xp.sort(x), v, side=side), xp.searchsorted(x, v, side=side, sorter=s)),
        [x, values, np.argsort(x, kind="stable")],
    )


for _name in ("argmax", "argmin"):

    @case(_name, REAL)
    def _(data, dtype, name=_name):
        x = data.draw(arrays(dtype, min_length=1))
        axis = data.draw(st.none() | st.just(axis_of(data, x))) if x.ndim else None
        keepdims = data.draw(st.booleans())
        return lambda xp, x: getattr(xp, name)(x, axis=axis, keepdims=keepdims), [x]


@case("nonzero")
def _(data, dtype):
    return lambda xp, x: xp.nonzero(x), [data.draw(arrays(dtype, min_ndim=1))]


@case("count_nonzero")
def _(data, dtype):
    x = data.draw(arrays(dtype))
    axis, keepdims = axes_of(data, x), data.draw(st.booleans())
    return lambda xp, x: xp.count_nonzero(x, axis=axis, keepdims=keepdims), [x]


@case("where")
def _(data, dtype):
    x = data.draw(arrays(dtype))
    scalar = {"b": True, "i": 3, "u": 3, "f": 2.5, "c": 1.5 - 1j}[x.dtype.kind]
    return (
        lambda xp, c, x, y: (xp.where(c, x, y), xp.where(c, x, scalar), xp.where(c, scalar, x)),
        [data.draw(arrays("bool", shape=x.shape)), x, data.draw(arrays(dtype, shape=x.shape))],
    )


@case("unique_values", ALL)
@case("unique_counts", ALL)
@case("unique_inverse", ALL)
@case("unique_all", ALL)
def _(data, dtype):
    def body(xp, x):
        every, counts, inverse = xp.unique_all(x), xp.unique_counts(x), xp.unique_inverse(x)
        return (
            (every.values, every.indices, every.inverse_indices, every.counts),
            (counts.values, counts.counts),
            (inverse.values, inverse.inverse_indices),
            xp.unique_values(x),
        )

    return body, [data.draw(arrays(dtype))]


@case("take")
def _(data, dtype):
    x = data.draw(arrays(dtype, min_ndim=1, min_length=1))
    axis = axis_of(data, x)
    indices = np.random.default_rng(data.draw(st.integers(0, 9))).integers(0, x.shape[axis], 3)
    return lambda xp, x, i: (xp.take(x, i, axis=axis), xp.take(x[(0,) * (x.ndim - 1) + (...,)], i[:1] * 0)), [
        x,
        indices,
    ]


@case("take_along_axis")
def _(data, dtype):
    x = data.draw(arrays(dtype, min_ndim=1, min_length=1))
    axis = axis_of(data, x)
    shape = list(x.shape)
    shape[axis] = 2
    indices = np.random.default_rng(data.draw(st.integers(0, 9))).integers(0, x.shape[axis], shape)
    return lambda xp, x, i: xp.take_along_axis(x, i, axis=axis), [x, indices]


# Statistics.

for _name in ("sum", "prod", "max", "min", "mean", "std", "var", "all", "any"):
    _dtypes = allowed(lambda xp, make, name=_name: getattr(xp, name)(make()))

    @case(_name, _dtypes)
    def _(data, dtype, name=_name):
        x = data.draw(arrays(dtype, min_length=1 if name in ("max", "min", "mean", "std", "var") else 0))
        axis, keepdims = axes_of(data, x), data.draw(st.booleans())
        return lambda xp, x: getattr(xp, name)(x, axis=axis, keepdims=keepdims), [x], 64


for _name in ("std", "var"):

    @case(_name, FLOATS)
    def _(data, dtype, name=_name):
        x = data.draw(arrays(dtype, min_ndim=1, min_length=2))
        correction = data.draw(st.sampled_from([0, 1, 0.5]))
        return lambda xp, x: getattr(xp, name)(x, axis=-1, correction=correction), [x], 64


for _name in ("sum", "prod", "cumulative_sum", "cumulative_prod"):

    @case(f"{_name}", FLOATS + COMPLEX)
    def _(data, dtype, name=_name):
        x = data.draw(arrays("float32", min_ndim=1, max_ndim=1))
        return lambda xp, x: getattr(xp, name)(x, dtype=getattr(xp, dtype)), [x], 64


for _name in ("cumulative_sum", "cumulative_prod"):

    @case(_name, NUMERIC)
    def _(data, dtype, name=_name):
        x = data.draw(arrays(dtype, min_ndim=1))
        axis = axis_of(data, x) if x.ndim > 1 else data.draw(st.sampled_from([None, 0, -1]))
        start = data.draw(st.booleans())
        return lambda xp, x: getattr(xp, name)(x, axis=axis, include_initial=start), [x], 64


@case("diff", NUMERIC)
def _(data, dtype):
    x = data.draw(arrays(dtype, min_ndim=1, min_length=1))
    axis, n = axis_of(data, x), data.draw(st.integers(0, 3))
    edge = [slice(None)] * x.ndim
    edge[axis] = slice(0, 1)
    return (
        lambda xp, x, e: (xp.diff(x, axis=axis, n=n), xp.diff(x, axis=axis, prepend=e, append=x)),
        [x, x[tuple(edge)]],
    )


@pytest.mark.parametrize("dtype, draw", list(cases()))
@given(data=st.data())
@few
def test_functions(dtype, draw, data):
    body, hosts, *ulps = draw(data, dtype)
    agree(body, *hosts, ulps=ulps[0] if ulps else 0)


def test_every_function_has_a_case():
    """What stands in the standard is tested here or element by element."""
    from test_array_api_elementwise import BINARY, UNARY

    covered = {name for name, *_ in CASES} | set(UNARY) | set(BINARY)
    covered |= set("clip matmul tensordot vecdot matrix_transpose from_dlpack astype".split())
    covered |= set("can_cast finfo iinfo isdtype result_type __array_namespace_info__".split())
    assert sorted(set(FUNCTIONS) - covered) == []


# -- bad input ----------------------------------------------------------------------------------------

REFUSED = {
    "reshape without room": lambda xp: xp.reshape(xp.ones((2, 3)), (4,)),
    "copy that is needed": lambda xp: xp.reshape(xp.permute_dims(xp.ones((2, 3)), (1, 0)), (6,), copy=False),
    "axis outside": lambda xp: xp.sum(xp.ones(3), axis=1),
    "axis of concat": lambda xp: xp.concat([xp.ones((2, 2)), xp.ones((2, 2))], axis=2),
    "shapes of concat": lambda xp: xp.concat([xp.ones((2, 2)), xp.ones((3, 3))]),
    "squeeze of a long axis": lambda xp: xp.squeeze(xp.ones((2, 1)), 0),
    "extreme of nothing": lambda xp: xp.max(xp.ones(0)),
    "shapes that do not broadcast": lambda xp: xp.add(xp.ones(2), xp.ones(3)),
    "running sum of several axes": lambda xp: xp.cumulative_sum(xp.ones((2, 2))),
    "inner lengths": lambda xp: xp.matmul(xp.ones((2, 3)), xp.ones((2, 3))),
    "scalars in matmul": lambda xp: xp.matmul(xp.ones(()), xp.ones(())),
    "index outside": lambda xp: xp.ones(3)[5],
    "too many indices": lambda xp: xp.ones(3)[0, 0],
    "floats as bits": lambda xp: xp.bitwise_and(xp.ones(2), xp.ones(2)),
    "device": lambda xp: xp.zeros(1, device="nowhere"),
    "device of like": lambda xp: xp.zeros_like(xp.zeros(1), device="nowhere"),
    "indexing of meshgrid": lambda xp: xp.meshgrid(xp.ones(2), indexing="yx"),
    "nonzero of a scalar": lambda xp: xp.nonzero(xp.asarray(1)),
    "side of searchsorted": lambda xp: xp.searchsorted(xp.ones(2), xp.ones(2), side="middle"),
    "one axis in a transposed matrix": lambda xp: xp.matrix_transpose(xp.ones(3)),
    "kind": lambda xp: xp.isdtype(xp.float32, "whole"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input(what):
    with pytest.raises(Exception) as wanted:
        REFUSED[what](strict)
    kinds = (TypeError, ValueError, IndexError)
    with pytest.raises(tuple(k for k in kinds if isinstance(wanted.value, k)) or kinds):
        REFUSED[what](ours)


def test_a_numpy_without_the_standard_is_named():
    """Arrays themselves need only NumPy 1.25."""
    code = """
import numpy as np
del np.isdtype
import pycuda.gpuarray
try:
    import rtcg.array_api
except ImportError as error:
    print(error)
"""
    message = f"rtcg.array_api needs NumPy 2.0 or newer, which knows the standard; here is {np.__version__}"
    assert run_python(code).stdout.strip() == message
