"""What upstream has under names of its own, of lists of arrays, of subsets, and CUDA's vector types; part of
`pycuda.gpuarray`.
"""

import numpy as np

from pycuda import _rtcg as _native, gpuarray as _g

__all__ = [
    "multi_put", "multi_take", "multi_take_put", "splay", "subset_dot", "subset_max", "subset_min", "subset_sum",
    "vec",
]  # fmt: skip


def multi_take(arrays, indices, out=None, stream=None):
    """`take` of several arrays with one array of indices."""
    out = [None] * len(arrays) if out is None else out
    return [_g.take(a, indices, None, target, stream=stream) for a, target in zip(arrays, out, strict=True)]


def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None):
    """Each array's elements written to the places `dest_indices` of a new array, or of one of `out`."""
    if out is None:
        shape = dest_indices.shape if dest_shape is None else dest_shape
        out = [_g.zeros(shape, a.dtype) for a in arrays]
    for a, target in zip(arrays, out, strict=True):
        _native.array_put(target, dest_indices, a, None, "raise", stream)
    return out


def multi_take_put(arrays, dest_indices, src_indices, dest_shape=None, out=None, stream=None, src_offsets=None):
    """Elements at `src_indices` (and an offset for each array) written to the places `dest_indices`."""
    if out is None:
        shape = dest_indices.shape if dest_shape is None else dest_shape
        out = [_g.zeros(shape, a.dtype) for a in arrays]
    offsets = [0] * len(arrays) if src_offsets is None else src_offsets
    for a, target, offset in zip(arrays, out, offsets, strict=True):
        taken = _g.take(a, src_indices + offset if offset else src_indices, stream=stream)
        _native.array_put(target, dest_indices, taken, None, "raise", stream)
    return out


def subset_sum(subset, a, dtype=None, stream=None, allocator=None):
    """The sum of the elements that `subset` indexes."""
    return _g.sum(_g.take(a, subset, stream=stream), dtype=dtype, stream=stream, allocator=allocator)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    """The inner product of the elements that `subset` indexes."""
    return _g.dot(_g.take(a, subset, stream=stream), _g.take(b, subset, stream=stream), dtype, stream, allocator)


def subset_min(subset, a, stream=None):
    """The smallest of the elements that `subset` indexes."""
    return _g.min(_g.take(a, subset, stream=stream), stream=stream)


def subset_max(subset, a, stream=None):
    """The largest of the elements that `subset` indexes."""
    return _g.max(_g.take(a, subset, stream=stream), stream=stream)


def splay(n, dev=None):
    """``(grid, block)`` of a launch over `n` elements that fills the device."""
    return _native.array_splay(n)


class _VectorTypes:
    """CUDA's vector types as dtypes (`vec.float4`), and their makers (`vec.make_float4`)."""

    __module__, __qualname__ = "pycuda.gpuarray", "vec"


def _fill_vector_types():
    from pycuda.tools import get_or_register_dtype

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
            setattr(_VectorTypes, f"make_{name}", staticmethod(_maker(name, dtype)))


def _maker(name, dtype):
    def make(*args):
        value = np.zeros((), dtype)
        for field, arg in zip(dtype.names, args, strict=True):
            value[field] = arg
        return value

    make.__name__ = f"make_{name}"
    return make


vec = _VectorTypes

_fill_vector_types()
