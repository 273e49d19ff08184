"""Elements chosen by conditions, masks and numbers of choices; part of `rtcg.numpy`."""

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
    """Of each element the one of several arrays that `a` numbers, from 0 on: a new array, or `out`.

    `a` are integers; it and `choices`, array-like, are broadcast; the dtype is the common one of the choices. With
    `mode` "raise" numbers outside are a `ValueError`, which is waited for; "wrap" and "clip" do not wait. One kernel
    for each choice; any number of them, where NumPy has 64 at most.
    """

def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> GPUArray:
    """The subarrays along `axis`, or elements of the flattened array, for which `condition` is true.

    `condition` is array-like with one axis (else `ValueError`) and may be shorter than the axis. The result, `out` or a
    new array, has the dtype of `a`. Waits for the number of subarrays.
    """

def extract(condition: Any, arr: Any) -> GPUArray:
    """The elements of `arr`, flattened, for which `condition` is not 0: a new array of one axis.

    Both are array-like and of as many elements. Waits for the number of elements that are found.
    """

def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> GPUArray:
    """Functions or numbers for the elements of `x` for which conditions hold: a new array of its shape and dtype.

    `condlist` are arrays of bool of the shape of `x`; `funclist` are as many functions of an array of elements (called
    with `args` and `kw`) or numbers, and one more for the rest if wanted; raises `ValueError` for another number.
    Elements for which nothing holds are 0. Waits for the number of elements that each function gets.
    """

def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write `vals`, one after the other and again, to the elements of `arr` where `mask` is true, in place.

    `arr` is a device array, `mask` array-like of as many elements; `vals` are array-like, converted to the dtype of
    `arr`. Raises `ValueError` for no values. Waits for the number of elements. Returns None.
    """

def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write `values` to the elements of `a` where `mask` is true, in place; does not wait. Returns None.

    `a` is a device array, `mask` array-like of as many elements. Values are array-like, converted to the dtype of `a`,
    and repeated or cut to its size: unlike by `place`, an element gets the value of its own place.
    """

def select(condlist: Any, choicelist: Any, default: Any = 0) -> GPUArray:
    """Of each element the choice whose condition is the first that holds, else `default`: a new array; does not wait.

    `condlist` are arrays of bool (else `TypeError`), `choicelist` as many arrays or numbers (else `ValueError`); all
    are broadcast. The dtype is that of the choices and the default together. One kernel for each condition.
    """
