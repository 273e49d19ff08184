"""Memory of the host that copies and arguments take: of what layout it may be, and that it holds no Python objects."""

import ctypes

import numpy as np
import pytest

import pycuda.tools as tools
import rtcg.driver as cuda
import rtcg.numpy as xp
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("context")

N = 32


class Record(ctypes.Structure):
    _fields_ = (("n", ctypes.c_int64), ("O_is_no_type_in_a_name", ctypes.c_int64))


class ObjectRecord(ctypes.Structure):
    _fields_ = (("n", ctypes.c_int64), ("o", ctypes.py_object))


def object_array():
    array = np.empty(N, object)
    array[:] = [f"an object {i}" for i in range(N)]
    return array


def objects_in_a_record():
    array = np.zeros(N, [("n", "i8"), ("inner", [("o", object)])])
    array["inner"]["o"] = object_array()
    return array


# What holds references to objects, by what it is.
HOLDERS = {
    "array": object_array,
    "two axes in Fortran order": lambda: np.asfortranarray(object_array().reshape(4, 8)),
    "field": objects_in_a_record,
    "memoryview": lambda: memoryview(object_array()),
    "memoryview of a field": lambda: memoryview(objects_in_a_record()),
    "ctypes": lambda: (ctypes.py_object * N)(*object_array()),
    "ctypes field": lambda: (ObjectRecord * N)(*[ObjectRecord(i, "an object") for i in range(N)]),
}


@pytest.fixture(scope="module")
def kernel():
    return SourceModule(
        "__global__ void overwrite(void *x) { ((unsigned *)x)[threadIdx.x] = 0x7fff1234; }"
    ).get_function("overwrite")


@pytest.fixture
def memory():
    memory = cuda.mem_alloc(N * 16)
    cuda.memset_d32(memory, 0x7FFF1234, N * 4)
    return memory


def structured_copy(host, memory, to_host):
    copy = cuda.Memcpy2D()
    (copy.set_dst_host if to_host else copy.set_src_host)(host)
    (copy.set_src_device if to_host else copy.set_dst_device)(memory)
    copy.width_in_bytes, copy.height = 64, 2
    copy(aligned=False)


def volume_copy(host, memory, to_host):
    copy = cuda.Memcpy3D()
    (copy.set_dst_host if to_host else copy.set_src_host)(host)
    (copy.set_src_device if to_host else copy.set_dst_device)(memory)
    copy.width_in_bytes, copy.height, copy.depth = 64, 2, 1
    copy()


# Every use of host memory: a function of the host's object, the device's memory and the kernel.
USES = {
    "memcpy_dtoh": lambda host, memory, _: cuda.memcpy_dtoh(host, memory),
    "memcpy_htod": lambda host, memory, _: cuda.memcpy_htod(memory, host),
    "memcpy_dtoh_async": lambda host, memory, _: cuda.memcpy_dtoh_async(host, memory, cuda.Stream()),
    "memcpy_htod_async": lambda host, memory, _: cuda.memcpy_htod_async(memory, host, cuda.Stream()),
    "to_device": lambda host, *_: cuda.to_device(host),
    "In": lambda host, _, kernel: kernel(cuda.In(host), block=(1, 1, 1)),
    "Out": lambda host, _, kernel: kernel(cuda.Out(host), block=(1, 1, 1)),
    "InOut": lambda host, _, kernel: kernel(cuda.InOut(host), block=(1, 1, 1)),
    "argument": lambda host, _, kernel: kernel(host, block=(1, 1, 1)),
    "prepared": lambda host, _, kernel: kernel.prepare([np.dtype("V8")]).prepared_call((1, 1), (1, 1, 1), host),
    "Memcpy2D to": lambda host, memory, _: structured_copy(host, memory, True),
    "Memcpy2D from": lambda host, memory, _: structured_copy(host, memory, False),
    "Memcpy3D to": lambda host, memory, _: volume_copy(host, memory, True),
    "Memcpy3D from": lambda host, memory, _: volume_copy(host, memory, False),
    "register": lambda host, *_: cuda.register_host_memory(host),
    "graph to": lambda host, memory, _: cuda.Graph().add_memcpy_dtoh_node(host, memory),
    "graph from": lambda host, memory, _: cuda.Graph().add_memcpy_htod_node(memory, host),
    "module": lambda host, *_: cuda.module_from_buffer(host),
    "get": lambda host, *_: xp.ones(N, np.uint64).get(ary=host),
    "set": lambda host, *_: xp.ones(N, np.uint64).set(host),
    "to_gpu": lambda host, *_: xp.to_gpu(host),
    "matrix_to_array": lambda host, *_: cuda.matrix_to_array(host, "C"),
}


@pytest.mark.parametrize("use", USES)
def test_references_to_objects_are_no_bytes(use, memory, kernel):
    for name, make in HOLDERS.items():
        host = make()
        with pytest.raises((TypeError, ValueError)):
            USES[use](host, memory, kernel)
        # Whatever was written over the references would be met here.
        assert name.startswith("ctypes") or "an object 31" in str(np.asarray(host).tolist())


def test_the_message_says_what_holds_objects(memory):
    message = r"^dest has (dtype|elements of format) .*, which holds Python objects; expected numbers or bytes$"
    for make in HOLDERS.values():
        with pytest.raises(TypeError, match=message):
            cuda.memcpy_dtoh(make(), memory)


MAKERS = {
    "pagelocked_empty": lambda dtype: cuda.pagelocked_empty(4, dtype),
    "pagelocked_zeros": lambda dtype: cuda.pagelocked_zeros(4, dtype),
    "aligned_empty": lambda dtype: cuda.aligned_empty(4, dtype),
    "managed_empty": lambda dtype: cuda.managed_empty(4, dtype, mem_flags=cuda.mem_attach_flags.GLOBAL),
    "pool": lambda dtype: tools.PageLockedMemoryPool().allocate(4, dtype),
    "from_device": lambda dtype: cuda.from_device(cuda.mem_alloc(64), (4,), dtype),
    "zeros": lambda dtype: xp.zeros(4, dtype),
    "empty": lambda dtype: xp.empty(4, dtype),
    "view": lambda dtype: xp.zeros(8, np.uint64).view(dtype),
    "astype": lambda dtype: xp.zeros(8, np.uint64).astype(dtype),
    "array interface": lambda dtype: xp.asarray(WithInterface(dtype)),
}


class WithInterface:
    def __init__(self, dtype):
        self.memory = cuda.mem_alloc(128)
        dtype = np.dtype(dtype)
        typestr = dtype.str if dtype.kind == "O" else dtype.descr
        self.__cuda_array_interface__ = {
            "shape": (4,),
            "typestr": typestr,
            "data": (int(self.memory), False),
            "version": 3,
        }


@pytest.mark.parametrize("make", MAKERS)
def test_no_array_of_objects_is_made_over_plain_memory(make):
    for dtype in (object, [("n", "i8"), ("o", object)]):
        with pytest.raises((TypeError, ValueError)):
            MAKERS[make](dtype)


def layouts():
    """Arrays of int32, each with whether it lies without gaps."""
    base = np.arange(24, dtype=np.int32)
    cube = base.reshape(2, 3, 4)
    return [
        (base, True),
        (cube, True),
        (np.asfortranarray(cube), True),
        (cube.T, True),
        (cube[:1], True),
        (cube[:, :1, :1].copy(), True),
        (np.array(7, np.int32), True),
        (np.empty((0, 3), np.int32), True),
        (np.empty((3, 0), np.int32), True),
        (cube.swapaxes(0, 1), False),
        (base[::2], False),
        (base[::-1], False),
        (cube[:, ::2], False),
        (cube[:, 1:], False),
        (np.asfortranarray(cube)[1:], False),
    ]


@pytest.mark.parametrize("lend", [np.asarray, memoryview], ids=["array", "memoryview"])
def test_copies_of_all_layouts(lend):
    """A contiguous buffer is copied in the order in which it lies, in memory of the other order too."""
    for array, is_contiguous in layouts():
        memory, back = cuda.mem_alloc(max(array.nbytes, 4)), array.copy("K")
        if not is_contiguous:
            with pytest.raises(ValueError, match="src is not contiguous in memory; expected C or Fortran order"):
                cuda.memcpy_htod(memory, lend(array))
            with pytest.raises(ValueError, match="dest is not contiguous in memory; expected C or Fortran order"):
                cuda.memcpy_dtoh(lend(array), memory)
            continue
        back[...] = 0
        cuda.memcpy_htod(memory, lend(array))
        cuda.memcpy_dtoh(lend(back), memory)
        assert (back == array).all(), (array.shape, array.strides)
        stream = cuda.Stream()
        cuda.memcpy_htod_async(memory, lend(array * 2 if array.ndim == 0 else np.multiply(array, 2, order="K")), stream)
        cuda.memcpy_dtoh_async(lend(back), memory, stream)
        stream.synchronize()
        assert (back == 2 * array).all(), (array.shape, array.strides)


def test_buffers_of_all_kinds(memory):
    records = (Record * 2)(Record(1, 2), Record(3, 4))
    for host in (b"0123456789abcdef", bytearray(b"0123456789abcdef"), memoryview(b"0123456789abcdef").cast("H"),
                 (ctypes.c_double * 2)(1.5, 2.5), (ctypes.c_void_p * 2)(12345, 67890), records,
                 np.array(["2020-01-01", "2021-02-03"], "M8[s]"), np.array([1, 2], np.complex64),
                 np.array([(1, 2.5)], [("O", "i8"), ("b", "f8")]), __import__("array").array("d", [1, 2])):  # fmt: skip
        cuda.memcpy_htod(memory, host)
        back = bytearray(memoryview(host).nbytes if not isinstance(host, np.ndarray) else host.nbytes)
        cuda.memcpy_dtoh(back, memory)
        assert bytes(back) == (host.tobytes() if hasattr(host, "tobytes") else bytes(host))
    for wrong in ("text", 7, None, [1, 2], object()):
        with pytest.raises(TypeError, match="src"):
            cuda.memcpy_htod(memory, wrong)


class Masked:
    """An array of another library, some of whose elements do not count."""

    def __init__(self, mask):
        self.array = xp.ones(4, np.float32)
        self.__cuda_array_interface__ = {**self.array.__cuda_array_interface__, "mask": mask}


def test_masks_of_array_interfaces_are_not_dropped(kernel):
    from rtcg.elementwise import ElementwiseKernel

    double = ElementwiseKernel("float *x", "x[i] *= 2")
    uses = [xp.asarray, lambda x: xp.ones(4, np.float32) + x, xp.sum, double, lambda x: kernel(x, block=(1, 1, 1))]
    for use in uses:
        use(Masked(None))
        with pytest.raises(ValueError, match="mask"):
            use(Masked(xp.ones(4, np.bool_)))
