"""Where arrays have their memory from, what waits for the device, and calls that are like one before."""

import json

import numpy as np
import pytest

import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.tools import DeviceMemoryPool
from rtcg import numpy as rnp, tracing
from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")


class Counted:
    """An allocator that notes the sizes it was asked for."""

    def __init__(self, allocate):
        self.allocate, self.sizes = allocate, []

    def __call__(self, nbytes):
        self.sizes.append(nbytes)
        return self.allocate(nbytes)


OPERATIONS = {
    "a + b": lambda a, b: a + b,
    "2 - a": lambda a, b: 2 - a,
    "-a": lambda a, b: -a,
    "a > b": lambda a, b: a > b,
    "sin": lambda a, b: np.sin(a),
    "sum": lambda a, b: a.sum(),
    "sum over rows": lambda a, b: gpuarray.sum(a, 1),
    "std": lambda a, b: a.std(),
    "cumsum": lambda a, b: rnp.cumsum(a, 0),
    "a @ b.T": lambda a, b: a @ b.T,
    "dot": lambda a, b: gpuarray.dot(a, b, np.float32),
    "take": lambda a, b: gpuarray.take(a, np.array([1, 3, 2])),
    "a[[1, 0]]": lambda a, b: a[[1, 0]],
    "sort": lambda a, b: rnp.sort(a),
    "copy": lambda a, b: a.copy(),
    "astype": lambda a, b: a.astype(np.float64),
    "reshape that copies": lambda a, b: a.T.reshape(-1),
    "ravel that copies": lambda a, b: a.ravel("F"),
    "concatenate": lambda a, b: gpuarray.concatenate([a, b]),
    "empty_like": lambda a, b: gpuarray.zeros_like(a),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("source", ["driver", "pool"])
def test_results_come_from_the_operands_allocator(name, source):
    pool = DeviceMemoryPool()
    allocator = Counted(cuda.mem_alloc if source == "driver" else pool.allocate)
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    operation = OPERATIONS[name]
    expected = operation(gpuarray.to_gpu(host), gpuarray.to_gpu(host[::-1])).get()
    a, b = gpuarray.to_gpu(host, allocator), gpuarray.to_gpu(host[::-1], allocator)
    for _ in range(2):
        del allocator.sizes[:]
        result = operation(a, b)
        assert result.allocator is allocator
        assert result.nbytes in allocator.sizes
        np.testing.assert_array_equal(result.get(), expected)
        if source == "pool":
            assert isinstance(result.gpudata, type(pool.allocate(4)))


def test_functions_take_an_allocator():
    a = gpuarray.to_gpu(np.arange(6, dtype=np.float32))
    for call in (
        lambda allocator: gpuarray.sum(a, allocator=allocator),
        lambda allocator: a.max(allocator=allocator),
        lambda allocator: gpuarray.dot(a, a, allocator=allocator),
        lambda allocator: gpuarray.logical_not(a, allocator=allocator),
        lambda allocator: gpuarray.logical_or(a, a, allocator=allocator),
        lambda allocator: gpuarray.arange(5, dtype=np.float32, allocator=allocator),
        lambda allocator: gpuarray.subset_sum(np.array([0, 2]), a, allocator=allocator),
    ):
        allocator = Counted(cuda.mem_alloc)
        result = call(allocator)
        assert result.nbytes in allocator.sizes
        np.testing.assert_array_equal(result.get(), call(None).get())


def test_what_an_allocator_raises_reaches_the_caller():
    def allocate(nbytes):
        if nbytes > 100:
            raise KeyError(f"no {nbytes} bytes")
        return cuda.mem_alloc(nbytes)

    a = gpuarray.to_gpu(np.ones(10, np.float32), allocate)
    with pytest.raises(KeyError, match="no 400 bytes"):
        a + gpuarray.to_gpu(np.ones((10, 10), np.float32))
    assert (a + 1).get().tolist() == [2] * 10


USES = {
    "a + 1": lambda a: a + 1,
    "1 + a": lambda a: 1 + a,
    "a += 1": lambda a: a.__iadd__(1),
    "get": lambda a: a.get(),
    "set": lambda a: a.set(np.zeros(a.shape, a.dtype)),
    "sum": lambda a: a.sum(),
    "fill": lambda a: a.fill(2),
    "a[1:] = 3": lambda a: a.__setitem__(slice(1, None), 3),
    "a[::2]": lambda a: a[::2].get(),
    "take": lambda a: gpuarray.take(a, np.array([0, 1])),
    "put": lambda a: rnp.put(a, np.array([0, 1]), a),
    "sort": lambda a: rnp.sort(a),
    "cumsum": lambda a: rnp.cumsum(a),
    "copy": lambda a: a.copy(),
    "matmul": lambda a: a @ a,
    "astype": lambda a: a.astype(np.float64),
    "clear": lambda a: a._clear(),
    "where": lambda a: gpuarray.where(a, a, 1),
    "concatenate": lambda a: gpuarray.concatenate([a, a]),
    "nonzero": lambda a: rnp.nonzero(a),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("allocator", [None, cuda.mem_alloc, DeviceMemoryPool().allocate])
def test_freed_memory_is_not_used(use, allocator):
    a = gpuarray.to_gpu(np.arange(6, dtype=np.float32), allocator)
    USES[use](gpuarray.to_gpu(np.arange(6, dtype=np.float32), allocator))
    a.gpudata.free()
    with pytest.raises(cuda.LogicError, match="freed"):
        USES[use](a)


# -- calls that are like one before -------------------------------------------------------------------


def test_repeated_calls_look_at_what_differs():
    """The second of two equal calls takes the plan of the first; nearly equal ones must not."""
    host = np.arange(64, dtype=np.float32)
    a, b = gpuarray.to_gpu(host), gpuarray.to_gpu(host[::-1].copy())
    views = [slice(0, 32), slice(1, 33), slice(4, 36), slice(None, None, 2), slice(None, None, -2), slice(63, 31, -1)]
    for _ in range(3):
        for x in views:
            for y in views:
                np.testing.assert_array_equal((a[x] + b[y]).get(), host[x] + host[::-1][y])
                assert gpuarray.dot(a[x], b[y]).get() == np.dot(host[x], host[::-1][y])
            np.testing.assert_array_equal(a[x].sum().get(), host[x].sum())
            np.testing.assert_array_equal(a[x].reshape(4, 8).max(-1).get(), host[x].reshape(4, 8).max(-1))
            np.testing.assert_array_equal(a[x].reshape(4, 8).max(0).get(), host[x].reshape(4, 8).max(0))
            kept = a[x].reshape(4, 8).max(0, keepdims=True)
            assert kept.shape == (1, 8)


def test_repeated_sums_of_long_runs_share_nothing_with_other_streams():
    """Long runs are split over blocks, whose parts meet in memory of the stream that is current then."""
    host = np.arange(100_000, dtype=np.int64)
    a, streams = gpuarray.to_gpu(host), [None, cuda.Stream(), cuda.Stream()]
    for n in (100_000, 99_999, 50_000):
        for stream in streams * 3:
            total, product = gpuarray.sum(a[:n], stream=stream), gpuarray.dot(a[:n], a[:n], stream=stream)
            cuda.Context.synchronize()
            assert total.get() == host[:n].sum() and product.get() == (host[:n] ** 2).sum()


def test_repeated_calls_take_their_own_scalars():
    host = np.array([1, 2, 3], np.int8)
    a = gpuarray.to_gpu(host)
    for scalar in (1, 2, -3, 2.5, 7.5, True, np.int8(3), np.int16(300), np.float32(0.5), 1j, 4):
        for _ in range(2):
            for actual, expected in ((a * scalar, host * scalar), (scalar - a, None)):
                expected = host.dtype.type(0) + (scalar - host) if expected is None else expected
                assert actual.dtype == expected.dtype
                np.testing.assert_array_equal(actual.get(), expected)
    for scalar in (1, 300, -300, 2):
        np.testing.assert_array_equal((a < scalar).get(), host < scalar)
    for _ in range(2):
        assert (a + 1).get().tolist() == [2, 3, 4]
        with pytest.raises(OverflowError, match="300 out of bounds for int8"):
            a + 300
    assert (a**2).get().tolist() == [1, 4, 9]
    for _ in range(2):
        assert (a**3).get().tolist() == [1, 8, 27]
        with pytest.raises(ValueError, match="negative integer powers"):
            a**-3


def test_repeated_calls_in_place_see_overlap():
    host = np.arange(16, dtype=np.float32)
    a = gpuarray.to_gpu(host)
    apart = gpuarray.to_gpu(np.ones(8, np.float32))
    for source in (apart, apart, a[4:12], apart, a[8:], a[:1], a[:1], apart, a[7:8]):
        expected = a.get()
        expected[:8] += source.get()
        a[:8] += source
        np.testing.assert_array_equal(a.get(), expected)


def test_arrays_of_more_than_2_to_the_31_elements():
    """Only few pages of the memory are ever touched."""
    n = 2**31 + 16
    a = gpuarray.GPUArray((n,), np.int8)
    a[n - 32 :] = np.arange(32, dtype=np.int8)
    assert (a[n - 32 :] + a[n - 16 :][:1]).get().tolist() == list(range(16, 48))
    apart = a[:: 2**30]
    apart.set(np.array([1, 2, 3], np.int8))
    assert (apart + apart).get().tolist() == [2, 4, 6]
    assert apart[::-1].sum().get() == 6 and apart.argmax().get() == 2
    assert int(a[2**31]) == 3
    a[2**31 + 5] = 77
    assert gpuarray.take(a, np.array([2**31 + 5, 2**30, -1])).get().tolist() == [77, 2, 31]
    square = a[: 2**31].reshape(2**16, 2**15)
    square[:: 2**15, :2] = np.array([[4, 5], [6, 7]], np.int8)
    assert square.T[:2, :: 2**15].get().tolist() == [[4, 6], [5, 7]]
    assert int(a[2**30 + 1]) == 7


# -- what waits ---------------------------------------------------------------------------------------

WAITS = ("Synchronize", "cuMemcpyDtoH", "cuMemcpyHtoD", "cuMemAlloc", "cuMemFree", "cuEventQuery", "cuStreamQuery")


def waits(events):
    names = [event["name"] for event in events if event.get("ph") == "X"]
    return [name for name in names if any(part in name for part in WAITS)], names


def test_operations_do_not_wait(tmp_path):
    a = gpuarray.to_gpu(np.arange(1024, dtype=np.float32).reshape(32, 32))
    device_indices = gpuarray.to_gpu(np.array([3, 1, 2]))

    def work():
        b = a + a
        b *= 2.0
        c = np.sin(b) @ a.T
        c[::2] = a[1::2]
        d = gpuarray.take(c, device_indices)
        e = rnp.cumsum(rnp.sort(c), 0)
        return [a.sum(), b.mean(0), c.std(), d.max(), e.argmin(), a.copy("F"), a.astype(np.float64), d.fill(1)]

    for _ in range(2):
        kept = work()
        del kept
    path = tmp_path / "trace.json"
    with tracing.trace(path):
        work()
    found, names = waits(json.loads(path.read_text()))
    assert any(name.startswith("cuLaunchKernel") for name in names)
    assert found == []


def test_a_sum_of_few_elements_is_one_launch(tmp_path):
    a = gpuarray.to_gpu(np.arange(1024, dtype=np.float32))
    gpuarray.sum(a)
    path = tmp_path / "trace.json"
    with tracing.trace(path):
        gpuarray.sum(a)
    _, names = waits(json.loads(path.read_text()))
    calls = [name for name in names if name.startswith("cu")]
    assert len(calls) == 1 and calls[0].startswith("cuLaunchKernel")


# -- copies through page-locked slots -----------------------------------------------------------------


def test_staged_copies_bring_every_byte():
    run_python(
        """
        import numpy as np
        import pycuda.autoprimaryctx
        import pycuda.driver as cuda
        import pycuda.gpuarray as gpuarray

        rng = np.random.default_rng(1)
        stream = cuda.Stream()
        for nbytes in (1, 4097, (2 << 20) + 5, 37_000_001):
            host = rng.integers(0, 256, nbytes + 3, dtype=np.uint8)[3:]
            a = gpuarray.to_gpu(host)
            assert (a.get() == host).all()
            b = gpuarray.empty_like(a)
            b.set_async(host[::-1].copy(), stream=stream)
            assert (b.get(stream=stream) == host[::-1]).all()
            c = (a ^ b).get()
            assert (c == host ^ host[::-1]).all()
            back = np.empty_like(host)
            memory = cuda.mem_alloc(nbytes)
            cuda.memcpy_htod(memory, host)
            cuda.memcpy_dtoh(back, memory)
            assert (back == host).all()
        try:
            cuda.memcpy_htod(int(memory), np.zeros(1 << 30, np.uint8)[: 40_000_000 + (1 << 24)])
        except cuda.LogicError as error:
            assert "cuMemcpyHtoD" in str(error), error
        pycuda.autoprimaryctx.context.synchronize()
        """,
        RTCG_STAGING="always",
    )


def test_staged_copies_go_through_page_locked_memory(tmp_path):
    path = tmp_path / "trace.json"
    run_python(
        """
        import numpy as np
        import pycuda.autoprimaryctx
        import pycuda.gpuarray as gpuarray
        gpuarray.to_gpu(np.arange(5_000_000, dtype=np.int32)).get()
        """,
        RTCG_STAGING="always",
        RTCG_TRACE=path,
    )
    _, names = waits(json.loads(path.read_text()))
    assert names.count("cuMemHostAlloc") == 1
    # 20 MB in parts of 2 MiB.
    assert 10 <= names.count("cuMemcpyHtoDAsync") <= 11
    assert 10 <= names.count("cuMemcpyDtoHAsync") <= 11
    assert names.count("cuMemFreeHost") <= 1
