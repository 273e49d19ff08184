"""Generators over arrays of any layout: ranges, scans and random fills count the elements of views in C order."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pycuda.curandom as curandom
import pycuda.gpuarray as gpuarray
from pycuda.elementwise import ElementwiseKernel
from rtcg import random as rrandom
from rtcg.scan import ExclusiveScanKernel, GenericScanKernel, InclusiveScanKernel
from tests.python.same_body import arrays, quickly


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


STEP = ElementwiseKernel("float *z, const float *x", "z[i] = x[i] + i", "step")
BACKWARDS = ElementwiseKernel("float *z, const float *x, int n_", "z[i] = x[n_ - 1 - i]", "backwards")
SUMS = InclusiveScanKernel(np.float32, "a + b")
BEFORE = ExclusiveScanKernel(np.int32, "a + b", neutral="0")
PARTS = GenericScanKernel(
    np.int32,
    "int *x, int *y, int *starts",
    "x[i]",
    "across_seg_boundary ? b : a + b",
    neutral="0",
    is_segment_start_expr="starts[i]",
    output_statement="y[i] = item",
)


def has_gaps(array):
    return not (array.flags.c_contiguous or array.flags.f_contiguous)


@quickly
@given(arrays([np.dtype("f4")], min_ndim=1), st.data())
def test_ranges_count_the_elements_of_views(x, data):
    n = x.host.size
    start, stop = sorted((data.draw(st.integers(0, n)), data.draw(st.integers(0, n))))
    step = data.draw(st.integers(1, 3))
    z = gpuarray.zeros((*x.host.shape[:-1], 2 * x.host.shape[-1]), np.float32)[..., ::2]
    source = x.to_device()
    if not (has_gaps(z) and has_gaps(source)):
        # Arrays without gaps are counted in memory order.
        source = source.copy(order="C")
    expected = np.zeros(n, np.float32)
    chosen = np.arange(n)[start:stop:step]
    expected[chosen] = x.host.ravel()[chosen] + chosen
    STEP(z, source, range=slice(start, stop, step))
    np.testing.assert_array_equal(z.get().ravel(), expected)
    BACKWARDS(z, source, np.int32(n), slice=slice(start, stop, step))
    expected[chosen] = x.host.ravel()[::-1][chosen]
    np.testing.assert_array_equal(z.get().ravel(), expected)


def test_elements_between_those_of_a_view_stay():
    memory = gpuarray.to_gpu(np.full((4, 6), -1, np.float32))
    view = memory[1:3, ::2]
    STEP(view, gpuarray.zeros((2, 3), np.float32), range=slice(1, 5))
    expected = np.full((4, 6), -1, np.float32)
    expected[1:3, ::2] = [[-1, 1, 2], [3, 4, -1]]
    np.testing.assert_array_equal(memory.get(), expected)


def test_one_view_as_source_and_result():
    memory = gpuarray.to_gpu(np.arange(12, dtype=np.float32))
    STEP(memory[::3], memory[::3], range=slice(0, 4))
    np.testing.assert_array_equal(memory.get()[::3], [0, 4, 8, 12])


@pytest.mark.parametrize("n", [1, 7, 5000])
def test_scans_of_views(n):
    host = np.random.default_rng(n).integers(-4, 5, (n, 3))
    memory = gpuarray.to_gpu(host.astype(np.float32))
    SUMS(memory[:, 1])
    expected = host.astype(np.float32)
    expected[:, 1] = np.cumsum(expected[:, 1])
    np.testing.assert_array_equal(memory.get(), expected)
    whole = gpuarray.to_gpu(host.astype(np.int32))
    out = gpuarray.empty((2, n), np.int32)[1, ::-1]
    BEFORE(whole[:, 2], out)
    np.testing.assert_array_equal(out.get(), np.cumsum(host[:, 2]) - host[:, 2])
    block = gpuarray.to_gpu(host.astype(np.int32))[:, :2]
    starts = gpuarray.to_gpu(np.tile([1, 0, 9], (n, 1)).astype(np.int32))[:, :2]
    sums = gpuarray.zeros((n, 4), np.int32)[:, ::2]
    PARTS(block, sums, starts)
    np.testing.assert_array_equal(sums.get(), np.cumsum(host[:, :2], axis=1))
    np.testing.assert_array_equal(block.get(), host[:, :2])


def fills():
    xorwow = curandom.XORWOWRandomNumberGenerator
    yield "Philox", lambda out: rrandom.Philox(3)._state.fill("uniform", out)
    for name in ("fill_uniform", "fill_normal"):
        yield (
            f"XORWOW {name}",
            lambda out, name=name: getattr(xorwow(lambda n: gpuarray.to_gpu(np.full(n, 7, np.int32))), name)(out),
        )


@pytest.mark.parametrize("name, fill", list(fills()), ids=[name for name, _ in fills()])
def test_random_fills_of_views(name, fill):
    dense = gpuarray.empty((40, 50), np.float32)
    fill(dense)
    memory = gpuarray.to_gpu(np.full((50, 82), -1, np.float32))
    view = memory[:, 1:80:2].T
    assert view.shape == dense.shape and has_gaps(view)
    fill(view)
    np.testing.assert_array_equal(view.get(), dense.get())
    assert (memory.get()[:, ::2] == -1).all()


def test_means_of_poisson_numbers_in_a_view():
    make = lambda: curandom.XORWOWRandomNumberGenerator(lambda n: gpuarray.to_gpu(np.full(n, 7, np.int32)))  # noqa: E731
    dense = gpuarray.to_gpu(np.full(3000, 4.0, np.float32))
    make().fill_poisson(dense)
    memory = gpuarray.to_gpu(np.tile(np.array([4, 100], np.float32), 3000))
    make().fill_poisson(memory[::2])
    np.testing.assert_array_equal(memory.get()[::2], dense.get())
    assert (memory.get()[1::2] == 100).all()


def test_an_array_that_is_indexed_freely_is_not_broadcast_unless_it_is_contiguous():
    """Its memory would be read as if it had no gaps."""
    kernel = ElementwiseKernel("float *z, float *x", "z[i] = x[i] + x[0]")
    x, z = gpuarray.to_gpu(np.arange(20, dtype=np.float32).reshape(2, 10)), gpuarray.zeros((3, 5), np.float32)
    with pytest.raises(ValueError, match=r"'x' has shape \(1, 5\) and strides \(40, 8\); expected shape \(3, 5\)"):
        kernel(z, x[:1, ::2])
    z = gpuarray.zeros((2, 5), np.float32)
    kernel(z, x[:, ::2])
    np.testing.assert_array_equal(z.get(), x.get()[:, ::2])


@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_transposed_arrays(dtype):
    """On the virtual GPU those of bytes go through tiles, whose threads all take part: not where a snippet jumps."""
    rng = np.random.default_rng(1)
    x, y = (rng.integers(0, 100, (90, 120)).astype(dtype) for _ in range(2))
    name = "unsigned char" if dtype is np.uint8 else "double"
    for operation, expected in [
        ("z[i] = x[i] + SIDE * rest[i]", x + 2 * y.reshape(120, 90).T),
        ("if (x[i] > 50) continue; z[i] = rest[i]", np.where(x > 50, 0, y.reshape(120, 90).T)),
        ("z[i] = i % 7 + rest[i]", np.arange(x.size).reshape(x.shape) % 7 + y.reshape(120, 90).T),
    ]:
        kernel = ElementwiseKernel(
            f"{name} *z, const {name} *x, const {name} *rest", operation, preamble="__device__ const int SIDE = 2;"
        )
        z = gpuarray.zeros(x.shape, dtype)
        kernel(z, gpuarray.to_gpu(x), gpuarray.to_gpu(y.reshape(120, 90)).T)
        np.testing.assert_array_equal(z.get(), expected.astype(dtype))
