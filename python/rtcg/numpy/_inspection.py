"""Queries about arrays and small functions of their elements; part of `rtcg.numpy`.

Queries about dtypes and shapes are NumPy's own functions, called with the dtypes of the arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._docstrings import wrap_paragraphs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Protocol, TypeVar

    from rtcg.numpy import GPUArray

    _Function = TypeVar("_Function", bound=Callable[..., Any])

    class _InfinityTest(Protocol):
        def __call__(self, x: Any, out: Any = None) -> GPUArray: ...


__all__ = [
    "array2string", "array_equiv", "array_repr", "array_str", "can_cast", "common_type", "degrees", "fix", "geomspace",
    "i0", "iscomplex", "iscomplexobj", "isneginf", "isposinf", "isreal", "isrealobj", "ix_", "logspace",
    "may_share_memory", "min_scalar_type", "modf", "radians", "real_if_close", "result_type", "save", "savetxt",
    "savez", "savez_compressed", "shares_memory", "sinc", "spacing",
]  # fmt: skip


def _replace_arrays_by_dtypes(args: Iterable[Any]) -> list[Any]:
    return [arg.dtype if isinstance(arg, _xp.GPUArray) else arg for arg in args]


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that arrays, dtypes and numbers combine to, as `numpy.result_type`: a `numpy.dtype`.

    Uses only the dtypes of arrays and does not wait. Raises `TypeError` if there is no common dtype.
    """
    return np.result_type(*_replace_arrays_by_dtypes(arrays_and_dtypes))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether a dtype, or that of an array, can be cast to the dtype `to` by the rule `casting`: a bool.

    Uses only the dtypes of arrays and does not wait.
    """
    return np.can_cast(_replace_arrays_by_dtypes([from_])[0], to, casting)


def common_type(*arrays: Any) -> Any:
    """The floating-point or complex scalar type that holds the elements of all arrays, as `numpy.common_type`.

    Uses only the dtypes of arrays and does not wait. Raises `TypeError` for dtypes that are not numbers.
    """
    return np.common_type(
        *(np.empty(0, dtype) if isinstance(dtype, np.dtype) else dtype for dtype in _replace_arrays_by_dtypes(arrays))
    )


def min_scalar_type(a: Any) -> Any:
    """The smallest dtype that holds a number, or the dtype of an array with axes. Returns a `numpy.dtype`.

    Waits only for the value of a device array without axes.
    """
    if isinstance(a, _xp.GPUArray) and a.ndim == 0:
        return np.min_scalar_type(a.get())
    return a.dtype if isinstance(a, _xp.GPUArray) else np.min_scalar_type(a)


def iscomplexobj(x: Any) -> bool:
    """Whether `x`, an array, a number or anything with a dtype, has a complex dtype: a bool; does not wait."""
    return np.dtype(getattr(x, "dtype", type(x))).kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether `x`, an array, a number or anything with a dtype, has a real dtype: a bool; does not wait."""
    return not iscomplexobj(x)


def iscomplex(x: Any) -> GPUArray:
    """Whether the imaginary part of each element is not 0: a new array of bool with the shape of `x`; does not wait.

    `x` is array-like; for real arrays the result is all False.
    """
    x = _xp._to_device(x)
    return x.imag != 0 if x.dtype.kind == "c" else _xp.zeros(x.shape, bool)


def isreal(x: Any) -> GPUArray:
    """Whether the imaginary part of each element is 0: a new array of bool with the shape of `x`; does not wait.

    `x` is array-like; for real arrays the result is all True.
    """
    x = _xp._to_device(x)
    return x.imag == 0 if x.dtype.kind == "c" else _xp.ones(x.shape, bool)


def real_if_close(a: Any, tol: Any = 100) -> GPUArray:
    """The real parts of `a` if all imaginary parts are below a tolerance, else `a`.

    `a` is array-like; real arrays are returned as they are. `tol` is in multiples of the dtype's epsilon, or absolute
    if it is not greater than 1. Compares absolute values, and waits for the result of the comparison if `a` is complex.
    """
    a = _xp._to_device(a)
    if a.dtype.kind != "c":
        return a
    tol = np.finfo(a.dtype).eps * tol if tol > 1 else tol
    return a.real if bool((_xp.absolute(a.imag) < tol).all()) else a


def _make_infinity_test(name: str, is_negative: bool) -> _InfinityTest:
    def numpy_function(x: Any, out: Any = None) -> GPUArray:
        x = _xp._to_device(x)
        if x.dtype.kind == "c":
            raise TypeError(f"This operation is not supported for {x.dtype} values because it would be ambiguous.")
        return _xp.logical_and(_xp.isinf(x), _xp.signbit(x) == is_negative, out)

    numpy_function.__name__ = numpy_function.__qualname__ = name
    numpy_function.__doc__ = wrap_paragraphs(f"""
Whether each element is {"-" if is_negative else "+"}infinity: an array of bool; does not wait.

`x` is array-like; raises `TypeError` for complex numbers. The result, `out` or a new array, has its shape.
""")
    return numpy_function


isneginf, isposinf = _make_infinity_test("isneginf", True), _make_infinity_test("isposinf", False)


def fix(x: Any, out: Any = None) -> GPUArray:
    """Elements rounded towards 0, as `trunc`; does not wait.

    `x` is array-like and not complex (else `TypeError`). The result, `out` or a new array, has its shape and dtype.
    """
    return _xp.trunc(_xp._to_device(x), out=out)


def _refuse_complex(name: str, x: GPUArray) -> None:
    if x.dtype.kind == "c":
        raise TypeError(f"{name}: x has dtype {x.dtype}; expected real numbers")


def _float_of(x: GPUArray) -> GPUArray:
    """The array itself if it has floats; integers and bools in the floating-point dtype in which functions of them are
    computed.
    """
    return x if x.dtype.kind in "fV" else x.astype(np.dtype(f"f{min(2 * x.dtype.itemsize, 8)}"))


def modf(x: Any, *, out: Any = (None, None)) -> tuple[Any, ...]:
    """The fractional and the whole parts of `x`, both with its sign: a tuple of two new arrays; does not wait.

    `x` is array-like; integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Both results,
    new arrays or those of `out`, have its shape. The fraction of an infinity is 0. Raises `TypeError` for complex
    numbers.
    """
    x = _xp._to_device(x)
    _refuse_complex("modf", x)
    x = _float_of(x)
    whole = _xp.trunc(x)
    rest = _xp.where(_xp.isinf(x), x.dtype.type(0), x - whole)
    return _xp._copy_to_out(out[0], _xp.copysign(rest, x)), _xp._copy_to_out(out[1], whole)


def spacing(x: Any, out: Any = None) -> GPUArray:
    """The distance from each element to the next number away from 0, with the element's sign; does not wait.

    `x` is array-like; integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. The result,
    `out` or a new array, has its shape; NaN for infinities.
    """
    x = _xp._to_device(x)
    _refuse_complex("spacing", x)
    x = _float_of(x)
    steps = _xp.nextafter(x, _xp.copysign(x.dtype.type(np.inf), x)) - x
    return _xp._copy_to_out(out, _xp.where(_xp.isinf(x), x.dtype.type(np.nan), steps))


def degrees(x: Any, out: Any = None) -> GPUArray:
    """Convert radians to degrees, ``x * (180 / pi)``, as `rad2deg`; does not wait.

    `x` is array-like of real numbers (`TypeError` for complex ones); integers become floats. The result, `out` or a new
    array, has its shape.
    """
    return _xp.rad2deg(x, out=out)


def radians(x: Any, out: Any = None) -> GPUArray:
    """Convert degrees to radians, ``x * (pi / 180)``, as `deg2rad`; does not wait.

    `x` is array-like of real numbers (`TypeError` for complex ones); integers become floats. The result, `out` or a new
    array, has its shape.
    """
    return _xp.deg2rad(x, out=out)


def sinc(x: Any) -> GPUArray:
    """``sin(pi x) / (pi x)``, and 1 at 0, element by element: a new array with the shape of `x`; does not wait.

    `x` is array-like; integers become float64.
    """
    x = _xp._to_device(x)
    x = x if x.dtype.kind in "fcV" else x.astype(np.float64)
    y = _xp.where(x == 0, x.dtype.type(1.0e-20 if x.dtype.itemsize > 2 else 1e-7), x) * np.pi
    return _xp.where(x == 0, x.dtype.type(1), _xp.sin(y) / y)


def i0(x: Any) -> GPUArray:
    """The modified Bessel function of the first kind and order 0, element by element: a new array; does not wait.

    `x` is array-like; integers become float64, and the result has the shape of `x`. Raises `TypeError` for complex
    numbers. Computed by CUDA's ``cyl_bessel_i0``, with an error of at most 6 units in the last place; of float16 and
    bfloat16 in float32.
    """
    from rtcg.elementwise import ElementwiseKernel

    x = _xp._to_device(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    dtype = x.dtype if x.dtype.kind in "fV" else np.dtype(np.float64)
    kind, suffix = ("double", "") if dtype.itemsize == 8 else ("float", "f")
    if suffix not in _BESSEL_KERNELS:
        _BESSEL_KERNELS[suffix] = ElementwiseKernel(
            f"{kind} *y, const {kind} *x", f"y[i] = cyl_bessel_i0{suffix}(x[i])", "bessel_i0"
        )
    x = x.astype(np.float64 if kind == "double" else np.float32, copy=False)
    y = _xp.empty_like(x)
    _BESSEL_KERNELS[suffix](y, x)
    return y.astype(dtype, copy=False)


_BESSEL_KERNELS: dict[str, Any] = {}


def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether arrays have equal elements after broadcasting, as a bool; waits for it unless shapes do not fit.

    Operands are array-like of any dtype. NaN equals nothing.
    """
    a1, a2 = _xp._to_device(a1), _xp._to_device(a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return False
    return bool((a1 == a2).all())


def ix_(*args: Any) -> tuple[Any, ...]:
    """A tuple of index arrays that together select rows, columns and so on; array k has its elements along axis k.

    Arguments are array-like with one axis; raises `ValueError` for others. Arrays of bool are replaced by the indices
    of true elements, for which the call waits; otherwise it does not wait.
    """
    results = []
    for k, a in enumerate(_xp._to_device(arg) for arg in args):
        if a.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        a = _xp.flatnonzero(a) if a.dtype == bool else a.astype(np.int64) if a.size == 0 else a
        results.append(a.reshape(tuple(-1 if j == k else 1 for j in range(len(args))) if a.size else
                                 tuple(0 if j == k else 1 for j in range(len(args)))))  # fmt: skip
    return tuple(results)


def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> GPUArray:
    """``base ** linspace(start, stop, num)``: numbers evenly spaced on a logarithmic scale, a new array; does not wait.

    `start` and `stop` are exponents, numbers or array-like; for arrays the results are along `axis`. The result is
    float64 unless `dtype` says otherwise. Raises `ValueError` for a negative `num`.
    """
    result = _xp.power(base, _xp.linspace(start, stop, num, endpoint=endpoint, axis=axis))
    return result if dtype is None else result.astype(dtype)


def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0) -> GPUArray:
    """`num` numbers in a geometric sequence from `start` to `stop`: a new array; waits for the copy to the device.

    Computed by `numpy.geomspace` on the host: `start` and `stop` are copied there if they are on the device.
    Parameters, dtype and errors are NumPy's, such as `ValueError` if either end is 0.
    """
    start, stop = (a.get() if isinstance(a, _xp.GPUArray) else a for a in (start, stop))
    return _xp.to_gpu(np.geomspace(start, stop, num, endpoint, dtype, axis))


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether the memory ranges from the first to the last element of two arrays overlap: a bool; does not wait.

    False unless both are device arrays with elements. `max_work` has no effect.
    """

    def address_range(x: GPUArray) -> tuple[int, int]:
        ends = [(n - 1) * stride for n, stride in zip(x.shape, x.strides, strict=True)]
        low = x.ptr + sum(end for end in ends if end < 0)
        return low, x.ptr + sum(end for end in ends if end > 0) + x.itemsize

    if not (isinstance(a, _xp.GPUArray) and isinstance(b, _xp.GPUArray)) or 0 in (a.size, b.size):
        return False
    (low, high), (other_low, other_high) = address_range(a), address_range(b)
    return low < other_high and other_low < high


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays share the memory of an element: a bool, computed from their layouts; does not wait.

    False unless both are device arrays with elements. `max_work` bounds the search as in `numpy.shares_memory`, which
    raises `numpy.exceptions.TooHardError` above it.
    """
    if not may_share_memory(a, b):
        return False

    # Arrays of the same shape without memory stand at the same places.
    def numpy_view_of_addresses(x: GPUArray) -> np.ndarray[Any, Any]:
        layout = {"shape": x.shape, "typestr": x.dtype.str, "data": (x.ptr, True), "strides": x.strides, "version": 3}
        return np.asarray(type("Standing", (), {"__array_interface__": layout})())

    return np.shares_memory(numpy_view_of_addresses(a), numpy_view_of_addresses(b), max_work)


# -- what needs the elements on the host --------------------------------------------------------------


def _make_host_function(function: _Function, what: str) -> _Function:
    name = function.__name__

    def numpy_function(*args: Any, **kwargs: Any) -> Any:
        fetch = [arg.get() if isinstance(arg, _xp.GPUArray) else arg for arg in args]
        kwargs = {key: value.get() if isinstance(value, _xp.GPUArray) else value for key, value in kwargs.items()}
        return function(*fetch, **kwargs)

    numpy_function.__name__ = numpy_function.__qualname__ = name
    numpy_function.__doc__ = wrap_paragraphs(f"""
{what} `numpy.{name}` with host copies of the arrays; waits for them.

Parameters and errors are NumPy's; every device array among the arguments is copied to the host first.
""")
    made: Any = numpy_function
    # For `inspect.signature`.
    made.__wrapped__ = function
    return made


if TYPE_CHECKING:

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
    ) -> str: ...
else:
    array2string = _make_host_function(np.array2string, "The elements as text, a str:")
save = _make_host_function(np.save, "Write an array to a file in NumPy's format; returns None:")
savetxt = _make_host_function(np.savetxt, "Write an array to a text file; returns None:")
savez = _make_host_function(np.savez, "Write arrays to one file in NumPy's format; returns None:")
savez_compressed = _make_host_function(np.savez_compressed, "Write arrays to one compressed file; returns None:")


def array_str(a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The elements as text, as `str` of an array: a str. Waits for the copy, for a long array only of its edges.

    Parameters are those of `numpy.array_str`; if any is given, the whole array is copied.
    """
    if max_line_width is precision is suppress_small is None:
        return str(a)
    return np.array_str(a.get(), max_line_width, precision, suppress_small)


def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The array as text with its dtype, as `repr`: a str. Waits for the copy, for a long array only of its edges.

    Parameters are those of `numpy.array_repr`; if any is given, the whole array is copied.
    """
    if max_line_width is precision is suppress_small is None:
        return repr(arr)
    return np.array_repr(arr.get(), max_line_width, precision, suppress_small)
