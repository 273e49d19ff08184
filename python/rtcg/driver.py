"""CUDA's driver API: devices, contexts, memory, modules, streams, events, launches.

The same functions work on real GPUs and on the virtual GPU; `Device.is_virtual` tells them apart.
"""

from __future__ import annotations

import abc
import os
import sys
import warnings

from rtcg import _native, _pickling
from rtcg._cuda_arrays import (
    TR_DEFAULT,
    TRSA_OVERRIDE_FORMAT,
    TRSF_NORMALIZED_COORDINATES,
    TRSF_READ_AS_INTEGER,
    TRSF_SEAMLESS_CUBEMAP,
    TRSF_SRGB,
    ArrayDescriptor,
    ArrayDescriptor3D,
    bind_array_to_texref,
    check_is_array as _expect_array,
    dtype_to_array_format,
    gpuarray_to_array,
    make_multichannel_2d_array,
    matrix_to_array,
    matrix_to_texref,
    np_to_array,
    texture_object,
)
from rtcg._enums import *  # noqa: F403
from rtcg._enums import __all__ as _ENUMERATIONS, mem_attach_flags
from rtcg._lazy import np
from rtcg._messages import shown
from rtcg._native import (
    AddressRange,
    AlignedHostAllocation,
    Array,
    Context,
    Device,
    DeviceAllocation,
    DeviceMemoryPool,
    Error,
    Event,
    Function,
    Graph,
    GraphAllocation,
    GraphExec,
    GraphNode,
    IPCMemoryHandle,
    Kernel,
    LaunchError,
    Library,
    Linker,
    LogicError,
    ManagedAllocation,
    Mapping,
    Memcpy2D,
    Memcpy3D,
    Memcpy3DPeer,
    MemoryError,
    MemoryPool,
    MipmappedArray,
    Module,
    PageLockedAllocator,
    PagelockedHostAllocation,
    PageLockedMemoryPool,
    PhysicalMemory,
    PooledDeviceAllocation,
    PooledHostAllocation,
    RegisteredHostMemory,
    RuntimeError,
    Stream,
    StreamCapture,
    SurfaceObject,
    SurfaceReference,
    TextureObject,
    TextureReference,
    exchange_capture_mode,
    get_driver_version,
    have_gl_ext,
    init,
    initialize_profiler,
    library_from_buffer,
    library_from_file,
    mem_advise,
    mem_alloc,
    mem_alloc_async,
    mem_alloc_pitch,
    mem_get_address_range,
    mem_get_granularity,
    mem_get_info,
    mem_get_ipc_handle,
    mem_prefetch_async,
    mem_range_get_attribute,
    memcpy_atoa,
    memcpy_atod,
    memcpy_atoh,
    memcpy_dtoa,
    memcpy_dtod,
    memcpy_dtod_async,
    memcpy_dtoh,
    memcpy_dtoh_async,
    memcpy_htoa,
    memcpy_htod,
    memcpy_htod_async,
    memcpy_peer,
    memcpy_peer_async,
    memset_d2d8,
    memset_d2d8_async,
    memset_d2d16,
    memset_d2d16_async,
    memset_d2d32,
    memset_d2d32_async,
    memset_d8,
    memset_d8_async,
    memset_d16,
    memset_d16_async,
    memset_d32,
    memset_d32_async,
    module_from_buffer,
    module_from_file,
    pointer_get_attribute,
    start_profiler,
    stop_profiler,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import Any

    from numpy.typing import DTypeLike, NDArray

    from rtcg._native import _DevicePointer, _HostBuffer

__all__ = [
    "AddressRange", "AlignedHostAllocation", "ArgumentHandler", "Array", "ArrayDescriptor", "ArrayDescriptor3D",
    "CUDA_DEBUGGING", "CompileError", "Context", "Device", "DeviceAllocation", "DeviceMemoryPool", "Error", "Event",
    "Function", "Graph", "GraphAllocation", "GraphExec", "GraphNode", "HostAllocation", "HostPointer",
    "IPCMemoryHandle", "In", "InOut", "Kernel", "LaunchError", "Library", "Linker", "LogicError", "ManagedAllocation",
    "Mapping", "Memcpy2D", "Memcpy3D", "Memcpy3DPeer", "MemoryError", "MemoryPool", "MipmappedArray", "Module", "Out",
    "PageLockedAllocator", "PageLockedMemoryPool", "PagelockedHostAllocation", "PhysicalMemory", "PointerHolderBase",
    "PooledDeviceAllocation", "PooledHostAllocation", "RegisteredHostMemory", "RuntimeError", "Stream", "StreamCapture",
    "SurfaceObject", "SurfaceReference", "TRSA_OVERRIDE_FORMAT", "TRSF_NORMALIZED_COORDINATES", "TRSF_READ_AS_INTEGER",
    "TRSF_SEAMLESS_CUBEMAP", "TRSF_SRGB", "TR_DEFAULT", "TextureObject", "TextureReference", "aligned_empty",
    "aligned_empty_like", "aligned_zeros", "aligned_zeros_like", "bind_array_to_texref",
    "dtype_to_array_format", "exchange_capture_mode", "from_device", "from_device_like",
    "get_driver_version", "get_version", "gpuarray_to_array", "have_gl_ext", "init", "initialize_profiler",
    "library_from_buffer", "library_from_file", "make_multichannel_2d_array", "managed_empty", "managed_empty_like",
    "managed_zeros", "managed_zeros_like", "matrix_to_array", "matrix_to_texref", "mem_advise", "mem_alloc",
    "mem_alloc_async", "mem_alloc_like", "mem_alloc_pitch", "mem_get_address_range", "mem_get_granularity",
    "mem_get_info", "mem_get_ipc_handle", "mem_prefetch_async", "mem_range_get_attribute", "memcpy_atoa", "memcpy_atod",
    "memcpy_atoh", "memcpy_dtoa", "memcpy_dtod", "memcpy_dtod_async", "memcpy_dtoh", "memcpy_dtoh_async", "memcpy_htoa",
    "memcpy_htod", "memcpy_htod_async", "memcpy_peer", "memcpy_peer_async", "memset_d16", "memset_d16_async",
    "memset_d2d16", "memset_d2d16_async", "memset_d2d32", "memset_d2d32_async", "memset_d2d8", "memset_d2d8_async",
    "memset_d32", "memset_d32_async", "memset_d8", "memset_d8_async", "module_from_buffer", "module_from_file",
    "np_to_array", "pagelocked_empty", "pagelocked_empty_like", "pagelocked_zeros", "pagelocked_zeros_like",
    "pointer_get_attribute", "py_memcpy_atoh", "py_memcpy_htoa", "register_host_memory", "set_debugging",
    "start_profiler", "stop_profiler", "texture_object", "to_device", *_ENUMERATIONS,
]  # fmt: skip

HostAllocation = PagelockedHostAllocation


class CompileError(Error):
    """The compiler rejected a source.

    Attributes
    ----------
    msg : str
        The error in one line.
    command_line : sequence of str
        The compiler's command line, or its name followed by its options.
    stdout, stderr : str or None
        The whole output of the compiler. The log of a run-time compiler is in ``stderr``. The text of the exception
        shows each diagnostic once, only the beginning of a long log, and only the relevant part of a long line.
    source : str or None
        The source as passed to the compiler (an addition to PyCUDA).
    """

    source: str | None = None
    _readable_log = None

    def __init__(
        self, msg: str, command_line: Sequence[str], stdout: str | None = None, stderr: str | None = None
    ) -> None:
        super().__init__(msg, command_line, stdout, stderr)
        self.msg = msg
        self.command_line = command_line
        self.stdout = stdout
        self.stderr = stderr

    def __str__(self) -> str:
        text = self.msg
        if self._readable_log is not None:
            return f"{text}\n{self._readable_log}".rstrip()
        if self.command_line:
            text += "\n[command: {}]".format(" ".join(self.command_line))
        if self.stdout:
            text += f"\n[stdout:\n{self.stdout}]"
        if self.stderr:
            text += f"\n[stderr:\n{self.stderr}]"
        return text


CUDA_DEBUGGING = False


def set_debugging(flag: bool = True) -> None:
    """Switch compilation with debug information and without the cache on or, with False, off. Returns None.

    Sets the environment variable `CUDA_DEBUGGING`, which `rtcg.compiler` reads at each compilation.
    """
    global CUDA_DEBUGGING
    CUDA_DEBUGGING = flag


def _is_import_frame(frame: FrameType) -> bool:
    """Whether `warnings` does not count the frame: frames of the import system itself."""
    file = frame.f_code.co_filename
    return "importlib" in file and "_bootstrap" in file


# Packages between a user's line and the driver. IPython's frames stand between a cell and a magic of ours.
_INNER_PACKAGES = {"rtcg", "pycuda", "importlib", "IPython", "ipykernel", "traitlets"}


def _is_user_frame(frame: FrameType) -> bool:
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    return package not in _INNER_PACKAGES and not _is_import_frame(frame)


#: Set once the notice about the virtual GPU was shown, for the processes that a program starts.
_NOTICE_SHOWN = "_RTCG_NOTICE_SHOWN"


def _warn_at_user_line(text: str) -> None:
    """Issue a warning at the line of user code that led here, past any number of modules of this package.

    A program is told once that it uses the virtual GPU: worker processes inherit that it has been told.
    """
    if text.startswith("no NVIDIA GPU is usable"):
        if os.environ.get(_NOTICE_SHOWN):
            return
        os.environ[_NOTICE_SHOWN] = "1"
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and not _is_user_frame(frame):
        # `warnings` does not count the frames of the import system.
        level += not _is_import_frame(frame)
        frame = frame.f_back
    warnings.warn(text, stacklevel=level)


_native.set_notice_handler(_warn_at_user_line)


def get_version() -> tuple[int, int, int]:
    """The CUDA version that this package was written for: a tuple ``(major, minor, revision)``; requires no driver."""
    return (13, 0, 0)


# -- memory -----------------------------------------------------------------------------------


class PointerHolderBase:
    """Base class for objects that represent a device address: subclasses define ``get_pointer()``."""

    def get_pointer(self) -> int:
        """The device address as an int."""
        raise NotImplementedError("subclasses of PointerHolderBase define get_pointer()")

    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """A writable memoryview over the address; only for memory that the host can access."""
        return _native.memoryview_at_address(int(self.get_pointer()), size, offset)

    def __int__(self) -> int:
        return int(self.get_pointer())

    def __index__(self) -> int:
        return int(self.get_pointer())


def mem_alloc_like(ary: Any) -> DeviceAllocation:
    """Allocate ``ary.nbytes`` bytes of device memory, a `DeviceAllocation` with undefined contents.

    `ary` may be anything that has ``nbytes``, else raises `TypeError`. Raises `MemoryError` if the device is out of
    memory.
    """
    if not hasattr(ary, "nbytes"):
        raise TypeError(f"ary is of type {type(ary).__name__}; expected an array, which has nbytes")
    return mem_alloc(ary.nbytes)


def to_device(bf_obj: _HostBuffer) -> DeviceAllocation:
    """Copy `bf_obj`, a contiguous array or buffer (C or Fortran order), to new device memory.

    Waits until the copy is done. Raises `TypeError` if `bf_obj` is not a buffer, `ValueError` if it is not contiguous,
    and `MemoryError` if the device is out of memory.
    """
    # A memoryview knows no dates and no half precision.
    try:
        nbytes = bf_obj.nbytes if hasattr(bf_obj, "nbytes") else memoryview(bf_obj).nbytes
    except TypeError:
        raise TypeError(f"bf_obj is a {type(bf_obj).__name__}; expected an array or another buffer") from None
    memory = mem_alloc(nbytes)
    memcpy_htod(memory, bf_obj)
    return memory


def from_device(devptr: _DevicePointer, shape: int | Sequence[int], dtype: DTypeLike, order: str = "C") -> NDArray[Any]:
    """Copy device memory to a new array of `shape` and `dtype`; waits for the copy.

    `devptr` is an allocation or an address, `order` "C" or "F". Raises `LogicError` if the allocation is smaller than
    the array or has been freed.
    """
    shape, dtype, _, fortran = _parse_array_geometry(shape, dtype, order)
    array = np.empty(shape, dtype, "F" if fortran else "C")
    memcpy_dtoh(array, devptr)
    return array


def from_device_like(devptr: _DevicePointer, other_ary: NDArray[Any]) -> NDArray[Any]:
    """Copy device memory to a new array with the shape, dtype and order of `other_ary`; waits for the copy.

    Errors are those of `from_device`; raises `TypeError` if `other_ary` is not an array.
    """
    _expect_array(other_ary, "other_ary")
    array = np.empty_like(other_ary)
    memcpy_dtoh(array, devptr)
    return array


class HostPointer(abc.ABC):
    """Base class of host memory that the device may access."""

    @abc.abstractmethod
    def get_device_pointer(self) -> int:
        """The device address of the memory."""


for _class in (PagelockedHostAllocation, AlignedHostAllocation, RegisteredHostMemory):
    HostPointer.register(_class)


# -- host arrays that the device can reach ----------------------------------------------------


def _parse_array_geometry(shape: Any, dtype: DTypeLike, order: str) -> tuple[tuple[int, ...], np.dtype[Any], int, bool]:
    """(shape, dtype, number of bytes, whether in Fortran order)"""
    if not isinstance(order, str) or order not in ("C", "F"):
        raise LogicError(f"order is {shown(order)}; expected 'C' or 'F'")
    try:
        shape = tuple(map(int, shape)) if np.iterable(shape) else (int(shape),)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"shape is {shown(shape)}; expected an integer or several ({error})") from None
    if any(n < 0 for n in shape):
        raise ValueError(f"shape is {shape}; expected no negative length")
    dtype = np.dtype(dtype)
    nbytes = int(np.prod(shape, dtype=object)) * dtype.itemsize
    return shape, dtype, max(nbytes, 1), order == "F"


def _contiguous_order(array: NDArray[Any]) -> str:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"array is of type {type(array).__name__}; expected a NumPy array")
    if array.flags.c_contiguous:
        return "C"
    if array.flags.f_contiguous:
        return "F"
    raise ValueError("array is not contiguous; expected C or Fortran order")


def _filled_with_zeros(array: NDArray[Any]) -> NDArray[Any]:
    array.fill(0)
    return array


def pagelocked_empty(
    shape: int | Sequence[int], dtype: DTypeLike, order: str = "C", mem_flags: int = 0
) -> NDArray[Any]:
    """A page-locked array with undefined contents, which is copied without an intermediate buffer.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : dtype
    order : {"C", "F"}
        Other values raise `LogicError`.
    mem_flags : int
        Combination of `host_alloc_flags`.

    Returns
    -------
    numpy.ndarray
        Its ``.base`` is a `PagelockedHostAllocation`, which frees the memory when it is deleted.

    Raises
    ------
    MemoryError
        If the system cannot lock more memory.
    """
    lengths, of_elements, nbytes, fortran = _parse_array_geometry(shape, dtype, order)
    return PagelockedHostAllocation(nbytes, mem_flags)._as_array(of_elements, lengths, fortran)


def pagelocked_zeros(
    shape: int | Sequence[int], dtype: DTypeLike, order: str = "C", mem_flags: int = 0
) -> NDArray[Any]:
    """A page-locked array of zeros, of `shape` and `dtype`; parameters and errors are those of `pagelocked_empty`."""
    return _filled_with_zeros(pagelocked_empty(shape, dtype, order, mem_flags))


def pagelocked_empty_like(array: NDArray[Any], mem_flags: int = 0) -> NDArray[Any]:
    """A page-locked array with the shape, dtype and order of `array`; see `pagelocked_empty`.

    Raises `TypeError` if `array` is not a NumPy array, and `ValueError` if it is not contiguous.
    """
    order = _contiguous_order(array)
    return pagelocked_empty(array.shape, array.dtype, order, mem_flags)


def pagelocked_zeros_like(array: NDArray[Any], mem_flags: int = 0) -> NDArray[Any]:
    """A page-locked array of zeros with the shape, dtype and order of `array`; errors are those of
    `pagelocked_empty_like`.
    """
    return _filled_with_zeros(pagelocked_empty_like(array, mem_flags))


def aligned_empty(
    shape: int | Sequence[int], dtype: DTypeLike, order: str = "C", alignment: int = 4096
) -> NDArray[Any]:
    """An array with undefined contents whose address is a multiple of `alignment` bytes.

    For use with `register_host_memory`. `shape`, `dtype` and `order` are those of `pagelocked_empty`. Its ``.base`` is
    an `AlignedHostAllocation`. Raises `LogicError` if `alignment` is not a power of two.
    """
    lengths, of_elements, nbytes, fortran = _parse_array_geometry(shape, dtype, order)
    return AlignedHostAllocation(nbytes, alignment)._as_array(of_elements, lengths, fortran)


def aligned_zeros(
    shape: int | Sequence[int], dtype: DTypeLike, order: str = "C", alignment: int = 4096
) -> NDArray[Any]:
    """An aligned array of zeros on the host, of `shape` and `dtype`; parameters and errors are those of
    `aligned_empty`.
    """
    return _filled_with_zeros(aligned_empty(shape, dtype, order, alignment))


def aligned_empty_like(array: NDArray[Any], alignment: int = 4096) -> NDArray[Any]:
    """An aligned array with the shape, dtype and order of `array`; see `aligned_empty`.

    Raises `TypeError` if `array` is not a NumPy array, and `ValueError` if it is not contiguous.
    """
    order = _contiguous_order(array)
    return aligned_empty(array.shape, array.dtype, order, alignment)


def aligned_zeros_like(array: NDArray[Any], alignment: int = 4096) -> NDArray[Any]:
    """An aligned array of zeros with the shape, dtype and order of `array`; errors as in `aligned_empty_like`."""
    return _filled_with_zeros(aligned_empty_like(array, alignment))


def managed_empty(shape: int | Sequence[int], dtype: DTypeLike, order: str = "C", mem_flags: int = 0) -> NDArray[Any]:
    """An array with undefined contents in memory that host and device share.

    `shape`, `dtype` and `order` are those of `pagelocked_empty`; `mem_flags` is one of `mem_attach_flags`, and 0 means
    GLOBAL. Its ``.base`` is a `ManagedAllocation`, which kernels accept like the array itself. Wait for a kernel before
    the host reads its results.
    """
    lengths, of_elements, nbytes, fortran = _parse_array_geometry(shape, dtype, order)
    return ManagedAllocation(nbytes, mem_flags or mem_attach_flags.GLOBAL)._as_array(of_elements, lengths, fortran)


def managed_zeros(shape: int | Sequence[int], dtype: DTypeLike, order: str = "C", mem_flags: int = 0) -> NDArray[Any]:
    """A managed array of zeros, which the host writes; parameters and errors are those of `managed_empty`."""
    return _filled_with_zeros(managed_empty(shape, dtype, order, mem_flags))


def managed_empty_like(array: NDArray[Any], mem_flags: int = 0) -> NDArray[Any]:
    """A managed array with the shape, dtype and order of `array`; see `managed_empty`.

    Raises `TypeError` if `array` is not a NumPy array, and `ValueError` if it is not contiguous.
    """
    order = _contiguous_order(array)
    return managed_empty(array.shape, array.dtype, order, mem_flags)


def managed_zeros_like(array: NDArray[Any], mem_flags: int = 0) -> NDArray[Any]:
    """A managed array of zeros with the shape, dtype and order of `array`; errors are those of `managed_empty_like`."""
    return _filled_with_zeros(managed_empty_like(array, mem_flags))


def register_host_memory(ary: NDArray[Any], flags: int = 0) -> NDArray[Any]:
    """Page-lock the memory of a contiguous array; returns an array that shares it.

    `flags` is a combination of `mem_host_register_flags`. The ``.base`` of the result is a `RegisteredHostMemory`,
    which keeps `ary` alive and unregisters it when it is deleted. Raises `TypeError` if `ary` is not a NumPy array,
    `ValueError` if it is not contiguous, and `LogicError` if its memory is already registered.
    """
    if not isinstance(ary, np.ndarray):
        raise TypeError(f"ary is of type {type(ary).__name__}; expected a NumPy array")
    registered = RegisteredHostMemory(ary, flags)
    return registered._as_array(ary.dtype, ary.shape, _contiguous_order(ary) == "F")


py_memcpy_htoa = memcpy_htoa
py_memcpy_atoh = memcpy_atoh


def _global_array(module: Module, name: str, place: tuple[int, int], dtype: DTypeLike, shape: Any) -> _native.GPUArray:
    """A variable of a module as a GPUArray over its memory, which keeps the module loaded."""
    address, nbytes = place
    dtype = np.dtype(dtype)
    if shape is None:
        if nbytes % dtype.itemsize:
            raise ValueError(f"{shown(name)} has {nbytes} bytes, which is no whole number of {dtype}")
        shape = (nbytes // dtype.itemsize,)
    shape, dtype, wanted, _ = _parse_array_geometry(shape, dtype, "C")
    if wanted > nbytes:
        raise ValueError(f"shape is {shape} of {dtype}, {wanted} bytes, but {shown(name)} has {nbytes} bytes")
    return _native.GPUArray(shape, dtype, base=module, gpudata=address)


# -- arguments that copy themselves -----------------------------------------------------------


class ArgumentHandler:
    """A kernel argument that copies an array around the launch.

    Attributes
    ----------
    array : numpy.ndarray
        The array on the host.
    dev_alloc : DeviceAllocation or None
        Its memory on the device, allocated when first needed.
    """

    def __init__(self, ary: NDArray[Any]) -> None:
        self.array = ary
        self.dev_alloc: DeviceAllocation | None = None

    def get_device_alloc(self) -> DeviceAllocation:
        """The memory on the device, with the size of the array."""
        if self.dev_alloc is None:
            try:
                self.dev_alloc = mem_alloc_like(self.array)
            except TypeError as error:
                kind = type(self.array).__name__
                raise TypeError(f"could not determine array length of a {kind}: expected a numpy array") from error
        return self.dev_alloc

    def pre_call(self, stream: Stream | None) -> None:
        """Called before the launch."""


class In(ArgumentHandler):
    """A host array that is copied to the device before the launch.

    It must be contiguous, and of any dtype that the kernel takes. The call waits for the copy, but not for the kernel.
    """

    def pre_call(self, stream: Stream | None) -> None:
        if stream is None:
            memcpy_htod(self.get_device_alloc(), self.array)
        else:
            memcpy_htod_async(self.get_device_alloc(), self.array, stream)


class Out(ArgumentHandler):
    """A host array that receives the results after the launch, which therefore waits.

    It must be contiguous and writable. Elements that the kernel does not write are undefined.
    """

    def post_call(self, stream: Stream | None) -> None:
        """Called when the kernel has finished."""
        memcpy_dtoh(self.array, self.get_device_alloc())


class InOut(In, Out):
    """A host array that is copied to the device before the launch, and back after it; the launch waits."""


_pickling.register()
