"""Elements repeated, deleted, inserted and trimmed, bits of bytes, and functions of subarrays; part of `rtcg.numpy`.

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
    """`func1d` of each row of `arr` along `axis`, joined to a new array; does not wait unless the function does.

    `arr` is array-like. The function is called on the host, once for each row, with a device array of one axis, `args`
    and `kwargs`; the axes of what it returns take the place of `axis`. Raises `ValueError` if there are no rows. Slow
    for many rows: a function with an `axis` is to be preferred.
    """

def apply_over_axes(func: Any, a: Any, axes: Any) -> GPUArray:
    """`func`, a function of an array and an axis, for one axis after the other of `axes`; does not wait unless it does.

    `a` is array-like. Returns an array of as many axes: those that `func` takes away get length 1 again. Raises
    `ValueError` if it returns another number of axes.
    """

def delete(arr: Any, obj: Any, axis: Any = None) -> GPUArray:
    """A new array of `arr` without the elements or subarrays that an index names, along `axis` or flattened.

    `arr` is array-like; `obj` is an int, a slice, or an array of integers or of bool. Raises `IndexError` for an index
    of the host that is out of bounds, and `ValueError` for bools of another length than the axis. Waits for the number
    of elements that are left.
    """

def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> GPUArray:
    """A new array of `arr` with `values` before the places that an index names, along `axis` or flattened.

    `arr` is array-like; `obj` is an int, a slice, or an array of integers or of bool, counted in `arr`. `values` are
    array-like, converted to the dtype of `arr` and broadcast. Raises `IndexError` for a single index out of bounds.
    Waits for the places of the old elements.
    """

def packbits(a: Any, /, axis: Any = None, bitorder: Any = "big") -> GPUArray:
    """Elements as bits, 1 where they are not 0, eight to a byte: a new array of uint8; does not wait.

    `a` is array-like of integers or bool, else raises `TypeError`. Along `axis`, or flattened if it is None; the last
    byte is filled up with zeros. The first element is the highest bit with `bitorder` "big", the lowest with "little".
    """

def flatten_or_normalize_axis(a: Any, axis: int | None) -> tuple[GPUArray, int]:
    """An array, or its elements in a row where there is no axis; and the axis, counted from 0."""

def repeat(a: Any, repeats: Any, axis: Any = None) -> GPUArray:
    """Each element several times, along `axis` or of the flattened array: a new array of the dtype of `a`.

    `a` is array-like; `repeats` is one number, or one for each element along the axis. Raises `TypeError` unless they
    are integers, and `ValueError` for negative ones or another number of them. Does not wait for one number of the
    host, else for the length of the result (and for `repeats` on the device).
    """

def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> GPUArray:
    """A view of `filt` without zeros at the front ("f" in `trim`) and at the back ("b") along each of `axis`.

    `filt` is array-like; `axis` is None (all), an int or a tuple of int. Raises `ValueError` for other letters. Waits
    for the places of the first and the last element that is not 0.
    """

def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> GPUArray:
    """The bits of bytes along `axis`, or flattened if it is None, each as an element of uint8; does not wait.

    `a` is array-like of uint8, else raises `TypeError`. `count` is the number of bits: of more, zeros are added, a
    negative one leaves out as many at the end. Returns a new array; `bitorder` is that of `packbits`.
    """
