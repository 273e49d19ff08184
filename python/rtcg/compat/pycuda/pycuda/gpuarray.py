"""Arrays on the device under PyCUDA's names; `rtcg.numpy` has all of NumPy's.

Operations are enqueued and do not wait; only what copies elements to the host (`GPUArray.get`, printing, `bool`) waits.
"""

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg.numpy import (
    GPUArray as GPUArray,
    all as all,
    any as any,
    arange as arange,
    concatenate as concatenate,
    dot as dot,
    empty as empty,
    empty_like as empty_like,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    max as max,
    maximum as maximum,
    min as min,
    minimum as minimum,
    ones as ones,
    ones_like as ones_like,
    reshape as reshape,
    stack as stack,
    sum as sum,
    take as take,
    to_gpu as to_gpu,
    to_gpu_async as to_gpu_async,
    transpose as transpose,
    where as where,
    zeros as zeros,
    zeros_like as zeros_like,
)

__all__ = [
    "GPUArray", "all", "any", "arange", "concatenate", "dot", "empty", "empty_like", "if_positive",
    "logical_and", "logical_not", "logical_or", "max", "maximum", "min", "minimum", "multi_put", "multi_take",
    "multi_take_put", "ones", "ones_like", "reshape", "splay", "stack", "subset_dot", "subset_max",
    "subset_min", "subset_sum", "sum", "take", "to_gpu", "to_gpu_async", "transpose", "vec", "where", "zeros",
    "zeros_like",
]  # fmt: skip


def __getattr__(name):
    where = f"; rtcg.numpy.{name} is there" if name in _xp.__all__ else ""
    raise AttributeError(f"module 'pycuda.gpuarray' has no attribute {name!r}{where}")


def if_positive(criterion, then_, else_, out=None, stream=None):
    """Elements of `then_` where the criterion is greater than 0, else of `else_`; all of one shape."""
    shapes = {np.shape(operand) for operand in (criterion, then_, else_)}
    if len(shapes) > 1:
        raise ValueError(f"if_positive: shapes {criterion.shape}, {np.shape(then_)} and {np.shape(else_)} differ")
    if np.dtype(then_.dtype) != np.dtype(else_.dtype):
        raise ValueError(f"if_positive: dtypes {then_.dtype} and {else_.dtype} differ")
    return _xp._run_in_stream(stream, lambda: _native.ufunc("if_positive", (criterion, then_, else_), out))


def _memcpy_discontig(dst, src, async_=False, stream=None):
    """Copy `src` to `dst`, arrays on the device or the host with equal shape and dtype and any strides."""
    for name, array in (("src", src), ("dst", dst)):
        if not isinstance(array, GPUArray | np.ndarray):
            raise TypeError(f"{name} is of type {type(array).__name__}; expected a GPUArray or a NumPy array")
    if src.shape != dst.shape:
        raise ValueError(f"src has shape {src.shape}, dst {dst.shape}; expected the same")
    if src.dtype != dst.dtype:
        raise TypeError(f"src has dtype {src.dtype}, dst {dst.dtype}; expected the same")
    if isinstance(dst, GPUArray) and isinstance(src, GPUArray):
        return _xp._run_in_stream(stream, lambda: dst.__setitem__(..., src))
    if isinstance(dst, GPUArray):
        dst.set(src, async_=async_, stream=stream)
    elif isinstance(src, GPUArray):
        src.get(dst, async_=async_, stream=stream)
    else:
        dst[...] = src


def multi_take(arrays, indices, out=None, stream=None):
    """`take` from several arrays with one array of indices."""
    out = [None] * len(arrays) if out is None else out
    return [_xp.take(a, indices, None, target, stream=stream) for a, target in zip(arrays, out, strict=True)]


def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None):
    """Write the elements of each array to the indices `dest_indices` of a new array, or of one in `out`."""
    if out is None:
        shape = dest_indices.shape if dest_shape is None else dest_shape
        out = [_xp.zeros(shape, a.dtype) for a in arrays]
    for a, target in zip(arrays, out, strict=True):
        _native.array_put(target, dest_indices, a, None, "raise", stream)
    return out


def multi_take_put(arrays, dest_indices, src_indices, dest_shape=None, out=None, stream=None, src_offsets=None):
    """Write the elements at `src_indices` (with an offset for each array) to the indices `dest_indices`."""
    if out is None:
        shape = dest_indices.shape if dest_shape is None else dest_shape
        out = [_xp.zeros(shape, a.dtype) for a in arrays]
    offsets = [0] * len(arrays) if src_offsets is None else src_offsets
    for a, target, offset in zip(arrays, out, offsets, strict=True):
        taken = _xp.take(a, src_indices + offset if offset else src_indices, stream=stream)
        _native.array_put(target, dest_indices, taken, None, "raise", stream)
    return out


def subset_sum(subset, a, dtype=None, stream=None, allocator=None):
    """The sum of the elements that `subset` selects."""
    return _xp.sum(_xp.take(a, subset, stream=stream), dtype=dtype, stream=stream, allocator=allocator)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    """The inner product of the elements that `subset` selects."""
    return _xp.dot(_xp.take(a, subset, stream=stream), _xp.take(b, subset, stream=stream), dtype, stream, allocator)


def subset_min(subset, a, stream=None):
    """The smallest of the elements that `subset` selects."""
    return _xp.min(_xp.take(a, subset, stream=stream), stream=stream)


def subset_max(subset, a, stream=None):
    """The largest of the elements that `subset` selects."""
    return _xp.max(_xp.take(a, subset, stream=stream), stream=stream)


def splay(n, dev=None):
    """``(grid, block)`` of a launch over `n` elements that fills the device."""
    return _native.array_splay(n)


class _VectorTypes:
    """CUDA's vector types as dtypes (`vec.float4`), with their constructors (`vec.make_float4`)."""

    __module__, __qualname__ = "pycuda.gpuarray", "vec"


def _fill_vector_types():
    from rtcg._dtypes import get_or_register_dtype

    bases = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8",
             "ulong": "u8", "float": "f4", "longlong": "i8", "ulonglong": "u8", "double": "f8"}  # fmt: skip
    for base, code in bases.items():
        for count in range(1, 3 if base in ("longlong", "ulonglong", "double") else 5):
            name = f"{base}{count}"
            fields = ["x", "y", "z", "w"][:count]
            # Two types with one dtype, as `long2` and `longlong2`, are one to NumPy; upstream's titles tell them apart.
            dtype = np.dtype({"names": fields, "formats": [code] * count})
            get_or_register_dtype(name, dtype)
            setattr(_VectorTypes, name, dtype)
            setattr(_VectorTypes, f"make_{name}", staticmethod(_make_vector_constructor(name, dtype)))


def _make_vector_constructor(name, dtype):
    def make_vector(*args):
        value = np.zeros((), dtype)
        for field, arg in zip(dtype.names, args, strict=True):
            value[field] = arg
        return value

    make_vector.__name__ = f"make_{name}"
    return make_vector


vec = _VectorTypes

_fill_vector_types()
