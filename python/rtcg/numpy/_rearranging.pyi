"""Elements put into other places: joining, cutting, diagonals, choosing by masks and by lists; part of
`rtcg.numpy`.

Indices that follow from shapes are computed on the device.
"""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = [
    "append",
    "apply_along_axis",
    "apply_over_axes",
    "argpartition",
    "array_split",
    "atleast_3d",
    "block",
    "choose",
    "column_stack",
    "compress",
    "delete",
    "diag",
    "diag_indices_from",
    "diagflat",
    "dsplit",
    "dstack",
    "extract",
    "fill_diagonal",
    "hsplit",
    "insert",
    "packbits",
    "partition",
    "piecewise",
    "place",
    "putmask",
    "ravel_multi_index",
    "repeat",
    "rollaxis",
    "rot90",
    "select",
    "sort_complex",
    "tril_indices_from",
    "trim_zeros",
    "triu_indices_from",
    "unpackbits",
    "unravel_index",
    "vsplit",
]

def append(arr: Any, values: Any, axis: Any = None) -> GPUArray:
    """`values` behind `arr`, along an axis or both flattened; see `numpy.append`."""

def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> GPUArray:
    """`func1d` of each row along an axis, one after the other; see `numpy.apply_along_axis`."""

def apply_over_axes(func: Any, a: Any, axes: Any) -> GPUArray:
    """`func` of one axis after the other; see `numpy.apply_over_axes`."""

def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> GPUArray:
    """The indices of `partition`: here those of `argsort`."""

def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[GPUArray]:
    """Views of parts along an axis, of lengths that may differ by one; see `numpy.array_split`."""

def atleast_3d(*arys: Any) -> Any:
    """Arrays with three axes at least; see `numpy.atleast_3d`."""

def block(arrays: Any) -> GPUArray:
    """Arrays joined as nested lists say, the innermost along the last axis; see `numpy.block`."""

def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> GPUArray:
    """Of each element the one of several arrays that `a` numbers; see `numpy.choose`."""

def column_stack(tup: Any) -> GPUArray:
    """Rows of numbers as columns, beside matrices; see `numpy.column_stack`."""

def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> GPUArray:
    """The subarrays for which a condition holds; waits for their number. See `numpy.compress`."""

def delete(arr: Any, obj: Any, axis: Any = None) -> GPUArray:
    """Without the elements or subarrays that an index names; waits for the number of those left."""

def diag(v: Any, k: Any = 0) -> GPUArray:
    """The diagonal of a matrix, or a matrix with a diagonal; see `numpy.diag`."""

def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """The indices of the main diagonal."""

def diagflat(v: Any, k: Any = 0) -> GPUArray:
    """A matrix with the flattened array as its diagonal."""

def dsplit(ary: Any, indices_or_sections: Any) -> list[GPUArray]:
    """`split` along axis 2; see `numpy.dsplit`."""

def dstack(tup: Any) -> GPUArray:
    """Arrays joined along the third axis."""

def extract(condition: Any, arr: Any) -> GPUArray:
    """The elements for which a condition holds; waits for their number."""

def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    """Writes `val` to the main diagonal, again below it with `wrap`; see `numpy.fill_diagonal`."""

def hsplit(ary: Any, indices_or_sections: Any) -> list[GPUArray]:
    """`split` along the second axis, or the only one."""

def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> GPUArray:
    """With `values` before the places that an index names; see `numpy.insert`."""

def packbits(a: Any, /, axis: Any = None, bitorder: Any = "big") -> GPUArray:
    """Truth values as bits of bytes; see `numpy.packbits`."""

def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> GPUArray:
    """A copy in which element `kth` is where sorting puts it: here all are."""

def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> GPUArray:
    """Functions or numbers for the elements for which conditions hold; see `numpy.piecewise`."""

def place(arr: Any, mask: Any, vals: Any) -> None:
    """Writes `vals`, again and again, to the elements that a mask names; waits for their number."""

def putmask(a: Any, mask: Any, values: Any) -> None:
    """Writes `values`, as long as the array or repeated, where a mask holds; does not wait."""

def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> GPUArray:
    """Places in the flattened array of indices in an array of shape `dims`; see `numpy.ravel_multi_index`."""

def repeat(a: Any, repeats: Any, axis: Any = None) -> GPUArray:
    """Each element several times; see `numpy.repeat`. Waits where numbers of repetitions are on the device."""

def rollaxis(a: Any, axis: Any, start: Any = 0) -> GPUArray:
    """An axis moved before another one; see `numpy.rollaxis`."""

def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> GPUArray:
    """The plane of two axes rotated by 90 degrees, as a view; see `numpy.rot90`."""

def select(condlist: Any, choicelist: Any, default: Any = 0) -> GPUArray:
    """Of each element the choice whose condition is the first that holds; see `numpy.select`."""

def sort_complex(a: Any) -> GPUArray:
    """A sorted copy as complex numbers."""

def tril_indices_from(arr: Any, k: Any = 0) -> tuple[Any, ...]:
    """The indices of the lower triangle; waits for their number."""

def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> GPUArray:
    """Without zeros at the ends of each axis; waits for their numbers. See `numpy.trim_zeros`."""

def triu_indices_from(arr: Any, k: Any = 0) -> tuple[Any, ...]:
    """The indices of the upper triangle; waits for their number."""

def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> GPUArray:
    """The bits of bytes, each as a byte; see `numpy.unpackbits`."""

def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[Any, ...]:
    """Indices in an array of a shape of places in the flattened one; see `numpy.unravel_index`."""

def vsplit(ary: Any, indices_or_sections: Any) -> list[GPUArray]:
    """`split` along axis 0; see `numpy.vsplit`."""
