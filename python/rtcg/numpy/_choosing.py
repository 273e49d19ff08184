"""Elements selected by conditions, masks and indices of choices; part of `rtcg.numpy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg.numpy._rearranging import flatten_or_normalize_axis

if TYPE_CHECKING:
    from rtcg.numpy import GPUArray

__all__ = [
    "choose", "compress", "extract", "piecewise", "place", "putmask", "select",
]  # fmt: skip


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> GPUArray:
    """The subarrays along `axis`, or elements of the flattened array, where `condition` is true.

    `condition` is array-like with one axis (else `ValueError`) and may be shorter than the axis. The result, `out` or a
    new array, has the dtype of `a`. Waits for the number of subarrays.
    """
    condition = _xp._to_device(condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    a, axis = flatten_or_normalize_axis(a, axis)
    return _xp._copy_to_out(out, _xp.take(a, _xp.flatnonzero(condition), axis))


def extract(condition: Any, arr: Any) -> GPUArray:
    """The elements of `arr`, flattened, where `condition` is not 0: a new array with one axis.

    Both are array-like and have the same number of elements. Waits for the number of selected elements.
    """
    return _xp.take(_xp._to_device(arr).ravel(), _xp.flatnonzero(_xp._to_device(condition).ravel()))


def _values_for(array: GPUArray, values: Any) -> GPUArray:
    """Array-like values on the device; refuses Python integers that the dtype of `array` does not hold."""
    if array.dtype.kind in "iu" and not isinstance(values, (_xp.GPUArray, np.ndarray, np.generic)):
        values = np.asarray(values, array.dtype)
    return _xp._to_device(values)


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write `vals`, repeated as needed, to the elements of `arr` where `mask` is true, in place.

    `arr` is a device array, `mask` is array-like with as many elements, and `vals` are array-like, converted to the
    dtype of `arr`. Raises `ValueError` for no values. Waits for the number of elements. Returns None.
    """
    mask, vals = _xp._to_device(mask).astype(bool), _values_for(arr, vals).ravel()
    places = _xp.flatnonzero(mask)
    if places.size == 0:
        return
    if vals.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    arr[mask.reshape(arr.shape)] = _xp.resize(vals, (places.size,)).astype(arr.dtype)


def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write `values` to the elements of `a` where `mask` is true, in place; does not wait. Returns None.

    `a` is a device array, `mask` array-like of as many elements. Values are array-like, converted to the dtype of `a`,
    and repeated or cut to its size: unlike in `place`, each element gets the value at its own position.
    """
    values = _values_for(a, values)
    if values.size != 1 and values.size:
        values = _xp.resize(values, (a.size,)).reshape(a.shape)
    if values.size:
        a[...] = _xp.where(_xp._to_device(mask).astype(bool).reshape(a.shape), values.astype(a.dtype), a)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> GPUArray:
    """For each element, the choice of the first condition that is true, else `default`: a new array; does not wait.

    `condlist` are arrays of bool (else `TypeError`), `choicelist` as many arrays or numbers (else `ValueError`); all
    are broadcast. The result has the common dtype of the choices and the default. Launches one kernel per condition.
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    for k, condition in enumerate(condlist):
        if np.dtype(condition.dtype) != bool:
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    choices = [choice if isinstance(choice, _xp.GPUArray) else np.asarray(choice) for choice in choicelist]
    weak = isinstance(default, (bool, int, float, complex))
    dtype = np.result_type(*(choice.dtype for choice in choices), default if weak else np.asarray(default).dtype)
    shape = np.broadcast_shapes(*(np.shape(each) for each in [*condlist, *choices]), np.shape(default))
    result = _xp.full(shape, default, dtype)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = _xp.where(condition, _xp._to_device(choice).astype(dtype), result)
    return result


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> GPUArray:
    """Functions or numbers applied to the elements of `x` where conditions hold: a new array of its shape and dtype.

    `condlist` are arrays of bool of the shape of `x`; `funclist` has as many functions of an array of elements (called
    with `args` and `kw`) or numbers, and optionally one more for the remaining elements; raises `ValueError` for any
    other number. Elements for which no condition holds are 0. Waits for the number of elements that each function gets.
    """
    x = _xp._to_device(x)
    if np.ndim(condlist) == 0 or (not isinstance(condlist[0], (list, np.ndarray, _xp.GPUArray)) and x.ndim != 0):
        condlist = [condlist]
    conditions = [_xp._to_device(condition).astype(bool) for condition in condlist]
    if len(funclist) == len(conditions) + 1:
        rest = conditions[0]
        for condition in conditions[1:]:
            rest = rest | condition
        conditions.append(~rest)
    elif len(funclist) != len(conditions):
        raise ValueError(f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} "
                         "functions are expected")  # fmt: skip
    result = _xp.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        value = function(x[condition], *args, **kw) if callable(function) else function
        result[condition] = value
    return result


def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> GPUArray:
    """For each element, the element of the array that `a` selects among `choices`, from 0 on: a new array, or `out`.

    `a` has integers; it and `choices`, array-like, are broadcast; the dtype is the common one of the choices. With
    `mode` "raise", indices out of range raise `ValueError`, for which the call waits; "wrap" and "clip" do not wait.
    Launches one kernel for each choice, and allows any number of choices, where NumPy allows 64.
    """
    a = _xp._to_device(a)
    choices = [_xp._to_device(choice) for choice in choices]
    dtype = np.result_type(*(choice.dtype for choice in choices))
    shape = np.broadcast_shapes(a.shape, *(choice.shape for choice in choices))
    n = len(choices)
    if mode == "wrap":
        a = a % n
    elif mode == "clip":
        a = _xp.clip(a, 0, n - 1)
    elif a.size and bool(((a < 0) | (a >= n)).any()):
        raise ValueError("invalid entry in choice array")
    result = _xp.broadcast_to(choices[0].astype(dtype), shape)
    for k, choice in enumerate(choices[1:], 1):
        result = _xp.where(a == k, choice.astype(dtype), result)
    return _xp._copy_to_out(out, result.copy("C") if n == 1 else result)
