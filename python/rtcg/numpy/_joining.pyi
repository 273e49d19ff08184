"""Arrays joined, cut, repeated, and seen in another order of elements; part of `rtcg.numpy`."""

from typing import Any

from rtcg._native import GPUArray

def broadcast_arrays(*arrays: Any) -> list[GPUArray]:
    """The arrays as views of one common shape."""

def diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> GPUArray:
    """`a.diagonal`."""

def fliplr(m: Any) -> GPUArray:
    """The columns in reverse order."""

def flipud(m: Any) -> GPUArray:
    """The rows in reverse order."""

def matrix_transpose(x: Any, /) -> GPUArray:
    """The last two axes exchanged."""

def permute_dims(a: Any, axes: Any) -> GPUArray:
    """`a.transpose(axes)`."""

def ravel(a: Any, order: Any = "C") -> GPUArray:
    """`a.ravel`."""

def roll(a: Any, shift: Any, axis: Any = None) -> GPUArray:
    """Elements moved along an axis, those that fall off coming back; see `numpy.roll`."""

def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[GPUArray]:
    """Views of parts along an axis; see `numpy.split`."""

def squeeze(a: Any, axis: Any = None) -> GPUArray:
    """`a.squeeze`."""

def swapaxes(a: Any, axis1: Any, axis2: Any) -> GPUArray:
    """`a.swapaxes`."""

def tile(A: Any, reps: Any) -> GPUArray:
    """The array several times along each axis; see `numpy.tile`."""

def unstack(x: Any, /, *, axis: Any = 0) -> list[GPUArray]:
    """Views without one axis, one for each index of it."""

def concatenate(
    arrays: Any, axis: Any = 0, allocator: Any = None, *, out: Any = None, dtype: Any = None, casting: Any = "same_kind"
) -> GPUArray:
    """Arrays one after the other along an axis; see `numpy.concatenate`."""

def concat(
    arrays: Any, axis: Any = 0, allocator: Any = None, *, out: Any = None, dtype: Any = None, casting: Any = "same_kind"
) -> GPUArray:
    """Arrays one after the other along an axis; see `numpy.concatenate`."""

def stack(
    arrays: Any, axis: Any = 0, allocator: Any = None, *, out: Any = None, dtype: Any = None, casting: Any = "same_kind"
) -> GPUArray:
    """Arrays of one shape along a new axis; see `numpy.stack`."""

def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> GPUArray:
    """Arrays as rows, one below the other."""

def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> GPUArray:
    """Arrays beside each other."""

def atleast_1d(*arys: Any) -> Any:
    """Arrays with one axis at least."""

def atleast_2d(*arys: Any) -> Any:
    """Arrays with two axes at least."""

def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy") -> tuple[Any, ...]:
    """Coordinate arrays of a grid; see `numpy.meshgrid`."""
