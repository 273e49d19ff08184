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
    """`numpy.array2string` of host copies; waits."""

def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether arrays have the same elements after broadcasting; waits."""

def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """`repr` of an array, of which only the edges are fetched if it is long."""

def array_str(a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """`str` of an array, of which only the edges are fetched if it is long."""

def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether a dtype, or that of an array, can become another one; see `numpy.can_cast`."""

def common_type(*arrays: Any) -> Any:
    """The inexact scalar type that holds the elements of all arrays; see `numpy.common_type`."""

def degrees(x: Any, out: Any = None) -> GPUArray:
    """Radians as degrees."""

def fix(x: Any, out: Any = None) -> GPUArray:
    """Rounded towards 0."""

def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0) -> GPUArray:
    """Numbers in a geometric sequence, of starts and ends on the host; see `numpy.geomspace`."""

def iscomplex(x: Any) -> GPUArray:
    """Where the imaginary part is not 0."""

def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex."""

def isneginf(x: Any, out: Any = None) -> GPUArray:
    """Where elements are negative infinity."""

def isposinf(x: Any, out: Any = None) -> GPUArray:
    """Where elements are positive infinity."""

def isreal(x: Any) -> GPUArray:
    """Where the imaginary part is 0."""

def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex."""

def ix_(*args: Any) -> tuple[Any, ...]:
    """Index arrays that choose rows and columns; truth values wait for their number. See `numpy.ix_`."""

def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> GPUArray:
    """Numbers evenly spaced on a logarithmic scale; see `numpy.logspace`."""

def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether the memory that two arrays span overlaps."""

def min_scalar_type(a: Any) -> Any:
    """The dtype of an array; of a number the smallest that holds it."""

def modf(x: Any) -> tuple[Any, ...]:
    """The fractional parts, and the whole ones."""

def radians(x: Any, out: Any = None) -> GPUArray:
    """Degrees as radians."""

def real_if_close(a: Any, tol: Any = 100) -> GPUArray:
    """The real parts if all imaginary ones are within `tol` epsilons of 0; waits. See `numpy.real_if_close`."""

def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype of what arrays, dtypes and numbers are combined to; see `numpy.result_type`."""

def save(file: Any, arr: Any, allow_pickle: Any = True) -> None:
    """`numpy.save` of host copies; waits."""

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
    """`numpy.savetxt` of host copies; waits."""

def savez(file: Any, *args: Any, allow_pickle: Any = True, **kwds: Any) -> None:
    """`numpy.savez` of host copies; waits."""

def savez_compressed(file: Any, *args: Any, allow_pickle: Any = True, **kwds: Any) -> None:
    """`numpy.savez_compressed` of host copies; waits."""

def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays have an element in common."""

def sinc(x: Any) -> GPUArray:
    """``sin(pi x) / (pi x)``, and 1 at 0."""

def spacing(x: Any) -> GPUArray:
    """The distance to the next number away from 0."""
