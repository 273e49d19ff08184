"""The Array API standard, version 2024.12, for `rtcg.numpy.GPUArray`.

``xp = a.__array_namespace__()`` returns this module, for programs that work with any array library. Names, signatures
and result types are those of the standard; `rtcg.numpy` does the work.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._messages import shown as _shown
from rtcg._native import GPUArray as _GPUArray, array_cumulative as _cumulative
from rtcg.array_api import fft as fft

if TYPE_CHECKING:
    from collections.abc import Callable

if not hasattr(np, "isdtype"):
    raise ImportError(f"rtcg.array_api needs NumPy 2.0 or newer, which knows the standard; here is {np.__version__}")

__array_api_version__ = "2024.12"

# -- constants and dtypes -----------------------------------------------------------------------------

e, inf, nan, newaxis, pi = np.e, np.inf, np.nan, None, np.pi
bool = np.dtype("bool")  # noqa: A001
int8, int16, int32, int64 = (np.dtype(f"int{n}") for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{n}") for n in (8, 16, 32, 64))
float32, float64 = np.dtype("float32"), np.dtype("float64")
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")


def _check_device(device: Any) -> None:
    if device is None:
        return
    (current,) = _NamespaceInfo().devices()
    if device != current:
        raise ValueError(
            f"device {_shown(device)} is not the device of the current context; expected {_shown(current)} or None"
        )


# -- making arrays ------------------------------------------------------------------------------------


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> _GPUArray:
    """Evenly spaced numbers."""
    _check_device(device)
    return _xp.arange(0, start, step, dtype=dtype) if stop is None else _xp.arange(start, stop, step, dtype=dtype)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> _GPUArray:
    """Convert anything to a device array."""
    return _xp.asarray(obj, dtype, copy=copy, device=device)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> _GPUArray:
    """An array with undefined contents."""
    _check_device(device)
    return _xp.empty(shape, dtype or float64)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> _GPUArray:
    """An array of zeros."""
    _check_device(device)
    return _xp.zeros(shape, dtype or float64)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> _GPUArray:
    """An array of ones."""
    _check_device(device)
    return _xp.ones(shape, dtype or float64)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> _GPUArray:
    """An array filled with one value."""
    _check_device(device)
    return _xp.full(shape, fill_value, dtype)


def empty_like(x: _GPUArray, /, *, dtype: Any = None, device: Any = None) -> _GPUArray:
    """An array with undefined contents, like another array."""
    _check_device(device)
    return _xp.empty_like(x, dtype)


def zeros_like(x: _GPUArray, /, *, dtype: Any = None, device: Any = None) -> _GPUArray:
    """An array of zeros, like another array."""
    _check_device(device)
    return _xp.zeros_like(x, dtype)


def ones_like(x: _GPUArray, /, *, dtype: Any = None, device: Any = None) -> _GPUArray:
    """An array of ones, like another array."""
    _check_device(device)
    return _xp.ones_like(x, dtype)


def full_like(x: _GPUArray, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> _GPUArray:
    """An array filled with one value, like another array."""
    _check_device(device)
    return _xp.full_like(x, fill_value, dtype)


def eye(n_rows: Any, n_cols: Any = None, /, *, k: Any = 0, dtype: Any = None, device: Any = None) -> _GPUArray:
    """Ones on a diagonal."""
    _check_device(device)
    result = zeros((n_rows, n_rows if n_cols is None else n_cols), dtype=dtype)
    if -n_rows < k < result.shape[1]:
        result.diagonal(k)[...] = 1
    return result


def linspace(
    start: Any, stop: Any, /, num: Any, *, dtype: Any = None, device: Any = None, endpoint: Any = True
) -> _GPUArray:
    """Evenly spaced numbers over an interval."""
    _check_device(device)
    return _xp.linspace(start, stop, num, endpoint, dtype=dtype)


def meshgrid(*arrays: Any, indexing: Any = "xy") -> tuple[Any, ...]:
    """Coordinate arrays of a grid."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing {_shown(indexing)} is not known; expected 'xy' or 'ij'")
    return _xp.meshgrid(*arrays, indexing=indexing)


def tril(x: _GPUArray, /, *, k: Any = 0) -> _GPUArray:
    """The lower triangle."""
    return _xp.tril(x, k)


def triu(x: _GPUArray, /, *, k: Any = 0) -> _GPUArray:
    """The upper triangle."""
    return _xp.triu(x, k)


def from_dlpack(x: _GPUArray, /, *, device: Any = None, copy: Any = None) -> _GPUArray:
    """An array over the memory of a DLPack object."""
    return _xp.from_dlpack(x, device=device, copy=copy)


# -- dtypes -------------------------------------------------------------------------------------------


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The dtype of an operation on these arguments."""
    operands = [a.dtype if isinstance(a, _GPUArray) else a for a in arrays_and_dtypes]
    return np.result_type(*operands)


def astype(x: _GPUArray, dtype: Any, /, *, copy: Any = True, device: Any = None) -> _GPUArray:
    """The elements converted to another dtype."""
    _check_device(device)
    if np.isdtype(x.dtype, "complex floating") and not np.isdtype(dtype, "complex floating"):
        raise TypeError(f"astype: a complex array cannot become {np.dtype(dtype)}; take real(x) or imag(x)")
    return _xp.astype(x, dtype, copy=copy)


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether a dtype, or that of an array, can be cast to another by the standard's rules: a bool. Does not wait.

    Unlike NumPy's rules, they never allow a cast from integers to floats.
    """
    from_ = from_.dtype if isinstance(from_, _GPUArray) else from_
    of_one_kind = from_ == to or np.any(
        [
            np.isdtype(from_, kind) and np.isdtype(to, kind)
            for kind in ("integral", ("real floating", "complex floating"))
        ]
    )
    return np.can_cast(from_, to) if of_one_kind else False


@dataclass(frozen=True)
class _FloatLimits:
    """The fields that the standard requires of `finfo`, as Python numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class _IntegerLimits:
    """The fields that the standard requires of `iinfo`, as Python numbers."""

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def finfo(type: Any, /) -> _FloatLimits:  # noqa: A002
    """Limits of a floating-point dtype, or of the parts of a complex one: an object with `bits`, `eps` and so on.

    `type` is a dtype or an array, of which only the dtype is used; does not wait. Raises `ValueError` for other dtypes.
    """
    limits = np.finfo(type.dtype if isinstance(type, _GPUArray) else type)
    epsilon, largest, smallest, normal = map(float, (limits.eps, limits.max, limits.min, limits.smallest_normal))
    return _FloatLimits(limits.bits, epsilon, largest, smallest, normal, limits.dtype)


def iinfo(type: Any, /) -> _IntegerLimits:  # noqa: A002
    """Limits of an integer dtype: an object with `bits`, `max`, `min` and `dtype`.

    `type` is a dtype or an array, of which only the dtype is used; does not wait. Raises `ValueError` for other dtypes.
    """
    limits = np.iinfo(type.dtype if isinstance(type, _GPUArray) else type)
    return _IntegerLimits(limits.bits, int(limits.max), int(limits.min), limits.dtype)


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a dtype is of a kind, or of one of a tuple of kinds, as `numpy.isdtype`: a bool. Does not wait."""
    return np.isdtype(dtype, kind)


# -- element by element -------------------------------------------------------------------------------


def _make_unary(name: Any, function: Any) -> Callable[[Any], Any]:
    def elementwise_function(x: _GPUArray, /) -> Any:
        return function(x)

    elementwise_function.__name__ = elementwise_function.__qualname__ = name
    elementwise_function.__doc__ = f"`{name}` of each element of an array, as the standard has it: a new array."
    return elementwise_function


def _make_binary(name: Any, function: Any) -> Callable[[Any, Any], Any]:
    def elementwise_function(x1: Any, x2: Any, /) -> Any:
        return function(x1, x2)

    elementwise_function.__name__ = elementwise_function.__qualname__ = name
    elementwise_function.__doc__ = f"`{name}` of the pairs of elements of two arrays, which are broadcast: a new array."
    return elementwise_function


# The standard's names where they are not NumPy's.
_NUMPY_NAMES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "conj": "conjugate",
    "pow": "power",
}
_UNARY_NAMES = (
    "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan "
    "log log10 log1p log2 logical_not negative positive real reciprocal round sign signbit sin sinh sqrt square tan "
    "tanh trunc"
).split()
_BINARY_NAMES = (
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal "
    "floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum "
    "minimum multiply nextafter not_equal pow remainder subtract"
).split()

for _name in _UNARY_NAMES:
    globals()[_name] = _make_unary(_name, getattr(_xp, _NUMPY_NAMES.get(_name, _name)))
for _name in _BINARY_NAMES:
    globals()[_name] = _make_binary(_name, getattr(_xp, _NUMPY_NAMES.get(_name, _name)))
if TYPE_CHECKING:

    def _unary(x: Any, /) -> _GPUArray: ...

    def _binary(x1: Any, x2: Any, /) -> _GPUArray: ...

    abs = acos = acosh = asin = asinh = atan = atanh = bitwise_invert = ceil = conj = cos = cosh = exp = expm1 = _unary
    floor = imag = isfinite = isinf = isnan = log = log10 = log1p = log2 = logical_not = negative = positive = _unary
    real = reciprocal = round = sign = signbit = sin = sinh = sqrt = square = tan = tanh = trunc = _unary
    add = atan2 = bitwise_and = bitwise_left_shift = bitwise_or = bitwise_right_shift = bitwise_xor = copysign = _binary
    divide = equal = floor_divide = greater = greater_equal = hypot = less = less_equal = logaddexp = _binary
    logical_and = logical_or = logical_xor = maximum = minimum = multiply = nextafter = not_equal = pow = _binary
    remainder = subtract = _binary


def clip(x: _GPUArray, /, min: Any = None, max: Any = None) -> _GPUArray:  # noqa: A002
    """Elements limited to a range, with the dtype of `x`: a new array."""
    result = _xp.clip(x, min, max)
    return result if result.dtype == x.dtype else result.astype(x.dtype)


# -- rearranging --------------------------------------------------------------------------------------


def broadcast_arrays(*arrays: Any) -> tuple[_GPUArray, ...]:
    """Views with a common shape."""
    return tuple(_xp.broadcast_arrays(*arrays))


def broadcast_to(x: _GPUArray, /, shape: Any) -> _GPUArray:
    """A view with a larger shape."""
    return _xp.broadcast_to(x, shape)


def concat(arrays: Any, /, *, axis: Any = 0) -> _GPUArray:
    """Join arrays along an existing axis."""
    return _xp.concatenate(arrays, axis)


def stack(arrays: Any, /, *, axis: Any = 0) -> _GPUArray:
    """Join arrays along a new axis."""
    return _xp.stack(arrays, axis)


def unstack(x: _GPUArray, /, *, axis: Any = 0) -> tuple[_GPUArray, ...]:
    """Split an array along an axis."""
    return tuple(_xp.unstack(x, axis=axis))


def moveaxis(x: _GPUArray, source: Any, destination: Any, /) -> _GPUArray:
    """Move axes to other positions."""
    return _xp.moveaxis(x, source, destination)


def permute_dims(x: _GPUArray, /, axes: Any) -> _GPUArray:
    """Permute the axes."""
    return _xp.permute_dims(x, axes)


def roll(x: _GPUArray, /, shift: Any, *, axis: Any = None) -> _GPUArray:
    """Shift elements along axes, cyclically."""
    return _xp.roll(x, shift, axis)


def tile(x: _GPUArray, repetitions: Any, /) -> _GPUArray:
    """Repeat an array along each axis."""
    return _xp.tile(x, repetitions)


def expand_dims(x: _GPUArray, /, axis: Any) -> _GPUArray:
    """Add a new axis."""
    return _xp.expand_dims(x, axis)


def flip(x: _GPUArray, /, *, axis: Any = None) -> _GPUArray:
    """Reverse the order of elements along axes."""
    return _xp.flip(x, axis)


def repeat(x: _GPUArray, repeats: Any, /, *, axis: Any = None) -> _GPUArray:
    """Repeat each element."""
    return _xp.repeat(x, repeats, axis)


def reshape(x: _GPUArray, /, shape: Any, *, copy: Any = None) -> _GPUArray:
    """Change the shape."""
    result = x.reshape(shape)
    shares = result.size == 0 or result.ptr == x.ptr
    if copy is False and not shares:
        raise ValueError(f"reshape of shape {x.shape} with strides {x.strides} to {shape} needs a copy")
    return result.copy() if copy and shares else result


def squeeze(x: _GPUArray, /, axis: Any) -> _GPUArray:
    """Remove axes of length 1."""
    return x.squeeze(axis)


# -- products -----------------------------------------------------------------------------------------


def matmul(x1: Any, x2: Any, /) -> _GPUArray:
    """The matrix product."""
    return _xp.matmul(x1, x2)


def matrix_transpose(x: _GPUArray, /) -> _GPUArray:
    """Exchange the last two axes."""
    return _xp.matrix_transpose(x)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> _GPUArray:
    """Sums of products over axes of two arrays."""
    return _xp.tensordot(x1, x2, axes)


def vecdot(x1: Any, x2: Any, /, *, axis: Any = -1) -> _GPUArray:
    """Sums of products along an axis, with the first operand conjugated."""
    x1, x2 = _xp.broadcast_arrays(x1, x2) if x1.shape != x2.shape and x1.shape[axis] == x2.shape[axis] else (x1, x2)
    return _xp.vecdot(x1, x2, axis=axis)


# -- searching, sorting, sets -------------------------------------------------------------------------


def count_nonzero(x: _GPUArray, /, *, axis: Any = None, keepdims: Any = False) -> _GPUArray:
    """The number of elements that are not zero."""
    return _xp.count_nonzero(x, axis, keepdims=keepdims)


def nonzero(x: _GPUArray, /) -> tuple[_GPUArray, ...]:
    """The indices of elements that are not zero, one array per axis."""
    if x.ndim == 0:
        raise ValueError("nonzero: an array without axes has no indices")
    return _xp.nonzero(x)


def where(condition: Any, x1: Any, x2: Any, /) -> _GPUArray:
    """Elements of one array where a condition is true, else of the other."""
    return _xp.where(condition, x1, x2)


def take(x: _GPUArray, indices: Any, /, *, axis: Any = None) -> _GPUArray:
    """Elements, or parts along an axis, at the given indices."""
    if axis is None and x.ndim != 1:
        raise ValueError(f"take: axis must be given for an array of {x.ndim} axes")
    return _xp.take(x, indices, axis or 0)


def take_along_axis(x: _GPUArray, indices: Any, /, *, axis: Any = -1) -> _GPUArray:
    """Elements along an axis, with one index per position."""
    return _xp.take_along_axis(x, indices, axis)


def argmax(x: _GPUArray, /, *, axis: Any = None, keepdims: Any = False) -> _GPUArray:
    """The index of the largest element."""
    return x.argmax(axis, keepdims=keepdims)


def argmin(x: _GPUArray, /, *, axis: Any = None, keepdims: Any = False) -> _GPUArray:
    """The index of the smallest element."""
    return x.argmin(axis, keepdims=keepdims)


def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> _GPUArray:
    """The positions at which elements would be inserted into a sorted array."""
    return _xp.searchsorted(x1, x2, side, sorter)


def sort(x: _GPUArray, /, *, axis: Any = -1, descending: Any = False, stable: Any = True) -> _GPUArray:
    """A sorted copy."""
    return _xp.sort(x, axis, descending=descending)


def argsort(x: _GPUArray, /, *, axis: Any = -1, descending: Any = False, stable: Any = True) -> _GPUArray:
    """The indices that sort."""
    return _xp.argsort(x, axis, descending=descending)


_UniqueAllResult = namedtuple("unique_all_result", "values indices inverse_indices counts")  # type: ignore[name-match]  # the standard's name
_UniqueCountsResult = namedtuple("unique_counts_result", "values counts")  # type: ignore[name-match]  # the standard's name
_UniqueInverseResult = namedtuple("unique_inverse_result", "values inverse_indices")  # type: ignore[name-match]  # the standard's name


def unique_all(x: _GPUArray, /) -> _UniqueAllResult:
    """The unique elements, their first indices, the index of each element among them, and their counts."""
    return _UniqueAllResult(*_xp.unique(x, True, True, True, equal_nan=False))


def unique_counts(x: _GPUArray, /) -> _UniqueCountsResult:
    """The unique elements and their counts."""
    return _UniqueCountsResult(*_xp.unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: _GPUArray, /) -> _UniqueInverseResult:
    """The unique elements and the index of each element among them."""
    return _UniqueInverseResult(*_xp.unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: _GPUArray, /) -> _GPUArray:
    """The unique elements."""
    return _xp.unique(x, equal_nan=False)


# -- statistics ---------------------------------------------------------------------------------------


def sum(x: _GPUArray, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> _GPUArray:  # noqa: A001
    """The sum over axes."""
    return x.sum(axis, dtype, None, keepdims)


def prod(x: _GPUArray, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> _GPUArray:
    """The product over axes."""
    return x.prod(axis, dtype, None, keepdims)


def max(x: _GPUArray, /, *, axis: Any = None, keepdims: Any = False) -> _GPUArray:  # noqa: A001
    """The largest element over axes."""
    return x.max(axis, keepdims=keepdims)


def min(x: _GPUArray, /, *, axis: Any = None, keepdims: Any = False) -> _GPUArray:  # noqa: A001
    """The smallest element over axes."""
    return x.min(axis, keepdims=keepdims)


def mean(x: _GPUArray, /, *, axis: Any = None, keepdims: Any = False) -> _GPUArray:
    """The mean over axes."""
    return x.mean(axis, keepdims=keepdims)


def var(x: _GPUArray, /, *, axis: Any = None, correction: Any = 0.0, keepdims: Any = False) -> _GPUArray:
    """The variance over axes."""
    return x.var(axis, ddof=float(correction), keepdims=keepdims)


def std(x: _GPUArray, /, *, axis: Any = None, correction: Any = 0.0, keepdims: Any = False) -> _GPUArray:
    """The standard deviation over axes."""
    return x.std(axis, ddof=float(correction), keepdims=keepdims)


def all(x: _GPUArray, /, *, axis: Any = None, keepdims: Any = False) -> _GPUArray:  # noqa: A001
    """Whether all elements over axes are true."""
    return x.all(axis, keepdims=keepdims)


def any(x: _GPUArray, /, *, axis: Any = None, keepdims: Any = False) -> _GPUArray:  # noqa: A001
    """Whether any element over axes is true."""
    return x.any(axis, keepdims=keepdims)


def diff(x: _GPUArray, /, *, axis: Any = -1, n: Any = 1, prepend: Any = None, append: Any = None) -> _GPUArray:
    """Differences of adjacent elements along an axis."""
    return _xp.diff(x, n, axis, prepend, append)


def _cumulative_along_axis(x: _GPUArray, op: Any, start: Any, axis: Any, dtype: Any, include_initial: Any) -> _GPUArray:
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"axis must be given for an array of {x.ndim} axes")
        axis = 0
    result = _cumulative(x if x.ndim else x.reshape(1), op, axis, dtype)
    if not include_initial:
        return result
    shape = list(result.shape)
    shape[axis] = 1
    return concat([full(tuple(shape), start, dtype=result.dtype), result], axis=axis)


def cumulative_sum(x: _GPUArray, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> _GPUArray:
    """Cumulative sums."""
    return _cumulative_along_axis(x, "sum", 0, axis, dtype, include_initial)


def cumulative_prod(x: _GPUArray, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> _GPUArray:
    """Cumulative products."""
    return _cumulative_along_axis(x, "prod", 1, axis, dtype, include_initial)


# -- inspection ---------------------------------------------------------------------------------------


class _NamespaceInfo:
    """The result of `__array_namespace_info__`."""

    def capabilities(self) -> dict[str, Any]:
        """The capabilities, as the standard names them."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """The device of the current context."""
        return self.devices()[0]

    def devices(self) -> list[Any]:
        """The devices on which arrays can now be created: that of the current context."""
        from rtcg import driver as driver

        return [driver.Context.get_device()]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The default dtypes of arrays."""
        _check_device(device)
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The dtypes of a kind, by name."""
        known = [
            bool,
            int8,
            int16,
            int32,
            int64,
            uint8,
            uint16,
            uint32,
            uint64,
            float32,
            float64,
            complex64,
            complex128,
        ]
        _check_device(device)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {t.name: t for t in known if kind is None or np.any([np.isdtype(t, k) for k in kinds])}


def __array_namespace_info__() -> _NamespaceInfo:
    """Devices, dtypes and capabilities."""
    return _NamespaceInfo()


def refer_to(module: Any, functions: Any, renamed: Any = ()) -> None:
    """Extend the docstrings of functions in this package by a reference to the functions that implement them."""
    for name, function in list(functions.items()):
        found = dict(renamed).get(name, name)
        if getattr(function, "__module__", None) == functions["__name__"] and hasattr(module, found):
            twin = f"`{module.__name__}.{found}`"
            function.__doc__ += (
                f"\n\nThe result is that of {twin}, which documents dtypes, errors, waiting and the algorithm."
            )


refer_to(_xp, globals(), _NUMPY_NAMES)

# It takes functions from here, so that it comes after them.
from rtcg.array_api import linalg as linalg  # noqa: E402

_OTHERS = ("TYPE_CHECKING", "Any", "annotations", "dataclass", "namedtuple", "np", "refer_to")
__all__ = [_name for _name in dir() if not _name.startswith("_") and _name not in _OTHERS]
