"""Arrays on the device with NumPy's functions.

Operations are enqueued in the current stream and do not wait for it; only what copies elements to the host
(`GPUArray.get`, printing, `bool`) waits. "Array-like" means whatever `asarray` accepts: arrays on the device are used
in place, anything else is first copied to the device, and the call waits for that copy. Results are arrays on the
device. Errors have NumPy's types; any call can also raise those of the device (`rtcg.driver.MemoryError`,
`rtcg.driver.LaunchError`).
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import inspect as _inspect
import operator
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rtcg import _native, devices as _devices
from rtcg._docstrings import wrap_paragraphs as _wrap_paragraphs
from rtcg._messages import shown as _shown
from rtcg._native import (
    ArrayFlags as ArrayFlags,
    GPUArray as GPUArray,
    arange_of as _arange_of,
    empty_in_order_of as _empty_in_order_of,
    ufunc as _ufunc,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    # What `__getattr__` answers.
    from numpy import (  # isort: skip
        False_ as False_, ScalarType as ScalarType, True_ as True_, base_repr as base_repr, binary_repr as binary_repr,
        bool_ as bool_, broadcast_shapes as broadcast_shapes, byte as byte, bytes_ as bytes_, cdouble as cdouble,
        character as character, complex64 as complex64, complex128 as complex128, complexfloating as complexfloating,
        csingle as csingle, double as double, dtype as dtype, e as e, errstate as errstate, euler_gamma as euler_gamma,
        finfo as finfo, flexible as flexible, float16 as float16, float32 as float32, float64 as float64,
        floating as floating, format_float_positional as format_float_positional,
        format_float_scientific as format_float_scientific, generic as generic, get_printoptions as get_printoptions,
        geterr as geterr, half as half, iinfo as iinfo, index_exp as index_exp, inexact as inexact, inf as inf,
        int8 as int8, int16 as int16, int32 as int32, int64 as int64, int_ as int_, intc as intc, integer as integer,
        intp as intp, isdtype as isdtype, isscalar as isscalar, issubdtype as issubdtype, iterable as iterable,
        little_endian as little_endian, long as long, longlong as longlong, mintypecode as mintypecode, nan as nan,
        ndindex as ndindex, newaxis as newaxis, number as number, pi as pi, printoptions as printoptions,
        promote_types as promote_types, s_ as s_, sctypeDict as sctypeDict, set_printoptions as set_printoptions,
        seterr as seterr, short as short, signedinteger as signedinteger, single as single, typecodes as typecodes,
        typename as typename, ubyte as ubyte, uint as uint, uint8 as uint8, uint16 as uint16, uint32 as uint32,
        uint64 as uint64, uintc as uintc, uintp as uintp, ulong as ulong, ulonglong as ulonglong,
        unsignedinteger as unsignedinteger, ushort as ushort, void as void,
    )  # fmt: skip
    from rtcg import fft as fft, linalg as linalg, random as random

    ndarray = GPUArray
    _Function = TypeVar("_Function", bound=Callable[..., GPUArray])
    _T = TypeVar("_T")

empty = GPUArray


def zeros(shape: Any, dtype: Any = np.float64, allocator: Any = None, order: Any = "C") -> GPUArray:
    """A new array of zeros; does not wait.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : dtype-like
    allocator : callable, optional
        Takes a number of bytes, such as `rtcg.tools.DeviceMemoryPool().allocate`; by default `rtcg.driver.mem_alloc`.
    order : str
        C or F.

    Raises
    ------
    rtcg.driver.MemoryError
        If the device does not have enough memory.
    """
    array = GPUArray(shape, dtype, allocator, order=order)
    array._clear()
    return array


def full(shape: Any, fill_value: Any, dtype: Any = None, allocator: Any = None, order: Any = "C") -> GPUArray:
    """A new array in which every element is `fill_value`; does not wait.

    `shape` is an int or a sequence of int, `fill_value` a number or an array that broadcasts to the shape, `order` "C"
    or "F". Without `dtype` the result has the dtype that NumPy gives it. `allocator` is a callable that takes a number
    of bytes. Raises `rtcg.driver.MemoryError` if the device does not have enough memory.
    """
    dtype = np.asarray(fill_value).dtype if dtype is None else dtype
    return GPUArray(shape, dtype, allocator, order=order).fill(fill_value)


def ones(shape: Any, dtype: Any = np.float64, allocator: Any = None, order: Any = "C") -> GPUArray:
    """A new array of ones, float64 unless `dtype` says otherwise; does not wait.

    Parameters and errors are those of `zeros`.
    """
    return full(shape, 1, dtype, allocator, order)


def _memory_order(array: Any) -> str:
    flags = array.flags
    return "F" if flags.f_contiguous and not flags.c_contiguous else "C"


def empty_like(other_ary: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """A new array with undefined contents, with the shape, memory order and dtype of `other_ary` unless given.

    `other_ary` is an array on the device, or anything that `numpy.asarray` takes; its elements are not copied. `order`
    "K" and "A" keep its memory order, "C" and "F" choose one. Memory comes from the allocator of `other_ary`. Does not
    wait.
    """
    if isinstance(other_ary, GPUArray):
        return _empty_in_order_of(other_ary, dtype, order, shape)
    other_ary = np.asarray(other_ary)
    order = _memory_order(other_ary) if order in "AK" else order
    return GPUArray(other_ary.shape if shape is None else shape, dtype or other_ary.dtype, order=order)


def zeros_like(other_ary: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """A new array of zeros, with the shape, memory order and dtype of `other_ary` unless given; does not wait.

    Parameters are those of `empty_like`.
    """
    array = empty_like(other_ary, dtype, order, shape)
    array._clear()
    return array


def full_like(other_ary: Any, fill_value: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """A new array filled with `fill_value`, with the shape, order and dtype of `other_ary` unless given.

    `fill_value` is a number or an array that broadcasts to the shape, and is converted to the dtype. Other parameters
    are those of `empty_like`. Does not wait.
    """
    return empty_like(other_ary, dtype, order, shape).fill(fill_value)


def ones_like(other_ary: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """A new array of ones, with the shape, memory order and dtype of `other_ary` unless given; does not wait.

    Parameters are those of `empty_like`.
    """
    return full_like(other_ary, 1, dtype, order, shape)


def to_gpu(ary: Any, allocator: Any = None) -> GPUArray:
    """Copy a host array to a new array on the device, and wait until the copy is done.

    Parameters
    ----------
    ary : array-like
        Of any shape, and of a dtype that has a C type (numbers, bool, structures). C and Fortran order are kept; an
        array in neither order is copied to C order.
    allocator : callable, optional
        Takes a number of bytes; by default `rtcg.driver.mem_alloc`.

    Returns
    -------
    GPUArray
        Of the shape and dtype of `ary`.

    Raises
    ------
    TypeError
        For a dtype without a C type, such as object.
    rtcg.driver.MemoryError
        If the device does not have enough memory.
    """
    ary = np.asarray(ary)
    array = GPUArray(ary.shape, ary.dtype, allocator, order=_memory_order(ary))
    array.set(ary)
    return array


def to_gpu_async(ary: Any, allocator: Any = None, stream: Any = None) -> GPUArray:
    """Copy a host array to a new array on the device, asynchronously in `stream`.

    Returns a `GPUArray` with the shape and dtype of `ary`; its elements are valid once the stream has done the copy.
    The stream reads page-locked memory (`rtcg.driver.pagelocked_empty`) at that time, so it must stay unchanged until
    then. Other memory is read before the call returns, which is all that the call waits for. Parameters and errors are
    otherwise those of `to_gpu`.
    """
    ary = np.asarray(ary)
    array = GPUArray(ary.shape, ary.dtype, allocator, order=_memory_order(ary))
    array.set_async(ary, stream=stream)
    return array


def arange(*args: Any, dtype: Any = None, stream: Any = None, allocator: Any = None) -> GPUArray:
    """``arange([start,] stop[, step], dtype=None)``: evenly spaced numbers from `start` up to but not including `stop`.

    Returns a new array with one axis of ``ceil((stop - start) / step)`` elements. Arguments are numbers on the host;
    the dtype is their common one unless given (also as the fourth positional argument). Does not wait. Elements are
    ``start + k * step`` in that dtype; the step is the difference of the first two elements after conversion to it,
    which is how NumPy rounds. Raises `ZeroDivisionError` for a step of 0, `OverflowError` for integers that the dtype
    does not hold, `ValueError` if the number of elements is not finite, and `TypeError` unless there are one to three
    numbers, or for more than two elements of bool. `stream` is a parameter of PyCUDA's and has no effect.
    """
    if len(args) > 3:
        args, dtype = args[:-1], args[-1]
    if not 1 <= len(args) <= 3:
        raise TypeError(f"arange() takes 1 to 3 numbers, got {len(args)}")
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    if dtype is None:
        dtype = np.result_type(np.int64, *(np.asarray(value).dtype for value in (start, stop, step)))
    if step == 0:
        raise ZeroDivisionError("arange: step is 0")
    count, dtype = _arange_length((stop - start) / step), np.dtype(dtype)
    if dtype.kind == "b":
        return to_gpu(np.arange(start, stop, step, dtype=dtype), allocator)
    if dtype.kind != "c" and builtins.any(isinstance(value, (complex, np.complexfloating)) for value in args):
        raise TypeError(f"arange: complex numbers do not become {dtype}")
    first = dtype.type(start)
    second = dtype.type(start + step) if count > 1 else first
    step = _arange_step(first, second, dtype)
    result = _native.call_with_allocator(allocator, _arange_of, first.item(), step.item(), count, dtype)
    if dtype.kind in "fcV":
        # The first two are as they were given, whatever their difference is rounded to.
        for k, element in enumerate((first, second)[:count]):
            if dtype.type(first + k * step) != element:
                result[k] = element
    return result


def _arange_length(steps: Any) -> int:
    """The number of elements over a distance of `steps` steps, a real or complex number."""
    parts: Any = [steps.real, steps.imag] if isinstance(steps, (complex, np.complexfloating)) else [steps]
    if not np.isfinite(parts).all():
        raise ValueError(f"arange: stop is {parts} steps away from start; expected a finite number")
    return builtins.max(0, int(np.min(np.ceil(parts))))


def _arange_step(first: Any, second: Any, dtype: np.dtype[Any]) -> Any:
    """The difference of the first two elements; of short floats as float32, of integers modulo their range."""
    if dtype.kind in "iu":
        unsigned = (int(second) - int(first)) % (1 << 8 * dtype.itemsize)
        return np.array(unsigned, f"u{dtype.itemsize}").view(dtype)[()]
    if dtype.itemsize == 2:
        first, second = np.float32(first), np.float32(second)
    return second - first


def broadcast_to(a: Any, shape: Any) -> GPUArray:
    """A view of `a` broadcast to `shape` by strides of 0; nothing is copied. Does not wait.

    `a` is an array on the device. Axes of length 1 and missing leading axes are repeated. Raises `ValueError` if the
    shapes do not fit. Unlike NumPy's, the view is not read-only; all repetitions of an element share one memory
    location.
    """
    return a._broadcast_to(shape)


def expand_dims(a: Any, axis: Any) -> GPUArray:
    """A view of the device array `a` with new axes of length 1 at the positions `axis`; does not wait.

    `axis` is an int or a tuple of int, counted in the result. Raises `AxisError` for a position that the result does
    not have.
    """
    return a._expand_dims(axis)


def moveaxis(a: Any, source: Any, destination: Any) -> GPUArray:
    """A view of the device array `a` with its axes `source` moved to the positions `destination`; does not wait.

    Both are an int, or as many ints each; other axes keep their order. Raises `AxisError` for an axis that `a` does not
    have, and `ValueError` if the numbers of axes differ or an axis is named twice.
    """
    return a._moveaxis(source, destination)


def flip(m: Any, axis: Any = None) -> GPUArray:
    """A view of the device array `m` with the order of elements reversed along `axis`; does not wait.

    `axis` is None (all axes), an int or a tuple of int. Raises `AxisError` for an axis that `m` does not have. The view
    has negative strides; kernels of `rtcg.elementwise` accept it as an operand, and raw kernels get the address of its
    first element.
    """
    return m._flip(axis)


def reshape(a: Any, *shape: Any, order: Any = "C") -> GPUArray:
    """The elements of the device array `a` in a new shape of the same size; does not wait.

    Returns a view where the memory layout allows, else a copy. The shape is given as ints or as one sequence; one
    length may be -1. `order` is "C", "F" or "A". Raises `ValueError` if the number of elements differs.
    """
    return a.reshape(*shape, order=order)


def transpose(a: Any, axes: Any = None) -> GPUArray:
    """A view of the device array `a` with its axes permuted to the order `axes`, by default reversed; does not wait.

    Raises `ValueError` unless `axes` names each axis once.
    """
    return a.transpose(axes)


# -- element by element -------------------------------------------------------------------------------


def _unary_parameters(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The parameters of functions of one operand, for `inspect` and type checkers."""
    raise NotImplementedError


def _binary_parameters(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The parameters of functions of two operands, for `inspect` and type checkers."""
    raise NotImplementedError


_UFUNC_SIGNATURES = {1: _inspect.signature(_unary_parameters), 2: _inspect.signature(_binary_parameters)}


def _ufunc_docstring(name: str) -> str:
    """The docstring of a function: what it computes, and the dtype rules that follow from NumPy's loops."""
    loops = [loop.split("->") for loop in getattr(getattr(np, name, None), "types", ())]
    inputs, outputs = "".join(operands for operands, _ in loops), {result for _, result in loops}
    rules = []
    if outputs == {"?"}:
        rules.append("The result is an array of bool.")
    elif loops and name not in ("floor", "ceil", "trunc") and not {"l", "q"} & set(inputs) and "d" in inputs:
        rules.append("Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.")
    if loops and not set("efdg") & set(inputs):
        rules.append("Raises TypeError for floats and complex numbers.")
    elif loops and not set("FD") & set(inputs):
        rules.append("Raises TypeError for complex numbers.")
    return f"""{_UFUNCS[name]}, element by element; does not wait.

Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result, `out` or
a new array, has the dtype of `numpy.{name}` unless `dtype` is given. Computed in `stream` if given.

{" ".join(rules)}""".rstrip()


def _make_ufunc(name: str) -> Callable[..., GPUArray]:
    def device_function(*args: Any, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
        out = out[0] if isinstance(out, tuple) else out
        return _run_in_stream(stream, lambda: _ufunc(name, args, out, dtype))

    device_function.__name__ = device_function.__qualname__ = name
    device_function.__doc__ = _wrap_paragraphs(_ufunc_docstring(name))
    made: Any = device_function
    # NumPy before version 2 has no `bitwise_count`.
    made.__signature__ = _UFUNC_SIGNATURES[getattr(getattr(np, name, None), "nin", 1)]
    return made


#: What each computes.
_UFUNCS = {
    "add": "Sums",
    "subtract": "Differences",
    "multiply": "Products",
    "divide": "Quotients",
    "floor_divide": "Quotients rounded down",
    "remainder": "Remainders with the sign of the divisor",
    "fmod": "Remainders with the sign of the dividend, as in C",
    "power": "The first operand raised to the power of the second",
    "float_power": "Powers as float64 or complex128",
    "bitwise_and": "Bitwise and",
    "bitwise_or": "Bitwise or",
    "bitwise_xor": "Bitwise exclusive or",
    "left_shift": "Bits shifted to the left by the second operand",
    "right_shift": "Bits shifted to the right by the second operand",
    "equal": "Whether elements are equal",
    "not_equal": "Whether elements differ",
    "less": "Whether the first operand is less than the second",
    "less_equal": "Whether the first operand is not greater than the second",
    "greater": "Whether the first operand is greater than the second",
    "greater_equal": "Whether the first operand is not less than the second",
    "logical_xor": "Whether exactly one of two elements is true",
    "fmax": "The larger of two elements, ignoring NaN",
    "fmin": "The smaller of two elements, ignoring NaN",
    "arctan2": "The angle of the point (x2, x1), from -pi to pi",
    "hypot": "The hypotenuse, sqrt(x1**2 + x2**2) without overflow",
    "copysign": "The first operand with the sign of the second",
    "nextafter": "The next number after the first operand towards the second",
    "logaddexp": "log(exp(x1) + exp(x2)) without overflow",
    "logaddexp2": "log2(2**x1 + 2**x2) without overflow",
    "heaviside": "0 below 0, 1 above, the second operand at 0",
    "gcd": "Greatest common divisors",
    "lcm": "Least common multiples",
    "ldexp": "x1 * 2**x2, exactly where it fits",
    "positive": "A copy",
    "negative": "The negatives",
    "invert": "All bits inverted, or logical not for bools",
    "absolute": "Absolute values; for complex numbers, their moduli",
    "fabs": "Absolute values as floats",
    "sign": "-1, 0 or 1 by the sign; for complex numbers, x / abs(x)",
    "sqrt": "Square roots; NaN below 0",
    "square": "Squares",
    "reciprocal": "1 / x; for integers, rounded towards 0",
    "cbrt": "Cube roots",
    "exp": "e to the power of x",
    "exp2": "2 to the power of x",
    "expm1": "exp(x) - 1, accurate near 0",
    "log": "Natural logarithms",
    "log2": "Logarithms to base 2",
    "log10": "Logarithms to base 10",
    "log1p": "log(1 + x), accurate near 0",
    "sin": "Sines of angles in radians",
    "cos": "Cosines of angles in radians",
    "tan": "Tangents of angles in radians",
    "arcsin": "Angles in radians whose sine is x; NaN outside [-1, 1]",
    "arccos": "Angles in radians whose cosine is x; NaN outside [-1, 1]",
    "arctan": "Angles in radians whose tangent is x",
    "sinh": "Hyperbolic sines",
    "cosh": "Hyperbolic cosines",
    "tanh": "Hyperbolic tangents",
    "arcsinh": "Inverse hyperbolic sines",
    "arccosh": "Inverse hyperbolic cosines; NaN below 1",
    "arctanh": "Inverse hyperbolic tangents; NaN outside [-1, 1]",
    "floor": "Rounded down",
    "ceil": "Rounded up",
    "trunc": "Rounded towards 0",
    "rint": "Rounded to the nearest whole number, ties to even",
    "deg2rad": "Degrees converted to radians",
    "rad2deg": "Radians converted to degrees",
    "isnan": "Whether elements are NaN",
    "isinf": "Whether elements are infinite",
    "isfinite": "Whether elements are neither infinite nor NaN",
    "signbit": "Whether the sign bit is set, as in -0.0",
    "conjugate": "Complex conjugates",
    "bitwise_count": "The number of bits set in the absolute value, as uint8",
    "real": "Real parts",
    "imag": "Imaginary parts; zeros for real numbers",
}
for _name in _UFUNCS:
    globals()[_name] = _make_ufunc(_name)
if TYPE_CHECKING:
    absolute = arccos = arccosh = arcsin = arcsinh = arctan = arctanh = bitwise_count = cbrt = ceil = _unary_parameters
    conjugate = cos = cosh = deg2rad = exp = exp2 = expm1 = fabs = floor = imag = invert = isfinite = _unary_parameters
    isinf = isnan = log = log10 = log1p = log2 = negative = positive = rad2deg = real = reciprocal = _unary_parameters
    rint = sign = signbit = sin = sinh = sqrt = square = tan = tanh = trunc = _unary_parameters
    add = arctan2 = bitwise_and = bitwise_or = bitwise_xor = copysign = divide = equal = _binary_parameters
    float_power = floor_divide = fmax = fmin = fmod = gcd = greater = greater_equal = heaviside = _binary_parameters
    hypot = lcm = ldexp = left_shift = less = less_equal = logaddexp = logaddexp2 = logical_xor = _binary_parameters
    multiply = nextafter = not_equal = power = remainder = right_shift = subtract = _binary_parameters
true_divide, mod, conj, bitwise_not, abs = divide, remainder, conjugate, invert, absolute  # noqa: A001


def _run_in_stream(stream: Any, body: Callable[[], _T]) -> _T:
    if stream is None:
        return body()
    with stream:
        return body()


acos, acosh, asin, asinh = arccos, arccosh, arcsin, arcsinh
atan, atan2, atanh, pow = arctan, arctan2, arctanh, power  # noqa: A001
bitwise_invert, bitwise_left_shift, bitwise_right_shift = invert, left_shift, right_shift


def angle(z: Any, deg: Any = False, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The angles of complex numbers in radians from -pi to pi, in degrees if `deg` is true; does not wait.

    `z` is array-like of any shape; the angle of a real number is 0 or pi. The result, `out` or a new array, has the
    shape of `z` and the floating-point dtype of its parts (float64 for integers). Degrees take a second kernel. The
    computation runs in `stream`.
    """
    out = out[0] if isinstance(out, tuple) else out
    result = _run_in_stream(stream, lambda: _ufunc("angle", (z,), None if deg else out, dtype))
    return _run_in_stream(stream, lambda: _ufunc("multiply", (result, 180 / np.pi), out)) if deg else result


def divmod(x1: Any, x2: Any, *, out: Any = (None, None)) -> tuple[GPUArray, GPUArray]:  # noqa: A001
    """The quotient rounded down and the remainder with the sign of the divisor: two new arrays; does not wait.

    Equal to ``(floor_divide(x1, x2), remainder(x1, x2))``, computed in two kernels: operands are broadcast, and dtypes
    and errors are those of these functions. `out` is a pair of arrays or None. Integers divided by 0 give 0, as in
    NumPy, but without its warning.
    """
    # Either may be an operand, which the other still reads.
    whole, rest = _ufunc("floor_divide", (x1, x2)), _ufunc("remainder", (x1, x2))
    return _copy_to_out(out[0], whole), _copy_to_out(out[1], rest)


def _to_device(a: Any) -> GPUArray:
    return a if isinstance(a, GPUArray) else _native.array_from_object(a)


def _unmasked_to_device(name: str, array: Any) -> GPUArray:
    """An array on the device; refuses masked arrays, whose masks would be lost."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; expected one without a mask, such as {name}.compressed()")
    return _named_to_device(name, array)


def _named_to_device(name: str, array: Any, expected: str = "an array of numbers") -> GPUArray:
    """An array on the device; errors about anything else contain its name."""
    if isinstance(array, GPUArray):
        return array
    try:
        return _native.array_from_object(array)
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} is {_shown(array)}; expected {expected} ({error})") from None


def _require_array(name: str, array: Any) -> GPUArray:
    if not isinstance(array, GPUArray):
        raise TypeError(f"{name} is of type {type(array).__name__}; expected a GPUArray")
    return array


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, device: Any = None) -> GPUArray:
    """Convert anything array-like to a device array, without a copy where possible.

    Shares device arrays, including those of other libraries (``__cuda_array_interface__``, DLPack), and does not wait
    for them. Anything else goes through `numpy.asarray` and is copied, and the call waits for that copy. A different
    `dtype` means a conversion into a new array. If `copy` is true the result is always a copy; if False, `ValueError`
    is raised when a copy is needed. `device`, a `rtcg.driver.Device`, says where the result is: arrays of another
    device are copied. `order` has no effect. Raises `TypeError` for a dtype without a C type, such as object, and
    `ValueError` for another `device`.
    """
    if device is not None:
        return _asarray_on(_devices.as_device("device", device), a, dtype, copy)
    if not isinstance(a, GPUArray) and dtype is not None and not hasattr(a, "__cuda_array_interface__"):
        a = np.asarray(a, dtype)
    result = _to_device(a)
    if copy is False and not isinstance(a, GPUArray) and not hasattr(a, "__cuda_array_interface__"):
        raise ValueError("asarray: a host object cannot become a device array without a copy")
    if dtype is not None and result.dtype != np.dtype(dtype):
        if copy is False:
            raise ValueError(f"asarray: {result.dtype} cannot become {np.dtype(dtype)} without a copy")
        return result.astype(dtype)
    return result.copy() if copy and result is a else result


def _asarray_on(device: _native.Device, a: Any, dtype: Any, copy: bool | None) -> GPUArray:
    """`asarray` for a device, which need not be the current one."""
    if isinstance(a, GPUArray) and a.device != device:
        if copy is False:
            raise ValueError(f"asarray: an array on {a.device} is not on {device} without a copy")
        a, copy = a.to_device(device), None
    with _devices.current_on(device):
        return asarray(a, dtype, copy=copy)


def array(
    object: Any,  # noqa: A002
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    ndmin: int = 0,
) -> GPUArray:
    """A new device array of anything that `asarray` takes; copies even device arrays unless `copy` is false.

    Elements are converted to `dtype` if given. The result has at least `ndmin` axes; those that are added have length 1
    and come first. Does not wait for device arrays, but for the copy of host data. `order` has no effect: copies keep
    the memory order.
    """
    made = asarray(object, dtype, copy=copy if isinstance(object, GPUArray) else None)
    return made.reshape((1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made


def asnumpy(a: Any) -> Any:
    """A NumPy array with the elements of `a`; waits until they have arrived.

    A device array is copied to new host memory in its own memory order; anything else goes through `numpy.asarray`.
    """
    return a.get() if isinstance(a, GPUArray) else np.asarray(a)


#: DLPack's numbers for memory of the host and of CUDA devices.
_DLPACK_HOST, _DLPACK_CUDA = 1, 2


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> GPUArray:
    """A `GPUArray` over the memory of an object with ``__dlpack__``; copies only if that memory is on the host.

    Work already enqueued on the object in the legacy default stream finishes before anything that uses the array. The
    array keeps the object's memory alive. If `copy` is true the array has memory of its own. An object in host memory
    is copied, and the call waits for that copy; with `copy` False it raises `ValueError` instead. `device`, a
    `rtcg.driver.Device`, says where the result is: memory of another device is copied there, which raises `ValueError`
    if `copy` is False.
    """
    if isinstance(x, GPUArray) and not copy and device is None:
        # Not over a tensor over it: the array keeps what `x` keeps, and not all that it was ever made from.
        return x.view()
    kind, ordinal = x.__dlpack_device__()
    if kind == _DLPACK_HOST:
        if copy is False:
            raise ValueError("from_dlpack: host memory cannot become a device array without a copy")
        return asarray(np.from_dlpack(x), device=device)
    if device is not None:
        return _asarray_on(_devices.as_device("device", device), from_dlpack(x), None, copy)
    with _devices.current_on(_native.Device(ordinal)) if kind == _DLPACK_CUDA else contextlib.nullcontext():
        try:
            capsule = x.__dlpack__(stream=1, max_version=(1, 0))
        except TypeError:
            capsule = x.__dlpack__(stream=1)
        shared = _native.array_from_dlpack(capsule)
        return shared.copy() if copy else shared


def _elementwise_extremum(name: str, a: Any, b: Any, out: Any, stream: Any, dtype: Any) -> GPUArray:
    return _run_in_stream(stream, lambda: _ufunc(name, (a, b), out, dtype))


def maximum(a: Any, b: Any, out: Any = None, stream: Any = None, *, dtype: Any = None) -> GPUArray:
    """The larger of two elements, or NaN if either is NaN, as in `numpy.maximum`.

    Operands are array-like and are broadcast (`ValueError` if their shapes do not fit); complex numbers are ordered by
    real, then imaginary part. The result, `out` or a new array, has their common dtype, or `dtype`. Computed in
    `stream` if given; does not wait. `fmax` ignores NaN instead.
    """
    return _elementwise_extremum("maximum", a, b, out, stream, dtype)


def minimum(a: Any, b: Any, out: Any = None, stream: Any = None, *, dtype: Any = None) -> GPUArray:
    """The smaller of two elements, or NaN if either is NaN, as in `numpy.minimum`.

    Operands are array-like and are broadcast (`ValueError` if their shapes do not fit); complex numbers are ordered by
    real, then imaginary part. The result, `out` or a new array, has their common dtype, or `dtype`. Computed in
    `stream` if given; does not wait. `fmin` ignores NaN instead.
    """
    return _elementwise_extremum("minimum", a, b, out, stream, dtype)


def logical_and(x1: Any, x2: Any, /, out: Any = None, *, allocator: Any = None) -> GPUArray:
    """Whether both elements are true, element by element: an array of bool; does not wait.

    Operands are array-like of any dtype and are broadcast; raises `ValueError` if their shapes do not fit. Anything but
    0 is true, including NaN. The result goes to `out`, or to a new array from `allocator` if given.
    """
    return _native.call_with_allocator(allocator, _ufunc, "logical_and", (x1, x2), out)


def logical_or(x1: Any, x2: Any, /, out: Any = None, *, allocator: Any = None) -> GPUArray:
    """Whether at least one of two elements is true: an array of bool; does not wait.

    Operands are array-like of any dtype and are broadcast; raises `ValueError` if their shapes do not fit. Anything but
    0 is true, including NaN. The result goes to `out`, or to a new array from `allocator` if given.
    """
    return _native.call_with_allocator(allocator, _ufunc, "logical_or", (x1, x2), out)


def logical_not(x: Any, /, out: Any = None, *, allocator: Any = None) -> GPUArray:
    """Whether each element is false, that is 0: an array of bool with the shape of `x`; does not wait.

    `x` is array-like of any dtype; NaN is true. The result goes to `out`, or to a new array from `allocator` if given.
    """
    return _native.call_with_allocator(allocator, _ufunc, "logical_not", (x,), out)


@overload
def where(criterion: Any) -> tuple[GPUArray, ...]: ...


@overload
def where(criterion: Any, then_: Any, else_: Any, out: Any = None, stream: Any = None) -> GPUArray: ...


def where(criterion: Any, then_: Any = None, else_: Any = None, out: Any = None, stream: Any = None) -> Any:
    """Elements of `then_` where the criterion is true, else of `else_`; with the criterion alone, `nonzero`.

    Operands are array-like or numbers and are broadcast; raises `ValueError` if shapes do not fit. The result, `out` or
    a new array, has the common dtype of `then_` and `else_`. Both are read in full, whichever is chosen. Computed in
    `stream` if given. Does not wait, except with the criterion alone, for the number of results.
    """
    if then_ is None and else_ is None:
        return nonzero(criterion)  # noqa: F405
    return _run_in_stream(stream, lambda: _ufunc("where", (criterion, then_, else_), out))


def clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None
) -> GPUArray:  # noqa: A002
    """Elements limited to the range from `a_min` to `a_max`, either of which may be None; does not wait.

    `a` is array-like; limits are numbers or arrays that are broadcast with it (`ValueError` if shapes do not fit), and
    can also be named `min` and `max`. A Python integer that the dtype of `a` does not hold is allowed if it limits
    nothing, else it raises `OverflowError`. The result, `out` or a new array, has the common dtype. NaN stays NaN.
    Without limits the result is a copy.
    """
    low, high = a_min if min is None else min, a_max if max is None else max
    a = _to_device(a)
    if a.dtype.kind in "iu":
        # Python's integers that no element lies beyond are no limits, whatever their size.
        limits = np.iinfo(a.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    if low is None and high is None:
        return _ufunc("copy", (a,), out)
    if low is None:
        return _ufunc("minimum", (a, high), out)
    if high is None:
        return _ufunc("maximum", (a, low), out)
    return _ufunc("clip", (a, low, high), out)


def round(a: Any, decimals: Any = 0, out: Any = None) -> GPUArray:  # noqa: A001
    """Elements rounded to `decimals` places, halves to even; does not wait.

    `a` is array-like; the result, `out` or a new array, has its shape and dtype. With `decimals` other than 0 elements
    are first scaled by a power of 10, as in NumPy, so that binary fractions may be off by one in the last place. With
    negative `decimals` integers are rounded to tens, hundreds and so on, via float64. Bools give float16, and raise
    `TypeError` for `decimals` other than 0.
    """
    a, decimals = _to_device(a), operator.index(decimals)
    if a.dtype.kind in "iu" and decimals >= 0:
        return _ufunc("copy", (a,), out)
    if decimals == 0:
        return _ufunc("rint", (a,), out)
    if a.dtype.kind == "b":
        raise TypeError(f"round: decimals is {decimals}; expected 0 for an array of bool")
    # A Python float, which leaves float16, float32 and complex64 what they are.
    factor = 10.0 ** (decimals if decimals >= 0 else -decimals)
    if a.dtype.kind in "iu":
        return _copy_to_out(out, (rint(a / factor) * factor).astype(a.dtype))
    if decimals > 0:
        return _ufunc("divide", (rint(a * factor), factor), out)
    return _ufunc("multiply", (rint(a / factor), factor), out)


around = round


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> GPUArray:
    """Whether ``|a - b| <= atol + rtol * |b|``, element by element: a new array of bool; does not wait.

    Operands are array-like and are broadcast; raises `ValueError` if their shapes do not fit. Equal infinities are
    close; NaN is close to nothing, except to NaN if `equal_nan` is true. As in NumPy the test is not symmetric: `b` is
    the reference, and is converted to float64 if it has integers or bools. Tolerances are numbers or arrays that are
    broadcast.
    """
    a, b = _to_device(a), _to_device(b)
    if b.dtype.kind in "iub":
        b = b.astype(np.float64)
    near = (absolute(a - b) <= atol + rtol * absolute(b)) & isfinite(b)
    result = near | (a == b)
    return result | (isnan(a) & isnan(b)) if equal_nan else result


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> bool:
    """Whether all elements of `a` and `b` are close, as a bool; waits for the answer.

    Operands and tolerances are those of `isclose`: they are broadcast, with a `ValueError` if their shapes do not fit.
    """
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> bool:
    """Whether two arrays have the same shape and equal elements, as a bool; waits for the answer unless shapes differ.

    Operands are array-like of any dtype. NaN equals NaN only if `equal_nan` is true.
    """
    a1, a2 = _to_device(a1), _to_device(a2)
    if a1.shape != a2.shape:
        return False
    same = a1 == a2
    return bool((same | (isnan(a1) & isnan(a2)) if equal_nan else same).all())


def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> GPUArray:
    """A new array of `x` in which NaN and infinities are replaced by numbers; does not wait.

    `x` is array-like. NaN becomes `nan`, infinities become `posinf` and `neginf`, by default the largest and the
    smallest number of the dtype; both parts of complex numbers are replaced, and other dtypes are copied. `copy` has no
    effect: `x` is never changed.
    """
    x = _to_device(x)
    if x.dtype.kind == "c":
        # A sum of both parts would lose the signs of zeros.
        parts = x.reshape(-1).view(x.real.dtype)
        return nan_to_num(parts, copy, nan, posinf, neginf).view(x.dtype).reshape(x.shape)
    if x.dtype.kind not in "f":
        return x.copy()
    info = np.finfo(x.dtype)
    x = where(isnan(x), nan, x)
    x = where(x == np.inf, float(info.max) if posinf is None else posinf, x)
    return where(x == -np.inf, float(info.min) if neginf is None else neginf, x)


# -- reductions ---------------------------------------------------------------------------------------


def _is_axis(value: Any) -> bool:
    return value is not None and (
        isinstance(value, (int, np.integer))
        or (isinstance(value, (tuple, list)) and builtins.all(_is_axis(v) for v in value))
    )


def _reduction_parameters(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """The parameters of reductions, for `inspect` and type checkers."""
    raise NotImplementedError


def _parameters_without_initial(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """Those of reductions whose result is no combination of elements, which a first value could take part in."""
    raise NotImplementedError


def _variance_parameters(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    where: Any = None,
    ddof: Any = 0,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """Those of `var` and `std`."""
    raise NotImplementedError


#: What each computes, its dtype, and what it does of no elements.
_REDUCTIONS = {
    "sum": ("The sum", "that of `a`, with narrower integers widened to 64 bits. 0 for no elements"),
    "prod": ("The product", "that of `a`, with narrower integers widened to 64 bits. 1 for no elements"),
    "max": ("The largest element", "that of `a`. NaN if there is one; raises ValueError for no elements unless "
            "`initial` is given"),
    "min": ("The smallest element", "that of `a`. NaN if there is one; raises ValueError for no elements unless "
            "`initial` is given"),
    "mean": ("The mean", "that of `a`, or float64 for integers; float16 is summed in float32. NaN for no elements"),
    "var": ("The variance, with the divisor ``n - ddof``", "that of `a`, or float64 for integers, and real for "
            "complex numbers. NaN for no elements"),
    "std": ("The standard deviation, the square root of `var`", "that of `var`. NaN for no elements"),
    "ptp": ("The largest element minus the smallest", "that of `a`. Raises ValueError for no elements"),
    "any": ("Whether at least one element is not 0", "bool. False for no elements"),
    "all": ("Whether no element is 0", "bool. True for no elements"),
    "argmin": ("The index of the first smallest element", "int64; an index into the flattened array without `axis`. "
               "Raises ValueError for no elements"),
    "argmax": ("The index of the first largest element", "int64; an index into the flattened array without `axis`. "
               "Raises ValueError for no elements"),
    "count_nonzero": ("The number of elements that are not 0", "int64. 0 for no elements"),
}  # fmt: skip

_REDUCTION_DOC = """{what}, of all elements or along `axis`; does not wait.

`a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not have. The
result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is {dtype}.
Elements where `where` is false are left out{initial}, and `keepdims` keeps reduced axes with length 1. As in PyCUDA,
a dtype or a stream may take the place of `axis`.{method}
"""


def _make_reduction(name: str, parameters: _Function) -> _Function:
    has_initial = "initial" in _inspect.signature(parameters).parameters

    def device_function(a: Any, *args: Any, **kwargs: Any) -> GPUArray:
        if not args and not kwargs and type(a) is GPUArray:
            return _native.reduce_array(a, name)
        # Upstream's second argument is a dtype or a stream, NumPy's is the axis.
        if args and _is_axis(args[0]):
            kwargs = {**dict(zip(("axis", "dtype", "out"), args, strict=False)), **kwargs}
        elif args and isinstance(args[0], _native.Stream):
            kwargs["stream"] = args[0]
        elif args:
            kwargs = {**dict(zip(("dtype", "stream", "allocator"), args, strict=False)), **kwargs}
        kwargs = {k: v for k, v in kwargs.items() if v is not np._NoValue}
        if not has_initial and kwargs.get("initial") is not None:
            raise TypeError(
                f"{name}: initial is {_shown(kwargs['initial'])}; there is no such parameter of this function"
            )
        return _native.reduce_array(_to_device(a), name, **kwargs)

    device_function.__name__ = device_function.__qualname__ = name
    what, dtype = _REDUCTIONS[name]
    initial = ", `initial` is included" if has_initial else ""
    method = " One pass, by Chan's parallel update of means and squared deviations." if name in ("var", "std") else ""
    text = _REDUCTION_DOC.format(what=what, dtype=dtype, initial=initial, method=method)
    device_function.__doc__ = _wrap_paragraphs(text)
    made: Any = device_function
    made.__signature__ = _inspect.signature(parameters)
    return made


sum = _make_reduction("sum", _reduction_parameters)  # noqa: A001
prod = _make_reduction("prod", _reduction_parameters)
max = _make_reduction("max", _reduction_parameters)  # noqa: A001
min = _make_reduction("min", _reduction_parameters)  # noqa: A001
any = _make_reduction("any", _reduction_parameters)  # noqa: A001
all = _make_reduction("all", _reduction_parameters)  # noqa: A001
ptp = _make_reduction("ptp", _reduction_parameters)
mean = _make_reduction("mean", _parameters_without_initial)
argmin = _make_reduction("argmin", _parameters_without_initial)
argmax = _make_reduction("argmax", _parameters_without_initial)
count_nonzero = _make_reduction("count_nonzero", _parameters_without_initial)
var, std = _make_reduction("var", _variance_parameters), _make_reduction("std", _variance_parameters)
amax, amin = max, min


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
    """Cumulative sums along `axis`, or of the flattened array if it is None; does not wait.

    `a` is array-like; the result, `out` or a new array, has its shape (one axis if flattened). Sums are computed in
    `dtype`, by default NumPy's: integers are widened to 64 bits. Raises `AxisError` for an axis that `a` does
    not have. Uses a scan in one pass over memory with decoupled look-back (Merrill and Garland, 2016), which adds
    floats in a different order than NumPy.
    """
    return _convert_to_out(out, _native.array_cumulative(_to_device(a), "sum", axis, dtype))


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
    """Cumulative products along `axis`, or of the flattened array if it is None; does not wait.

    Shapes, dtypes, errors and the algorithm are those of `cumsum`.
    """
    return _convert_to_out(out, _native.array_cumulative(_to_device(a), "prod", axis, dtype))


def _convert_to_out(out: Any, result: GPUArray) -> GPUArray:
    """The result; or `out`, filled with it if shapes agree: like NumPy's, reductions and scans convert to any dtype."""
    return _copy_to_out(out, result if out is None else result.astype(_require_array("out", out).dtype))


def _copy_to_out(out: Any, result: GPUArray) -> GPUArray:
    """The result; or `out`, filled with it if shapes agree and the rule "same_kind" allows the conversion."""
    if out is None:
        return result
    _native.array_store(result, _require_array("out", out))
    return out


# -- products -----------------------------------------------------------------------------------------


def matmul(x1: Any, x2: Any, /, out: Any = None) -> GPUArray:
    """The matrix product, with NumPy's rules for operands with one axis and for batches; does not wait.

    Parameters
    ----------
    x1, x2 : array-like
        Of shapes ``(..., m, k)`` and ``(..., k, n)``; leading axes are broadcast. Numbers of any dtype; the result has
        NumPy's dtype. Sums of float16 and bfloat16 are accumulated in float32.
    out : GPUArray, optional
        Receives the result; has its shape and a dtype to which the rule "same_kind" allows a cast.

    Raises
    ------
    ValueError
        If the shapes do not fit, or an operand has no axis.
    TypeError
        If the result may not be cast to the dtype of `out`.
    """
    if out is not None:
        _require_array("out", out)
    return _native.array_matmul(_named_to_device("x1", x1), _named_to_device("x2", x2), out)


def dot(a: Any, b: Any, dtype: Any = None, stream: Any = None, allocator: Any = None, *, out: Any = None) -> GPUArray:
    """The inner product of vectors and of arrays of one shape, as in PyCUDA; else `numpy.dot`.

    Matrices of one shape are multiplied as matrices if they are square and no `dtype` is given. The result is a new
    array, without axes for inner products; `dtype` applies to inner products. Operands are array-like; raises
    `ValueError` if shapes do not fit. Inner products are computed in `stream`, and memory comes from `allocator`.
    `out`, which may also be passed in the place of `dtype`, receives the result; raises `ValueError` unless it has the
    right shape and dtype. Does not wait.
    """
    if isinstance(dtype, GPUArray):
        # NumPy's third argument is `out`.
        dtype, out = None, dtype
    if out is not None:
        result = dot(a, b, dtype, stream, allocator)
        _require_array("out", out)
        if (out.shape, out.dtype) != (result.shape, result.dtype):
            expected = f"expected shape {result.shape} and dtype {result.dtype}"
            raise ValueError(f"out has shape {out.shape} and dtype {out.dtype}; {expected}")
        return _run_in_stream(stream, lambda: _copy_to_out(out, result))
    if allocator is not None:
        return _native.call_with_allocator(allocator, dot, a, b, dtype, stream)
    a, b = _to_device(a), _to_device(b)
    if a.ndim == 1 and b.ndim == 1:
        return _native.array_dot_flat(a, b, dtype, stream)
    if 0 in (a.ndim, b.ndim):
        return a * b
    if dtype is not None or (a.shape == b.shape and a.shape[-1] != b.shape[-2:][0]):
        return _native.array_dot_flat(a, b, dtype, stream)
    return a @ b if b.ndim <= 2 and a.ndim <= 2 else tensordot(a, b, ((-1,), (b.ndim - 2 if b.ndim > 1 else 0,)))


def vdot(a: Any, b: Any) -> GPUArray:
    """The inner product of all elements, with those of `a` conjugated: a new array without axes; does not wait.

    Operands are array-like of any shape, are flattened in C order, and raise `ValueError` unless they have the same
    number of elements. The result has the common dtype.
    """
    return _native.array_dot_flat(_to_device(a).ravel().conj(), _to_device(b).ravel())


def inner(a: Any, b: Any) -> GPUArray:
    """Sums of products over the last axes, with the shape ``a.shape[:-1] + b.shape[:-1]``; does not wait.

    Operands are array-like; if one has no axis, the result is their product. The result is a new array of the common
    dtype. Raises `ValueError` if the last axes differ in length. Uses `matmul`.
    """
    a, b = _to_device(a), _to_device(b)
    return tensordot(a, b, ((-1,), (-1,))) if a.ndim and b.ndim else a * b


def outer(a: Any, b: Any, out: Any = None) -> GPUArray:
    """The products of each element of `a` with each of `b`, as a matrix of ``a.size`` by ``b.size``; does not wait.

    Operands are array-like and are flattened. The result, `out` or a new array, has the common dtype.
    """
    return _ufunc("multiply", (_to_device(a).ravel()[:, None], _to_device(b).ravel()[None, :]), out)


def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axis: Any = -1) -> GPUArray:
    """Sums of products along `axis`, with `x1` conjugated; other axes are broadcast. Does not wait.

    Operands are array-like; the result, `out` or a new array of the common dtype, lacks that axis. Raises `ValueError`
    if the lengths along the axis differ or the other axes do not fit. Products are written to memory before they are
    summed.
    """
    x1, x2 = _to_device(x1), _to_device(x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: shapes {x1.shape} and {x2.shape} differ along axis {axis}")
    product = moveaxis(x1, axis, -1).conj() * moveaxis(x2, axis, -1)
    return _copy_to_out(out, product.sum(-1, dtype=product.dtype))


def tensordot(a: Any, b: Any, axes: Any = 2) -> GPUArray:
    """Sums of products over pairs of axes: a new array with the other axes of `a`, then of `b`; does not wait.

    `axes` is a number n (the last n axes of `a`, the first n of `b`), or two lists of axes. Operands are array-like;
    the result has their common dtype. Raises `ValueError` if the lengths of paired axes differ. Uses one matrix product
    of the operands, which are copied if their layout has to be rearranged.
    """
    a, b = _to_device(a), _to_device(b)
    if isinstance(axes, (int, np.integer)):
        axes = (range(a.ndim - axes, a.ndim), range(axes))
    first, second = (
        [x % n for x in np.atleast_1d(np.asarray(list(np.atleast_1d(part)), int))]
        for part, n in zip(axes, (a.ndim, b.ndim), strict=False)
    )
    if [a.shape[i] for i in first] != [b.shape[j] for j in second]:
        raise ValueError(f"tensordot: shapes {a.shape} and {b.shape} do not match along axes {first} and {second}")
    left, right = [i for i in range(a.ndim) if i not in first], [j for j in range(b.ndim) if j not in second]
    shape = tuple(a.shape[i] for i in left) + tuple(b.shape[j] for j in right)
    common = int(np.prod([a.shape[i] for i in first], dtype=int))
    rows, columns = (
        int(np.prod([a.shape[i] for i in left], dtype=int)),
        int(np.prod([b.shape[j] for j in right], dtype=int)),
    )
    x = a.transpose((*left, *first)).reshape((rows, common))
    y = b.transpose((*second, *right)).reshape((common, columns))
    return (x @ y).reshape(shape)


def trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> GPUArray:
    """The sum of the diagonal `offset` of the axes `axis1` and `axis2`; does not wait.

    `a` is array-like with at least two axes (else `ValueError`). The result, `out` or a new array, has the other axes
    of `a`, and `dtype`, which is by default that of `sum`.
    """
    return _to_device(a).diagonal(offset, axis1, axis2).sum(-1, dtype, out)


# -- joining and rearranging --------------------------------------------------------------------------


def copy(a: Any, order: Any = "K") -> GPUArray:
    """A copy of the device array `a` in new device memory; does not wait.

    `order` is "K" (as in `a`), "C", "F" or "A".
    """
    return a.copy(order)


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> GPUArray:
    """The device array `x` converted to `dtype`, as C converts numbers; does not wait.

    Returns a new array, or `x` itself if `copy` is false and it has that dtype. Floats are truncated towards 0 when
    they become integers, and values out of range are undefined. `device`, a `rtcg.driver.Device`, says where the result
    is.
    """
    return (x if device is None else x.to_device(_devices.as_device("device", device))).astype(dtype, copy=copy)


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Write `src`, broadcast and converted, to the device array `dst` where the mask `where` is true; does not wait.

    Returns None. `src` is array-like; `where` is true or an array of bool that is broadcast (else `TypeError`). Also
    raises `TypeError` if the rule `casting` does not allow the conversion of `src`, and `ValueError` if shapes do not
    fit.
    """
    if isinstance(src, (GPUArray, np.ndarray)) and not np.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {_shown(src.dtype)} to {_shown(dst.dtype)} according to the rule '{casting}'"
        )
    if where is not True:
        mask = _to_device(where)
        if mask.dtype != bool:
            raise TypeError(f"copyto: where has dtype {mask.dtype}; expected bool")
        src = _ufunc("where", (mask, _to_device(src).astype(dst.dtype), dst))
    dst[...] = src


def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: Any = None, axis: Any = 0
) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`, including `stop` if `endpoint` is true; does not wait.

    Returns a new array of `num` elements, float64 unless `dtype` says otherwise. If `start` and `stop` are array-like
    it has more axes, and the numbers are along `axis`. With `retstep`, returns a tuple of the array and the step.
    Integers are rounded down. Raises `ValueError` for a negative `num`. Elements are ``start + k * step``, as in NumPy.
    """
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    start, stop = (x if isinstance(x, GPUArray) else np.asarray(x) for x in (start, stop))
    common = np.result_type(start.dtype, stop.dtype, float(num))
    # Differences of integers would wrap.
    start, stop = start.astype(common), stop.astype(common)
    if start.ndim == stop.ndim == 0 and not isinstance(start, GPUArray) and not isinstance(stop, GPUArray):
        start, stop = start[()], stop[()]
    parts = num - 1 if endpoint else num
    span = stop - start
    step = span / parts if parts > 0 else np.nan
    shape = np.shape(span)
    places = arange(num).astype(np.empty(0, common).real.dtype).reshape((num,) + (1,) * len(shape))
    # NumPy multiplies by the step unless that has become 0.
    if parts > 0 and isinstance(step, np.generic) and step == 0:
        places, step_or_span = places / parts, span
    else:
        step_or_span = step if parts > 0 else span
    values = places * step_or_span
    values = values + start
    if endpoint and num > 1:
        values[-1:] = stop
    dtype = common if dtype is None else np.dtype(dtype)
    values = floor(values) if dtype.kind in "iu" and common.kind == "f" else values
    values = moveaxis(values.astype(dtype), 0, axis)
    return (values, step) if retstep else values


def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = np.float64, order: Any = "C") -> GPUArray:  # noqa: N803
    """A matrix of `N` by `M` (by default `N`) with ones on the diagonal `k` and zeros elsewhere; does not wait.

    Returns a new array of `dtype` in the memory order `order` ("C" or "F"). `k` is positive above the main diagonal; a
    diagonal outside the matrix has no elements.
    """
    result = zeros((N, N if M is None else M), dtype, order=order)
    if 0 not in result.shape:
        result.diagonal(k)[...] = 1
    return result


def identity(n: Any, dtype: Any = np.float64) -> GPUArray:
    """The identity matrix of `n` by `n`, a new array of `dtype`; does not wait."""
    return eye(n, dtype=dtype)


def _distance_below_diagonal(m: Any) -> GPUArray:
    """How far each element of a matrix of the shape of `m` is below the diagonal."""
    rows, columns = m.shape[-2:] if m.ndim > 1 else m.shape * 2
    below = GPUArray((rows, columns), np.int64, _to_device(m).allocator)
    return subtract(arange(rows)[:, None], arange(columns)[None, :], out=below)


def shape(a: Any) -> tuple[int, ...]:
    """The lengths of the axes of a device array, ``a.shape``: a tuple of int; does not wait for elements."""
    return a.shape


def ndim(a: Any) -> int:
    """The number of axes of a device array, ``a.ndim``: an int; does not wait for elements."""
    return a.ndim


def size(a: Any, axis: Any = None) -> int:
    """The number of elements of a device array, or the length of `axis`: an int; does not wait for elements.

    Raises `IndexError` for an axis that the array does not have.
    """
    return a.size if axis is None else a.shape[axis]


def tril(m: Any, k: Any = 0) -> GPUArray:
    """The lower triangle: a new array in which elements above the diagonal `k` are 0; does not wait.

    `m` is array-like; its last two axes are matrices, and a single axis is repeated as rows. The dtype is kept.
    """
    return where(_distance_below_diagonal(m) >= -k, m, zeros((), m.dtype))


def triu(m: Any, k: Any = 0) -> GPUArray:
    """The upper triangle: a new array in which elements below the diagonal `k` are 0; does not wait.

    `m` is array-like; its last two axes are matrices, and a single axis is repeated as rows. The dtype is kept.
    """
    return where(_distance_below_diagonal(m) <= -k, m, zeros((), m.dtype))


# The functions that have files of their own, which import this one.
from rtcg.numpy._choosing import *  # noqa: E402, F403
from rtcg.numpy._creation import *  # noqa: E402, F403
from rtcg.numpy._diagonals import *  # noqa: E402, F403
from rtcg.numpy._einsum import *  # noqa: E402, F403
from rtcg.numpy._indexing import *  # noqa: E402, F403
from rtcg.numpy._inspection import *  # noqa: E402, F403
from rtcg.numpy._joining import *  # noqa: E402, F403
from rtcg.numpy._nan_functions import *  # noqa: E402, F403
from rtcg.numpy._padding import *  # noqa: E402, F403
from rtcg.numpy._products import *  # noqa: E402, F403
from rtcg.numpy._rearranging import *  # noqa: E402, F403
from rtcg.numpy._sets import *  # noqa: E402, F403
from rtcg.numpy._statistics import *  # noqa: E402, F403

_IMPORTED = ("TYPE_CHECKING", "Any", "annotations", "builtins", "contextlib", "importlib", "np", "operator", "overload")
__all__ = [_name for _name in dir() if not _name.startswith("_") and _name not in _IMPORTED]

_namespace = importlib.import_module("rtcg.numpy._namespace")
_namespace.add_ufunc_methods()
# NumPy's types and constants, which would hide Python's names here, the modules, and an answer for what is missing.
if not TYPE_CHECKING:
    __getattr__ = _namespace.look_up


def __dir__() -> list[str]:
    return sorted({*globals(), *_namespace.names()})


def _set_flat(array: GPUArray, value: Any) -> None:
    value = asarray(value)
    array[...] = value.reshape(array.shape) if value.size == array.size else value


GPUArray.flat = property(  # type: ignore[method-assign, assignment]  # the native class declares it
    _namespace.FlatView, _set_flat, doc=_namespace.FlatView.__doc__
)
