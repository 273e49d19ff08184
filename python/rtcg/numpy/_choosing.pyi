"""Elements selected by conditions, masks and indices of choices; part of `rtcg.numpy`."""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = [
    "choose",
    "compress",
    "extract",
    "piecewise",
    "place",
    "putmask",
    "select",
]

def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> GPUArray:
    """For each element, the element of the array that `a` selects among `choices`, from 0 on: a new array, or `out`.

    `a` has integers; it and `choices`, array-like, are broadcast; the dtype is the common one of the choices. With
    `mode` "raise", indices out of range raise `ValueError`, for which the call waits; "wrap" and "clip" do not wait.
    Launches one kernel for each choice, and allows any number of choices, where NumPy allows 64.
    """

def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> GPUArray:
    """The subarrays along `axis`, or elements of the flattened array, where `condition` is true.

    `condition` is array-like with one axis (else `ValueError`) and may be shorter than the axis. The result, `out` or a
    new array, has the dtype of `a`. Waits for the number of subarrays.
    """

def extract(condition: Any, arr: Any) -> GPUArray:
    """The elements of `arr`, flattened, where `condition` is not 0: a new array with one axis.

    Both are array-like and have the same number of elements. Waits for the number of selected elements.
    """

def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> GPUArray:
    """Functions or numbers applied to the elements of `x` where conditions hold: a new array of its shape and dtype.

    `condlist` are arrays of bool of the shape of `x`; `funclist` has as many functions of an array of elements (called
    with `args` and `kw`) or numbers, and optionally one more for the remaining elements; raises `ValueError` for any
    other number. Elements for which no condition holds are 0. Waits for the number of elements that each function gets.
    """

def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write `vals`, repeated as needed, to the elements of `arr` where `mask` is true, in place.

    `arr` is a device array, `mask` is array-like with as many elements, and `vals` are array-like, converted to the
    dtype of `arr`. Raises `ValueError` for no values. Waits for the number of elements. Returns None.
    """

def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write `values` to the elements of `a` where `mask` is true, in place; does not wait. Returns None.

    `a` is a device array, `mask` array-like of as many elements. Values are array-like, converted to the dtype of `a`,
    and repeated or cut to its size: unlike in `place`, each element gets the value at its own position.
    """

def select(condlist: Any, choicelist: Any, default: Any = 0) -> GPUArray:
    """For each element, the choice of the first condition that is true, else `default`: a new array; does not wait.

    `condlist` are arrays of bool (else `TypeError`), `choicelist` as many arrays or numbers (else `ValueError`); all
    are broadcast. The result has the common dtype of the choices and the default. Launches one kernel per condition.
    """
