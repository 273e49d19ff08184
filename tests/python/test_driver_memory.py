"""Memory in depth: what may be copied, when it is gone, what the host can see of it."""

import array
import ctypes
import gc
import mmap

import numpy as np
import pytest

import pycuda.driver as cuda

pytestmark = pytest.mark.usefixtures("context")

WIDTHS = [(8, np.uint8, 0xA5), (16, np.uint16, 0xBEEF), (32, np.uint32, 0xDEADBEEF)]


# -- allocations ------------------------------------------------------------------------------


def test_every_use_after_free_is_refused():
    memory = cuda.mem_alloc(64)
    memory.free()
    host = np.zeros(8)
    for use in (
        lambda: int(memory),
        lambda: memory.__index__(),
        lambda: memory.free(),
        lambda: memory.as_buffer(4),
        lambda: cuda.memcpy_htod(memory, host),
        lambda: cuda.memcpy_dtoh(host, memory),
        lambda: cuda.memcpy_dtod(memory, memory, 4),
        lambda: cuda.memset_d8(memory, 0, 1),
        lambda: cuda.mem_get_address_range(memory),
    ):
        with pytest.raises(cuda.LogicError, match="free"):
            use()


def test_freed_managed_memory():
    memory = cuda.managed_zeros(4, np.float32).base
    memory.free()
    for use in (lambda: int(memory), memory.free, memory.get_device_pointer, lambda: memory.as_buffer(4)):
        with pytest.raises(cuda.LogicError, match="free"):
            use()


def test_sizes_that_cannot_be():
    for bad in (-1, 2.5, "10", None):
        with pytest.raises((TypeError, OverflowError)):
            cuda.mem_alloc(bad)
    assert cuda.mem_alloc(np.int64(16)).nbytes == 16


def test_out_of_memory_collects_garbage_and_tries_again():
    class Node:
        pass

    gc.collect()
    cuda.Context.synchronize()
    share = cuda.mem_get_info()[0] * 6 // 10
    node = Node()
    node.self, node.memory = node, cuda.mem_alloc(share)
    gc.disable()
    try:
        del node
        assert cuda.mem_alloc(share).nbytes == share
    finally:
        gc.enable()


def test_memory_that_is_held_is_not_given_away():
    share = cuda.mem_get_info()[0] * 6 // 10
    held = cuda.mem_alloc(share)
    with pytest.raises(cuda.MemoryError, match="cuMemAlloc failed: out of memory"):
        cuda.mem_alloc(share)
    assert held.nbytes == share
    del held
    assert cuda.mem_alloc(share).nbytes == share


def test_mem_get_info_counts():
    before, total = cuda.mem_get_info()
    memory = cuda.mem_alloc(64 << 20)
    during, _ = cuda.mem_get_info()
    assert before - during >= 64 << 20
    memory.free()
    after, same_total = cuda.mem_get_info()
    # Other processes may use a real device meanwhile.
    assert after - during >= 60 << 20 and same_total == total


def test_address_range():
    memory = cuda.mem_alloc(1000)
    base, size = cuda.mem_get_address_range(int(memory) + 999)
    assert base == int(memory) and size >= 1000
    with pytest.raises(cuda.LogicError):
        cuda.mem_get_address_range(8)


@pytest.mark.parametrize("access_size", [4, 8, 16])
def test_pitch(access_size):
    memory, pitch = cuda.mem_alloc_pitch(width=1001, height=7, access_size=access_size)
    assert pitch >= 1001 and pitch % access_size == 0
    assert cuda.mem_get_address_range(memory)[1] >= pitch * 6 + 1001
    with pytest.raises(cuda.LogicError):
        cuda.mem_alloc_pitch(16, 16, 3)


def test_alloc_like_and_equal_addresses():
    a = np.zeros((3, 5), np.complex64)
    first, second = cuda.mem_alloc_like(a), cuda.mem_alloc_like(a)
    assert first.nbytes == a.nbytes
    assert int(first) != int(second)


# -- copies -----------------------------------------------------------------------------------

PAYLOAD = bytes(range(16))


def mapped():
    memory = mmap.mmap(-1, 16)
    memory.write(PAYLOAD)
    return memory


BUFFERS = {
    "bytes": lambda: PAYLOAD,
    "bytearray": lambda: bytearray(PAYLOAD),
    "memoryview": lambda: memoryview(bytearray(PAYLOAD)),
    "memoryview of ints": lambda: memoryview(bytearray(PAYLOAD)).cast("i"),
    "array.array": lambda: array.array("I", PAYLOAD),
    "ctypes": lambda: (ctypes.c_double * 2).from_buffer(bytearray(PAYLOAD)),
    "mmap": mapped,
    "ndarray": lambda: np.frombuffer(bytearray(PAYLOAD), np.int16),
    "0-d array": lambda: np.frombuffer(bytearray(PAYLOAD), np.complex128).reshape(()),
    "NumPy scalar": lambda: np.frombuffer(PAYLOAD, np.complex128)[0],
    "structured": lambda: np.frombuffer(bytearray(PAYLOAD), [("a", "i4"), ("b", "f4"), ("c", "V8")]),
    "dates": lambda: np.frombuffer(bytearray(PAYLOAD), "M8[s]"),
    "big-endian": lambda: np.frombuffer(bytearray(PAYLOAD), ">f4"),
    "subclass": lambda: np.frombuffer(bytearray(PAYLOAD), np.int32).view(np.recarray),
}
READ_ONLY = ["bytes", "NumPy scalar"]


@pytest.mark.parametrize("kind", BUFFERS)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_buffers_of_every_kind(kind, asynchronous):
    stream = cuda.Stream()
    source, memory = BUFFERS[kind](), cuda.mem_alloc(16)
    if asynchronous:
        cuda.memcpy_htod_async(memory, source, stream)
    else:
        cuda.memcpy_htod(memory, source)
    stream.synchronize()
    assert cuda.from_device(memory, 16, np.uint8).tobytes() == PAYLOAD
    cuda.memcpy_htod(memory, PAYLOAD[::-1])

    def back():
        if asynchronous:
            cuda.memcpy_dtoh_async(source, memory, stream)
        else:
            cuda.memcpy_dtoh(source, memory)
        stream.synchronize()

    if kind in READ_ONLY:
        with pytest.raises(TypeError, match="read-only"):
            back()
        return
    back()
    assert np.frombuffer(source, np.uint8).tobytes() == PAYLOAD[::-1] if kind != "dates" else True
    if isinstance(source, np.ndarray):
        assert source.tobytes() == PAYLOAD[::-1]


def test_to_device_takes_every_buffer():
    for kind, make in BUFFERS.items():
        assert cuda.from_device(cuda.to_device(make()), 16, np.uint8).tobytes() == PAYLOAD, kind


def test_fortran_order_is_copied_as_it_lies_in_memory():
    a = np.asfortranarray(np.arange(12).reshape(3, 4))
    raw = cuda.from_device(cuda.to_device(a), 12, a.dtype)
    assert raw.tolist() == a.T.ravel().tolist()
    b = np.empty((3, 4), order="F", dtype=a.dtype)
    cuda.memcpy_dtoh(b, cuda.to_device(a))
    assert (a == b).all()


@pytest.mark.parametrize(
    "view",
    [lambda a: a[::2], lambda a: a[:, 1:], lambda a: a[::-1], lambda a: np.broadcast_to(a[0], (8, 8))],
    ids=["step", "columns", "reversed", "broadcast"],
)
def test_strided_memory_is_refused(view):
    a, memory = np.zeros((8, 8)), cuda.mem_alloc(512)
    for copy in (cuda.memcpy_htod, cuda.memcpy_htod_async):
        with pytest.raises(ValueError, match="src is not contiguous"):
            copy(memory, view(a))
    with pytest.raises((ValueError, TypeError), match="dest is (not contiguous|read-only)"):
        cuda.memcpy_dtoh(view(a), memory)
    with pytest.raises(ValueError):
        cuda.memcpy_htod(memory, memoryview(bytearray(16))[::2])


@pytest.mark.parametrize(
    "bad", [None, 5, 2.5, "text", [1, 2], object()], ids=["None", "int", "float", "str", "list", "object"]
)
def test_what_is_no_buffer(bad):
    memory = cuda.mem_alloc(16)
    with pytest.raises(TypeError, match="src"):
        cuda.memcpy_htod(memory, bad)
    with pytest.raises(TypeError, match="dest"):
        cuda.memcpy_dtoh(bad, memory)


@pytest.mark.parametrize(
    "bad", [None, 2.5, "text", [1], object(), np.zeros(3)], ids=["None", "float", "str", "list", "object", "array"]
)
def test_what_is_no_device_pointer(bad):
    for use in (
        lambda: cuda.memcpy_htod(bad, b"1234"),
        lambda: cuda.memcpy_dtoh(bytearray(4), bad),
        lambda: cuda.memset_d32(bad, 0, 1),
        lambda: cuda.mem_get_address_range(bad),
    ):
        with pytest.raises(TypeError):
            use()


def test_copies_of_nothing_do_nothing():
    memory = cuda.mem_alloc(4)
    cuda.memcpy_htod(memory, b"")
    cuda.memcpy_htod(memory, np.zeros((0, 3)))
    cuda.memcpy_dtoh(bytearray(), memory)
    cuda.memcpy_htod_async(memory, np.zeros(0))
    cuda.memcpy_dtod(memory, memory, 0)
    cuda.memset_d8(memory, 1, 0)


def test_copies_to_addresses_inside_an_allocation():
    memory = cuda.to_device(np.zeros(8, np.int32))
    cuda.memcpy_htod(int(memory) + 8, np.array([5, 6], np.int32))
    cuda.memcpy_dtod(np.uint64(int(memory) + 24), int(memory) + 8, 8)
    assert cuda.from_device(memory, 8, np.int32).tolist() == [0, 0, 5, 6, 0, 0, 5, 6]


def test_bounds_of_plain_addresses(on_virtual_device):
    """The virtual GPU checks every range; a real one checks only pages."""
    if not on_virtual_device:
        pytest.skip("a real device may copy past the end of an allocation")
    memory = cuda.mem_alloc(64)
    for address, nbytes in ((int(memory) + 32, 33), (int(memory) - 8, 16), (16, 4)):
        with pytest.raises(cuda.LogicError, match="invalid argument"):
            cuda.memcpy_htod(address, bytes(nbytes))


def test_peer_copies_within_a_context(context):
    a = np.arange(100)
    source, target = cuda.to_device(a), cuda.mem_alloc_like(a)
    cuda.memcpy_peer(target, source, a.nbytes)
    assert (cuda.from_device_like(target, a) == a).all()
    other = context.get_device().make_context()
    elsewhere = cuda.mem_alloc_like(a)
    other.pop()
    cuda.memcpy_peer(elsewhere, source, a.nbytes, dest_context=other, src_context=context)
    cuda.memset_d8(target, 0, a.nbytes)
    cuda.memcpy_peer_async(target, elsewhere, a.nbytes, context, other, cuda.Stream())
    cuda.Context.synchronize()
    assert (cuda.from_device_like(target, a) == a).all()


def test_async_copies_survive_their_arrays():
    stream = cuda.Stream()
    memory = cuda.mem_alloc(1 << 20)
    for value in range(8):
        for make in (np.empty, cuda.pagelocked_empty):
            source = make(1 << 20, np.uint8)
            source[...] = value
            cuda.memcpy_htod_async(memory, source, stream)
            del source
            gc.collect()
            fill = [np.full(1 << 20, 0xFF, np.uint8) for _ in range(2)]
            target = np.empty(1 << 20, np.uint8)
            view = target[:]
            cuda.memcpy_dtoh_async(target, memory, stream)
            del target, fill
            stream.synchronize()
            assert (view == value).all()


# -- fills ------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits, dtype, value", WIDTHS)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_memset(bits, dtype, value, asynchronous):
    n, stream = 1000, cuda.Stream()
    memory = cuda.to_device(np.zeros(n + 2, dtype))
    start = int(memory) + dtype().itemsize
    if asynchronous:
        getattr(cuda, f"memset_d{bits}_async")(start, value, n, stream)
        stream.synchronize()
    else:
        getattr(cuda, f"memset_d{bits}")(start, value, n)
    expected = np.full(n + 2, value, dtype)
    expected[[0, -1]] = 0
    assert (cuda.from_device_like(memory, expected) == expected).all()


@pytest.mark.parametrize("bits, dtype, value", WIDTHS)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_memset_of_rectangles(bits, dtype, value, asynchronous):
    height, pitch, width = 5, 64, 9
    memory, stream = cuda.to_device(np.zeros((height, pitch), np.uint8)), cuda.Stream()
    if asynchronous:
        getattr(cuda, f"memset_d2d{bits}_async")(memory, pitch, value, width, height, stream)
        stream.synchronize()
    else:
        getattr(cuda, f"memset_d2d{bits}")(memory, pitch, value, width, height)
    expected = np.zeros((height, pitch), np.uint8)
    expected.view(dtype)[:, :width] = value
    assert (cuda.from_device_like(memory, expected) == expected).all()


@pytest.mark.parametrize("bits, dtype, value", WIDTHS)
def test_fill_values_out_of_range(bits, dtype, value):
    memory = cuda.mem_alloc(16)
    for bad in (1 << bits, -1):
        with pytest.raises(OverflowError):
            getattr(cuda, f"memset_d{bits}")(memory, bad, 1)


# -- host memory ------------------------------------------------------------------------------


def test_pagelocked_flags():
    flags = cuda.host_alloc_flags
    a = cuda.pagelocked_empty((2, 3), np.float64, order="F", mem_flags=flags.PORTABLE | flags.DEVICEMAP)
    assert a.flags.f_contiguous and a.strides == (8, 16) and not a.flags.owndata
    assert a.base.get_flags() & (flags.PORTABLE | flags.DEVICEMAP) == flags.PORTABLE | flags.DEVICEMAP
    assert a.base.get_device_pointer() != 0
    assert cuda.HostAllocation is cuda.PagelockedHostAllocation


def test_kernels_reach_mapped_memory():
    from pycuda.compiler import SourceModule

    kernel = SourceModule("__global__ void k(int *a) { a[threadIdx.x] += 7; }").get_function("k")
    a = cuda.pagelocked_zeros(8, np.int32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
    kernel(np.uintp(a.base.get_device_pointer()), block=(8, 1, 1))
    cuda.Context.synchronize()
    assert a.tolist() == [7] * 8
    b = cuda.aligned_zeros(4096, np.int32)
    registered = cuda.register_host_memory(b, cuda.mem_host_register_flags.DEVICEMAP)
    kernel(np.uintp(registered.base.get_device_pointer()), block=(8, 1, 1))
    cuda.Context.synchronize()
    assert b[:9].tolist() == [7] * 8 + [0]


def test_host_memory_is_freed_once():
    base = cuda.pagelocked_empty(4, np.int8).base
    base.free()
    with pytest.raises(cuda.LogicError):
        base.free()
    base = cuda.aligned_empty(4, np.int8).base
    base.free()
    with pytest.raises(cuda.LogicError):
        base.free()
    registered = cuda.register_host_memory(cuda.aligned_zeros(4096, np.uint8)).base
    registered.unregister()
    with pytest.raises(cuda.LogicError):
        registered.unregister()


def test_registering_twice_and_strided():
    a = cuda.aligned_zeros(4096, np.uint8)
    registered = cuda.register_host_memory(a)
    assert registered.base.base is a
    with pytest.raises(cuda.LogicError, match="cuMemHostRegister failed"):
        cuda.register_host_memory(a)
    del registered
    gc.collect()
    cuda.register_host_memory(a)
    with pytest.raises((cuda.LogicError, ValueError)):
        cuda.register_host_memory(np.zeros((64, 64))[:, ::2])


def test_as_buffer_of_managed_memory():
    a = cuda.managed_zeros(8, np.uint8)
    view = a.base.as_buffer(4, 2)
    assert isinstance(view, memoryview) and not view.readonly
    view[:] = b"\x01\x02\x03\x04"
    assert a.tolist() == [0, 0, 1, 2, 3, 4, 0, 0]


def test_managed_memory_attaches():
    a = cuda.managed_zeros(8, np.uint8, mem_flags=cuda.mem_attach_flags.HOST)
    stream = cuda.Stream()
    a.base.attach(cuda.mem_attach_flags.SINGLE, stream)
    stream.synchronize()
    a[...] = 3
    assert isinstance(a.base, cuda.ManagedAllocation) and int(a.base) == a.ctypes.data


@pytest.mark.parametrize("make", ["pagelocked_empty", "aligned_empty", "managed_empty"])
def test_impossible_host_arrays(make, on_virtual_device):
    if make == "managed_empty" and not on_virtual_device:
        pytest.skip("a real device may hang when it is asked for more managed memory than it has")
    with pytest.raises((cuda.MemoryError, cuda.LogicError, ValueError)):
        getattr(cuda, make)(1 << 60, np.float64)
    with pytest.raises((TypeError, ValueError)):
        getattr(cuda, make)((2, -3), np.float64)
    with pytest.raises(TypeError):
        getattr(cuda, make)((2, 3), "no dtype")
