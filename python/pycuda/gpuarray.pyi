"""Arrays on the device with NumPy's arithmetic."""

from typing import Any

from pycuda._rtcg import ArrayFlags as ArrayFlags, GPUArray as GPUArray

__all__ = [
    "GPUArray",
    "arange",
    "broadcast_to",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "reshape",
    "to_gpu",
    "to_gpu_async",
    "transpose",
    "zeros",
    "zeros_like",
]

def arange(*args: Any, dtype: Any = None, stream: Any = None, allocator: Any = None) -> GPUArray:
    """``arange([start,] stop[, step], dtype=None)``: evenly spaced numbers, as `numpy.arange`."""

def broadcast_to(a: Any, shape: Any) -> GPUArray:
    """`a` repeated to `shape` by strides of 0, as a view; see `numpy.broadcast_to`."""

empty = GPUArray

def empty_like(other_ary: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """A new array with undefined contents, of the shape, memory order and dtype of `other_ary` unless given."""

def expand_dims(a: Any, axis: Any) -> GPUArray:
    """`a` with new axes of length 1; see `numpy.expand_dims`."""

def flip(m: Any, axis: Any = None) -> GPUArray:
    """`m` with axes run backwards, as a view; see `numpy.flip`."""

def full(shape: Any, fill_value: Any, dtype: Any = None, allocator: Any = None, order: Any = "C") -> GPUArray:
    """A new array in which every element is `fill_value`; does not wait."""

def full_like(other_ary: Any, fill_value: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """As `empty_like`, with every element `fill_value`."""

def moveaxis(a: Any, source: Any, destination: Any) -> GPUArray:
    """`a` with axes moved to other places; see `numpy.moveaxis`."""

def ones(shape: Any, dtype: Any = ..., allocator: Any = None, order: Any = "C") -> GPUArray:
    """A new array of ones; does not wait."""

def ones_like(other_ary: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """As `empty_like`, with every element 1."""

def reshape(a: Any, *shape: Any, order: Any = "C") -> GPUArray:
    """`a.reshape`."""

def to_gpu(ary: Any, allocator: Any = None) -> GPUArray:
    """A new device array with a copy of a host array; keeps C or Fortran order; waits."""

def to_gpu_async(ary: Any, allocator: Any = None, stream: Any = None) -> GPUArray:
    """As `to_gpu`, in the order of `stream`."""

def transpose(a: Any, axes: Any = None) -> GPUArray:
    """`a.transpose`."""

def zeros(shape: Any, dtype: Any = ..., allocator: Any = None, order: Any = "C") -> GPUArray:
    """A new array of zeros; does not wait."""

def zeros_like(other_ary: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """As `empty_like`, with every element 0."""
