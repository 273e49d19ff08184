"""Matrix products with few rows or columns, against NumPy: dtypes, widths, layouts, batches, long sums."""

import ml_dtypes
import numpy as np
import pytest
from depth import some
from hypothesis import given, strategies as st

import pycuda.gpuarray as gpuarray
from tests.python.same_body import quickly

DTYPES = [
    np.dtype(t)
    for t in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", ml_dtypes.bfloat16, "f4", "f8", "c8", "c16")
]
LAYOUTS = ["C", "F", "strided", "negative", "misaligned"]


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


def integers(rng, shape, dtype):
    """Small integers, whose sums of products every dtype has exactly (or wraps as the host does)."""
    whole = rng.integers(-2, 3, shape)
    return (whole + 1j * rng.integers(-2, 3, shape) if dtype.kind == "c" else whole).astype(dtype)


def on_device(host, layout):
    """The array on the device, its last two axes laid out as told."""
    if host.ndim == 1:
        return gpuarray.to_gpu(host)
    *stack, rows, columns = host.shape
    if layout == "F":
        return gpuarray.to_gpu(np.ascontiguousarray(host.swapaxes(-1, -2))).swapaxes(-1, -2)
    if layout == "negative":
        return gpuarray.to_gpu(np.ascontiguousarray(host[..., ::-1, ::-1]))[..., ::-1, ::-1]
    if layout == "strided":
        room = np.zeros((*stack, 2 * rows, 3 * columns), host.dtype)
        room[..., ::2, 1::3] = host
        return gpuarray.to_gpu(room)[..., ::2, 1::3]
    if layout == "misaligned":
        room = np.zeros((*stack, rows, columns + 1), host.dtype)
        room[..., 1:] = host
        return gpuarray.to_gpu(room)[..., 1:]
    return gpuarray.to_gpu(host)


def product(a, b):
    """NumPy's product, of integers by 64-bit ones and of short floats by longer ones."""
    kind = a.dtype.kind
    wide = a.dtype if kind in "?c" else np.dtype("i8" if kind in "iu" else "f8")
    return (a.astype(wide) @ b.astype(wide)).astype(a.dtype)


def check(a, b, layouts=("C", "C")):
    got = on_device(a, layouts[0]) @ on_device(b, layouts[1])
    want = product(a, b)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got.get(), want, err_msg=f"{a.dtype} {a.shape} @ {b.shape} {layouts}")


@pytest.mark.parametrize("place", some(range(len(DTYPES)), 2), ids=lambda place: str(DTYPES[place]))
def test_every_dtype_and_layout(place):
    rng, dtype = np.random.default_rng(place), DTYPES[place]
    for width, length, first in ((1, 256, place), (2 + place, 33, place + 2)):
        a, b = integers(rng, (37, length), dtype), integers(rng, (length, width), dtype)
        layouts = LAYOUTS[first % 5], LAYOUTS[(first + place // 5) % 5]
        check(a, b, layouts)
        check(b.T, a.T, layouts[::-1])


@pytest.mark.parametrize("width", some(range(1, 18), [1, 2, 3, 4, 5, 8, 9, 15, 16, 17]))
def test_every_width(width):
    rng = np.random.default_rng(width)
    a, b = (integers(rng, shape, np.dtype("f4")) for shape in ((24, 520), (520, width)))
    for layout in LAYOUTS:
        check(a, b, (layout, "C"))
        check(b.T, a.T, ("F", layout))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "i2", "?"])
def test_long_sums_are_split_over_blocks(dtype):
    rng, dtype = np.random.default_rng(5), np.dtype(dtype)
    for m, n, layouts in ((3, 16, "CC"), (200, 1, "FF"), (40, 30, "CF")):
        check(integers(rng, (m, 20_011), dtype), integers(rng, (20_011, n), dtype), layouts)


def test_results_are_the_same_at_every_run():
    rng = np.random.default_rng(6)
    a, b = (gpuarray.to_gpu(rng.standard_normal(shape).astype("f4")) for shape in ((5, 40_000), (40_000, 3)))
    first = (a @ b).get()
    assert all(np.array_equal(first, (a @ b).get()) for _ in range(10))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape", [(40, 5), (30, 20)])
def test_drawn_numbers_are_summed_as_exactly_as_by_numpy(dtype, shape):
    rng, dtype, k = np.random.default_rng(7), np.dtype(dtype), 4001
    a, b = (rng.standard_normal(s).astype(dtype) for s in ((shape[0], k), (k, shape[1])))
    if dtype.kind == "c":
        a, b = (x + 1j * x[::-1] for x in (a, b))
    wide = "G" if dtype.kind == "c" else "g"
    exact, terms = a.astype(wide) @ b.astype(wide), np.abs(a).astype("g") @ np.abs(b).astype("g")
    error = np.abs((gpuarray.to_gpu(a) @ gpuarray.to_gpu(b)).get() - exact)
    # Sums in single precision, of float16 too, err as their terms do; then a float16 is rounded once.
    eps = np.finfo("f4" if dtype == "f2" else dtype).eps
    once = np.spacing(np.abs(exact).astype("f2")) / 2 if dtype == "f2" else 0
    assert np.all(error <= once + 2 * np.sqrt(k) * eps * terms / 4)
    if dtype == "f2":
        assert error.max() <= np.abs((a @ b) - exact).max()


@pytest.mark.parametrize(
    "first, second",
    [
        ((6, 30, 70), (6, 70, 1)),
        ((6, 30, 70), (70,)),
        ((70,), (6, 70, 30)),
        ((2, 1, 5, 40), (3, 40, 20)),
        ((2, 1, 20, 40), (1, 3, 40, 2)),
        ((2, 3, 1, 1), (2, 3, 1, 4)),
        ((4, 0, 3, 5), (5, 2)),
        ((3, 7, 0), (0, 2)),
    ],
)
def test_stacks_are_broadcast(first, second):
    rng, dtype = np.random.default_rng(8), np.dtype("f4")
    a, b = integers(rng, first, dtype), integers(rng, second, dtype)
    layouts = LAYOUTS if min(a.ndim, b.ndim) > 1 and 0 not in first else ["C"]
    for layout in layouts:
        check(a, b, (layout, layout))
    if len(first) > 2:
        x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
        np.testing.assert_array_equal((x[::-1] @ y).get(), a[::-1] @ b)


@quickly
@given(st.data())
def test_drawn_products(data):
    few, many = st.integers(1, 17), st.integers(1, 90)
    m, n, k = data.draw(many), data.draw(few), data.draw(st.one_of(many, st.just(700)))
    dtype = data.draw(st.sampled_from([np.dtype(t) for t in ("f4", "f2", "c8", "i1")]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    layouts = data.draw(st.sampled_from(LAYOUTS)), data.draw(st.sampled_from(LAYOUTS))
    a, b = integers(rng, (m, k), dtype), integers(rng, (k, n), dtype)
    check(*((b.T, a.T) if data.draw(st.booleans()) else (a, b)), layouts)
