"""Contexts, memoisation, memory pools and C types of dtypes under PyCUDA's names; see `rtcg.tools`."""

import rtcg.tools
from rtcg.tools import (
    Argument as Argument,
    DebugMemoryPool as DebugMemoryPool,
    DeviceData as DeviceData,
    DeviceMemoryPool as DeviceMemoryPool,
    OccupancyRecord as OccupancyRecord,
    PageLockedAllocator as PageLockedAllocator,
    PageLockedMemoryPool as PageLockedMemoryPool,
    PooledDeviceAllocation as PooledDeviceAllocation,
    PooledHostAllocation as PooledHostAllocation,
    ScalarArg as ScalarArg,
    VectorArg as VectorArg,
    bitlog2 as bitlog2,
    clear_context_caches as clear_context_caches,
    context_dependent_memoize as context_dependent_memoize,
    context_dependent_memoized_functions as context_dependent_memoized_functions,
    dtype_to_ctype as dtype_to_ctype,
    get_arg_type as get_arg_type,
    get_default_device as get_default_device,
    init_cuda_context_fixture as init_cuda_context_fixture,
    make_default_context as make_default_context,
    mark_cuda_test as mark_cuda_test,
    parse_c_arg as parse_c_arg,
)

__all__ = [
    "Argument", "DebugMemoryPool", "DeviceData", "DeviceMemoryPool", "OccupancyRecord", "PageLockedAllocator",
    "PageLockedMemoryPool", "PooledDeviceAllocation", "PooledHostAllocation", "ScalarArg", "VectorArg",
    "bitlog2", "clear_context_caches", "context_dependent_memoize", "context_dependent_memoized_functions",
    "dtype_to_ctype", "get_arg_type", "get_default_device", "init_cuda_context_fixture", "make_default_context",
    "mark_cuda_test", "parse_c_arg",
]  # fmt: skip


def __getattr__(name):
    """Fill the registry of C names, and import NumPy for it, on first use."""
    if name not in ("get_or_register_dtype", "register_dtype"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(rtcg.tools, name)
