"""Arrays on the device with NumPy's arithmetic.

Operations are enqueued and do not wait; what brings elements to the host (`GPUArray.get`, printing, `bool`) does.
"""

import builtins
import importlib
import operator

import numpy as np

from pycuda import _rtcg as _native
from pycuda._rtcg import ArrayFlags as ArrayFlags, GPUArray, arange_of, empty_in_order_of, ufunc as _ufunc

empty = GPUArray


def zeros(shape, dtype=np.float64, allocator=None, order="C"):
    """A new array of zeros; does not wait."""
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


def _order_of(array):
    flags = array.flags
    return "F" if flags.f_contiguous and not flags.c_contiguous else "C"


def empty_like(other_ary, dtype=None, order="K", shape=None):
    """A new array with undefined contents, of the shape, memory order and dtype of `other_ary` unless given."""
    if isinstance(other_ary, GPUArray):
        return empty_in_order_of(other_ary, dtype, order, shape)
    other_ary = np.asarray(other_ary)
    order = _order_of(other_ary) if order in "AK" else order
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
    """A new device array with a copy of a host array; keeps C or Fortran order; waits."""
    ary = np.asarray(ary)
    array = GPUArray(ary.shape, ary.dtype, allocator, order=_order_of(ary))
    array.set(ary)
    return array


def to_gpu_async(ary, allocator=None, stream=None):
    """As `to_gpu`, in the order of `stream`."""
    ary = np.asarray(ary)
    array = GPUArray(ary.shape, ary.dtype, allocator, order=_order_of(ary))
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
    return _native.allocated_by(allocator, arange_of, start, step, count, dtype)


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


def _function(name, doc):
    def function(*args, out=None, dtype=None, stream=None):
        out = out[0] if isinstance(out, tuple) else out
        return _in_stream(stream, lambda: _ufunc(name, args, out, dtype))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


_UFUNCS = [
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "power", "float_power", "bitwise_and",
    "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal", "logical_xor", "fmax", "fmin", "arctan2", "hypot", "copysign", "nextafter", "logaddexp",
    "logaddexp2", "heaviside", "gcd", "lcm", "ldexp", "positive", "negative", "invert", "absolute", "fabs", "sign",
    "sqrt", "square", "reciprocal", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
    "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "floor", "ceil",
    "trunc", "rint", "deg2rad", "rad2deg", "isnan", "isinf", "isfinite", "signbit", "conjugate", "bitwise_count",
    "real", "imag",
]  # fmt: skip
for _name in _UFUNCS:
    globals()[_name] = _function(_name, f"`numpy.{_name}`, element by element on the device.")
true_divide, mod, conj, bitwise_not, abs = divide, remainder, conjugate, invert, absolute  # noqa: F821, A001


def _in_stream(stream, body):
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
    result = _in_stream(stream, lambda: _ufunc("angle", (z,), None if deg else out, dtype))
    return _in_stream(stream, lambda: _ufunc("multiply", (result, 180 / np.pi), out)) if deg else result


def divmod(x1, x2):  # noqa: A001
    """Floor of the quotient, and the rest that belongs to it."""
    return _ufunc("floor_divide", (x1, x2)), _ufunc("remainder", (x1, x2))


def _array(a):
    return a if isinstance(a, GPUArray) else _native.array_from(a)


def asarray(a, dtype=None, order=None, *, copy=None, device=None):
    """A device array of anything: device arrays are shared, also those of other libraries, the rest is copied."""
    if not isinstance(a, GPUArray) and dtype is not None and not hasattr(a, "__cuda_array_interface__"):
        a = np.asarray(a, dtype)
    result = _array(a)
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


def _binary_extreme(name, a, b, out=None, stream=None):
    return _in_stream(stream, lambda: _ufunc(name, (a, b), out))


def maximum(a, b, out=None, stream=None):
    """The larger of two elements; NaN wins, as in `numpy.maximum`."""
    return _binary_extreme("maximum", a, b, out, stream)


def minimum(a, b, out=None, stream=None):
    """The smaller of two elements; NaN wins, as in `numpy.minimum`."""
    return _binary_extreme("minimum", a, b, out, stream)


def logical_and(x1, x2, /, out=None, *, allocator=None):
    """Whether both elements are true."""
    return _native.allocated_by(allocator, _ufunc, "logical_and", (x1, x2), out)


def logical_or(x1, x2, /, out=None, *, allocator=None):
    """Whether one of the elements is true."""
    return _native.allocated_by(allocator, _ufunc, "logical_or", (x1, x2), out)


def logical_not(x, /, out=None, *, allocator=None):
    """Whether the element is false."""
    return _native.allocated_by(allocator, _ufunc, "logical_not", (x,), out)


def where(condition, x=None, y=None, out=None, stream=None):
    """`x` where the condition is true, else `y`; with the condition alone, `nonzero`."""
    if x is None and y is None:
        return nonzero(condition)
    return _in_stream(stream, lambda: _ufunc("where", (condition, x, y), out))


def if_positive(criterion, then_, else_, out=None, stream=None):
    """`then_` where the criterion is greater than 0, else `else_`; all of one shape."""
    shapes = {np.shape(operand) for operand in (criterion, then_, else_)}
    if len(shapes) > 1:
        raise ValueError(f"if_positive: shapes {criterion.shape}, {np.shape(then_)} and {np.shape(else_)} differ")
    if np.dtype(then_.dtype) != np.dtype(else_.dtype):
        raise ValueError(f"if_positive: dtypes {then_.dtype} and {else_.dtype} differ")
    return _in_stream(stream, lambda: _ufunc("if_positive", (criterion, then_, else_), out))


def clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None):  # noqa: A002
    """Elements limited to a range; see `numpy.clip`."""
    low, high = a_min if min is None else min, a_max if max is None else max
    a = _array(a)
    if low is None and high is None:
        return _ufunc("copy", (a,), out)
    if low is None:
        return _ufunc("minimum", (a, high), out)
    if high is None:
        return _ufunc("maximum", (a, low), out)
    return _ufunc("clip", (a, low, high), out)


def round(a, decimals=0, out=None):  # noqa: A001
    """Rounded to even at a number of decimals; see `numpy.round`."""
    a = _array(a)
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
    a, b = _array(a), _array(b)
    near = (absolute(a - b) <= atol + rtol * absolute(b)) & isfinite(b)  # noqa: F821
    result = near | (a == b)
    return result | (isnan(a) & isnan(b)) if equal_nan else result  # noqa: F821


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are equal within a tolerance; waits."""
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and elements are equal; waits."""
    a1, a2 = _array(a1), _array(a2)
    if a1.shape != a2.shape:
        return False
    same = a1 == a2
    return bool((same | (isnan(a1) & isnan(a2)) if equal_nan else same).all())  # noqa: F821


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers; see `numpy.nan_to_num`."""
    x = _array(x)
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


def _reduction(name):
    def function(a, *args, **kwargs):
        if not args and not kwargs and type(a) is GPUArray:
            return _native.reduce_array(a, name)
        # Upstream's second argument is a dtype or a stream, NumPy's is the axis.
        if args and _is_axis(args[0]):
            kwargs = {**dict(zip(("axis", "dtype", "out"), args, strict=False)), **kwargs}
        elif args and isinstance(args[0], _native.Stream):
            kwargs["stream"] = args[0]
        elif args:
            kwargs = {**dict(zip(("dtype", "stream", "allocator"), args, strict=False)), **kwargs}
        return _native.reduce_array(_array(a), name, **{k: v for k, v in kwargs.items() if v is not np._NoValue})

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`numpy.{name}` over `axis`; does not wait."
    return function


sum, prod, max, min = _reduction("sum"), _reduction("prod"), _reduction("max"), _reduction("min")  # noqa: A001
mean, var, std, ptp = _reduction("mean"), _reduction("var"), _reduction("std"), _reduction("ptp")
any, all = _reduction("any"), _reduction("all")  # noqa: A001
argmin, argmax, count_nonzero = _reduction("argmin"), _reduction("argmax"), _reduction("count_nonzero")
amax, amin = max, min


def cumsum(a, axis=None, dtype=None, out=None):
    """Running sums; see `numpy.cumsum`."""
    return _into(out, _native.array_cumulative(_array(a), "sum", axis, dtype))


def cumprod(a, axis=None, dtype=None, out=None):
    """Running products; see `numpy.cumprod`."""
    return _into(out, _native.array_cumulative(_array(a), "prod", axis, dtype))


def _into(out, result):
    if out is None:
        return result
    out[...] = result
    return out


def _edge(values, a, axis):
    """What is put before or behind `a` along an axis; a scalar becomes one row."""
    if values is None:
        return None
    values = asarray(values)
    if values.ndim:
        return values
    shape = list(a.shape)
    shape[axis] = 1
    return broadcast_to(values, tuple(shape))


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours; see `numpy.diff`."""
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    if n == 0:
        return a
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if prepend is not None or append is not None:
        parts = [_edge(prepend, a, axis), a, _edge(append, a, axis)]
        a = concatenate([part for part in parts if part is not None], axis)
    for _ in range(n):
        moved = moveaxis(a, axis, -1)
        a = moveaxis(
            moved[..., 1:] != moved[..., :-1] if a.dtype == bool else moved[..., 1:] - moved[..., :-1], -1, axis
        )
    return a


# -- products -----------------------------------------------------------------------------------------


def matmul(x1, x2, /, out=None):
    """The matrix product, with NumPy's rules for operands of one axis and for batches."""
    return _native.array_matmul(x1, x2, out)


def dot(a, b, dtype=None, stream=None, allocator=None):
    """The inner product of vectors, and of all elements of arrays of one shape, as upstream's; else `numpy.dot`.

    Matrices of one shape are multiplied as matrices if they are square and no `dtype` is given.
    """
    if allocator is not None:
        return _native.allocated_by(allocator, dot, a, b, dtype, stream)
    a, b = _array(a), _array(b)
    if a.ndim == 1 and b.ndim == 1:
        return _native.array_dot_flat(a, b, dtype, stream)
    if 0 in (a.ndim, b.ndim):
        return a * b
    if dtype is not None or (a.shape == b.shape and a.shape[-1] != b.shape[-2:][0]):
        return _native.array_dot_flat(a, b, dtype, stream)
    return a @ b if b.ndim <= 2 and a.ndim <= 2 else tensordot(a, b, ((-1,), (b.ndim - 2 if b.ndim > 1 else 0,)))


def vdot(a, b):
    """The inner product of all elements, the first conjugated."""
    return _native.array_dot_flat(_array(a).ravel().conj(), _array(b).ravel())


def inner(a, b):
    """Sums of products over the last axes."""
    return tensordot(a, b, ((-1,), (-1,))) if a.ndim and b.ndim else a * b


def outer(a, b, out=None):
    """All products of an element of `a` with one of `b`."""
    return _ufunc("multiply", (_array(a).ravel()[:, None], _array(b).ravel()[None, :]), out)


def vecdot(x1, x2, /, *, axis=-1):
    """Sums of products along `axis`, the first operand conjugated."""
    x1, x2 = _array(x1), _array(x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: shapes {x1.shape} and {x2.shape} differ along axis {axis}")
    product = moveaxis(x1, axis, -1).conj() * moveaxis(x2, axis, -1)
    return product.sum(-1, dtype=product.dtype)


def tensordot(a, b, axes=2):
    """Sums of products over pairs of axes; see `numpy.tensordot`."""
    a, b = _array(a), _array(b)
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
    return _array(a).diagonal(offset, axis1, axis2).sum(-1, dtype, out)


# -- indexing, sorting, searching ---------------------------------------------------------------------


def take(a, indices, axis=None, out=None, mode="raise", stream=None):
    """Elements by an array of indices; see `numpy.take`."""
    if isinstance(axis, GPUArray):
        # Upstream's third argument is `out`.
        axis, out = None, axis
    return _native.array_take(_array(a), _checked(indices, a, axis, mode), axis, out, mode, stream)


def _checked(indices, a, axis, mode):
    if isinstance(indices, GPUArray) or mode != "raise":
        return indices
    indices = np.asarray(indices)
    if indices.size == 0:
        return indices.astype(np.int64)
    length = a.size if axis is None else a.shape[axis]
    if axis is not None and 0 in a.shape[: axis % a.ndim]:
        return indices
    for extreme in (indices.min(), indices.max()):
        if not -length <= extreme < length:
            raise IndexError(f"index {extreme} is out of bounds for axis {axis or 0} with size {length}")
    return indices


def put(a, ind, v, mode="raise"):
    """Writes `v` to elements of the flattened array; see `numpy.put`."""
    ind = _checked(ind, a, None, mode)
    v = _array(v)
    if v.size not in (1, np.size(ind)):
        v = resize(v, (np.size(ind),))
    _native.array_put(a, ind, v.reshape(np.shape(ind)) if v.size != 1 else v, None, mode)


def resize(a, new_shape):
    """The elements of `a`, repeated as often as needed, in another shape; see `numpy.resize`."""
    new_shape = (new_shape,) if isinstance(new_shape, (int, np.integer)) else tuple(new_shape)
    size = int(np.prod(new_shape, dtype=int))
    if size == 0 or a.size == 0:
        return zeros(new_shape, a.dtype)
    return concatenate([a.ravel()] * -(-size // a.size))[:size].reshape(new_shape)


def take_along_axis(arr, indices, axis=-1):
    """Elements by an array of indices of the same number of axes; see `numpy.take_along_axis`."""
    return arr[_along(arr, indices, axis)]


def put_along_axis(arr, indices, values, axis):
    """The counterpart of `take_along_axis` for writing."""
    arr[_along(arr, indices, axis)] = values


def _along(arr, indices, axis):
    axis %= arr.ndim
    shape = indices.shape
    return tuple(
        indices if k == axis else arange(arr.shape[k]).reshape([-1 if j == k else 1 for j in range(len(shape))])
        for k in range(arr.ndim)
    )


def nonzero(a):
    """The indices of the elements that are not 0; waits for their number."""
    a = _array(a)
    if a.ndim == 0:
        raise ValueError("nonzero of an array without axes; use atleast_1d first")
    return _native.array_nonzero(a)


def flatnonzero(a):
    """The places, in C order, of the elements that are not 0; waits for their number."""
    return _native.array_flatnonzero(_array(a))


def argwhere(a):
    """The indices of the elements that are not 0, a row for each; waits for their number."""
    return stack(nonzero(a), axis=1)


def sort(a, axis=-1, kind=None, *, stable=None, descending=False):
    """A sorted copy, stable, NaN last; see `numpy.sort`."""
    return _native.array_sort(_array(a), axis, descending)


def argsort(a, axis=-1, kind=None, *, stable=None, descending=False):
    """The indices that sort, stably; see `numpy.argsort`."""
    return _native.array_argsort(_array(a), axis, descending)


def searchsorted(a, v, side="left", sorter=None):
    """Where elements of `v` would go in the sorted `a`; see `numpy.searchsorted`."""
    a = _array(a)
    return _native.array_searchsorted(a if sorter is None else take(a, sorter), v, side)


# -- joining and rearranging --------------------------------------------------------------------------


def concatenate(arrays, axis=0, allocator=None, *, out=None, dtype=None, casting="same_kind"):
    """Arrays one after the other along an axis; see `numpy.concatenate`."""
    if isinstance(allocator, GPUArray):
        # NumPy's third argument is `out`.
        allocator, out = None, allocator
    arrays = [_array(a) for a in arrays]
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        arrays, axis = [a.ravel() for a in arrays], 0
    first = arrays[0]
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    if not -first.ndim <= axis < first.ndim:
        raise np.exceptions.AxisError(axis, first.ndim)
    axis %= first.ndim
    for position, a in enumerate(arrays):
        if a.ndim != first.ndim or a.shape[:axis] + a.shape[axis + 1 :] != first.shape[:axis] + first.shape[axis + 1 :]:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly, but the array at "
                f"index 0 has shape {first.shape} and the array at index {position} has shape {a.shape}"
            )
    shape = (*first.shape[:axis], builtins.sum(a.shape[axis] for a in arrays), *first.shape[axis + 1 :])
    if out is not None and out.shape != shape:
        raise ValueError(f"concatenate: out has shape {out.shape}, the result {shape}")
    for a in arrays:
        target = dtype if dtype is not None else a.dtype if out is None else out.dtype
        if not np.can_cast(a.dtype, target, casting):
            raise TypeError(f"Cannot cast array data from {a.dtype!r} to {np.dtype(target)!r} according to the rule "
                            f"'{casting}'")  # fmt: skip
    if out is None:
        dtype = np.result_type(*(a.dtype for a in arrays)) if dtype is None else dtype
        out = type(first)(shape, dtype, allocator or first.allocator, order=_order_of(first) if first.ndim > 1 else "C")
    start = 0
    for a in arrays:
        out[(slice(None),) * axis + (slice(start, start + a.shape[axis]),)] = a
        start += a.shape[axis]
    return out


concat = concatenate


def stack(arrays, axis=0, allocator=None, *, out=None, dtype=None, casting="same_kind"):
    """Arrays of one shape along a new axis; see `numpy.stack`."""
    if isinstance(allocator, GPUArray):
        # NumPy's third argument is `out`.
        allocator, out = None, allocator
    arrays = [_array(a) for a in arrays]
    if not arrays:
        raise ValueError("need at least one array to stack")
    if len({a.shape for a in arrays}) > 1:
        raise ValueError(f"all input arrays must have the same shape, got {[a.shape for a in arrays]}")
    axis = axis if axis >= 0 else axis % (arrays[0].ndim + 1)
    return concatenate([expand_dims(a, axis) for a in arrays], axis, allocator, out=out, dtype=dtype, casting=casting)


def vstack(tup, *, dtype=None, casting="same_kind"):
    """Arrays as rows, one below the other."""
    return concatenate([atleast_2d(a) for a in tup], dtype=dtype, casting=casting)


def hstack(tup, *, dtype=None, casting="same_kind"):
    """Arrays beside each other."""
    tup = [atleast_1d(a) for a in tup]
    return concatenate(tup, 0 if tup and tup[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def atleast_1d(*arys):
    """Arrays with one axis at least."""
    arys = tuple(a if a.ndim else a.reshape(1) for a in map(_array, arys))
    return arys[0] if len(arys) == 1 else arys


def atleast_2d(*arys):
    """Arrays with two axes at least."""
    arys = tuple(a if a.ndim > 1 else a.reshape(1, a.size) for a in map(_array, arys))
    return arys[0] if len(arys) == 1 else arys


def split(ary, indices_or_sections, axis=0):
    """Views of parts along an axis; see `numpy.split`."""
    length = ary.shape[axis]
    if isinstance(indices_or_sections, (int, np.integer)):
        if length % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        indices_or_sections = range(length // indices_or_sections, length, length // indices_or_sections)
    ends = [0, *indices_or_sections, length]
    ahead = (slice(None),) * (axis % ary.ndim)
    return [ary[ahead + (slice(low, high),)] for low, high in zip(ends, ends[1:], strict=False)]


def unstack(x, /, *, axis=0):
    """Views without one axis, one for each index of it."""
    moved = moveaxis(x, axis, 0)
    return tuple(moved[k] for k in range(moved.shape[0]))


def tile(A, reps):  # noqa: N803
    """The array several times along each axis; see `numpy.tile`."""
    reps = (reps,) if isinstance(reps, (int, np.integer)) else tuple(reps)
    a = _array(A)
    ndim = np.max([a.ndim, len(reps)])
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - a.ndim) + a.shape
    inner = tuple(n for length in shape for n in (1, length))
    wide = tuple(n for pair in zip(reps, shape, strict=False) for n in pair)
    return broadcast_to(a.reshape(inner), wide).reshape(tuple(r * n for r, n in zip(reps, shape, strict=False)))


def roll(a, shift, axis=None):
    """Elements moved along an axis, those that fall off coming back; see `numpy.roll`."""
    a = _array(a)
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    axes = (axis,) if isinstance(axis, (int, np.integer)) else tuple(axis)
    shifts = np.broadcast_to(shift, (len(axes),))
    for by, along in zip(shifts, axes, strict=False):
        if not -a.ndim <= along < a.ndim:
            raise np.exceptions.AxisError(along, a.ndim)
        length = a.shape[along]
        by = int(by) % length if length else 0
        ahead = (slice(None),) * (along % a.ndim)
        a = concatenate([a[ahead + (slice(length - by, None),)], a[ahead + (slice(None, length - by),)]], along)
    return a


def flipud(m):
    """The rows in reverse order."""
    return flip(m, 0)


def fliplr(m):
    """The columns in reverse order."""
    return flip(m, 1)


def ravel(a, order="C"):
    """`a.ravel`."""
    return a.ravel(order)


def squeeze(a, axis=None):
    """`a.squeeze`."""
    return a.squeeze(axis)


def swapaxes(a, axis1, axis2):
    """`a.swapaxes`."""
    return a.swapaxes(axis1, axis2)


def permute_dims(a, axes):
    """`a.transpose(axes)`."""
    return a.transpose(axes)


def matrix_transpose(x, /):
    """The last two axes exchanged."""
    return x.mT


def diagonal(a, offset=0, axis1=0, axis2=1):
    """`a.diagonal`."""
    return a.diagonal(offset, axis1, axis2)


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
        mask = _array(where)
        if mask.dtype != bool:
            raise TypeError(f"copyto: where has dtype {mask.dtype}; expected bool")
        src = _ufunc("where", (mask, _array(src).astype(dst.dtype), dst))
    dst[...] = src


def broadcast_arrays(*arrays):
    """The arrays as views of one common shape."""
    arrays = [_array(a) for a in arrays]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    return [broadcast_to(a, shape) for a in arrays]


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of a grid; see `numpy.meshgrid`."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    ndim = len(xi)
    places = [1, 0, *range(2, ndim)] if indexing == "xy" and ndim > 1 else range(ndim)
    xi = [_array(x) for x in xi]
    grids = [x.reshape([-1 if k == place else 1 for k in range(ndim)]) for x, place in zip(xi, places, strict=True)]
    grids = grids if sparse else broadcast_arrays(*grids)
    return tuple(grid.copy("C") for grid in grids) if copy else tuple(grids)


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


def _below(m):
    """How far each element of a matrix of the shape of `m` is below the diagonal."""
    rows, columns = m.shape[-2:] if m.ndim > 1 else m.shape * 2
    return arange(rows)[:, None] - arange(columns)[None, :]


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
    return where(_below(m) >= -k, m, zeros((), m.dtype))


def triu(m, k=0):
    """The upper triangle; elements below the diagonal `k` are 0."""
    return where(_below(m) <= -k, m, zeros((), m.dtype))


# -- what upstream has under names of its own ---------------------------------------------------------


def multi_take(arrays, indices, out=None, stream=None):
    """`take` of several arrays with one array of indices."""
    out = [None] * len(arrays) if out is None else out
    return [take(a, indices, None, target, stream=stream) for a, target in zip(arrays, out, strict=True)]


def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None):
    """Each array's elements written to the places `dest_indices` of a new array, or of one of `out`."""
    if out is None:
        shape = dest_indices.shape if dest_shape is None else dest_shape
        out = [zeros(shape, a.dtype) for a in arrays]
    for a, target in zip(arrays, out, strict=True):
        _native.array_put(target, dest_indices, a, None, "raise", stream)
    return out


def multi_take_put(arrays, dest_indices, src_indices, dest_shape=None, out=None, stream=None, src_offsets=None):
    """Elements at `src_indices` (and an offset for each array) written to the places `dest_indices`."""
    if out is None:
        shape = dest_indices.shape if dest_shape is None else dest_shape
        out = [zeros(shape, a.dtype) for a in arrays]
    offsets = [0] * len(arrays) if src_offsets is None else src_offsets
    for a, target, offset in zip(arrays, out, offsets, strict=True):
        taken = take(a, src_indices + offset if offset else src_indices, stream=stream)
        _native.array_put(target, dest_indices, taken, None, "raise", stream)
    return out


def subset_sum(subset, a, dtype=None, stream=None, allocator=None):
    """The sum of the elements that `subset` indexes."""
    return sum(take(a, subset, stream=stream), dtype=dtype, stream=stream, allocator=allocator)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    """The inner product of the elements that `subset` indexes."""
    return dot(take(a, subset, stream=stream), take(b, subset, stream=stream), dtype, stream, allocator)


def subset_min(subset, a, stream=None):
    """The smallest of the elements that `subset` indexes."""
    return min(take(a, subset, stream=stream), stream=stream)


def subset_max(subset, a, stream=None):
    """The largest of the elements that `subset` indexes."""
    return max(take(a, subset, stream=stream), stream=stream)


def splay(n, dev=None):
    """``(grid, block)`` of a launch over `n` elements that fills the device."""
    return _native.array_splay(n)


class _VectorTypes:
    """CUDA's vector types as dtypes (`vec.float4`), and their makers (`vec.make_float4`)."""


def _fill_vector_types():
    from pycuda.tools import get_or_register_dtype

    bases = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8",
             "ulong": "u8", "float": "f4", "longlong": "i8", "ulonglong": "u8", "double": "f8"}  # fmt: skip
    for base, code in bases.items():
        for count in range(1, 3 if base in ("longlong", "ulonglong", "double") else 5):
            name = f"{base}{count}"
            fields = ["x", "y", "z", "w"][:count]
            # Two types with one dtype are one type to NumPy; titles keep upstream's 42 apart.
            dtype = np.dtype({"names": fields, "formats": [code] * count})
            get_or_register_dtype(name, dtype)
            setattr(_VectorTypes, name, dtype)
            setattr(_VectorTypes, f"make_{name}", staticmethod(_maker(name, dtype)))


def _maker(name, dtype):
    def make(*args):
        value = np.zeros((), dtype)
        for field, arg in zip(dtype.names, args, strict=True):
            value[field] = arg
        return value

    make.__name__ = f"make_{name}"
    return make


vec = _VectorTypes

_fill_vector_types()

# The functions that have files of their own.
for _part in ("_inspection", "_nan_functions", "_padding", "_products", "_rearranging", "_sets", "_statistics"):
    _part = importlib.import_module(f"pycuda.{_part}")
    globals().update({_name: getattr(_part, _name) for _name in _part.__all__})

_MODULES = ("builtins", "importlib", "np", "operator")
__all__ = [_name for _name in dir() if not _name.startswith("_") and _name not in _MODULES]
