"""Forms of NumPy's calls that differ from the usual ones: leading axes of length 1 in assignments, limits beyond a
dtype, orders of memory, and where results go."""

import itertools
import warnings

import numpy as np
import pytest

import rtcg
from rtcg import numpy as xp
from tests.python.depth import at_depth

pytestmark = pytest.mark.usefixtures("context")

INTEGERS = at_depth(
    [np.int8, np.uint8, np.int64, np.uint64], [f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)]
)
NUMBERS = at_depth("?bBlLefdFD", "?bBhHiIlLefdFD")


def _both(compute, *hosts):
    """A function of NumPy's name space and of arrays, on the host and on the device: values, or classes of errors."""
    results = []
    for space, arrays in ((np, [host.copy() for host in hosts]), (xp, [xp.to_gpu(host) for host in hosts])):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                result = compute(space, *arrays)
        except (ValueError, TypeError, OverflowError) as error:
            result = next(kind for kind in (OverflowError, ValueError, TypeError) if isinstance(error, kind))
        results.append(result.get() if isinstance(result, xp.GPUArray) else result)
    return results


def _same(compute, *hosts, rtol=0.0):
    want, got = _both(compute, *hosts)
    if isinstance(want, type) or isinstance(got, type):
        assert want is got, (want, got)
        return
    assert np.shape(want) == np.shape(got) and np.asarray(want).dtype == np.asarray(got).dtype, (want, got)
    np.testing.assert_allclose(got, want, rtol=rtol)


ASSIGNMENTS = [
    ((0, ...), (3, 3)), ((slice(None),), (3, 3, 3)), ((0, 1), (3,)), ((slice(None), 0), (3, 3)),
    ((None, 0), (1, 3, 3)), ((slice(0, 0),), (0, 3, 3)), ((np.array([0, 2]),), (2, 3, 3)),
    ((slice(None), np.array([0, 2])), (3, 2, 3)), ((np.array([True, False, True]),), (2, 3, 3)),
]  # fmt: skip


@pytest.mark.parametrize("key, shape", ASSIGNMENTS)
def test_assigned_values_may_have_leading_axes_of_length_one(key, shape):
    rng = np.random.default_rng(3)
    for ahead in ((), (1,), (1, 1, 1)):
        for behind in (shape, tuple(1 for _ in shape), shape[1:]):
            values = rng.random(ahead + behind)

            def assign(space, x, values):
                x[tuple(space.asarray(each) if isinstance(each, np.ndarray) else each for each in key)] = values
                return x

            _same(assign, np.zeros((3, 3, 3)), values)
    with pytest.raises(ValueError, match="could not be broadcast|could not broadcast"):
        xp.zeros((3, 3, 3))[key] = xp.ones((2, *shape[1:], 1, 2))


def test_copies_may_have_leading_axes_of_length_one():
    _same(lambda space, x, y: space.copyto(x, y) or x, np.zeros(3), np.ones((1, 1, 3)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_limits_beyond_the_dtype(dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, 0, 1, info.max], dtype)
    beyond = [None, info.min, info.min - 1, -(2**70), 0, info.max, info.max + 1, 2**70]
    for low, high in itertools.product(beyond, beyond):
        _same(lambda space, a, low=low, high=high: space.clip(a, low, high), x)
        _same(lambda space, a, low=low, high=high: a.clip(low, high), x)
    for limit in beyond[1:]:
        for name in ("maximum", "minimum", "add", "less", "less_equal", "equal", "not_equal", "greater"):
            _same(lambda space, a, name=name, limit=limit: getattr(space, name)(a, limit), x)
            _same(lambda space, a, name=name, limit=limit: getattr(space, name)(limit, a), x)
        _same(lambda space, a, limit=limit: space.full(3, limit, dtype), x)
        _same(lambda space, a, limit=limit: space.full_like(a, limit), x)
        _same(lambda space, a, limit=limit: (a.fill(limit), a)[1], x)
        _same(lambda space, a, limit=limit: (a.__setitem__(1, limit), a)[1], x)
        _same(lambda space, a, limit=limit: (space.copyto(a, limit), a)[1], x)
        mask = np.array([True, False, True, False])
        _same(lambda space, a, m, limit=limit: (space.putmask(a, m, limit), a)[1], x, mask)
        _same(lambda space, a, m, limit=limit: (space.place(a, m, [limit]), a)[1], x, mask)
        _same(lambda space, a, limit=limit: (space.put(a, [1, 2], limit), a)[1], x)


STRIDED = {
    "c": lambda x: x,
    "f": lambda x: x.transpose(),
    "turned": lambda x: x.transpose(1, 2, 0),
    "back": lambda x: x[::-1, :, ::-1],
    "turned back": lambda x: x.transpose(2, 0, 1)[:, ::-1],
    "parts": lambda x: x[:, ::2, 1:],
    "one": lambda x: x[:, :1].transpose(2, 1, 0),
    "empty": lambda x: x[:0].transpose(),
}


@pytest.mark.parametrize("layout", STRIDED)
def test_orders_of_flattened_arrays(layout):
    x = np.arange(24).reshape(2, 3, 4)
    for order in "CFAK":
        _same(lambda space, a, order=order: STRIDED[layout](a).ravel(order), x)
        _same(lambda space, a, order=order: space.ravel(STRIDED[layout](a), order), x)
        _same(lambda space, a, order=order: STRIDED[layout](a).flatten(order), x)
    a = xp.to_gpu(x)
    assert a.transpose().ravel("K").ptr == a.ptr and a.flatten("K").ptr != a.ptr
    with pytest.raises(ValueError, match="order is 'X'; expected 'C', 'F', 'A' or 'K'"):
        a.ravel("X")


REDUCTIONS = ["sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "argmax", "argmin", "cumsum", "cumprod",
              "median", "nansum", "nanmax"]  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_write_to_arrays_of_other_dtypes(name):
    cumulative = name.startswith("cum")
    # Nine of ten places further, so that each function meets each dtype on both sides, and all together each pair.
    step = at_depth(9, 1)
    for given, wanted in list(itertools.product(NUMBERS, NUMBERS))[REDUCTIONS.index(name) % step :: step]:
        if name == "median" and given in "FD" or given in "FD" and wanted not in "FD" and name in ("std", "var"):
            continue
        x = np.array([[1, 3, 2], [0, 1, 1]]).astype(given)
        out = np.zeros((2, 3) if cumulative else 2, wanted)
        rtol = 2e-3 if "e" in (given, wanted) else 1e-6
        _same(lambda space, a, out: getattr(space, name)(a, axis=1, out=out), x, out, rtol=rtol)


def test_sums_in_wider_arrays_are_computed_in_their_dtype():
    x = np.full(3000, 0.1, np.float32)
    out = xp.zeros((), np.float64)
    xp.to_gpu(x).sum(out=out)
    assert abs(float(out.get()) - float(np.float32(0.1)) * 3000) < 1e-9


def test_results_of_products_go_where_they_are_wanted():
    a, b, v = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4), np.arange(3.0)
    for x, y in ((a, b), (v, v), (a, v), (v, b), (np.array(2.0), v), (np.arange(24.0).reshape(2, 3, 4), b.T)):
        if x.ndim > 2:
            y = np.arange(8.0).reshape(4, 2)
        want = np.dot(x, y)
        out = np.zeros(want.shape)
        _same(lambda space, x, y, out: space.dot(x, y, out), x, y, out)
        _same(lambda space, x, y, out: space.dot(x, y, out=out), x, y, out)
        _same(lambda space, x, y, out: x.dot(y, out=out), x, y, out)
        _same(lambda space, x, y, out: space.dot(x, y, out=out), x, y, out.astype("f"))
        _same(lambda space, x, y, out: space.dot(x, y, out=out), x, y, np.zeros((7, *want.shape)))
    _same(lambda space, x, y, out: space.matvec(x, y, out=out), a, v, np.zeros(2))
    _same(lambda space, x, y, out: space.vecmat(x, y, out=out), v, b, np.zeros(4))
    _same(lambda space, x, y, out: space.vecdot(x, y, out=out), a, a, np.zeros(2))
    for k in (0, 1):
        _same(lambda space, x, p, q, k=k: space.modf(x, out=(p, q))[k], a - 2.5, a, a)
        _same(lambda space, x, p, q, k=k: space.divmod(x, 2.5, out=(p, q))[k], a, a, a)
        _same(lambda space, x, p, q, k=k: (space.divmod(x, 2.5, out=(None, x)), x)[k - 2 + 1], a, a, a) if k else None
    _same(lambda space, x, out: space.spacing(x, out=out), a, a)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_next_numbers(dtype):
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    values = np.array([0, -0.0, 1, -1, tiny, -tiny, huge, -huge, np.inf, -np.inf, np.nan, 1.5, 2048], dtype)
    x, y = np.meshgrid(values, values)
    want, got = _both(lambda space, a, b: space.nextafter(a, b), x, y)
    assert want.dtype == got.dtype
    np.testing.assert_array_equal(got, want)
    # Of equal numbers, the second: C and IEEE 754 say so. NumPy before 2.5 gives the first in float16.
    signs = np.signbit(np.where(x == y, y, want))
    np.testing.assert_array_equal(np.signbit(got)[~np.isnan(want)], signs[~np.isnan(want)])
    # NumPy's spacing of -1 in float16 is that below, and positive.
    places = [0, 2, 4, 8, 10, 11, 12] if dtype is np.float16 else [0, 2, 3, 4, 8, 10, 11, 12]
    _same(lambda space, a: space.spacing(a), values[places])
    if dtype is np.float16:
        every = np.arange(2**16, dtype=np.uint16).view(np.float16)[:: at_depth(7, 1)]
        _same(lambda space, a: space.nextafter(a, a.dtype.type(np.inf)), every)
        _same(lambda space, a: space.nextafter(a, a.dtype.type(-np.inf)), every)


@pytest.mark.parametrize("dtype", ["?", *"bBhHiIlL"])
def test_counts_of_integers_of_every_dtype(dtype):
    x = np.array([0, 1, 1, 0, 1]).astype(dtype)
    _same(lambda space, a: space.bincount(a), x)
    _same(lambda space, a: space.bincount(a, minlength=4), x)
    _same(lambda space, a: space.bincount(a, weights=a * 0.5), x)
    _same(lambda space, a: space.bincount(a), x[:0])


def test_counts_refuse_numbers_beyond_an_index():
    for numbers in (np.array([2**63], np.uint64), np.array([-1]), np.array([1.0])):
        want, got = _both(lambda space, a: space.bincount(a), numbers)
        assert want is got and isinstance(want, type)


UNNAMED = ["i...->i", "...->", "...j->j", "i...,i...->i", "i...,j...->ij", "...,...->", "i...,i->i", "...i,...i,i->i",
           "i...->i...", "ij->j", "i...,...->i"]  # fmt: skip


@pytest.mark.parametrize("subscripts", UNNAMED)
def test_einsum_sums_axes_without_names(subscripts):
    rng = np.random.default_rng(1)
    terms = subscripts.partition("->")[0].split(",")
    for ranks in itertools.product((0, 1, 2), repeat=len(terms)):
        arrays = [
            rng.random((3,) * (len(term.replace("...", "")) + (rank if "..." in term else 0)))
            for term, rank in zip(terms, ranks, strict=True)
        ]
        for optimize in (False, True, "greedy", "optimal"):

            def compute(space, *arrays, optimize=optimize):
                einsum = np.einsum if space is np else rtcg.einsum
                return einsum(subscripts, *arrays, optimize=optimize)

            _same(compute, *arrays, rtol=1e-12)
