"""Kernels for arrays that are large enough to be split, tiled or sorted by digits, against NumPy."""

import itertools

import numpy as np
import pytest
from depth import each_kind, some
from same_body import BFLOAT16, COMPLEX, DTYPES, compare, values

import pycuda.gpuarray as gpuarray
from pycuda.reduction import ReductionKernel
from pycuda.tools import get_or_register_dtype
from rtcg import numpy as rnp, random as rrandom
from rtcg.scan import ExclusiveScanKernel, GenericScanKernel, InclusiveScanKernel


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


# -- reductions -------------------------------------------------------------------------------


@pytest.mark.parametrize("n, dtype", each_kind(itertools.product([0, 1, 99_991], DTYPES)), ids=str)
def test_all_elements(dtype, n):
    a = values(dtype, n, 1)
    d = gpuarray.to_gpu(a)
    compare(d.sum(), a.sum(), rtol=1e-3 if a.dtype.itemsize == 2 else 1e-6)
    compare(d.any(), a.any())
    if n and dtype.kind != "c":
        a[n // 2] = 1 if dtype.kind == "b" else 100
        d = gpuarray.to_gpu(a)
        compare(d.argmax(), a.argmax())
        compare(d[1:].max() if n > 1 else d.max(), a[1:].max() if n > 1 else a.max())


SHAPES = [(100_000, 3), (3, 100_000), (5000, 40), (40, 5000), (2, 60_000, 2), (1, 70_000), (300, 7, 90)]


@pytest.mark.parametrize("shape, dtype", [(shape, "i4") for shape in SHAPES] + [((40, 5000), "f8"), ((5000, 40), "u1")])
def test_few_outputs_of_long_runs(shape, dtype):
    a = values(dtype, shape, 2)
    d = gpuarray.to_gpu(a)
    kernel = ReductionKernel(dtype, "0", "a+b", arguments=[_array(dtype)])
    for axis in range(len(shape)):
        compare(d.sum(axis=axis), a.sum(axis=axis))
        compare(d.min(axis=axis), a.min(axis=axis))
        # The tickets are zero again afterwards.
        compare(d.argmin(axis=axis), a.argmin(axis=axis))
        compare(d[::-1].T.sum(axis=axis), a[::-1].T.sum(axis=axis))
        compare(kernel(d, axis=axis), a.sum(axis=axis, dtype=dtype))
        compare(kernel(d[::2], axis=axis), a[::2].sum(axis=axis, dtype=dtype))


def _array(dtype):
    from pycuda.tools import VectorArg

    return VectorArg(np.dtype(dtype), "x")


# -- scans ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind != "f" or d.itemsize > 2], ids=str)
@pytest.mark.parametrize("n", [1, 31, 4096, 4097, 40_001])
def test_scans_over_tiles(dtype, n):
    a = values(dtype, n, 3)
    compare(rnp.cumsum(gpuarray.to_gpu(a)), a.cumsum(), rtol=1e-5)
    if dtype.kind in "iu":
        compare(rnp.cumsum(gpuarray.to_gpu(a)[::-1], dtype=dtype), a[::-1].cumsum(dtype=dtype))


@pytest.mark.parametrize("shape, axis", [((3, 9001), 1), ((9001, 3), 0), ((2, 5000, 3), 1), ((700, 300), 1)])
def test_scans_of_several_rows(shape, axis):
    a = values("f8", shape, 4)
    d = gpuarray.to_gpu(a)
    compare(rnp.cumsum(d, axis=axis), a.cumsum(axis), rtol=1e-12)
    compare(rnp.cumsum(d.T, axis=axis - 1), a.T.cumsum(axis - 1), rtol=1e-12)


# The affine maps x -> p x + q, one after the other; this does not commute.
AFFINE = """
struct affine { unsigned p, q, more[%d]; };
__device__ affine after(affine a, affine b)
{ affine c = b; c.p = a.p * b.p; c.q = a.q * b.p + b.q; return c; }
"""


@pytest.mark.parametrize("n_more", [1, 4], ids=["12 bytes", "24 bytes"])
@pytest.mark.parametrize("n", [5000, 30_011])
def test_values_of_any_size_in_their_order(n, n_more):
    """Values that travel in several words, and those that are too large for it."""
    dtype = np.dtype([("p", "u4"), ("q", "u4"), ("more", "u4", n_more)])
    name = f"affine{n_more}"
    get_or_register_dtype(name, dtype)
    host = np.zeros(n, dtype)
    rng = np.random.default_rng(n)
    host["p"], host["q"] = rng.integers(0, 2**32, n) | 1, rng.integers(0, 2**32, n)
    kernel = InclusiveScanKernel(dtype, "after(a, b)", preamble=(AFFINE % n_more).replace("affine", name))
    out = kernel(gpuarray.to_gpu(host), gpuarray.empty(n, dtype)).get()
    p, q, wanted = 1, 0, []
    for a, b in zip(host["p"].tolist(), host["q"].tolist(), strict=True):
        p, q = p * a % 2**32, (q * a + b) % 2**32
        wanted.append((p, q))
    assert list(zip(out["p"].tolist(), out["q"].tolist(), strict=True)) == wanted


def test_places_of_scans_that_are_not_aligned():
    host = values("i4", 20_000, 5)
    d, out = gpuarray.to_gpu(host), gpuarray.zeros(20_001, np.int32)
    InclusiveScanKernel(np.int32, "a+b")(d[1:], out[2:])
    np.testing.assert_array_equal(out.get()[2:], host[1:].cumsum(dtype="i4"))
    ExclusiveScanKernel(np.int32, "a+b", 0)(d[3:], out[:-4])
    np.testing.assert_array_equal(out.get()[:-4], host[3:].cumsum(dtype="i4") - host[3:])


def test_segments_over_tile_borders():
    n = 20_000
    host = np.random.default_rng(6).integers(0, 40, n).astype(np.int32)
    kernel = GenericScanKernel(
        np.int32,
        arguments="int *x, int *inside, int *before, int *total",
        input_expr="x[i]",
        scan_expr="across_seg_boundary ? b : a + b",
        is_segment_start_expr="x[i] == 0",
        neutral="0",
        output_statement="inside[i] = item; before[i] = prev_item; total[i] = last_item",
    )
    out = [gpuarray.zeros(n, np.int32) for _ in range(3)]
    kernel(gpuarray.to_gpu(host), *out)
    inside = []
    for x in host.tolist():
        inside.append(x if x == 0 or not inside else inside[-1] + x)
    np.testing.assert_array_equal(out[0].get(), inside)
    starts = np.flatnonzero(host == 0)
    before = np.concatenate([[0], inside[:-1]])
    before[starts] = 0
    np.testing.assert_array_equal(out[1].get(), before)
    assert (out[2].get() == inside[-1]).all()


# -- operands that run along different axes ------------------------------------------------------


@pytest.mark.parametrize(
    "shape, dtype", each_kind(itertools.product([(100, 130), (16, 1000), (257, 64)], [*DTYPES, BFLOAT16])), ids=str
)
def test_transposed_operands(dtype, shape):
    a = values(dtype, shape, 7)
    d = gpuarray.to_gpu(a)
    compare(d.T.copy("C"), a.T.copy("C"))
    b = values(dtype, shape[::-1], 8)
    compare(gpuarray.to_gpu(b) + d.T, b + a.T)
    compare(d.T == gpuarray.to_gpu(b), a.T == b)


@pytest.mark.parametrize("order", [(2, 1, 0), (1, 0, 2), (0, 2, 1), (2, 0, 1)])
def test_transposed_operands_of_three_axes(order):
    a, b = values("f4", (40, 33, 50), 9), values("i2", tuple((40, 33, 50)[k] for k in order), 10)
    d, e = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    compare(d.transpose(order) + e, a.transpose(order) + b)
    compare(e[::-1] * d.transpose(order)[:, ::-1], b[::-1] * a.transpose(order)[:, ::-1])
    compare(e[:, 1:] - d.transpose(order)[:, 1:], b[:, 1:] - a.transpose(order)[:, 1:])
    column = values("f4", (b.shape[1], 1), 11)
    compare(gpuarray.to_gpu(column) * e + d.transpose(order), column * b + a.transpose(order))


# -- sorting by digits --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype",
    some([*[d for d in DTYPES if d not in COMPLEX], BFLOAT16], ["?", "i1", "u2", "i8", "f4", BFLOAT16]),
    ids=str,
)
def test_long_rows_are_sorted_by_digits(dtype):
    n = 33_001 if dtype.itemsize <= 4 else 131_072
    rng = np.random.default_rng(n)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        a = rng.integers(limits.min, limits.max, n, dtype, endpoint=True)
    else:
        a = rng.normal(scale=100, size=n).astype(dtype)
    if dtype.kind not in "iub":
        a[rng.integers(0, n, 500)] = np.nan
        a[rng.integers(0, n, 500)] = -np.nan
        a[rng.integers(0, n, 500)] = 0.0
        a[rng.integers(0, n, 500)] = -0.0
        a[:2] = np.inf, -np.inf
    d = gpuarray.to_gpu(a)
    # NumPy compares the NaNs of bfloat16 as it comes, those of its own types are last.
    keys = a.astype("f4") if dtype == BFLOAT16 else a
    order = np.argsort(keys, kind="stable")
    compare(rnp.sort(d), a[order])
    compare(rnp.argsort(d), order)
    compare(rnp.argsort(d[::-1]), np.argsort(keys[::-1], kind="stable"))
    if dtype.name in ("bool", "int8", "uint16", "float32", "bfloat16"):  # Kernels of their own: one of each kind.
        # Descending and stable: as ascending of the reversed array, reversed.
        down = n - 1 - np.argsort(keys[::-1], kind="stable")[::-1]
        compare(rnp.argsort(d, descending=True), down)
    d.sort()
    # Zeros keep their signs.
    np.testing.assert_array_equal(d.get().view(f"u{dtype.itemsize}"), a[order].view(f"u{dtype.itemsize}"))


def test_rows_and_equal_keys():
    a = np.random.default_rng(12).integers(0, 3, (2, 70_000)).astype(np.int16)
    d = gpuarray.to_gpu(a)
    compare(rnp.argsort(d), np.argsort(a, kind="stable"))
    compare(rnp.sort(d.T, axis=0), np.sort(a.T, axis=0))
    found, counts = rnp.unique(d, return_counts=True)
    wanted = np.unique(a, return_counts=True)
    compare(found, wanted[0])
    compare(counts, wanted[1])
    same = np.full(50_000, 7, np.uint32)
    compare(rnp.argsort(gpuarray.to_gpu(same)), np.arange(50_000))


# -- random numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [rrandom.Philox, rrandom.Threefry])
@pytest.mark.parametrize("n", [1, 5, 4096, 100_003])
def test_numbers_follow_from_the_words(bits, n):
    """Whatever a thread makes at once, element k comes from word k."""

    def drawn(kind, dtype, *parameters, offset=0):
        out = gpuarray.zeros(n + 2 + offset, dtype)
        bits(11)._state.fill(kind, out[offset : n + offset], *parameters)
        assert (out.get()[n + offset :] == 0).all()
        return out.get()[offset : n + offset]

    words = drawn("bits", np.uint32)
    np.testing.assert_array_equal(drawn("bits", np.uint32, offset=1), words)
    np.testing.assert_array_equal(
        rrandom.Generator(bits(11)).random(n, np.float32).get(), (words >> 8) * np.float32(2.0**-24)
    )
    uniform = words * np.float64(2.0**-32) + 2.0**-33
    whole = np.append(words, np.zeros(-n % 4, np.uint32))
    u, v = (np.float32(whole[k::2]) * np.float32(2.0**-32) + np.float32(2.0**-33) for k in (0, 1))
    radius, angle = np.sqrt(-2 * np.log(np.float64(u))), 2 * np.pi * np.float64(v)
    pairs = np.stack([radius * np.sin(angle), radius * np.cos(angle)], 1).ravel()[:n]
    normal = rrandom.Generator(bits(11)).standard_normal(n, np.float32).get()
    last = n // 4 * 4  # of an incomplete block not all words are known here
    np.testing.assert_allclose(normal[:last], pairs[:last], rtol=0, atol=3e-6)
    assert uniform.min() > 0


def test_counters_carry_into_their_upper_half():
    """Numbers beyond 2^32 counters are those that skipping there gives one by one."""
    rng = rrandom.default_rng(5)
    rng.bit_generator.advance((1 << 32) - 3)
    together = rng.random(40, np.float32).get()
    for k in range(10):
        one = rrandom.default_rng(5)
        one.bit_generator.advance((1 << 32) - 3 + k)
        np.testing.assert_array_equal(one.random(4, np.float32).get(), together[4 * k : 4 * k + 4])
