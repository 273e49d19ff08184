"""CUDA's driver API: devices, contexts, memory, modules, streams, events, launches."""

from collections.abc import Sequence
from typing import Any, NoReturn

from numpy.typing import DTypeLike, NDArray

from pycuda._driver import CompileError as CompileError
from pycuda._enums import *  # noqa: F403
from pycuda._enums import array_format
from pycuda._rtcg import (
    AlignedHostAllocation as AlignedHostAllocation,
)
from pycuda._rtcg import (
    Context as Context,
)
from pycuda._rtcg import (
    Device as Device,
)
from pycuda._rtcg import (
    DeviceAllocation as DeviceAllocation,
)
from pycuda._rtcg import (
    Error as Error,
)
from pycuda._rtcg import (
    Event as Event,
)
from pycuda._rtcg import (
    Function as Function,
)
from pycuda._rtcg import (
    IPCMemoryHandle as IPCMemoryHandle,
)
from pycuda._rtcg import (
    LaunchError as LaunchError,
)
from pycuda._rtcg import (
    Linker as Linker,
)
from pycuda._rtcg import (
    LogicError as LogicError,
)
from pycuda._rtcg import (
    ManagedAllocation as ManagedAllocation,
)
from pycuda._rtcg import (
    Memcpy2D as Memcpy2D,
)
from pycuda._rtcg import (
    Memcpy3D as Memcpy3D,
)
from pycuda._rtcg import (
    Memcpy3DPeer as Memcpy3DPeer,
)
from pycuda._rtcg import (
    MemoryError as MemoryError,
)
from pycuda._rtcg import (
    Module as Module,
)
from pycuda._rtcg import (
    PagelockedHostAllocation as PagelockedHostAllocation,
)
from pycuda._rtcg import (
    RegisteredHostMemory as RegisteredHostMemory,
)
from pycuda._rtcg import (
    RuntimeError as RuntimeError,
)
from pycuda._rtcg import (
    Stream as Stream,
)
from pycuda._rtcg import _DevicePointer, _HostBuffer
from pycuda._rtcg import (
    get_driver_version as get_driver_version,
)
from pycuda._rtcg import (
    init as init,
)
from pycuda._rtcg import (
    initialize_profiler as initialize_profiler,
)
from pycuda._rtcg import (
    mem_alloc_pitch as mem_alloc_pitch,
)
from pycuda._rtcg import (
    mem_get_address_range as mem_get_address_range,
)
from pycuda._rtcg import (
    mem_get_info as mem_get_info,
)
from pycuda._rtcg import (
    mem_get_ipc_handle as mem_get_ipc_handle,
)
from pycuda._rtcg import (
    memcpy_dtod as memcpy_dtod,
)
from pycuda._rtcg import (
    memcpy_dtod_async as memcpy_dtod_async,
)
from pycuda._rtcg import (
    memcpy_dtoh as memcpy_dtoh,
)
from pycuda._rtcg import (
    memcpy_dtoh_async as memcpy_dtoh_async,
)
from pycuda._rtcg import (
    memcpy_htod as memcpy_htod,
)
from pycuda._rtcg import (
    memcpy_htod_async as memcpy_htod_async,
)
from pycuda._rtcg import (
    memcpy_peer as memcpy_peer,
)
from pycuda._rtcg import (
    memcpy_peer_async as memcpy_peer_async,
)
from pycuda._rtcg import (
    memset_d2d8 as memset_d2d8,
)
from pycuda._rtcg import (
    memset_d2d8_async as memset_d2d8_async,
)
from pycuda._rtcg import (
    memset_d2d16 as memset_d2d16,
)
from pycuda._rtcg import (
    memset_d2d16_async as memset_d2d16_async,
)
from pycuda._rtcg import (
    memset_d2d32 as memset_d2d32,
)
from pycuda._rtcg import (
    memset_d2d32_async as memset_d2d32_async,
)
from pycuda._rtcg import (
    memset_d8 as memset_d8,
)
from pycuda._rtcg import (
    memset_d8_async as memset_d8_async,
)
from pycuda._rtcg import (
    memset_d16 as memset_d16,
)
from pycuda._rtcg import (
    memset_d16_async as memset_d16_async,
)
from pycuda._rtcg import (
    memset_d32 as memset_d32,
)
from pycuda._rtcg import (
    memset_d32_async as memset_d32_async,
)
from pycuda._rtcg import (
    module_from_buffer as module_from_buffer,
)
from pycuda._rtcg import (
    module_from_file as module_from_file,
)
from pycuda._rtcg import (
    start_profiler as start_profiler,
)
from pycuda._rtcg import (
    stop_profiler as stop_profiler,
)

__all__ = [
    "AlignedHostAllocation",
    "ArgumentHandler",
    "Array",
    "ArrayDescriptor",
    "ArrayDescriptor3D",
    "CUDA_DEBUGGING",
    "CompileError",
    "Context",
    "Device",
    "DeviceAllocation",
    "Error",
    "Event",
    "Function",
    "HostAllocation",
    "IPCMemoryHandle",
    "In",
    "InOut",
    "LaunchError",
    "Linker",
    "LogicError",
    "ManagedAllocation",
    "Memcpy2D",
    "Memcpy3D",
    "Memcpy3DPeer",
    "MemoryError",
    "Module",
    "Out",
    "PagelockedHostAllocation",
    "PointerHolderBase",
    "RegisteredHostMemory",
    "RuntimeError",
    "Stream",
    "SurfaceReference",
    "TRSA_OVERRIDE_FORMAT",
    "TRSF_NORMALIZED_COORDINATES",
    "TRSF_READ_AS_INTEGER",
    "TR_DEFAULT",
    "TextureReference",
    "aligned_empty",
    "aligned_empty_like",
    "aligned_zeros",
    "aligned_zeros_like",
    "bind_array_to_texref",
    "dtype_to_array_format",
    "from_device",
    "from_device_like",
    "get_driver_version",
    "get_version",
    "gpuarray_to_array",
    "have_gl_ext",
    "init",
    "initialize_profiler",
    "make_multichannel_2d_array",
    "managed_empty",
    "managed_empty_like",
    "managed_zeros",
    "managed_zeros_like",
    "matrix_to_array",
    "matrix_to_texref",
    "mem_alloc",
    "mem_alloc_like",
    "mem_alloc_pitch",
    "mem_get_address_range",
    "mem_get_info",
    "mem_get_ipc_handle",
    "memcpy_atoa",
    "memcpy_atod",
    "memcpy_atoh",
    "memcpy_dtoa",
    "memcpy_dtod",
    "memcpy_dtod_async",
    "memcpy_dtoh",
    "memcpy_dtoh_async",
    "memcpy_htoa",
    "memcpy_htod",
    "memcpy_htod_async",
    "memcpy_peer",
    "memcpy_peer_async",
    "memset_d16",
    "memset_d16_async",
    "memset_d2d16",
    "memset_d2d16_async",
    "memset_d2d32",
    "memset_d2d32_async",
    "memset_d2d8",
    "memset_d2d8_async",
    "memset_d32",
    "memset_d32_async",
    "memset_d8",
    "memset_d8_async",
    "module_from_buffer",
    "module_from_file",
    "np_to_array",
    "pagelocked_empty",
    "pagelocked_empty_like",
    "pagelocked_zeros",
    "pagelocked_zeros_like",
    "py_memcpy_atoh",
    "py_memcpy_htoa",
    "register_host_memory",
    "set_debugging",
    "start_profiler",
    "stop_profiler",
    "to_device",
]

HostAllocation = PagelockedHostAllocation

CUDA_DEBUGGING: bool

def set_debugging(flag: bool = True) -> None: ...
def get_version() -> tuple[int, int, int]: ...
def have_gl_ext() -> bool: ...

class PointerHolderBase:
    def get_pointer(self) -> int: ...
    def as_buffer(self, size: int, offset: int = 0) -> memoryview: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

def mem_alloc(bytes: int) -> DeviceAllocation: ...
def mem_alloc_like(ary: Any) -> DeviceAllocation: ...
def to_device(buffer: _HostBuffer) -> DeviceAllocation: ...
def from_device(
    devptr: _DevicePointer, shape: int | Sequence[int], dtype: DTypeLike, order: str = "C"
) -> NDArray[Any]: ...
def from_device_like(devptr: _DevicePointer, other_ary: NDArray[Any]) -> NDArray[Any]: ...
def pagelocked_empty(
    shape: int | Sequence[int], dtype: DTypeLike, order: str = "C", mem_flags: int = 0
) -> NDArray[Any]: ...
def pagelocked_empty_like(array: NDArray[Any], mem_flags: int = 0) -> NDArray[Any]: ...
def pagelocked_zeros(
    shape: int | Sequence[int], dtype: DTypeLike, order: str = "C", mem_flags: int = 0
) -> NDArray[Any]: ...
def pagelocked_zeros_like(array: NDArray[Any], mem_flags: int = 0) -> NDArray[Any]: ...
def aligned_empty(
    shape: int | Sequence[int], dtype: DTypeLike, order: str = "C", alignment: int = 4096
) -> NDArray[Any]: ...
def aligned_empty_like(array: NDArray[Any], alignment: int = 4096) -> NDArray[Any]: ...
def aligned_zeros(
    shape: int | Sequence[int], dtype: DTypeLike, order: str = "C", alignment: int = 4096
) -> NDArray[Any]: ...
def aligned_zeros_like(array: NDArray[Any], alignment: int = 4096) -> NDArray[Any]: ...
def managed_empty(
    shape: int | Sequence[int], dtype: DTypeLike, order: str = "C", mem_flags: int = 0
) -> NDArray[Any]: ...
def managed_empty_like(array: NDArray[Any], mem_flags: int = 0) -> NDArray[Any]: ...
def managed_zeros(
    shape: int | Sequence[int], dtype: DTypeLike, order: str = "C", mem_flags: int = 0
) -> NDArray[Any]: ...
def managed_zeros_like(array: NDArray[Any], mem_flags: int = 0) -> NDArray[Any]: ...
def register_host_memory(ary: NDArray[Any], flags: int = 0) -> NDArray[Any]: ...

TRSA_OVERRIDE_FORMAT: int
TRSF_READ_AS_INTEGER: int
TRSF_NORMALIZED_COORDINATES: int
TR_DEFAULT: int

class TextureReference:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class SurfaceReference:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class ArrayDescriptor:
    width: int
    height: int
    format: array_format
    num_channels: int
    def __init__(self) -> None: ...

class ArrayDescriptor3D(ArrayDescriptor):
    depth: int
    flags: int
    def __init__(self) -> None: ...

class Array:
    def __init__(self, descriptor: ArrayDescriptor) -> None: ...

def bind_array_to_texref(*args: Any, **kwargs: Any) -> NoReturn: ...
def matrix_to_texref(*args: Any, **kwargs: Any) -> NoReturn: ...
def matrix_to_array(*args: Any, **kwargs: Any) -> NoReturn: ...
def np_to_array(*args: Any, **kwargs: Any) -> NoReturn: ...
def gpuarray_to_array(*args: Any, **kwargs: Any) -> NoReturn: ...
def make_multichannel_2d_array(*args: Any, **kwargs: Any) -> NoReturn: ...
def memcpy_dtoa(*args: Any, **kwargs: Any) -> NoReturn: ...
def memcpy_atod(*args: Any, **kwargs: Any) -> NoReturn: ...
def memcpy_atoa(*args: Any, **kwargs: Any) -> NoReturn: ...
def memcpy_htoa(*args: Any, **kwargs: Any) -> NoReturn: ...
def py_memcpy_htoa(*args: Any, **kwargs: Any) -> NoReturn: ...
def memcpy_atoh(*args: Any, **kwargs: Any) -> NoReturn: ...
def py_memcpy_atoh(*args: Any, **kwargs: Any) -> NoReturn: ...
def dtype_to_array_format(dtype: DTypeLike) -> array_format: ...

class ArgumentHandler:
    array: NDArray[Any]
    dev_alloc: DeviceAllocation | None
    def __init__(self, array: NDArray[Any]) -> None: ...
    def get_device_alloc(self) -> DeviceAllocation: ...
    def pre_call(self, stream: Stream | None) -> None: ...

class In(ArgumentHandler): ...

class Out(ArgumentHandler):
    def post_call(self, stream: Stream | None) -> None: ...

class InOut(In, Out): ...
