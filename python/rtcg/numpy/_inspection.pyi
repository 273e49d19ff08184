"""Questions about arrays and small functions of their elements; part of `rtcg.numpy`.

Questions about dtypes and shapes are NumPy's own functions, asked with the dtypes of the arrays.
"""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = [
    "array2string",
    "array_equiv",
    "array_repr",
    "array_str",
    "can_cast",
    "common_type",
    "degrees",
    "fix",
    "geomspace",
    "iscomplex",
    "iscomplexobj",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "ix_",
    "logspace",
    "may_share_memory",
    "min_scalar_type",
    "modf",
    "radians",
    "real_if_close",
    "result_type",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
    "shares_memory",
    "sinc",
    "spacing",
]

def array2string(
    a: Any,
    max_line_width: Any = None,
    precision: Any = None,
    suppress_small: Any = None,
    separator: Any = " ",
    prefix: Any = "",
    *,
    formatter: Any = None,
    threshold: Any = None,
    edgeitems: Any = None,
    sign: Any = None,
    floatmode: Any = None,
    suffix: Any = "",
    legacy: Any = None,
) -> str:
    """The elements as text, a str: `numpy.array2string` of host copies of the arrays; waits for them.

    Parameters and errors are NumPy's; every device array among the arguments is copied to the host first.
    """

def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether arrays have equal elements after broadcasting, a bool; waits for it unless shapes do not fit.

    Operands are array-like of any dtype. NaN equals nothing.
    """

def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The array as text with its dtype, as `repr`: a str. Waits for the copy, of a long array only of its edges.

    Parameters are those of `numpy.array_repr`; with one of them all of the array is fetched.
    """

def array_str(a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The elements as text, as `str` of an array: a str. Waits for the copy, of a long array only of its edges.

    Parameters are those of `numpy.array_str`; with one of them all of the array is fetched.
    """

def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether a dtype, or that of an array, can become the dtype `to` by the rule `casting`: a bool.

    Of arrays only the dtype is asked for; nothing is waited for.
    """

def common_type(*arrays: Any) -> Any:
    """The floating-point or complex scalar type that holds the elements of all arrays, as `numpy.common_type`.

    Of arrays only the dtype is asked for; nothing is waited for. Raises `TypeError` for dtypes that are not numbers.
    """

def degrees(x: Any, out: Any = None) -> GPUArray:
    """Radians as degrees, ``x * (180 / pi)``, as `rad2deg`; does not wait.

    `x` is array-like of real numbers (complex ones are a `TypeError`); integers become floats. The result, `out` or a
    new array, has its shape.
    """

def fix(x: Any, out: Any = None) -> GPUArray:
    """Elements rounded towards 0, as `trunc`; does not wait.

    `x` is array-like and not complex (else `TypeError`). The result, `out` or a new array, has its shape and dtype.
    """

def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0) -> GPUArray:
    """`num` numbers in a geometric sequence from `start` to `stop`: a new array; waits for the copy to the device.

    Computed by `numpy.geomspace` on the host: `start` and `stop` are brought there if they are on the device.
    Parameters, dtype and errors are NumPy's; a `ValueError` for a 0 at an end.
    """

def iscomplex(x: Any) -> GPUArray:
    """Where the imaginary part is not 0: a new array of bool of the shape of `x`, which is array-like; does not wait.

    Of real arrays all of it is False.
    """

def iscomplexobj(x: Any) -> bool:
    """Whether the dtype of `x`, an array, number or anything with a dtype, is complex: a bool; does not wait."""

def isneginf(x: Any, out: Any = None) -> GPUArray:
    """Where elements are -infinity: a bool each; does not wait.

    `x` is array-like; complex numbers are a `TypeError`. The result, `out` or a new array, is of bool and of its
    shape.
    """

def isposinf(x: Any, out: Any = None) -> GPUArray:
    """Where elements are +infinity: a bool each; does not wait.

    `x` is array-like; complex numbers are a `TypeError`. The result, `out` or a new array, is of bool and of its
    shape.
    """

def isreal(x: Any) -> GPUArray:
    """Where the imaginary part is 0: a new array of bool of the shape of `x`, which is array-like; does not wait.

    Of real arrays all of it is True.
    """

def isrealobj(x: Any) -> bool:
    """Whether the dtype of `x`, an array, number or anything with a dtype, is not complex: a bool; does not wait."""

def ix_(*args: Any) -> tuple[Any, ...]:
    """A tuple of index arrays that together choose rows, columns and so on: argument k has its elements along axis k.

    Arguments are array-like with one axis; raises `ValueError` for others. Arrays of bool become the indices of what is
    true, and are waited for; else nothing is.
    """

def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> GPUArray:
    """``base ** linspace(start, stop, num)``: numbers evenly spaced on a logarithmic scale, a new array; does not wait.

    `start` and `stop` are exponents, numbers or array-like; with arrays the numbers are along `axis`. The result is
    float64 unless `dtype` says otherwise. Raises `ValueError` for a negative `num`.
    """

def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether the spans of memory from the first to the last element of two arrays overlap: a bool; does not wait.

    False unless both are device arrays with elements. `max_work` has no effect.
    """

def min_scalar_type(a: Any) -> Any:
    """The smallest dtype that holds a number; of an array with axes its own dtype. Returns a `numpy.dtype`.

    Waits only for the value of a device array without axes.
    """

def modf(x: Any, *, out: Any = (None, None)) -> tuple[Any, ...]:
    """The fractional and the whole parts of `x`, both with its sign: a tuple of two new arrays; does not wait.

    `x` is array-like; integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. Both results,
    new arrays or those of `out`, have its shape. The fraction of an infinity is 0. Complex numbers are a `TypeError`.
    """

def radians(x: Any, out: Any = None) -> GPUArray:
    """Degrees as radians, ``x * (pi / 180)``, as `deg2rad`; does not wait.

    `x` is array-like of real numbers (complex ones are a `TypeError`); integers become floats. The result, `out` or a
    new array, has its shape.
    """

def real_if_close(a: Any, tol: Any = 100) -> GPUArray:
    """The real parts of `a` if the absolute values of all imaginary ones are below a tolerance, else `a`.

    `a` is array-like; real arrays are returned as they are. `tol` is in multiples of the dtype's epsilon, or absolute
    if it is not greater than 1. Waits for the comparison of complex arrays.
    """

def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype of what arrays, dtypes and numbers are combined to, as `numpy.result_type`: a `numpy.dtype`.

    Of arrays only the dtype is asked for; nothing is waited for. Raises `TypeError` if there is no common dtype.
    """

def save(file: Any, arr: Any, allow_pickle: Any = True) -> None:
    """Write an array to a file of NumPy's; returns None: `numpy.save` of host copies of the arrays; waits for them.

    Parameters and errors are NumPy's; every device array among the arguments is copied to the host first.
    """

def savetxt(
    fname: Any,
    X: Any,
    fmt: Any = "%.18e",
    delimiter: Any = " ",
    newline: Any = "\n",
    header: Any = "",
    footer: Any = "",
    comments: Any = "# ",
    encoding: Any = None,
) -> None:
    """Write an array to a file of text; returns None: `numpy.savetxt` of host copies of the arrays; waits for them.

    Parameters and errors are NumPy's; every device array among the arguments is copied to the host first.
    """

def savez(file: Any, *args: Any, allow_pickle: Any = True, **kwds: Any) -> None:
    """Write arrays to one file of NumPy's; returns None: `numpy.savez` of host copies of the arrays; waits for them.

    Parameters and errors are NumPy's; every device array among the arguments is copied to the host first.
    """

def savez_compressed(file: Any, *args: Any, allow_pickle: Any = True, **kwds: Any) -> None:
    """Write arrays to one compressed file; returns None: `numpy.savez_compressed` of host copies of the arrays; waits
    for them.

    Parameters and errors are NumPy's; every device array among the arguments is copied to the host first.
    """

def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays have an element's memory in common: a bool, computed from their layouts; does not wait.

    False unless both are device arrays with elements. `max_work` bounds the search as in `numpy.shares_memory`, which
    raises `numpy.exceptions.TooHardError` above it.
    """

def sinc(x: Any) -> GPUArray:
    """``sin(pi x) / (pi x)``, and 1 at 0, element by element: a new array of the shape of `x`; does not wait.

    `x` is array-like; integers become float64.
    """

def spacing(x: Any, out: Any = None) -> GPUArray:
    """The distance from each element to the next number away from 0, with the element's sign; does not wait.

    `x` is array-like; integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. The result,
    `out` or a new array, has its shape; NaN for infinities.
    """
