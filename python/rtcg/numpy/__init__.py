"""Arrays on the device with NumPy's functions.

Operations are enqueued and do not wait; what brings elements to the host (`GPUArray.get`, printing, `bool`) does.
"""

import builtins
import importlib
import inspect as _inspect
import operator

import numpy as np

from rtcg import _native
from rtcg._native import (
    ArrayFlags as ArrayFlags,
    GPUArray,
    arange_of as _arange_of,
    empty_in_order_of as _empty_in_order_of,
    ufunc as _ufunc,
)

empty = GPUArray


def zeros(shape, dtype=np.float64, allocator=None, order="C"):
    """A new array of zeros; does not wait.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : dtype-like
    allocator : callable, optional
        Of a number of bytes, such as `rtcg.tools.DeviceMemoryPool().allocate`; by default `rtcg.driver.mem_alloc`.
    order : str
        C or F.

    Raises
    ------
    rtcg.driver.MemoryError
        When the device has not that much memory.
    """
    array = GPUArray(shape, dtype, allocator, order=order)
    array._clear()
    return array


def full(shape, fill_value, dtype=None, allocator=None, order="C"):
    """A new array in which every element is `fill_value`; does not wait."""
    dtype = np.asarray(fill_value).dtype if dtype is None else dtype
    return GPUArray(shape, dtype, allocator, order=order).fill(fill_value)


def ones(shape, dtype=np.float64, allocator=None, order="C"):
    """A new array of ones; does not wait."""
    return full(shape, 1, dtype, allocator, order)


def _memory_order(array):
    flags = array.flags
    return "F" if flags.f_contiguous and not flags.c_contiguous else "C"


def empty_like(other_ary, dtype=None, order="K", shape=None):
    """A new array with undefined contents, of the shape, memory order and dtype of `other_ary` unless given."""
    if isinstance(other_ary, GPUArray):
        return _empty_in_order_of(other_ary, dtype, order, shape)
    other_ary = np.asarray(other_ary)
    order = _memory_order(other_ary) if order in "AK" else order
    return GPUArray(other_ary.shape if shape is None else shape, dtype or other_ary.dtype, order=order)


def zeros_like(other_ary, dtype=None, order="K", shape=None):
    """As `empty_like`, with every element 0."""
    array = empty_like(other_ary, dtype, order, shape)
    array._clear()
    return array


def full_like(other_ary, fill_value, dtype=None, order="K", shape=None):
    """As `empty_like`, with every element `fill_value`."""
    return empty_like(other_ary, dtype, order, shape).fill(fill_value)


def ones_like(other_ary, dtype=None, order="K", shape=None):
    """As `empty_like`, with every element 1."""
    return full_like(other_ary, 1, dtype, order, shape)


def to_gpu(ary, allocator=None):
    """Copy a host array to a new array on the device; waits until the copy is done.

    Parameters
    ----------
    ary : array-like
        Of any shape; of a dtype that has a C type (numbers, bool, structures). C or Fortran order is kept, what
        has neither is copied in C order.
    allocator : callable, optional
        Of a number of bytes; by default `rtcg.driver.mem_alloc`.

    Returns
    -------
    GPUArray
        Of the shape and dtype of `ary`.

    Raises
    ------
    TypeError
        For a dtype without a C type, such as object.
    rtcg.driver.MemoryError
        When the device has not that much memory.
    """
    ary = np.asarray(ary)
    array = GPUArray(ary.shape, ary.dtype, allocator, order=_memory_order(ary))
    array.set(ary)
    return array


def to_gpu_async(ary, allocator=None, stream=None):
    """As `to_gpu`, in the order of `stream`.

    Page-locked memory (`rtcg.driver.pagelocked_empty`) is read when the stream got there and must stay unchanged until
    then; other memory is read before the call returns.
    """
    ary = np.asarray(ary)
    array = GPUArray(ary.shape, ary.dtype, allocator, order=_memory_order(ary))
    array.set_async(ary, stream=stream)
    return array


def arange(*args, dtype=None, stream=None, allocator=None):
    """``arange([start,] stop[, step], dtype=None)``: evenly spaced numbers, as `numpy.arange`."""
    if len(args) > 3:
        *args, dtype = args
    if not 1 <= len(args) <= 3:
        raise TypeError(f"arange() takes 1 to 3 numbers, got {len(args)}")
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    if dtype is None:
        dtype = np.result_type(*(np.asarray(value).dtype for value in (start, stop, step)))
    if step == 0:
        raise ZeroDivisionError("arange: step is 0")
    count = builtins.max(0, int(np.ceil((stop - start) / step)))
    dtype = np.dtype(dtype)
    if dtype.kind in "fcV":
        # NumPy takes the difference of the first two numbers, as they are rounded, for the step.
        step = (dtype.type(start + step) - dtype.type(start)).item()
    return _native.call_with_allocator(allocator, _arange_of, start, step, count, dtype)


def broadcast_to(a, shape):
    """`a` repeated to `shape` by strides of 0, as a view; see `numpy.broadcast_to`."""
    return a._broadcast_to(shape)


def expand_dims(a, axis):
    """`a` with new axes of length 1; see `numpy.expand_dims`."""
    return a._expand_dims(axis)


def moveaxis(a, source, destination):
    """`a` with axes moved to other places; see `numpy.moveaxis`."""
    return a._moveaxis(source, destination)


def flip(m, axis=None):
    """`m` with axes run backwards, as a view; see `numpy.flip`."""
    return m._flip(axis)


def reshape(a, *shape, order="C"):
    """`a.reshape`."""
    return a.reshape(*shape, order=order)


def transpose(a, axes=None):
    """`a.transpose`."""
    return a.transpose(axes)


# -- element by element -------------------------------------------------------------------------------


def _unary_parameters(x, /, *, out=None, dtype=None, stream=None):
    """What functions of one operand take, for `inspect`."""


def _binary_parameters(x1, x2, /, *, out=None, dtype=None, stream=None):
    """What functions of two operands take, for `inspect`."""


_UFUNC_SIGNATURES = {1: _inspect.signature(_unary_parameters), 2: _inspect.signature(_binary_parameters)}


def _ufunc_docstring(name):
    """What the function computes, and what NumPy's loops say of dtypes."""
    loops = [loop.split("->") for loop in getattr(getattr(np, name, None), "types", ())]
    inputs, outputs = "".join(operands for operands, _ in loops), {result for _, result in loops}
    rules = []
    if outputs == {"?"}:
        rules.append("The result is of bools.")
    elif loops and name not in ("floor", "ceil", "trunc") and not {"l", "q"} & set(inputs) and "d" in inputs:
        rules.append("Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.")
    if loops and not set("efdg") & set(inputs):
        rules.append("A TypeError for floats and complex numbers.")
    elif loops and not set("FD") & set(inputs):
        rules.append("A TypeError for complex numbers.")
    return f"""{_UFUNCS[name]}, element by element; does not wait.

Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
result, `out` or a new array, has the dtype of `numpy.{name}`, which `dtype` changes.

{" ".join(rules)}""".rstrip()


def _make_ufunc(name):
    def device_function(*args, out=None, dtype=None, stream=None):
        out = out[0] if isinstance(out, tuple) else out
        return _run_in_stream(stream, lambda: _ufunc(name, args, out, dtype))

    device_function.__name__ = device_function.__qualname__ = name
    device_function.__doc__ = _ufunc_docstring(name)
    # NumPy before version 2 has no `bitwise_count`.
    device_function.__signature__ = _UFUNC_SIGNATURES[getattr(getattr(np, name, None), "nin", 1)]
    return device_function


#: What each computes.
_UFUNCS = {
    "add": "Sums",
    "subtract": "Differences",
    "multiply": "Products",
    "divide": "Quotients",
    "floor_divide": "Quotients rounded down",
    "remainder": "Remainders with the divisor's sign",
    "fmod": "Remainders with the dividend's sign, as C has them",
    "power": "The first operand to the power of the second",
    "float_power": "Powers as float64 or complex128",
    "bitwise_and": "Bits that both have",
    "bitwise_or": "Bits that one or both have",
    "bitwise_xor": "Bits that differ",
    "left_shift": "Bits moved up by as many places as the second operand says",
    "right_shift": "Bits moved down by as many places as the second operand says",
    "equal": "Whether elements are equal",
    "not_equal": "Whether elements differ",
    "less": "Whether the first operand is less than the second",
    "less_equal": "Whether the first operand is not greater than the second",
    "greater": "Whether the first operand is greater than the second",
    "greater_equal": "Whether the first operand is not less than the second",
    "logical_xor": "Whether one of two elements is true and the other false",
    "fmax": "The larger of two elements, of which a NaN loses",
    "fmin": "The smaller of two elements, of which a NaN loses",
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
    "invert": "All bits inverted; of bools, not",
    "absolute": "Absolute values; of complex numbers, their real lengths",
    "fabs": "Absolute values as floats",
    "sign": "-1, 0 or 1 by the sign; of complex numbers, x / abs(x)",
    "sqrt": "Square roots; NaN below 0",
    "square": "Squares",
    "reciprocal": "1 / x; of integers, rounded towards 0",
    "cbrt": "Cube roots",
    "exp": "e to the power of x",
    "exp2": "2 to the power of x",
    "expm1": "exp(x) - 1, accurate near 0",
    "log": "Natural logarithms",
    "log2": "Logarithms to base 2",
    "log10": "Logarithms to base 10",
    "log1p": "log(1 + x), accurate near 0",
    "sin": "Sines of radians",
    "cos": "Cosines of radians",
    "tan": "Tangents of radians",
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
    "deg2rad": "Degrees as radians",
    "rad2deg": "Radians as degrees",
    "isnan": "Whether elements are NaN",
    "isinf": "Whether elements are infinite",
    "isfinite": "Whether elements are neither infinite nor NaN",
    "signbit": "Whether the sign bit is set, as of -0.0",
    "conjugate": "Complex conjugates",
    "bitwise_count": "The number of bits set in the absolute value, as uint8",
    "real": "Real parts",
    "imag": "Imaginary parts; zeros of real numbers",
}
for _name in _UFUNCS:
    globals()[_name] = _make_ufunc(_name)
true_divide, mod, conj, bitwise_not, abs = divide, remainder, conjugate, invert, absolute  # noqa: F821, A001


def _run_in_stream(stream, body):
    if stream is None:
        return body()
    with stream:
        return body()


acos, acosh, asin, asinh = arccos, arccosh, arcsin, arcsinh  # noqa: F821
atan, atan2, atanh, pow = arctan, arctan2, arctanh, power  # noqa: F821, A001
bitwise_invert, bitwise_left_shift, bitwise_right_shift = invert, left_shift, right_shift  # noqa: F821


def angle(z, deg=False, out=None, dtype=None, stream=None):
    """The angles of complex numbers, in degrees if `deg`; see `numpy.angle`."""
    out = out[0] if isinstance(out, tuple) else out
    result = _run_in_stream(stream, lambda: _ufunc("angle", (z,), None if deg else out, dtype))
    return _run_in_stream(stream, lambda: _ufunc("multiply", (result, 180 / np.pi), out)) if deg else result


def divmod(x1, x2):  # noqa: A001
    """Floor of the quotient, and the rest that belongs to it."""
    return _ufunc("floor_divide", (x1, x2)), _ufunc("remainder", (x1, x2))


def _to_device(a):
    return a if isinstance(a, GPUArray) else _native.array_from_object(a)


def asarray(a, dtype=None, order=None, *, copy=None, device=None):
    """A device array of anything.

    Device arrays are shared, also those of other libraries (``__cuda_array_interface__``, DLPack); anything else is
    copied, and the call waits for that copy. With `copy` true there is always a copy, with False a `ValueError`
    if one is needed.
    """
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


def array(object, dtype=None, *, copy=True, order="K"):  # noqa: A002
    """A new device array of anything."""
    return asarray(object, dtype, copy=copy if isinstance(object, GPUArray) else None)


def asnumpy(a):
    """A host copy; waits."""
    return a.get() if isinstance(a, GPUArray) else np.asarray(a)


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the memory of a DLPack object on the device; host memory is copied over."""
    kind, _ = x.__dlpack_device__()
    if kind == 1:
        if copy is False:
            raise ValueError("from_dlpack: host memory cannot become a device array without a copy")
        return to_gpu(np.from_dlpack(x))
    try:
        capsule = x.__dlpack__(stream=1, max_version=(1, 0))
    except TypeError:
        capsule = x.__dlpack__(stream=1)
    shared = _native.array_from_dlpack(capsule)
    return shared.copy() if copy else shared


def _elementwise_extremum(name, a, b, out=None, stream=None):
    return _run_in_stream(stream, lambda: _ufunc(name, (a, b), out))


def maximum(a, b, out=None, stream=None):
    """The larger of two elements; NaN wins, as in `numpy.maximum`."""
    return _elementwise_extremum("maximum", a, b, out, stream)


def minimum(a, b, out=None, stream=None):
    """The smaller of two elements; NaN wins, as in `numpy.minimum`."""
    return _elementwise_extremum("minimum", a, b, out, stream)


def logical_and(x1, x2, /, out=None, *, allocator=None):
    """Whether both elements are true."""
    return _native.call_with_allocator(allocator, _ufunc, "logical_and", (x1, x2), out)


def logical_or(x1, x2, /, out=None, *, allocator=None):
    """Whether one of the elements is true."""
    return _native.call_with_allocator(allocator, _ufunc, "logical_or", (x1, x2), out)


def logical_not(x, /, out=None, *, allocator=None):
    """Whether the element is false."""
    return _native.call_with_allocator(allocator, _ufunc, "logical_not", (x,), out)


def where(criterion, then_=None, else_=None, out=None, stream=None):
    """`then_` where the criterion is true, else `else_`; with the criterion alone, `nonzero`.

    Operands are broadcast and may be numbers. Does not wait, but with the criterion alone it does.
    """
    if then_ is None and else_ is None:
        return nonzero(criterion)  # noqa: F821
    return _run_in_stream(stream, lambda: _ufunc("where", (criterion, then_, else_), out))


def clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None):  # noqa: A002
    """Elements limited to a range; see `numpy.clip`."""
    low, high = a_min if min is None else min, a_max if max is None else max
    a = _to_device(a)
    if low is None and high is None:
        return _ufunc("copy", (a,), out)
    if low is None:
        return _ufunc("minimum", (a, high), out)
    if high is None:
        return _ufunc("maximum", (a, low), out)
    return _ufunc("clip", (a, low, high), out)


def round(a, decimals=0, out=None):  # noqa: A001
    """Rounded to even at a number of decimals; see `numpy.round`."""
    a = _to_device(a)
    if a.dtype.kind in "iub" and decimals >= 0:
        return _ufunc("copy", (a,), out)
    if decimals == 0:
        return _ufunc("rint", (a,), out)
    factor = 10.0 ** np.abs(decimals)
    if a.dtype.kind in "iu":
        return _ufunc("multiply", (rint(a / factor), factor)).astype(a.dtype)  # noqa: F821
    if decimals > 0:
        return _ufunc("divide", (rint(a * factor), factor), out)  # noqa: F821
    return _ufunc("multiply", (rint(a / factor), factor), out)  # noqa: F821


around = round


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether elements are equal within a tolerance; see `numpy.isclose`."""
    a, b = _to_device(a), _to_device(b)
    near = (absolute(a - b) <= atol + rtol * absolute(b)) & isfinite(b)  # noqa: F821
    result = near | (a == b)
    return result | (isnan(a) & isnan(b)) if equal_nan else result  # noqa: F821


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are equal within a tolerance; waits."""
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and elements are equal; waits."""
    a1, a2 = _to_device(a1), _to_device(a2)
    if a1.shape != a2.shape:
        return False
    same = a1 == a2
    return bool((same | (isnan(a1) & isnan(a2)) if equal_nan else same).all())  # noqa: F821


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers; see `numpy.nan_to_num`."""
    x = _to_device(x)
    if x.dtype.kind not in "f":
        return x.copy()
    info = np.finfo(x.dtype)
    x = where(isnan(x), nan, x)  # noqa: F821
    x = where(x == np.inf, float(info.max) if posinf is None else posinf, x)
    return where(x == -np.inf, float(info.min) if neginf is None else neginf, x)


# -- reductions ---------------------------------------------------------------------------------------


def _is_axis(value):
    return value is not None and (
        isinstance(value, (int, np.integer))
        or (isinstance(value, (tuple, list)) and np.all([_is_axis(v) for v in value]))
    )


def _reduction_parameters(
    a, axis=None, dtype=None, out=None, *, keepdims=False, initial=None, where=None, ddof=0, stream=None, allocator=None
):
    """What reductions take, for `inspect`."""


_REDUCTION_DOC = """`numpy.{name}` of all elements, or along `axis` (an int or a tuple of int); does not wait.

The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
`keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
is seen, as upstream has it there.
"""


def _make_reduction(name):
    def device_function(a, *args, **kwargs):
        if not args and not kwargs and type(a) is GPUArray:
            return _native.reduce_array(a, name)
        # Upstream's second argument is a dtype or a stream, NumPy's is the axis.
        if args and _is_axis(args[0]):
            kwargs = {**dict(zip(("axis", "dtype", "out"), args, strict=False)), **kwargs}
        elif args and isinstance(args[0], _native.Stream):
            kwargs["stream"] = args[0]
        elif args:
            kwargs = {**dict(zip(("dtype", "stream", "allocator"), args, strict=False)), **kwargs}
        return _native.reduce_array(_to_device(a), name, **{k: v for k, v in kwargs.items() if v is not np._NoValue})

    device_function.__name__ = device_function.__qualname__ = name
    device_function.__doc__ = _REDUCTION_DOC.format(name=name)
    parameters = _inspect.signature(_reduction_parameters).parameters.values()
    ddof = {"ddof"} if name in ("var", "std") else set()
    device_function.__signature__ = _inspect.Signature([p for p in parameters if p.name != "ddof" or ddof])
    return device_function


sum, prod, max, min = _make_reduction("sum"), _make_reduction("prod"), _make_reduction("max"), _make_reduction("min")  # noqa: A001
mean, var, std, ptp = _make_reduction("mean"), _make_reduction("var"), _make_reduction("std"), _make_reduction("ptp")
any, all = _make_reduction("any"), _make_reduction("all")  # noqa: A001
argmin, argmax, count_nonzero = _make_reduction("argmin"), _make_reduction("argmax"), _make_reduction("count_nonzero")
amax, amin = max, min


def cumsum(a, axis=None, dtype=None, out=None):
    """Running sums along `axis`, or of the flattened array; see `numpy.cumsum`. Does not wait.

    One pass over memory, a scan with decoupled look-back (Merrill and Garland, 2016).
    """
    return _copy_to_out(out, _native.array_cumulative(_to_device(a), "sum", axis, dtype))


def cumprod(a, axis=None, dtype=None, out=None):
    """Running products; see `numpy.cumprod`."""
    return _copy_to_out(out, _native.array_cumulative(_to_device(a), "prod", axis, dtype))


def _copy_to_out(out, result):
    if out is None:
        return result
    out[...] = result
    return out


# -- products -----------------------------------------------------------------------------------------


def matmul(x1, x2, /, out=None):
    """The matrix product, with NumPy's rules for operands of one axis and for batches; does not wait.

    Parameters
    ----------
    x1, x2 : array-like
        Of shapes ``(..., m, k)`` and ``(..., k, n)``; leading axes are broadcast. Numbers of any dtype; the result's is
        NumPy's. Sums of float16 and bfloat16 are accumulated in float32.
    out : GPUArray, optional

    Raises
    ------
    ValueError
        When the shapes do not fit, or an operand has no axis.
    """
    return _native.array_matmul(x1, x2, out)


def dot(a, b, dtype=None, stream=None, allocator=None):
    """The inner product of vectors, and of all elements of arrays of one shape, as upstream's; else `numpy.dot`.

    Matrices of one shape are multiplied as matrices if they are square and no `dtype` is given.
    """
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


def vdot(a, b):
    """The inner product of all elements, the first conjugated."""
    return _native.array_dot_flat(_to_device(a).ravel().conj(), _to_device(b).ravel())


def inner(a, b):
    """Sums of products over the last axes."""
    return tensordot(a, b, ((-1,), (-1,))) if a.ndim and b.ndim else a * b


def outer(a, b, out=None):
    """All products of an element of `a` with one of `b`."""
    return _ufunc("multiply", (_to_device(a).ravel()[:, None], _to_device(b).ravel()[None, :]), out)


def vecdot(x1, x2, /, *, axis=-1):
    """Sums of products along `axis`, the first operand conjugated."""
    x1, x2 = _to_device(x1), _to_device(x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: shapes {x1.shape} and {x2.shape} differ along axis {axis}")
    product = moveaxis(x1, axis, -1).conj() * moveaxis(x2, axis, -1)
    return product.sum(-1, dtype=product.dtype)


def tensordot(a, b, axes=2):
    """Sums of products over pairs of axes; see `numpy.tensordot`."""
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


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """The sum of a diagonal; see `numpy.trace`."""
    return _to_device(a).diagonal(offset, axis1, axis2).sum(-1, dtype, out)


# -- joining and rearranging --------------------------------------------------------------------------


def copy(a, order="K"):
    """`a.copy`."""
    return a.copy(order)


def astype(x, dtype, /, *, copy=True, device=None):
    """`x.astype`."""
    return x.astype(dtype, copy=copy)


def copyto(dst, src, casting="same_kind", where=True):
    """Writes `src`, broadcast and converted, to `dst`, where a mask holds; see `numpy.copyto`."""
    if isinstance(src, (GPUArray, np.ndarray)) and not np.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast array data from {src.dtype!r} to {dst.dtype!r} according to the rule '{casting}'")
    if where is not True:
        mask = _to_device(where)
        if mask.dtype != bool:
            raise TypeError(f"copyto: where has dtype {mask.dtype}; expected bool")
        src = _ufunc("where", (mask, _to_device(src).astype(dst.dtype), dst))
    dst[...] = src


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """Evenly spaced numbers over a range; see `numpy.linspace`."""
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    start, stop = (x if isinstance(x, GPUArray) else np.asarray(x) for x in (start, stop))
    common = np.result_type(start.dtype, stop.dtype, float(num))
    if start.ndim == stop.ndim == 0 and not isinstance(start, GPUArray) and not isinstance(stop, GPUArray):
        start, stop = common.type(start), common.type(stop)
    parts = num - 1 if endpoint else num
    span = stop - start
    step = span / parts if parts > 0 else np.nan
    shape = np.shape(span)
    places = arange(num).astype(np.empty(0, common).real.dtype).reshape((num,) + (1,) * len(shape))
    # NumPy multiplies by the step unless that has become 0.
    values = places * step if parts > 0 else places * span
    values = values + start
    if endpoint and num > 1:
        values[-1:] = stop
    dtype = common if dtype is None else np.dtype(dtype)
    values = floor(values) if dtype.kind in "iu" and common.kind == "f" else values  # noqa: F821
    values = moveaxis(values.astype(dtype), 0, axis)
    return (values, step) if retstep else values


def eye(N, M=None, k=0, dtype=np.float64, order="C"):  # noqa: N803
    """Ones on a diagonal, zeros elsewhere; see `numpy.eye`."""
    result = zeros((N, N if M is None else M), dtype, order=order)
    if 0 not in result.shape:
        result.diagonal(k)[...] = 1
    return result


def identity(n, dtype=np.float64):
    """The identity matrix."""
    return eye(n, dtype=dtype)


def _distance_below_diagonal(m):
    """How far each element of a matrix of the shape of `m` is below the diagonal."""
    rows, columns = m.shape[-2:] if m.ndim > 1 else m.shape * 2
    below = GPUArray((rows, columns), np.int64, _to_device(m).allocator)
    return subtract(arange(rows)[:, None], arange(columns)[None, :], out=below)  # noqa: F821 (an operation of the core)


def shape(a):
    """`a.shape`."""
    return a.shape


def ndim(a):
    """`a.ndim`."""
    return a.ndim


def size(a, axis=None):
    """`a.size`, or the length of an axis."""
    return a.size if axis is None else a.shape[axis]


def tril(m, k=0):
    """The lower triangle; elements above the diagonal `k` are 0."""
    return where(_distance_below_diagonal(m) >= -k, m, zeros((), m.dtype))


def triu(m, k=0):
    """The upper triangle; elements below the diagonal `k` are 0."""
    return where(_distance_below_diagonal(m) <= -k, m, zeros((), m.dtype))


# The functions that have files of their own.
for _part in (
    "_indexing",
    "_inspection",
    "_joining",
    "_nan_functions",
    "_padding",
    "_products",
    "_rearranging",
    "_sets",
    "_statistics",
):
    _part = importlib.import_module(f"rtcg.numpy.{_part}")
    globals().update({_name: getattr(_part, _name) for _name in _part.__all__})

_IMPORTED_MODULES = ("builtins", "importlib", "np", "operator")
__all__ = [_name for _name in dir() if not _name.startswith("_") and _name not in _IMPORTED_MODULES]
