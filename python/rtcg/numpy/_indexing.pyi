"""Elements chosen by indices, sorted and searched for; part of `rtcg.numpy`."""

from typing import Any

from rtcg._native import GPUArray

def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None, descending: Any = False) -> GPUArray:
    """The indices (int64) that sort along `axis`, stably, NaN last; does not wait.

    The result is a new array of the shape of `a` (of one axis if `axis` is None). Parameters, errors and algorithms are
    those of `sort`.
    """

def argwhere(a: Any) -> GPUArray:
    """The indices of the elements that are not 0, a row for each: a new int64 array of two axes.

    `a` is array-like with one axis at least, else raises `ValueError`. Waits for the number of such elements.
    """

def flatnonzero(a: Any) -> GPUArray:
    """The places in the flattened array of the elements that are not 0: a new int64 array, in ascending order.

    `a` is array-like and taken in C order. Waits for the number of such elements.
    """

def nonzero(a: Any) -> tuple[GPUArray, ...]:
    """The indices of the elements that are not 0, in C order: a tuple of one int64 array for each axis.

    `a` is array-like with one axis at least, else raises `ValueError`. Waits for the number of such elements. By a scan
    that numbers them.
    """

def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Write `v` to the elements `ind` of the flattened device array `a`, in place; does not wait. Returns None.

    `ind` are integers on the device or the host, in C order of `a`; `v` is array-like, converted to the dtype of `a`
    and repeated if there are fewer of it. `mode` and errors are those of `take`. Which value stays where an index is
    there twice is undefined; in NumPy it is the last one.
    """

def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> GPUArray:
    """Write `values` to the elements of `arr` that `take_along_axis` would take, in place; does not wait. Returns None.

    `values` are array-like and broadcast to the indices, which are a device array of integers with as many axes as
    `arr`. With `axis` None both are flattened, as by `put`. Which value stays where an element is named twice is
    undefined.
    """

def resize(a: Any, new_shape: Any) -> GPUArray:
    """The elements of the device array `a`, repeated or cut off, in the shape `new_shape`: a new array; does not wait.

    `new_shape` is an int or a sequence of int; raises `ValueError` for negative ones. Without elements in `a` the
    result is zeros.
    """

def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> GPUArray:
    """Where elements of `v` would go in the sorted array `a`: a new int64 array of the shape of `v`; does not wait.

    `a` is array-like with one axis, in ascending order (or put into it by the indices `sorter`), `v` array-like of any
    shape. `side` "left" gives the first possible place, "right" the last one; raises `ValueError` for others. NaN
    counts as larger than numbers. A binary search by each element of `v`.
    """

def sort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None, descending: Any = False) -> GPUArray:
    """A sorted copy along `axis` (None: of the flattened array); does not wait. See `numpy.sort`.

    Always stable, whatever `kind` and `stable` say; NaN last; complex numbers by real, then imaginary part.
    Long rows are radix sorted, one sweep over memory for each byte of a key; others are merge sorted.

    Parameters
    ----------
    a : array-like
        Of any shape and of bool, integers, floats or complex numbers.
    axis : int or None
    kind, stable
        Of no effect; NumPy's.
    descending : bool
        The greatest first; equal elements keep their order.

    Raises
    ------
    numpy.exceptions.AxisError
        For an axis that the array does not have.
    """

def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", stream: Any = None) -> GPUArray:
    """Elements by an array of indices, along `axis` or of the flattened array if it is None; does not wait.

    `a` is array-like; `indices` are integers of any shape on the device or the host, whose shape takes the place of the
    axis in the result, `out` or a new array of the dtype of `a`. With `mode` "raise" negative indices count from the
    end, and an index out of bounds is an `IndexError`: at once for indices on the host, else in the next call that
    waits for the device. "wrap" and "clip" are NumPy's. Computed in `stream` if given.
    """

def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> GPUArray:
    """Elements of `arr` by an array of indices of the same number of axes, along `axis`; does not wait.

    Both are device arrays, the indices integers; other axes are broadcast. With `axis` None `arr` is flattened. The
    result is a new array of the shape of the indices and the dtype of `arr`. Indices out of bounds are an `IndexError`
    in the next call that waits for the device.
    """

def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> GPUArray:
    """The indices (int64) of `partition`: here those of `argsort`, a new array of the shape of `a`; does not wait.

    Parameters and errors are those of `partition`.
    """

def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> GPUArray:
    """A copy in which element `kth` along `axis` is where sorting puts it: here all are. Does not wait.

    `a` is array-like; the result has its shape and dtype. By `sort`. Raises `ValueError` for a `kth` out of bounds.
    `kind` and `order` have no effect.
    """

def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> GPUArray:
    """Places in the flattened array of indices in an array of shape `dims`: a new int64 array.

    `multi_index` are array-like integers, as many arrays as `dims` has lengths (else `ValueError`), broadcast. `mode`,
    one or one for each axis, is "raise" (`ValueError` for indices outside, which is waited for), "wrap" or "clip",
    which do not wait; `order` is "C" or "F".
    """

def sort_complex(a: Any) -> GPUArray:
    """A copy sorted along the last axis, by real, then imaginary part: an array of complex numbers; does not wait.

    `a` is array-like; real numbers become complex64 or complex128. NaN last, as of `sort`.
    """

def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[Any, ...]:
    """Indices in an array of shape `shape` of places in the flattened one: a tuple of an int64 array for each axis.

    `indices` are array-like integers (else `TypeError`). `order` is "C" or "F". Waits to see that all are inside: else
    a `ValueError`.
    """
