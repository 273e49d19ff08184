"""The functions of CUDA's runtime that scikit-cuda names, over `rtcg.driver`, for the device of the current context."""

from __future__ import annotations

import ctypes
from typing import Any

import rtcg.driver as drv
from rtcg._conversions import as_integer
from rtcg._messages import shown

__all__ = [
    "cudaDriverGetVersion",
    "cudaError",
    "cudaErrorInvalidValue",
    "cudaErrorMemoryAllocation",
    "cudaFree",
    "cudaGetDevice",
    "cudaMalloc",
    "cudaMemGetInfo",
    "cudaMemcpy_dtoh",
    "cudaMemcpy_htod",
    "cudaRuntimeGetVersion",
    "cudaSetDevice",
    "gpuarray_ptr",
]


class cudaError(Exception):
    """An error of a function of this module."""


class cudaErrorMemoryAllocation(cudaError):
    """Memory could not be allocated."""


class cudaErrorInvalidValue(cudaError):
    """An argument has a value that it may not have."""


_allocations: dict[int, Any] = {}


def _address(pointer: Any) -> int:
    """The address in a ctypes pointer, or an int."""
    if isinstance(pointer, int):
        return pointer
    try:
        return ctypes.cast(pointer, ctypes.c_void_p).value or 0
    except (ctypes.ArgumentError, TypeError):
        raise cudaErrorInvalidValue(f"pointer is {shown(pointer)}; expected a ctypes pointer or an int") from None


def gpuarray_ptr(g: Any) -> Any:
    """The address of an array as a pointer of ctypes."""
    return ctypes.c_void_p(int(g.gpudata))


def cudaMalloc(count: int, ctype: Any = None) -> Any:
    """New device memory of `count` bytes: a ``ctypes.c_void_p``, or a pointer to `ctype`."""
    try:
        allocation = drv.mem_alloc(as_integer("count", count, least=1))
    except drv.MemoryError as error:
        raise cudaErrorMemoryAllocation(str(error)) from error
    address = int(allocation)
    _allocations[address] = allocation
    pointer = ctypes.c_void_p(address)
    return pointer if ctype is None else ctypes.cast(pointer, ctypes.POINTER(ctype))


def cudaFree(ptr: Any) -> None:
    """Free memory of `cudaMalloc`."""
    allocation = _allocations.pop(_address(ptr), None)
    if allocation is None:
        raise cudaErrorInvalidValue(f"ptr is {_address(ptr):#x}; expected memory of cudaMalloc that is not freed")
    allocation.free()


def cudaMemcpy_htod(dst: Any, src: Any, count: int) -> None:
    """Copy `count` bytes from host memory, a pointer of ctypes or an address, to the device; waits."""
    source = (ctypes.c_char * as_integer("count", count, least=0)).from_address(_address(src))
    drv.memcpy_htod(_address(dst), source)


def cudaMemcpy_dtoh(dst: Any, src: Any, count: int) -> None:
    """Copy `count` bytes from the device to host memory, a pointer of ctypes or an address; waits."""
    target = (ctypes.c_char * as_integer("count", count, least=0)).from_address(_address(dst))
    drv.memcpy_dtoh(target, _address(src))


def cudaMemGetInfo() -> tuple[int, int]:
    """Free and total bytes of the device's memory."""
    return drv.mem_get_info()


def cudaGetDevice() -> int:
    """The number of the device of the current context."""
    current = drv.Context.get_device()
    return next(number for number in range(drv.Device.count()) if drv.Device(number) == current)


def cudaSetDevice(dev: int) -> None:
    """Check that the device of the current context is number `dev`; another device needs a context of its own."""
    if as_integer("dev", dev) != cudaGetDevice():
        raise cudaErrorInvalidValue(
            f"dev is {dev}, and the context is of device {cudaGetDevice()}; expected that one, or a context of device "
            f"{dev} made current (Device.make_context)"
        )


def cudaDriverGetVersion() -> int:
    """The CUDA version of the driver, such as 13000."""
    return drv.get_driver_version()


def cudaRuntimeGetVersion() -> int:
    """The CUDA version of the compiler, such as 13000."""
    major, minor, *_ = drv.get_version()
    return 1000 * major + 10 * minor
