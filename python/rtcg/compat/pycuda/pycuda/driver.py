"""CUDA's driver API under the names that PyCUDA has; `rtcg.driver` documents them and has more."""

import sys
import types

import rtcg.driver
from rtcg.driver import (
    TR_DEFAULT as TR_DEFAULT,
    TRSA_OVERRIDE_FORMAT as TRSA_OVERRIDE_FORMAT,
    TRSF_NORMALIZED_COORDINATES as TRSF_NORMALIZED_COORDINATES,
    TRSF_READ_AS_INTEGER as TRSF_READ_AS_INTEGER,
    AlignedHostAllocation as AlignedHostAllocation,
    ArgumentHandler as ArgumentHandler,
    Array as Array,
    ArrayDescriptor as ArrayDescriptor,
    ArrayDescriptor3D as ArrayDescriptor3D,
    CompileError as CompileError,
    Context as Context,
    Device as Device,
    DeviceAllocation as DeviceAllocation,
    DeviceMemoryPool as DeviceMemoryPool,
    Error as Error,
    Event as Event,
    Function as Function,
    HostAllocation as HostAllocation,
    HostPointer as HostPointer,
    In as In,
    InOut as InOut,
    IPCMemoryHandle as IPCMemoryHandle,
    LaunchError as LaunchError,
    Linker as Linker,
    LogicError as LogicError,
    ManagedAllocation as ManagedAllocation,
    Memcpy2D as Memcpy2D,
    Memcpy3D as Memcpy3D,
    Memcpy3DPeer as Memcpy3DPeer,
    MemoryError as MemoryError,
    Module as Module,
    Out as Out,
    PageLockedAllocator as PageLockedAllocator,
    PagelockedHostAllocation as PagelockedHostAllocation,
    PageLockedMemoryPool as PageLockedMemoryPool,
    PointerHolderBase as PointerHolderBase,
    PooledDeviceAllocation as PooledDeviceAllocation,
    PooledHostAllocation as PooledHostAllocation,
    RegisteredHostMemory as RegisteredHostMemory,
    RuntimeError as RuntimeError,
    Stream as Stream,
    SurfaceReference as SurfaceReference,
    TextureReference as TextureReference,
    address_mode as address_mode,
    aligned_empty as aligned_empty,
    aligned_empty_like as aligned_empty_like,
    aligned_zeros as aligned_zeros,
    aligned_zeros_like as aligned_zeros_like,
    array3d_flags as array3d_flags,
    array_cubemap_face as array_cubemap_face,
    array_format as array_format,
    bind_array_to_texref as bind_array_to_texref,
    compute_mode as compute_mode,
    ctx_flags as ctx_flags,
    device_attribute as device_attribute,
    direction_vector_set as direction_vector_set,
    dtype_to_array_format as dtype_to_array_format,
    event_flags as event_flags,
    filter_mode as filter_mode,
    from_device as from_device,
    from_device_like as from_device_like,
    func_cache as func_cache,
    function_attribute as function_attribute,
    get_driver_version as get_driver_version,
    get_version as get_version,
    gpuarray_to_array as gpuarray_to_array,
    graphics_map_flags as graphics_map_flags,
    graphics_register_flags as graphics_register_flags,
    have_gl_ext as have_gl_ext,
    host_alloc_flags as host_alloc_flags,
    init as init,
    initialize_profiler as initialize_profiler,
    ipc_mem_flags as ipc_mem_flags,
    jit_fallback as jit_fallback,
    jit_input_type as jit_input_type,
    jit_option as jit_option,
    jit_target as jit_target,
    limit as limit,
    make_multichannel_2d_array as make_multichannel_2d_array,
    managed_empty as managed_empty,
    managed_empty_like as managed_empty_like,
    managed_zeros as managed_zeros,
    managed_zeros_like as managed_zeros_like,
    matrix_to_array as matrix_to_array,
    matrix_to_texref as matrix_to_texref,
    mem_alloc as mem_alloc,
    mem_alloc_like as mem_alloc_like,
    mem_alloc_pitch as mem_alloc_pitch,
    mem_attach_flags as mem_attach_flags,
    mem_get_address_range as mem_get_address_range,
    mem_get_info as mem_get_info,
    mem_get_ipc_handle as mem_get_ipc_handle,
    mem_host_register_flags as mem_host_register_flags,
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
    memory_type as memory_type,
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
    np_to_array as np_to_array,
    pagelocked_empty as pagelocked_empty,
    pagelocked_empty_like as pagelocked_empty_like,
    pagelocked_zeros as pagelocked_zeros,
    pagelocked_zeros_like as pagelocked_zeros_like,
    pointer_attribute as pointer_attribute,
    profiler_output_mode as profiler_output_mode,
    py_memcpy_atoh as py_memcpy_atoh,
    py_memcpy_htoa as py_memcpy_htoa,
    register_host_memory as register_host_memory,
    set_debugging as set_debugging,
    shared_config as shared_config,
    start_profiler as start_profiler,
    stop_profiler as stop_profiler,
    to_device as to_device,
)
from rtcg.tools import bitlog2 as bitlog2

__all__ = [
    "AlignedHostAllocation", "ArgumentHandler", "Array", "ArrayDescriptor", "ArrayDescriptor3D",
    "CUDA_DEBUGGING",  # noqa: F822 (a property of the module)
    "CompileError", "Context", "Device", "DeviceAllocation", "DeviceMemoryPool", "Error",
    "Event", "Function", "HostAllocation", "HostPointer", "IPCMemoryHandle", "In", "InOut", "LaunchError",
    "Linker", "LogicError", "ManagedAllocation", "Memcpy2D", "Memcpy3D", "Memcpy3DPeer", "MemoryError",
    "Module", "Out", "PageLockedAllocator", "PageLockedMemoryPool", "PagelockedHostAllocation",
    "PointerHolderBase", "PooledDeviceAllocation", "PooledHostAllocation", "RegisteredHostMemory",
    "RuntimeError", "Stream", "SurfaceReference", "TRSA_OVERRIDE_FORMAT", "TRSF_NORMALIZED_COORDINATES",
    "TRSF_READ_AS_INTEGER", "TR_DEFAULT", "TextureReference", "address_mode", "aligned_empty",
    "aligned_empty_like", "aligned_zeros", "aligned_zeros_like", "array3d_flags", "array_cubemap_face",
    "array_format", "bind_array_to_texref", "bitlog2", "compute_mode", "ctx_flags", "device_attribute",
    "direction_vector_set", "dtype_to_array_format", "event_flags", "filter_mode", "from_device",
    "from_device_like", "func_cache", "function_attribute", "get_curand_version", "get_driver_version",
    "get_version", "gpuarray_to_array", "graphics_map_flags", "graphics_register_flags", "have_gl_ext",
    "host_alloc_flags", "init", "initialize_profiler", "ipc_mem_flags", "jit_fallback", "jit_input_type",
    "jit_option", "jit_target", "limit", "make_multichannel_2d_array", "managed_empty", "managed_empty_like",
    "managed_zeros", "managed_zeros_like", "matrix_to_array", "matrix_to_texref", "mem_alloc", "mem_alloc_like",
    "mem_alloc_pitch", "mem_attach_flags", "mem_get_address_range", "mem_get_info", "mem_get_ipc_handle",
    "mem_host_register_flags", "memcpy_atoa", "memcpy_atod", "memcpy_atoh", "memcpy_dtoa", "memcpy_dtod",
    "memcpy_dtod_async", "memcpy_dtoh", "memcpy_dtoh_async", "memcpy_htoa", "memcpy_htod", "memcpy_htod_async",
    "memcpy_peer", "memcpy_peer_async", "memory_type", "memset_d16", "memset_d16_async", "memset_d2d16",
    "memset_d2d16_async", "memset_d2d32", "memset_d2d32_async", "memset_d2d8", "memset_d2d8_async",
    "memset_d32", "memset_d32_async", "memset_d8", "memset_d8_async", "module_from_buffer", "module_from_file",
    "np_to_array", "pagelocked_empty", "pagelocked_empty_like", "pagelocked_zeros", "pagelocked_zeros_like",
    "pointer_attribute", "profiler_output_mode", "py_memcpy_atoh", "py_memcpy_htoa", "register_host_memory",
    "set_debugging", "shared_config", "start_profiler", "stop_profiler", "to_device",
]  # fmt: skip


def get_curand_version():
    """The version of cuRAND whose sequences `pycuda.curandom` makes; no library is loaded."""
    return (10, 4, 0)


# Looked up late, because `pycuda.gl` needs this module.
_OF_GL = {
    "make_gl_context": "make_context", "gl_init": "init",
    **{name: name for name in ("BufferObject", "BufferObjectMapping", "RegisteredBuffer", "RegisteredImage",
                               "RegisteredMapping", "RegisteredObject")},
}  # fmt: skip


def __getattr__(name):
    if name not in _OF_GL:
        where = "; rtcg.driver has it" if hasattr(rtcg.driver, name) else ""
        raise AttributeError(f"module 'pycuda.driver' has no attribute {name!r}{where}")
    import pycuda.gl

    return getattr(pycuda.gl, _OF_GL[name])


class _Driver(types.ModuleType):
    """This module, whose `CUDA_DEBUGGING` may also be assigned."""

    @property
    def CUDA_DEBUGGING(self):  # noqa: N802
        return rtcg.driver.CUDA_DEBUGGING

    @CUDA_DEBUGGING.setter
    def CUDA_DEBUGGING(self, flag):  # noqa: N802
        rtcg.driver.set_debugging(flag)


sys.modules[__name__].__class__ = _Driver
