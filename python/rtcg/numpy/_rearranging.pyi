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
    """`values` behind `arr`, along `axis`, or both flattened if it is None: a new array; does not wait.

    Both are array-like; the dtype is the common one. A `ValueError` if other axes differ, as of `concatenate`.
    """

def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> GPUArray:
    """`func1d` of each row of `arr` along `axis`, joined to a new array; does not wait unless the function does.

    `arr` is array-like. The function is called on the host, once for each row, with a device array of one axis, `args`
    and `kwargs`; the axes of what it returns take the place of `axis`. A `ValueError` if there are no rows. Slow for
    many rows: a function with an `axis` is to be preferred.
    """

def apply_over_axes(func: Any, a: Any, axes: Any) -> GPUArray:
    """`func`, a function of an array and an axis, for one axis after the other of `axes`; does not wait unless it does.

    `a` is array-like. Returns an array of as many axes: those that `func` takes away get length 1 again. A `ValueError`
    if it returns another number of axes.
    """

def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> GPUArray:
    """The indices (int64) of `partition`: here those of `argsort`, a new array of the shape of `a`; does not wait.

    Parameters and errors are those of `partition`.
    """

def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[GPUArray]:
    """A list of views of parts along `axis`, whose lengths may differ by one; does not wait.

    `ary` is array-like. `indices_or_sections` is the number of parts, of which the first ones are longer, or the
    indices at which parts begin, behind the first. A `ValueError` for a number that is not positive, an `AxisError` for
    an axis that is not there.
    """

def atleast_3d(*arys: Any) -> Any:
    """The arrays, those of fewer than three axes as views with axes of length 1; does not wait.

    Arguments are array-like; rows become ``(1, n, 1)``, matrices ``(m, n, 1)``. Returns one array, or a tuple of
    several.
    """

def block(arrays: Any) -> GPUArray:
    """Arrays joined as nested lists say, the innermost along the last axis: a new array; does not wait.

    Elements of the lists are array-like and get axes of length 1 in front. A `ValueError` for an empty list, for lists
    of different depths, and for shapes that do not fit. The dtype is the common one.
    """

def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> GPUArray:
    """Of each element the one of several arrays that `a` numbers, from 0 on: a new array, or `out`.

    `a` are integers; it and `choices`, array-like, are broadcast; the dtype is the common one of the choices. With
    `mode` "raise" numbers outside are a `ValueError`, which is waited for; "wrap" and "clip" do not wait. One kernel
    for each choice; any number of them, where NumPy has 64 at most.
    """

def column_stack(tup: Any) -> GPUArray:
    """Arrays beside each other, those of one axis as columns: a new array of two axes; does not wait.

    `tup` are array-like with the same number of rows, else a `ValueError`. The dtype is the common one.
    """

def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> GPUArray:
    """The subarrays along `axis`, or elements of the flattened array, for which `condition` is true.

    `condition` is array-like with one axis (else a `ValueError`) and may be shorter than the axis. The result, `out` or
    a new array, has the dtype of `a`. Waits for the number of subarrays.
    """

def delete(arr: Any, obj: Any, axis: Any = None) -> GPUArray:
    """A new array of `arr` without the elements or subarrays that an index names, along `axis` or flattened.

    `arr` is array-like; `obj` is an int, a slice, or an array of integers or of bool. An `IndexError` for an index of
    the host that is out of bounds, a `ValueError` for bools of another length than the axis. Waits for the number of
    elements that are left.
    """

def diag(v: Any, k: Any = 0) -> GPUArray:
    """The diagonal `k` of a matrix, a view; or a new matrix of zeros with `v` on its diagonal `k`; does not wait.

    `v` is array-like with two axes or one, else a `ValueError`. `k` is positive above the main diagonal. Unlike NumPy's
    the view can be written to.
    """

def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """The indices of the main diagonal of a device array: a tuple of one int64 array for each axis; does not wait.

    `arr` has two axes or more, all of one length: else a `ValueError`.
    """

def diagflat(v: Any, k: Any = 0) -> GPUArray:
    """A new square matrix of zeros with the flattened `v` on its diagonal `k`; does not wait.

    `v` is array-like; the dtype stays, the size is ``v.size + abs(k)``.
    """

def dsplit(ary: Any, indices_or_sections: Any) -> list[GPUArray]:
    """`split` along axis 2: a list of views of parts; does not wait.

    `ary` is a device array with at least 3 axes, else a ValueError. `indices_or_sections` is the number of equal
    parts, or the indices at which parts begin, behind the first; a ValueError if the length is not divisible.
    """

def dstack(tup: Any) -> GPUArray:
    """Arrays joined along the third axis, which those of fewer axes get (`atleast_3d`): a new array; does not wait.

    `tup` are array-like that agree in the other axes (else a `ValueError`). The dtype is the common one.
    """

def extract(condition: Any, arr: Any) -> GPUArray:
    """The elements of `arr`, flattened, for which `condition` is not 0: a new array of one axis.

    Both are array-like and of as many elements. Waits for the number of elements that are found.
    """

def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    """Write `val` to the main diagonal of the device array `a`, in place; does not wait. Returns None.

    `a` has two axes, or more of one length: else a `ValueError`. `val` is a number or array-like, flattened and
    repeated. With `wrap` the diagonal goes on below, after one row, in matrices that are higher than wide.
    """

def hsplit(ary: Any, indices_or_sections: Any) -> list[GPUArray]:
    """`split` along the second axis, or the only one: a list of views; does not wait.

    `ary` is a device array with one axis at least, else a `ValueError`. Parameters and errors are those of `split`.
    """

def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> GPUArray:
    """A new array of `arr` with `values` before the places that an index names, along `axis` or flattened.

    `arr` is array-like; `obj` is an int, a slice, or an array of integers or of bool, counted in `arr`. `values` are
    array-like, converted to the dtype of `arr` and broadcast. An `IndexError` for a single index out of bounds. Waits
    for the places of the old elements.
    """

def packbits(a: Any, /, axis: Any = None, bitorder: Any = "big") -> GPUArray:
    """Elements as bits, 1 where they are not 0, eight to a byte: a new array of uint8; does not wait.

    `a` is array-like of integers or bool, else a `TypeError`. Along `axis`, or flattened if it is None; the last byte
    is filled up with zeros. The first element is the highest bit with `bitorder` "big", the lowest with "little".
    """

def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> GPUArray:
    """A copy in which element `kth` along `axis` is where sorting puts it: here all are. Does not wait.

    `a` is array-like; the result has its shape and dtype. By `sort`. A `ValueError` for a `kth` out of bounds. `kind`
    and `order` are of no effect.
    """

def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> GPUArray:
    """Functions or numbers for the elements of `x` for which conditions hold: a new array of its shape and dtype.

    `condlist` are arrays of bool of the shape of `x`; `funclist` are as many functions of an array of elements (called
    with `args` and `kw`) or numbers, and one more for the rest if wanted: a `ValueError` for another number. Elements
    for which nothing holds are 0. Waits for the number of elements that each function gets.
    """

def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write `vals`, one after the other and again, to the elements of `arr` where `mask` is true, in place.

    `arr` is a device array, `mask` array-like of as many elements; `vals` are array-like, converted to the dtype of
    `arr`. A `ValueError` for no values. Waits for the number of elements. Returns None.
    """

def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write `values` to the elements of `a` where `mask` is true, in place; does not wait. Returns None.

    `a` is a device array, `mask` array-like of as many elements. Values are array-like, converted to the dtype of `a`,
    and repeated or cut to its size: unlike by `place`, an element gets the value of its own place.
    """

def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> GPUArray:
    """Places in the flattened array of indices in an array of shape `dims`: a new int64 array.

    `multi_index` are array-like integers, as many arrays as `dims` has lengths (else a `ValueError`), broadcast.
    `mode`, one or one for each axis, is "raise" (a `ValueError` for indices outside, which is waited for), "wrap" or
    "clip", which do not wait; `order` is "C" or "F".
    """

def repeat(a: Any, repeats: Any, axis: Any = None) -> GPUArray:
    """Each element several times, along `axis` or of the flattened array: a new array of the dtype of `a`.

    `a` is array-like; `repeats` is one number, or one for each element along the axis. A `TypeError` unless they are
    integers, a `ValueError` for negative ones or another number of them. Does not wait for one number of the host, else
    for the length of the result (and for `repeats` on the device).
    """

def rollaxis(a: Any, axis: Any, start: Any = 0) -> GPUArray:
    """A view of the device array `a` with `axis` moved before the axis `start`; does not wait.

    An `AxisError` for positions that it has not. `moveaxis` says the same more plainly.
    """

def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> GPUArray:
    """A view of `m` in which the plane of two axes is rotated by 90 degrees, `k` times; does not wait.

    `m` is array-like; the rotation is from the first of `axes` towards the second. A `ValueError` unless `axes` are two
    different ones, an `AxisError` for one that is not there.
    """

def select(condlist: Any, choicelist: Any, default: Any = 0) -> GPUArray:
    """Of each element the choice whose condition is the first that holds, else `default`: a new array; does not wait.

    `condlist` are arrays of bool (else a `TypeError`), `choicelist` as many arrays or numbers (else a `ValueError`);
    all are broadcast. The dtype is that of the choices and the default together. One kernel for each condition.
    """

def sort_complex(a: Any) -> GPUArray:
    """A copy sorted along the last axis, by real, then imaginary part: an array of complex numbers; does not wait.

    `a` is array-like; real numbers become complex64 or complex128. NaN last, as of `sort`.
    """

def tril_indices_from(arr: Any, k: Any = 0) -> tuple[Any, ...]:
    """The indices of the lower triangle of a matrix up to the diagonal `k`: a tuple of two int64 arrays.

    A `ValueError` unless `arr` has two axes. Waits for the number of the indices.
    """

def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> GPUArray:
    """A view of `filt` without zeros at the front ("f" in `trim`) and at the back ("b") along each of `axis`.

    `filt` is array-like; `axis` is None (all), an int or a tuple of int. A `ValueError` for other letters. Waits for
    the places of the first and the last element that is not 0.
    """

def triu_indices_from(arr: Any, k: Any = 0) -> tuple[Any, ...]:
    """The indices of the upper triangle of a matrix from the diagonal `k` on: a tuple of two int64 arrays.

    A `ValueError` unless `arr` has two axes. Waits for the number of the indices.
    """

def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> GPUArray:
    """The bits of bytes along `axis`, or flattened if it is None, each as an element of uint8; does not wait.

    `a` is array-like of uint8, else a `TypeError`. `count` is the number of bits: of more, zeros are added, a negative
    one leaves out as many at the end. A new array; `bitorder` is that of `packbits`.
    """

def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[Any, ...]:
    """Indices in an array of shape `shape` of places in the flattened one: a tuple of an int64 array for each axis.

    `indices` are array-like integers (else a `TypeError`). `order` is "C" or "F". Waits to see that all are inside:
    else a `ValueError`.
    """

def vsplit(ary: Any, indices_or_sections: Any) -> list[GPUArray]:
    """`split` along axis 0: a list of views of parts; does not wait.

    `ary` is a device array with at least 1 axes, else a ValueError. `indices_or_sections` is the number of equal
    parts, or the indices at which parts begin, behind the first; a ValueError if the length is not divisible.
    """
