"""CUDA's driver API: devices, contexts, memory, modules, streams, events, launches."""

import abc
from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike, NDArray

from rtcg._cuda_arrays import (
    TR_DEFAULT as TR_DEFAULT,
    TRSA_OVERRIDE_FORMAT as TRSA_OVERRIDE_FORMAT,
    TRSF_NORMALIZED_COORDINATES as TRSF_NORMALIZED_COORDINATES,
    TRSF_READ_AS_INTEGER as TRSF_READ_AS_INTEGER,
    TRSF_SEAMLESS_CUBEMAP as TRSF_SEAMLESS_CUBEMAP,
    TRSF_SRGB as TRSF_SRGB,
    ArrayDescriptor as ArrayDescriptor,
    ArrayDescriptor3D as ArrayDescriptor3D,
    bind_array_to_texref as bind_array_to_texref,
    dtype_to_array_format as dtype_to_array_format,
    gpuarray_to_array as gpuarray_to_array,
    make_multichannel_2d_array as make_multichannel_2d_array,
    matrix_to_array as matrix_to_array,
    matrix_to_texref as matrix_to_texref,
    np_to_array as np_to_array,
    texture_object as texture_object,
)
from rtcg._enums import *  # noqa: F403
from rtcg._native import (
    AddressRange as AddressRange,
    AlignedHostAllocation as AlignedHostAllocation,
    Array as Array,
    Context as Context,
    Device as Device,
    DeviceAllocation as DeviceAllocation,
    DeviceMemoryPool as DeviceMemoryPool,
    Error as Error,
    Event as Event,
    Function as Function,
    Graph as Graph,
    GraphAllocation as GraphAllocation,
    GraphExec as GraphExec,
    GraphNode as GraphNode,
    IPCMemoryHandle as IPCMemoryHandle,
    Kernel as Kernel,
    LaunchError as LaunchError,
    Library as Library,
    Linker as Linker,
    LogicError as LogicError,
    ManagedAllocation as ManagedAllocation,
    Mapping as Mapping,
    Memcpy2D as Memcpy2D,
    Memcpy3D as Memcpy3D,
    Memcpy3DPeer as Memcpy3DPeer,
    MemoryError as MemoryError,
    MemoryPool as MemoryPool,
    MipmappedArray as MipmappedArray,
    Module as Module,
    PageLockedAllocator as PageLockedAllocator,
    PagelockedHostAllocation as PagelockedHostAllocation,
    PageLockedMemoryPool as PageLockedMemoryPool,
    PhysicalMemory as PhysicalMemory,
    PooledDeviceAllocation as PooledDeviceAllocation,
    PooledHostAllocation as PooledHostAllocation,
    RegisteredHostMemory as RegisteredHostMemory,
    RuntimeError as RuntimeError,
    Stream as Stream,
    StreamCapture as StreamCapture,
    SurfaceObject as SurfaceObject,
    SurfaceReference as SurfaceReference,
    TextureObject as TextureObject,
    TextureReference as TextureReference,
    _DevicePointer,
    _HostBuffer,
    exchange_capture_mode as exchange_capture_mode,
    get_driver_version as get_driver_version,
    have_gl_ext as have_gl_ext,
    init as init,
    initialize_profiler as initialize_profiler,
    library_from_buffer as library_from_buffer,
    library_from_file as library_from_file,
    mem_advise as mem_advise,
    mem_alloc as mem_alloc,
    mem_alloc_async as mem_alloc_async,
    mem_alloc_pitch as mem_alloc_pitch,
    mem_get_address_range as mem_get_address_range,
    mem_get_granularity as mem_get_granularity,
    mem_get_info as mem_get_info,
    mem_get_ipc_handle as mem_get_ipc_handle,
    mem_prefetch_async as mem_prefetch_async,
    mem_range_get_attribute as mem_range_get_attribute,
    memcpy_atoa as memcpy_atoa,
    memcpy_atod as memcpy_atod,
    memcpy_atoh as memcpy_atoh,
    memcpy_dtoa as memcpy_dtoa,
    memcpy_dtod as memcpy_dtod,
    memcpy_dtod_async as memcpy_dtod_async,
    memcpy_dtoh as memcpy_dtoh,
    memcpy_dtoh_async as memcpy_dtoh_async,
    memcpy_htoa as memcpy_htoa,
    memcpy_htod as memcpy_htod,
    memcpy_htod_async as memcpy_htod_async,
    memcpy_peer as memcpy_peer,
    memcpy_peer_async as memcpy_peer_async,
    memset_d2d8 as memset_d2d8,
    memset_d2d8_async as memset_d2d8_async,
    memset_d2d16 as memset_d2d16,
    memset_d2d16_async as memset_d2d16_async,
    memset_d2d32 as memset_d2d32,
    memset_d2d32_async as memset_d2d32_async,
    memset_d8 as memset_d8,
    memset_d8_async as memset_d8_async,
    memset_d16 as memset_d16,
    memset_d16_async as memset_d16_async,
    memset_d32 as memset_d32,
    memset_d32_async as memset_d32_async,
    module_from_buffer as module_from_buffer,
    module_from_file as module_from_file,
    pointer_get_attribute as pointer_get_attribute,
    start_profiler as start_profiler,
    stop_profiler as stop_profiler,
)

__all__ = [
    "AddressRange",
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
    "DeviceMemoryPool",
    "Error",
    "Event",
    "Function",
    "Graph",
    "GraphAllocation",
    "GraphExec",
    "GraphNode",
    "HostAllocation",
    "HostPointer",
    "IPCMemoryHandle",
    "In",
    "InOut",
    "Kernel",
    "LaunchError",
    "Library",
    "Linker",
    "LogicError",
    "ManagedAllocation",
    "Mapping",
    "Memcpy2D",
    "Memcpy3D",
    "Memcpy3DPeer",
    "MemoryError",
    "MemoryPool",
    "MipmappedArray",
    "Module",
    "Out",
    "PageLockedAllocator",
    "PageLockedMemoryPool",
    "PagelockedHostAllocation",
    "PhysicalMemory",
    "PointerHolderBase",
    "PooledDeviceAllocation",
    "PooledHostAllocation",
    "RegisteredHostMemory",
    "RuntimeError",
    "Stream",
    "StreamCapture",
    "SurfaceObject",
    "SurfaceReference",
    "TRSA_OVERRIDE_FORMAT",
    "TRSF_NORMALIZED_COORDINATES",
    "TRSF_READ_AS_INTEGER",
    "TRSF_SEAMLESS_CUBEMAP",
    "TRSF_SRGB",
    "TR_DEFAULT",
    "TextureObject",
    "TextureReference",
    "address_mode",
    "aligned_empty",
    "aligned_empty_like",
    "aligned_zeros",
    "aligned_zeros_like",
    "array3d_flags",
    "array_cubemap_face",
    "array_format",
    "bind_array_to_texref",
    "capture_mode",
    "capture_status",
    "compute_mode",
    "ctx_flags",
    "device_attribute",
    "direction_vector_set",
    "dtype_to_array_format",
    "event_flags",
    "exchange_capture_mode",
    "filter_mode",
    "from_device",
    "from_device_like",
    "func_cache",
    "function_attribute",
    "get_driver_version",
    "get_version",
    "gpuarray_to_array",
    "graph_conditional_node_type",
    "graph_debug_dot_flags",
    "graph_instantiate_flags",
    "graph_node_type",
    "graphics_map_flags",
    "graphics_register_flags",
    "have_gl_ext",
    "host_alloc_flags",
    "init",
    "initialize_profiler",
    "ipc_mem_flags",
    "jit_fallback",
    "jit_input_type",
    "jit_option",
    "jit_target",
    "library_from_buffer",
    "library_from_file",
    "limit",
    "make_multichannel_2d_array",
    "managed_empty",
    "managed_empty_like",
    "managed_zeros",
    "managed_zeros_like",
    "matrix_to_array",
    "matrix_to_texref",
    "mem_access_flags",
    "mem_advice",
    "mem_advise",
    "mem_alloc",
    "mem_alloc_async",
    "mem_alloc_like",
    "mem_alloc_pitch",
    "mem_attach_flags",
    "mem_get_address_range",
    "mem_get_granularity",
    "mem_get_info",
    "mem_get_ipc_handle",
    "mem_host_register_flags",
    "mem_pool_attribute",
    "mem_prefetch_async",
    "mem_range_attribute",
    "mem_range_get_attribute",
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
    "memory_type",
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
    "p2p_attribute",
    "pagelocked_empty",
    "pagelocked_empty_like",
    "pagelocked_zeros",
    "pagelocked_zeros_like",
    "pointer_attribute",
    "pointer_get_attribute",
    "profiler_output_mode",
    "py_memcpy_atoh",
    "py_memcpy_htoa",
    "register_host_memory",
    "set_debugging",
    "shared_config",
    "start_profiler",
    "stop_profiler",
    "stream_flags",
    "texture_object",
    "to_device",
]

HostAllocation = PagelockedHostAllocation

class CompileError(Error):
    msg: str
    command_line: Sequence[str]
    stdout: str | None
    stderr: str | None
    source: str | None
    def __init__(
        self, msg: str, command_line: Sequence[str], stdout: str | None = None, stderr: str | None = None
    ) -> None: ...

CUDA_DEBUGGING: bool

def set_debugging(flag: bool = True) -> None: ...
def get_version() -> tuple[int, int, int]: ...

class HostPointer(abc.ABC):
    @abc.abstractmethod
    def get_device_pointer(self) -> int: ...

class PointerHolderBase:
    def get_pointer(self) -> int: ...
    def as_buffer(self, size: int, offset: int = 0) -> memoryview: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

def mem_alloc_like(ary: Any) -> DeviceAllocation: ...
def to_device(bf_obj: _HostBuffer) -> DeviceAllocation: ...
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

py_memcpy_htoa = memcpy_htoa
py_memcpy_atoh = memcpy_atoh

class ArgumentHandler:
    array: NDArray[Any]
    dev_alloc: DeviceAllocation | None
    def __init__(self, ary: NDArray[Any]) -> None: ...
    def get_device_alloc(self) -> DeviceAllocation: ...
    def pre_call(self, stream: Stream | None) -> None: ...

class In(ArgumentHandler): ...

class Out(ArgumentHandler):
    def post_call(self, stream: Stream | None) -> None: ...

class InOut(In, Out): ...
