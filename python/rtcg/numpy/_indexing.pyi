"""Indexing with arrays, sorting, partitioning, searching, and flat indices; part of `rtcg.numpy`."""

from typing import Any

from rtcg._native import GPUArray

def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None, descending: Any = False) -> GPUArray:
    """The indices (int64) that sort along `axis`, stably and with NaN last; does not wait.

    The result is a new array with the shape of `a` (one axis if `axis` is None). Parameters, errors and algorithms are
    those of `sort`.
    """

def argwhere(a: Any) -> GPUArray:
    """The indices of the elements that are not 0, one row per element: a new int64 array with two axes.

    `a` is array-like with at least one axis, else raises `ValueError`. Waits for the number of such elements.
    """

def flatnonzero(a: Any) -> GPUArray:
    """The indices in the flattened array of the elements that are not 0: a new int64 array, in ascending order.

    `a` is array-like and is flattened in C order. Waits for the number of such elements.
    """

def nonzero(a: Any) -> tuple[GPUArray, ...]:
    """The indices of the elements that are not 0, in C order: a tuple with one int64 array per axis.

    `a` is array-like with at least one axis, else raises `ValueError`. Waits for the number of such elements. Uses a
    scan that numbers them.
    """

def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Write `v` to the elements `ind` of the flattened device array `a`, in place; does not wait. Returns None.

    `ind` are integers on the device or the host, in C order of `a`; `v` is array-like, converted to the dtype of `a`,
    and repeated if it has fewer elements. `mode` and errors are those of `take`. If an index occurs twice, it is
    undefined which value remains; in NumPy it is the last one.
    """

def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> GPUArray:
    """Write `values` to the elements of `arr` that `take_along_axis` would take, in place; does not wait. Returns None.

    `values` are array-like and broadcast to the indices, which are a device array of integers with as many axes as
    `arr`. With `axis` None both are flattened, as in `put`. If an index occurs twice, it is undefined which value
    remains.
    """

def resize(a: Any, new_shape: Any) -> GPUArray:
    """The elements of the device array `a`, repeated or cut off, in the shape `new_shape`: a new array; does not wait.

    `new_shape` is an int or a sequence of int; raises `ValueError` for negative ones. If `a` has no elements the result
    has zeros.
    """

def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> GPUArray:
    """The positions at which elements of `v` would be inserted into the sorted array `a`; does not wait.

    Returns a new int64 array with the shape of `v`. `a` is array-like with one axis, in ascending order (or sorted by
    the indices `sorter`); `v` is array-like of any shape. `side` "left" gives the first possible position, "right" the
    last one; raises `ValueError` for other values. NaN counts as larger than all numbers. Each element of `v` takes one
    binary search.
    """

def sort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None, descending: Any = False) -> GPUArray:
    """A sorted copy along `axis` (None: of the flattened array); does not wait. See `numpy.sort`.

    The sort is always stable, whatever `kind` and `stable` say. NaN come last, and complex numbers are ordered by real,
    then imaginary part. Long rows use a radix sort, with one pass over memory for each byte of a key; others use a
    merge sort.

    Parameters
    ----------
    a : array-like
        Of any shape, with bools, integers, floats or complex numbers.
    axis : int or None
    kind, stable
        NumPy's parameters; without effect.
    descending : bool
        Whether the largest elements come first; equal elements keep their order.

    Raises
    ------
    numpy.exceptions.AxisError
        For an axis that the array does not have.
    """

def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", stream: Any = None) -> GPUArray:
    """Elements of `a` at the given indices, along `axis` or of the flattened array if it is None; does not wait.

    `a` is array-like; `indices` are integers of any shape on the device or the host. Their shape replaces the axis in
    the result, which is `out` or a new array with the dtype of `a`. With `mode` "raise" negative indices count from the
    end, and an index out of bounds raises `IndexError`: at once for indices on the host, else in the next call that
    waits for the device. "wrap" and "clip" are NumPy's. Computed in `stream` if given.
    """

def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> GPUArray:
    """Elements of `arr` at an array of indices with the same number of axes, along `axis`; does not wait.

    Both are device arrays, the indices integers; other axes are broadcast. With `axis` None `arr` is flattened. The
    result is a new array with the shape of the indices and the dtype of `arr`. Indices out of bounds raise `IndexError`
    in the next call that waits for the device.
    """

def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> GPUArray:
    """The indices (int64) of `partition`, which are those of `argsort`: a new array; does not wait.

    The result has the shape of `a`. Parameters and errors are those of `partition`.
    """

def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> GPUArray:
    """A copy in which element `kth` along `axis` is where sorting would put it; does not wait.

    `a` is array-like; the result has its shape and dtype. Uses `sort`, so that all elements are in order. Raises
    `ValueError` for a `kth` out of bounds. `kind` and `order` have no effect.
    """

def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> GPUArray:
    """Convert indices into an array of shape `dims` to indices into the flattened array: a new int64 array.

    `multi_index` are array-like integers, one array per length in `dims` (else `ValueError`), and are broadcast.
    `mode`, a single one or one per axis, is "raise" (`ValueError` for indices out of bounds, for which the call waits),
    or "wrap" or "clip", which do not wait. `order` is "C" or "F".
    """

def sort_complex(a: Any) -> GPUArray:
    """A copy sorted along the last axis by real, then imaginary part: an array of complex numbers; does not wait.

    `a` is array-like; real numbers become complex64 or complex128. NaN come last, as in `sort`.
    """

def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[Any, ...]:
    """Convert indices into the flattened array to indices into an array of shape `shape`: a tuple of int64 arrays.

    `indices` are array-like integers (else `TypeError`); the result has one array per axis. `order` is "C" or "F".
    Waits to check that all indices are in bounds, else raises `ValueError`.
    """
