"""pycuda.reduction and pycuda.scan against NumPy."""

import numpy as np
import pytest

import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
import pycuda.reduction as reduction
from pycuda.compiler import CompileError
from pycuda.reduction import ReductionKernel
from pycuda.tools import VectorArg, get_or_register_dtype
from rtcg.scan import ExclusiveScanKernel, GenericScanKernel, InclusiveScanKernel


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


def sample(dtype, n, seed=0):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return rng.integers(0, 40, n).astype(dtype)
    if dtype.kind == "c":
        return (rng.normal(size=n) + 1j * rng.normal(size=n)).astype(dtype)
    return rng.normal(size=n).astype(dtype)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, np.float64, np.complex64, np.complex128])
def test_sum_of_every_type(dtype):
    host = sample(dtype, 5000)
    result = reduction.get_sum_kernel(None, dtype)(gpuarray.to_gpu(host))
    assert result.shape == () and result.dtype == dtype
    np.testing.assert_allclose(result.get(), host.sum(dtype=dtype), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("n", [0, 1, 2, 33, 256, 1023, 65_537, 300_001])
def test_sizes(n):
    host = sample(np.int32, n)
    kernel = ReductionKernel(
        np.int64, neutral="0", reduce_expr="a+b", map_expr="(long)x[i]*y[i]", arguments="int *x, int *y"
    )
    x = gpuarray.to_gpu(host)
    assert kernel(x, x).get() == (host.astype(np.int64) ** 2).sum()


def test_defaults_out_and_stream():
    host = sample(np.float64, 1000)
    kernel = ReductionKernel(np.float64, 0, "a+b")
    assert [a.name for a in kernel.arguments] == ["in"]
    stream, out = drv.Stream(), gpuarray.zeros((1, 1), np.float64)
    assert kernel(gpuarray.to_gpu(host), stream=stream, out=out) is out
    stream.synchronize()
    np.testing.assert_allclose(out.get(), [[host.sum()]])
    three = gpuarray.zeros(3, np.float64)
    assert kernel(gpuarray.to_gpu(host), out=three[1]).shape == ()
    np.testing.assert_allclose(three.get(), [0, host.sum(), 0])
    for shape, shown in ((3, r"\(3,\)"), ((1, 0), r"\(1, 0\)"), ((2, 1), r"\(2, 1\)")):
        for n in (1000, 0):
            with pytest.raises(ValueError, match=rf"out has shape {shown}; expected \(\), or 1 along each axis"):
                kernel(gpuarray.to_gpu(host[:n]), out=gpuarray.zeros(shape, np.float64))
    with pytest.raises(ValueError, match="out has dtype float32"):
        kernel(gpuarray.to_gpu(host), out=gpuarray.zeros((), np.float32))
    with pytest.raises(TypeError):
        kernel(gpuarray.to_gpu(host), nonsense=1)


def test_several_values_at_once():
    pair = get_or_register_dtype("minmax_pair", np.dtype([("low", np.int32), ("high", np.int32)]))
    preamble = """
    struct minmax_pair {
      int low, high;
      __device__ minmax_pair() { }
      __device__ minmax_pair(int low, int high) : low(low), high(high) { }
    };
    __device__ minmax_pair join(minmax_pair a, minmax_pair b)
    { return minmax_pair(min(a.low, b.low), max(a.high, b.high)); }
    """
    kernel = ReductionKernel(
        pair, neutral="minmax_pair(0x7fffffff, -0x7fffffff)", reduce_expr="join(a, b)",
        map_expr="minmax_pair(x[i], x[i])", arguments="int *x", preamble=preamble,
    )  # fmt: skip
    host = sample(np.int32, 20_000) * 7 - 50
    scratch = gpuarray.zeros(2, np.int32)
    out = np.zeros(2, np.int32)
    x = gpuarray.to_gpu(host)
    result = kernel(x)
    drv.memcpy_dtoh(out, result.gpudata)
    assert list(out) == [host.min(), host.max()]
    assert scratch.size == 2


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 2), (0, 1, 2), (1, -1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes(axis, keepdims):
    host = sample(np.int64, 7 * 300 * 5).reshape(7, 300, 5)
    kernel = reduction.get_sum_kernel(None, np.int64)
    result = kernel(gpuarray.to_gpu(host), axis=axis, keepdims=keepdims).get()
    np.testing.assert_array_equal(result, host.sum(axis, keepdims=keepdims))


def test_axis_mistakes():
    kernel = reduction.get_sum_kernel(None, np.int64)
    array = gpuarray.to_gpu(np.ones((3, 4), np.int64))
    with pytest.raises(ValueError, match="axis 2 is out of bounds for array of dimension 2"):
        kernel(array, axis=2)
    with pytest.raises(ValueError, match="duplicate"):
        kernel(array, axis=(0, 0))
    with pytest.raises(ValueError, match=r"out has shape \(3,\); expected \(4,\)"):
        kernel(array, axis=0, out=gpuarray.zeros(3, np.int64))


def test_kernels_by_name():
    x, y = sample(np.float32, 999, 1), sample(np.float32, 999, 2)
    k = sample(np.int32, 100, 3)
    gx, gy, gk = map(gpuarray.to_gpu, (x, y, k))
    eq = np.testing.assert_allclose
    f4 = np.dtype(np.float32)
    eq(reduction.get_dot_kernel(f4, f4)(gx, gy).get(), np.dot(x, y), rtol=1e-4)
    eq(reduction.get_dot_kernel(None, f4, np.dtype(np.float64))(gx, gpuarray.to_gpu(y.astype(np.float64))).get(),
       np.dot(x, y.astype(np.float64)))  # fmt: skip
    eq(reduction.get_minmax_kernel("min", f4)(gx).get(), x.min())
    eq(reduction.get_minmax_kernel("max", np.dtype(np.int32))(gk).get(), k.max())
    eq(reduction.get_subset_sum_kernel(None, np.dtype(np.int32), f4)(gk, gx).get(), x[k].sum(), rtol=1e-4)
    eq(reduction.get_subset_dot_kernel(f4, np.dtype(np.int32))(gk, gx, gy).get(), np.dot(x[k], y[k]), rtol=1e-4)
    eq(reduction.get_subset_minmax_kernel("max", f4, np.dtype(np.int32))(gk, gx).get(), x[k].max())
    assert (
        reduction.get_any_kernel(np.bool_, f4)(gx).get()
        and not reduction.get_all_kernel(np.int8, np.dtype(np.int32))(gk).get()
    )
    assert reduction.get_minmax_neutral("max", np.int8) == "-128"


def test_stages():
    function, _ = reduction.get_reduction_kernel_and_types(1, "float", 64, "0", "a+b", "x[i]", "float *x")
    host = sample(np.float32, 1000)
    out = gpuarray.zeros(8, np.float32)
    function.prepared_call((8, 1), (64, 1, 1), out.gpudata, gpuarray.to_gpu(host).gpudata, 2, 1000)
    np.testing.assert_allclose(out.get().sum(), host.sum(), rtol=1e-4)


def test_kernel_wrapper_and_errors_in_snippets():
    host = sample(np.int32, 100)
    calls = []

    def wrapper(enqueue):
        def wrapped(grid, block, stream, *args):
            calls.append(stream)
            enqueue(grid, block, stream, *args)

        return wrapped

    kernel = reduction.get_sum_kernel(None, np.int32)
    assert kernel(gpuarray.to_gpu(host), kernel_wrapper=wrapper).get() == host.sum() and calls == [None]
    broken = ReductionKernel(np.int32, "0", "a +\n nothing_known", "x[i]", "int *x")
    with pytest.raises(CompileError) as caught:
        broken(gpuarray.to_gpu(host))
    assert "reduce_expr(2): error" in str(caught.value)
    with pytest.raises(ValueError, match="no array"):
        ReductionKernel(np.int32, "0", "a+b", "1", "int x")


# -- scans ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint64, np.float64, np.complex64])
@pytest.mark.parametrize("n", [0, 1, 10, 3841, 30_000])
def test_cumulative_sums(dtype, n):
    host = sample(np.int8, n).astype(dtype)
    array = gpuarray.to_gpu(host)
    out = InclusiveScanKernel(dtype, "a+b")(array, gpuarray.empty(n, dtype))
    np.testing.assert_allclose(out.get(), np.cumsum(host, dtype=dtype))
    assert ExclusiveScanKernel(dtype, "a+b", 0)(array) is array
    np.testing.assert_allclose(array.get(), np.cumsum(host, dtype=dtype) - host)


def test_scan_calls():
    host = sample(np.int32, 1000)
    with pytest.raises(ValueError, match="neutral"):
        ExclusiveScanKernel(np.int32, "a+b")
    new = InclusiveScanKernel(np.int32, "a > b ? a : b")(gpuarray.to_gpu(host), "new")
    np.testing.assert_array_equal(new.get(), np.maximum.accumulate(host))
    with pytest.raises(ValueError, match="one dimension"):
        InclusiveScanKernel(np.int32, "a+b")(gpuarray.to_gpu(host.reshape(10, 100)))
    with pytest.raises(TypeError, match="float32"):
        InclusiveScanKernel(np.int32, "a+b")(gpuarray.zeros(3, np.float32))


def test_compaction_by_a_generic_scan():
    host = sample(np.int32, 20_000)
    out, count = gpuarray.zeros(20_000, np.int32), gpuarray.zeros(1, np.int32)
    kernel = GenericScanKernel(
        np.int32, [VectorArg(np.int32, "ary"), VectorArg(np.int32, "out"), VectorArg(np.int32, "count")],
        input_expr="(ary[i] > 20) ? 1 : 0", scan_expr="a+b", neutral="0",
        output_statement="if (prev_item != item) out[item-1] = ary[i]; if (i+1 == N) *count = item;",
    )  # fmt: skip
    kernel(gpuarray.to_gpu(host), out, count)
    kept = host[host > 20]
    assert count.get()[0] == len(kept)
    np.testing.assert_array_equal(out.get()[: len(kept)], kept)


def test_segments():
    host = sample(np.int32, 10_000)
    starts = np.random.default_rng(5).integers(0, 50, 10_000) == 0
    out = gpuarray.zeros(10_000, np.int32)
    kernel = GenericScanKernel(
        np.int32, "int *ary, const char *starts, int *out", input_expr="ary[i]",
        scan_expr="across_seg_boundary ? b : (a+b)", neutral="0", is_segment_start_expr="starts[i]",
        output_statement="out[i] = item",
    )  # fmt: skip
    kernel(gpuarray.to_gpu(host), gpuarray.to_gpu(starts.astype(np.int8)), out)
    expected, total = [], 0
    for value, start in zip(host, starts, strict=True):
        total = value if start else total + value
        expected.append(total)
    np.testing.assert_array_equal(out.get(), expected)


def test_reductions_of_views():
    host = sample(np.int64, 4 * 60 * 7).reshape(4, 60, 7)
    array = gpuarray.to_gpu(host)
    kernel = reduction.get_sum_kernel(None, np.int64)
    for view, expected in ((array[:, ::-2, 1:], host[:, ::-2, 1:]), (array.T, host.T), (array[1:1], host[1:1])):
        assert kernel(view).get() == expected.sum()
        for axis in (0, 1, (0, 2)):
            np.testing.assert_array_equal(kernel(view, axis=axis).get(), expected.sum(axis))
    out = gpuarray.zeros((4, 14), np.int64)
    kernel(array, axis=1, out=out[:, ::2])
    np.testing.assert_array_equal(out.get()[:, ::2], host.sum(1))


def test_an_allocator_gives_the_results():
    from pycuda.tools import DeviceMemoryPool

    pool = DeviceMemoryPool()
    kernel = ReductionKernel(np.int64, 0, "a+b", allocator=pool.allocate)
    host = sample(np.int64, 100)
    result = kernel(gpuarray.to_gpu(host))
    assert pool.active_blocks == 1 and result.get() == host.sum()


def test_shapes_that_do_not_broadcast_are_named():
    dot = ReductionKernel(np.float32, "0", "a + b", "x[i] * y[i]", "const float *x, const float *y")
    with pytest.raises(ValueError, match=r"do not broadcast together: 'x' \(6,\), 'y' \(3,\)"):
        dot(gpuarray.zeros(6, np.float32), gpuarray.zeros(3, np.float32))
