"""Joining, splitting, tiling and rearranging arrays; part of `rtcg.numpy`."""

from typing import Any

from rtcg._native import GPUArray

def broadcast_arrays(*arrays: Any) -> list[GPUArray]:
    """Broadcast arrays against each other: a list of views of the common shape, with strides of 0; does not wait.

    Arguments are array-like. Raises `ValueError` if their shapes do not fit. NumPy returns a tuple.
    """

def diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> GPUArray:
    """A view of the diagonal `offset` of two axes of the device array `a`, as the last axis; does not wait.

    `offset` is positive above the main diagonal. Raises `ValueError` for fewer than two axes or the same axis twice,
    and `AxisError` for an axis that is not there. Unlike NumPy's, the view is writable.
    """

def fliplr(m: Any) -> GPUArray:
    """A view of the device array `m` with its columns, the second axis, in reverse order; does not wait.

    Raises `AxisError` for an array of fewer than two axes.
    """

def flipud(m: Any) -> GPUArray:
    """A view of the device array `m` with its rows, the first axis, in reverse order; does not wait.

    Raises `AxisError` for an array without axes.
    """

def matrix_transpose(x: Any, /) -> GPUArray:
    """A view of the device array `x` with its last two axes exchanged; does not wait.

    Raises `ValueError` for fewer than two axes.
    """

def permute_dims(a: Any, axes: Any) -> GPUArray:
    """A view of the device array `a` with its axes in the order `axes`, as `transpose`; does not wait.

    Raises `ValueError` unless `axes` names each axis once.
    """

def ravel(a: Any, order: Any = "C") -> GPUArray:
    """The elements of the device array `a` in one axis, in the order `order` (C, F, A or K); does not wait.

    Returns a view where the memory layout allows, else a copy.
    """

def roll(a: Any, shift: Any, axis: Any = None) -> GPUArray:
    """Shift elements along an axis, with those that leave at one end coming back at the other; does not wait.

    Returns a new array. `a` is array-like, `shift` an int on the host, positive towards higher indices; `shift` and
    `axis` may both be tuples. With `axis` None the array is flattened for the shift and then gets its shape back.
    Raises `AxisError` for an axis that is not there.
    """

def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[GPUArray]:
    """Split the device array `ary` along `axis` into a list of views; does not wait.

    `indices_or_sections` is the number of equal parts, or the indices at which parts after the first begin. Raises
    `ValueError` if the length is not divisible (`array_split` permits it) or the number is not positive, and
    `AxisError` for an axis that is not there.
    """

def squeeze(a: Any, axis: Any = None) -> GPUArray:
    """A view of the device array `a` without axes of length 1, or without those in `axis`; does not wait.

    `axis` is an int or a tuple of int. Raises `ValueError` for an axis of any other length, and `AxisError` for one
    that is not there.
    """

def swapaxes(a: Any, axis1: Any, axis2: Any) -> GPUArray:
    """A view of the device array `a` with two axes exchanged; does not wait.

    Raises `AxisError` for an axis that `a` does not have.
    """

def tile(A: Any, reps: Any) -> GPUArray:
    """Repeat an array along each axis: a new array of shape ``reps * shape``; does not wait.

    `A` is array-like; `reps` is an int or a sequence of int. Whichever of `reps` and the shape is shorter is extended
    by ones in front.
    """

def unstack(x: Any, /, *, axis: Any = 0) -> list[GPUArray]:
    """A tuple of views of `x`, one for each index along `axis`, without that axis; does not wait.

    `x` is a device array. Raises `AxisError` for an axis that it does not have.
    """

def concatenate(
    arrays: Any, axis: Any = 0, allocator: Any = None, *, out: Any = None, dtype: Any = None, casting: Any = "same_kind"
) -> GPUArray:
    """Join arrays along `axis`, or flattened if it is None; does not wait.

    `arrays` are array-like and agree in all other axes, else raises `ValueError`, as for no arrays or arrays without
    axes. The result, `out` or a new array in the memory order of the first, has `dtype` or the common one. Raises
    `TypeError` if the rule `casting` does not allow the conversion, or if `out` and `dtype` are both given. `allocator`
    is a callable that takes a number of bytes; NumPy's third argument, `out`, may take its place.
    """

def concat(
    arrays: Any, axis: Any = 0, allocator: Any = None, *, out: Any = None, dtype: Any = None, casting: Any = "same_kind"
) -> GPUArray:
    """Join arrays along `axis`, or flattened if it is None; does not wait.

    `arrays` are array-like and agree in all other axes, else raises `ValueError`, as for no arrays or arrays without
    axes. The result, `out` or a new array in the memory order of the first, has `dtype` or the common one. Raises
    `TypeError` if the rule `casting` does not allow the conversion, or if `out` and `dtype` are both given. `allocator`
    is a callable that takes a number of bytes; NumPy's third argument, `out`, may take its place.
    """

def stack(
    arrays: Any, axis: Any = 0, allocator: Any = None, *, out: Any = None, dtype: Any = None, casting: Any = "same_kind"
) -> GPUArray:
    """Join arrays of equal shape along a new axis, at position `axis` of the result; does not wait.

    Raises `ValueError` for different shapes or no arrays. The result and other parameters are those of `concatenate`.
    """

def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> GPUArray:
    """Stack arrays as rows: joined along the first axis, with arrays of one axis as rows; does not wait.

    `tup` are array-like that agree in the other axes (else `ValueError`). Returns a new array of `dtype` or of the
    common one, with the errors of `concatenate`.
    """

def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> GPUArray:
    """Join arrays side by side: along the second axis, or the first if they have only one; does not wait.

    `tup` are array-like that agree in the other axes (else `ValueError`). Returns a new array of `dtype` or of the
    common one, with the errors of `concatenate`.
    """

def atleast_1d(*arys: Any) -> Any:
    """The arrays with at least one axis, as views where one is added: one array, or a tuple of several; does not wait.

    Arguments are array-like of any dtype.
    """

def atleast_2d(*arys: Any) -> Any:
    """The arrays with at least two axes, as views where leading axes of length 1 are added; does not wait.

    Arguments are array-like. Returns one array, or a tuple of several.
    """

def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy") -> tuple[Any, ...]:
    """The coordinates of a grid, a tuple of arrays; array k varies along one axis as argument k; does not wait.

    Arguments are array-like and flattened. `indexing` "xy" exchanges the first two axes, "ij" does not; raises
    `ValueError` for other values. With `sparse` the other axes have length 1, else all arrays have the shape of the
    grid. Without `copy` the arrays are views.
    """

def append(arr: Any, values: Any, axis: Any = None) -> GPUArray:
    """Append `values` to `arr` along `axis`, or flatten both if it is None: a new array; does not wait.

    Both are array-like; the dtype is the common one. Raises `ValueError` if other axes differ, as in `concatenate`.
    """

def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[GPUArray]:
    """Split an array along `axis` into a list of views whose lengths may differ by one; does not wait.

    `ary` is array-like. `indices_or_sections` is the number of parts, of which the first ones are longer, or the
    indices at which parts after the first begin. Raises `ValueError` for a number that is not positive, and `AxisError`
    for an axis that is not there.
    """

def atleast_3d(*arys: Any) -> Any:
    """The arrays with at least three axes, as views where axes of length 1 are added; does not wait.

    Arguments are array-like; rows become ``(1, n, 1)``, matrices ``(m, n, 1)``. Returns one array, or a tuple of
    several.
    """

def block(arrays: Any) -> GPUArray:
    """Join arrays as nested lists arrange them, the innermost along the last axis: a new array; does not wait.

    Elements of the lists are array-like and get axes of length 1 in front. Raises `ValueError` for an empty list, for
    lists of different depths, and for shapes that do not fit. The dtype is the common one.
    """

def column_stack(tup: Any) -> GPUArray:
    """Join arrays side by side, with arrays of one axis as columns: a new array with two axes; does not wait.

    `tup` are array-like with the same number of rows, else raises `ValueError`. The dtype is the common one.
    """

def dsplit(ary: Any, indices_or_sections: Any) -> list[GPUArray]:
    """`split` along axis 2: a list of views of parts; does not wait.

    `ary` is a device array with at least 3 axes, else raises ValueError. `indices_or_sections` is the number of
    equal parts, or the indices at which parts after the first begin; raises ValueError if the length is not
    divisible.
    """

def dstack(tup: Any) -> GPUArray:
    """Join arrays along the third axis, which `atleast_3d` adds where it is missing: a new array; does not wait.

    `tup` are array-like that agree in the other axes (else `ValueError`). The dtype is the common one.
    """

def hsplit(ary: Any, indices_or_sections: Any) -> list[GPUArray]:
    """Split along the second axis, or the only one, as by `split`: a list of views; does not wait.

    `ary` is a device array with at least one axis, else raises `ValueError`. Parameters and errors are those of
    `split`.
    """

def rollaxis(a: Any, axis: Any, start: Any = 0) -> GPUArray:
    """A view of the device array `a` with `axis` moved before the axis `start`; does not wait.

    Raises `AxisError` for positions that `a` does not have. `moveaxis` has a simpler interface.
    """

def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> GPUArray:
    """A view of `m` rotated `k` times by 90 degrees in the plane of two axes; does not wait.

    `m` is array-like; the rotation is from the first of `axes` towards the second. Raises `ValueError` unless `axes`
    are two different axes, and `AxisError` for one that is not there.
    """

def vsplit(ary: Any, indices_or_sections: Any) -> list[GPUArray]:
    """`split` along axis 0: a list of views of parts; does not wait.

    `ary` is a device array with at least 1 axes, else raises ValueError. `indices_or_sections` is the number of
    equal parts, or the indices at which parts after the first begin; raises ValueError if the length is not
    divisible.
    """
