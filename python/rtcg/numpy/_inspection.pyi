"""Queries about arrays and small functions of their elements; part of `rtcg.numpy`.

Queries about dtypes and shapes are NumPy's own functions, called with the dtypes of the arrays.
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
    """The elements as text, a str: `numpy.array2string` with host copies of the arrays; waits for them.

    Parameters and errors are NumPy's; every device array among the arguments is copied to the host first.
    """

def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether arrays have equal elements after broadcasting, as a bool; waits for it unless shapes do not fit.

    Operands are array-like of any dtype. NaN equals nothing.
    """

def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The array as text with its dtype, as `repr`: a str. Waits for the copy, for a long array only of its edges.

    Parameters are those of `numpy.array_repr`; if any is given, the whole array is copied.
    """

def array_str(a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The elements as text, as `str` of an array: a str. Waits for the copy, for a long array only of its edges.

    Parameters are those of `numpy.array_str`; if any is given, the whole array is copied.
    """

def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether a dtype, or that of an array, can be cast to the dtype `to` by the rule `casting`: a bool.

    Uses only the dtypes of arrays and does not wait.
    """

def common_type(*arrays: Any) -> Any:
    """The floating-point or complex scalar type that holds the elements of all arrays, as `numpy.common_type`.

    Uses only the dtypes of arrays and does not wait. Raises `TypeError` for dtypes that are not numbers.
    """

def degrees(x: Any, out: Any = None) -> GPUArray:
    """Convert radians to degrees, ``x * (180 / pi)``, as `rad2deg`; does not wait.

    `x` is array-like of real numbers (`TypeError` for complex ones); integers become floats. The result, `out` or a new
    array, has its shape.
    """

def fix(x: Any, out: Any = None) -> GPUArray:
    """Elements rounded towards 0, as `trunc`; does not wait.

    `x` is array-like and not complex (else `TypeError`). The result, `out` or a new array, has its shape and dtype.
    """

def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0) -> GPUArray:
    """`num` numbers in a geometric sequence from `start` to `stop`: a new array; waits for the copy to the device.

    Computed by `numpy.geomspace` on the host: `start` and `stop` are copied there if they are on the device.
    Parameters, dtype and errors are NumPy's, such as `ValueError` if either end is 0.
    """

def iscomplex(x: Any) -> GPUArray:
    """Whether the imaginary part of each element is not 0: a new array of bool with the shape of `x`; does not wait.

    `x` is array-like; for real arrays the result is all False.
    """

def iscomplexobj(x: Any) -> bool:
    """Whether `x`, an array, a number or anything with a dtype, has a complex dtype: a bool; does not wait."""

def isneginf(x: Any, out: Any = None) -> GPUArray:
    """Whether each element is -infinity: an array of bool; does not wait.

    `x` is array-like; raises `TypeError` for complex numbers. The result, `out` or a new array, has its shape.
    """

def isposinf(x: Any, out: Any = None) -> GPUArray:
    """Whether each element is +infinity: an array of bool; does not wait.

    `x` is array-like; raises `TypeError` for complex numbers. The result, `out` or a new array, has its shape.
    """

def isreal(x: Any) -> GPUArray:
    """Whether the imaginary part of each element is 0: a new array of bool with the shape of `x`; does not wait.

    `x` is array-like; for real arrays the result is all True.
    """

def isrealobj(x: Any) -> bool:
    """Whether `x`, an array, a number or anything with a dtype, has a real dtype: a bool; does not wait."""

def ix_(*args: Any) -> tuple[Any, ...]:
    """A tuple of index arrays that together select rows, columns and so on; array k has its elements along axis k.

    Arguments are array-like with one axis; raises `ValueError` for others. Arrays of bool are replaced by the indices
    of true elements, for which the call waits; otherwise it does not wait.
    """

def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> GPUArray:
    """``base ** linspace(start, stop, num)``: numbers evenly spaced on a logarithmic scale, a new array; does not wait.

    `start` and `stop` are exponents, numbers or array-like; for arrays the results are along `axis`. The result is
    float64 unless `dtype` says otherwise. Raises `ValueError` for a negative `num`.
    """

def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether the memory ranges from the first to the last element of two arrays overlap: a bool; does not wait.

    False unless both are device arrays with elements. `max_work` has no effect.
    """

def min_scalar_type(a: Any) -> Any:
    """The smallest dtype that holds a number, or the dtype of an array with axes. Returns a `numpy.dtype`.

    Waits only for the value of a device array without axes.
    """

def modf(x: Any, *, out: Any = (None, None)) -> tuple[Any, ...]:
    """The fractional and the whole parts of `x`, both with its sign: a tuple of two new arrays; does not wait.

    `x` is array-like; integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Both results,
    new arrays or those of `out`, have its shape. The fraction of an infinity is 0. Raises `TypeError` for complex
    numbers.
    """

def radians(x: Any, out: Any = None) -> GPUArray:
    """Convert degrees to radians, ``x * (pi / 180)``, as `deg2rad`; does not wait.

    `x` is array-like of real numbers (`TypeError` for complex ones); integers become floats. The result, `out` or a new
    array, has its shape.
    """

def real_if_close(a: Any, tol: Any = 100) -> GPUArray:
    """The real parts of `a` if all imaginary parts are below a tolerance, else `a`.

    `a` is array-like; real arrays are returned as they are. `tol` is in multiples of the dtype's epsilon, or absolute
    if it is not greater than 1. Compares absolute values, and waits for the result of the comparison if `a` is complex.
    """

def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that arrays, dtypes and numbers combine to, as `numpy.result_type`: a `numpy.dtype`.

    Uses only the dtypes of arrays and does not wait. Raises `TypeError` if there is no common dtype.
    """

def save(file: Any, arr: Any, allow_pickle: Any = True) -> None:
    """Write an array to a file in NumPy's format; returns None: `numpy.save` with host copies of the arrays; waits for
    them.

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
    """Write an array to a text file; returns None: `numpy.savetxt` with host copies of the arrays; waits for them.

    Parameters and errors are NumPy's; every device array among the arguments is copied to the host first.
    """

def savez(file: Any, *args: Any, allow_pickle: Any = True, **kwds: Any) -> None:
    """Write arrays to one file in NumPy's format; returns None: `numpy.savez` with host copies of the arrays; waits
    for them.

    Parameters and errors are NumPy's; every device array among the arguments is copied to the host first.
    """

def savez_compressed(file: Any, *args: Any, allow_pickle: Any = True, **kwds: Any) -> None:
    """Write arrays to one compressed file; returns None: `numpy.savez_compressed` with host copies of the arrays;
    waits for them.

    Parameters and errors are NumPy's; every device array among the arguments is copied to the host first.
    """

def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays share the memory of an element: a bool, computed from their layouts; does not wait.

    False unless both are device arrays with elements. `max_work` bounds the search as in `numpy.shares_memory`, which
    raises `numpy.exceptions.TooHardError` above it.
    """

def sinc(x: Any) -> GPUArray:
    """``sin(pi x) / (pi x)``, and 1 at 0, element by element: a new array with the shape of `x`; does not wait.

    `x` is array-like; integers become float64.
    """

def spacing(x: Any, out: Any = None) -> GPUArray:
    """The distance from each element to the next number away from 0, with the element's sign; does not wait.

    `x` is array-like; integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. The result,
    `out` or a new array, has its shape; NaN for infinities.
    """
