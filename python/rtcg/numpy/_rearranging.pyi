"""Elements repeated, deleted, inserted and trimmed, bit packing, functions of subarrays; part of `rtcg.numpy`.

Indices that follow from shapes are computed on the device.
"""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = [
    "apply_along_axis",
    "apply_over_axes",
    "delete",
    "insert",
    "packbits",
    "repeat",
    "trim_zeros",
    "unpackbits",
]

def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> GPUArray:
    """Apply `func1d` to each row of `arr` along `axis` and join the results; waits only if the function does.

    `arr` is array-like. Returns a new array. The function is called on the host, once for each row, with a device array
    with one axis, `args` and `kwargs`; the axes of its result replace `axis`. Raises `ValueError` if there are no rows.
    Slow for many rows: prefer a function with an `axis`.
    """

def apply_over_axes(func: Any, a: Any, axes: Any) -> GPUArray:
    """Apply `func`, a function of an array and an axis, to each of `axes` in turn; waits only if the function does.

    `a` is array-like. Returns an array with the same number of axes: those that `func` removes are restored (length 1).
    Raises `ValueError` if the function returns any other number of axes.
    """

def delete(arr: Any, obj: Any, axis: Any = None) -> GPUArray:
    """A new array of `arr` without the elements or subarrays that an index selects, along `axis` or flattened.

    `arr` is array-like; `obj` is an int, a slice, or an array of integers or of bool. Raises `IndexError` for an index
    on the host that is out of bounds, and `ValueError` for bools of a length other than that of the axis. Waits for the
    number of remaining elements.
    """

def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> GPUArray:
    """A new array of `arr` with `values` before the positions that an index selects, along `axis` or flattened.

    `arr` is array-like; `obj` is an int, a slice, or an array of integers or of bool, with positions in `arr`. `values`
    are array-like, converted to the dtype of `arr` and broadcast. Raises `IndexError` for a single index out of bounds.
    Waits for the new positions of the old elements.
    """

def packbits(a: Any, /, axis: Any = None, bitorder: Any = "big") -> GPUArray:
    """Pack elements into bits, 1 where they are not 0, eight to a byte: a new array of uint8; does not wait.

    `a` is array-like of integers or bool, else raises `TypeError`. Packs along `axis`, or flattened if it is None; the
    last byte is filled up with zeros. The first element is the highest bit with `bitorder` "big", the lowest with
    "little".
    """

def flatten_or_normalize_axis(a: Any, axis: int | None) -> tuple[GPUArray, int]:
    """The array, flattened if `axis` is None, and the axis counted from 0."""

def repeat(a: Any, repeats: Any, axis: Any = None) -> GPUArray:
    """Repeat each element along `axis`, or of the flattened array: a new array with the dtype of `a`.

    `a` is array-like; `repeats` is one number, or one for each element along the axis. Raises `TypeError` unless they
    are integers, and `ValueError` for negative ones or a wrong number of them. Does not wait if `repeats` is one number
    on the host; otherwise waits for the length of the result (and for `repeats` on the device).
    """

def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> GPUArray:
    """A view of `filt` without zeros at the front ("f" in `trim`) and at the back ("b") along each of `axis`.

    `filt` is array-like; `axis` is None (all), an int or a tuple of int. Raises `ValueError` for other letters. Waits
    for the positions of the first and the last element that is not 0.
    """

def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> GPUArray:
    """Unpack the bits of bytes along `axis`, or flattened if it is None, into elements of uint8; does not wait.

    `a` is array-like of uint8, else raises `TypeError`. `count` is the number of bits: a larger number appends zeros,
    and a negative one drops that many at the end. Returns a new array; `bitorder` is that of `packbits`.
    """
