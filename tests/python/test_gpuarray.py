"""pycuda.gpuarray against NumPy: the same operation on both, equal values, dtypes and shapes."""

import operator

import numpy as np
import pytest

import pycuda.gpuarray as gpuarray
from rtcg import numpy as rnp

DTYPES = [
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
    np.float16, np.float32, np.float64, np.complex64, np.complex128,
]  # fmt: skip
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv]


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


def sample(dtype, shape, seed):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(1, 50, shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return rng.normal(size=shape).astype(dtype)


def assert_same(actual, expected):
    """Equal bit for bit, but complex products and quotients, whose rounding NumPy does not define."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if expected.dtype.kind == "c":
        np.testing.assert_allclose(actual, expected, rtol=16 * np.finfo(expected.dtype).eps)
    else:
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (1000,), (3, 5), (2, 3, 4), (0,), (4, 0)])
def test_round_trip(dtype, shape):
    host = sample(dtype, shape, 1)
    device = gpuarray.to_gpu(host)
    assert_same(device.get(), host)
    assert device.nbytes == host.nbytes and device.size == host.size and device.ndim == host.ndim


def test_round_trip_keeps_fortran_order():
    host = np.asfortranarray(sample(np.float32, (5, 7), 2))
    device = gpuarray.to_gpu(host)
    assert device.strides == host.strides
    back = device.get()
    assert back.flags.f_contiguous
    assert_same(back, host)


def test_strided_host_arrays_are_compacted():
    host = np.arange(24, dtype=np.int32).reshape(4, 6)[::2, ::3]
    assert_same(gpuarray.to_gpu(host).get(), host)


def sampled(first, second):
    """Every pair for the addition, a fifth of the pairs, each time others, for the other operators."""
    for o, op in enumerate(OPERATORS):
        for i, a in enumerate(first):
            for j, b in enumerate(second):
                if op is operator.add or (i + 2 * j) % 5 == o:
                    yield pytest.param(op, a, b, id=f"{op.__name__}-{name_of(a)}-{name_of(b)}")


def name_of(value):
    return value.__name__ if isinstance(value, type) else f"{type(value).__name__}({value})"


@pytest.mark.parametrize("op, left, right", list(sampled(DTYPES, DTYPES)))
def test_arithmetic_of_arrays(op, left, right):
    a, b = sample(left, (257,), 3), sample(right, (257,), 4)
    if op is operator.truediv:
        b = np.where(b == 0, np.ones_like(b), b)
    try:
        expected = op(a, b)
    except TypeError:
        with pytest.raises(TypeError, match="boolean subtract"):
            op(gpuarray.to_gpu(a), gpuarray.to_gpu(b))
        return
    assert_same(op(gpuarray.to_gpu(a), gpuarray.to_gpu(b)).get(), expected)


SCALARS = [3, 2.5, True, 1 + 2j, np.float32(1.5), np.float64(0.25), np.int16(7)]


@pytest.mark.parametrize("op, dtype, scalar", list(sampled(DTYPES[1:], SCALARS)))
def test_arithmetic_with_scalars(op, dtype, scalar):
    host = sample(dtype, (100,), 5)
    device = gpuarray.to_gpu(host)
    assert_same(op(device, scalar).get(), op(host, scalar))
    assert_same(op(scalar, device).get(), op(scalar, host))


@pytest.mark.parametrize("op", [operator.iadd, operator.isub, operator.imul, operator.itruediv])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_in_place(op, dtype):
    a, b = sample(dtype, (64,), 6), sample(dtype, (64,), 7)
    device = gpuarray.to_gpu(a)
    same = device
    device = op(device, gpuarray.to_gpu(b))
    device = op(device, 2)
    assert device is same
    assert_same(device.get(), op(op(a.copy(), b), a.dtype.type(2)))


def test_in_place_refuses_to_lose_the_kind():
    device = gpuarray.to_gpu(np.arange(3, dtype=np.int32))
    with pytest.raises(TypeError, match="float64 to int32"):
        device += 1.5


def test_python_integers_out_of_range_overflow():
    device = gpuarray.to_gpu(np.arange(3, dtype=np.uint8))
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        device + 300


def test_shapes_must_match():
    a, b = gpuarray.zeros((2, 3), np.float32), gpuarray.zeros((3, 2), np.float32)
    with pytest.raises(ValueError, match=r"\(2, 3\).*\(3, 2\)|\[2, 3\].*\[3, 2\]"):
        a + b


def test_mixed_memory_orders_are_never_paired_wrongly():
    host = np.arange(6, dtype=np.float32).reshape(2, 3)
    c, f = gpuarray.to_gpu(host), gpuarray.to_gpu(np.asfortranarray(host))
    assert_same((c + f).get(), host + host)
    assert_same((f + c).get(), host + host)
    assert_same(f.astype(np.float64).get(), host.astype(np.float64))


@pytest.mark.parametrize("order", ["C", "F"])
def test_zeros_and_empty(order):
    zeros = gpuarray.zeros((3, 4), np.float16, order=order)
    assert_same(zeros.get(), np.zeros((3, 4), np.float16))
    empty = gpuarray.empty((3, 4), np.int64, order=order)
    assert empty.strides == np.empty((3, 4), np.int64, order=order).strides
    assert gpuarray.empty(5, np.int8).shape == (5,)


def test_new_arrays_are_of_numpys_default_dtype():
    for name in ("empty", "zeros", "ones"):
        assert getattr(gpuarray, name)((2, 3)).dtype == getattr(np, name)((2, 3)).dtype == np.float64
        assert getattr(gpuarray, name)(3, np.float32, None).dtype == np.float32
    assert gpuarray.GPUArray(3, allocator=None, order="F").dtype == gpuarray.GPUArray(3, None).dtype == np.float64
    assert rnp.full(3, 1.5).dtype == np.float64 and rnp.full(3, 2).dtype == np.int64


def test_bad_order_and_dtype_are_named():
    with pytest.raises(ValueError, match="order.*'K'"):
        gpuarray.empty((2,), np.float32, order="K")
    with pytest.raises(TypeError, match="datetime64"):
        gpuarray.empty((2,), "datetime64[s]")


def test_set_checks_size_and_dtype():
    device = gpuarray.zeros(4, np.float32)
    device.set(np.arange(4, dtype=np.float32))
    assert_same(device.get(), np.arange(4, dtype=np.float32))
    with pytest.raises(ValueError, match="size|shape"):
        device.set(np.arange(5, dtype=np.float32))
    with pytest.raises(ValueError, match="float64"):
        device.set(np.arange(4, dtype=np.float64))


def test_get_into_an_array():
    device = gpuarray.to_gpu(np.arange(6, dtype=np.int32).reshape(2, 3))
    target = np.empty((2, 3), np.int32)
    assert device.get(target) is target
    assert_same(target, np.arange(6, dtype=np.int32).reshape(2, 3))
    with pytest.raises(TypeError, match="int64"):
        device.get(np.empty((2, 3), np.int64))
    with pytest.raises(ValueError):
        device.get(np.empty((3, 3), np.int32))


def test_printing_shows_the_host_copy():
    host = np.arange(4, dtype=np.float64)
    device = gpuarray.to_gpu(host)
    assert str(device) == str(host)
    assert repr(device) == repr(host)


def test_array_interface_and_gpudata():
    device = gpuarray.to_gpu(np.arange(6, dtype=np.float32).reshape(2, 3))
    interface = device.__cuda_array_interface__
    assert interface["shape"] == (2, 3) and interface["typestr"] == "<f4" and interface["version"] == 3
    assert interface["data"] == (device.ptr, False) and interface["strides"] == (12, 4)
    assert int(device.gpudata) == device.ptr
    assert gpuarray.empty(0, np.float32).gpudata is None


def test_arrays_are_kernel_arguments():
    import pycuda.driver as drv
    from pycuda.compiler import SourceModule

    source = "__global__ void halve(float *a, int n) { int i = threadIdx.x; if (i < n) a[i] /= 2; }"
    function = SourceModule(source).get_function("halve")
    device = gpuarray.to_gpu(np.arange(10, dtype=np.float32))
    function(device, np.int32(10), block=(32, 1, 1))
    function.prepare("Pi").prepared_call((1, 1), (32, 1, 1), device.gpudata, 10)
    assert_same(device.get(), np.arange(10, dtype=np.float32) / 4)
    assert drv.mem_get_info()[0] > 0


def test_views_of_gpudata_keep_memory_alive():
    device = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
    memory = device.gpudata
    del device
    fillers = [gpuarray.zeros(1000, np.float32) for _ in range(8)]
    again = gpuarray.GPUArray((1000,), np.float32, gpudata=memory)
    assert_same(again.get(), np.arange(1000, dtype=np.float32))
    assert all(not filler.get().any() for filler in fillers)


def test_many_arrays_return_their_memory():
    import pycuda.driver as drv

    gpuarray.zeros(1 << 20, np.float32)
    before = drv.mem_get_info()[0]
    for _ in range(300):
        gpuarray.zeros(1 << 20, np.float32) + 1
    assert abs(drv.mem_get_info()[0] - before) < 64 << 20


def test_arrays_are_not_hashed_and_have_no_truth_value():
    a = gpuarray.zeros(3, np.float32)
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(a)
    assert bool(gpuarray.zeros(1, np.int8) + 1)
    assert_same(np.asarray(a + 1), np.ones(3, np.float32))
