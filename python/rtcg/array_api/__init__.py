"""The Array API standard, version 2024.12, for `rtcg.numpy.GPUArray`.

``xp = a.__array_namespace__()`` returns this module, for programs that work with any array library. Names, signatures
and result types are those of the standard; `rtcg.numpy` does the work.
"""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from rtcg import numpy as _xp
from rtcg._messages import shown as _shown
from rtcg._native import GPUArray as _GPUArray, array_cumulative as _cumulative
from rtcg.array_api import fft  # noqa: F401 (a name of the standard)

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


def _check_device(device):
    if device is None:
        return
    (current,) = _NamespaceInfo().devices()
    if device != current:
        raise ValueError(
            f"device {_shown(device)} is not the device of the current context; expected {_shown(current)} or None"
        )


# -- making arrays ------------------------------------------------------------------------------------


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Evenly spaced numbers."""
    _check_device(device)
    return _xp.arange(0, start, step, dtype=dtype) if stop is None else _xp.arange(start, stop, step, dtype=dtype)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """Convert anything to a device array."""
    return _xp.asarray(obj, dtype, copy=copy, device=device)


def empty(shape, *, dtype=None, device=None):
    """An array with undefined contents."""
    _check_device(device)
    return _xp.empty(shape, dtype or float64)


def zeros(shape, *, dtype=None, device=None):
    """An array of zeros."""
    _check_device(device)
    return _xp.zeros(shape, dtype or float64)


def ones(shape, *, dtype=None, device=None):
    """An array of ones."""
    _check_device(device)
    return _xp.ones(shape, dtype or float64)


def full(shape, fill_value, *, dtype=None, device=None):
    """An array filled with one value."""
    _check_device(device)
    return _xp.full(shape, fill_value, dtype)


def empty_like(x, /, *, dtype=None, device=None):
    """An array with undefined contents, like another array."""
    _check_device(device)
    return _xp.empty_like(x, dtype)


def zeros_like(x, /, *, dtype=None, device=None):
    """An array of zeros, like another array."""
    _check_device(device)
    return _xp.zeros_like(x, dtype)


def ones_like(x, /, *, dtype=None, device=None):
    """An array of ones, like another array."""
    _check_device(device)
    return _xp.ones_like(x, dtype)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """An array filled with one value, like another array."""
    _check_device(device)
    return _xp.full_like(x, fill_value, dtype)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on a diagonal."""
    _check_device(device)
    result = zeros((n_rows, n_rows if n_cols is None else n_cols), dtype=dtype)
    if -n_rows < k < result.shape[1]:
        result.diagonal(k)[...] = 1
    return result


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """Evenly spaced numbers over an interval."""
    _check_device(device)
    return _xp.linspace(start, stop, num, endpoint, dtype=dtype)


def meshgrid(*arrays, indexing="xy"):
    """Coordinate arrays of a grid."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing {_shown(indexing)} is not known; expected 'xy' or 'ij'")
    return _xp.meshgrid(*arrays, indexing=indexing)


def tril(x, /, *, k=0):
    """The lower triangle."""
    return _xp.tril(x, k)


def triu(x, /, *, k=0):
    """The upper triangle."""
    return _xp.triu(x, k)


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the memory of a DLPack object."""
    return _xp.from_dlpack(x, device=device, copy=copy)


# -- dtypes -------------------------------------------------------------------------------------------


def result_type(*arrays_and_dtypes):
    """The dtype of an operation on these arguments."""
    operands = [a.dtype if isinstance(a, _GPUArray) else a for a in arrays_and_dtypes]
    return np.result_type(*operands)


def astype(x, dtype, /, *, copy=True, device=None):
    """The elements converted to another dtype."""
    _check_device(device)
    if np.isdtype(x.dtype, "complex floating") and not np.isdtype(dtype, "complex floating"):
        raise TypeError(f"astype: a complex array cannot become {np.dtype(dtype)}; take real(x) or imag(x)")
    return _xp.astype(x, dtype, copy=copy)


def can_cast(from_, to, /):
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
    dtype: np.dtype


@dataclass(frozen=True)
class _IntegerLimits:
    """The fields that the standard requires of `iinfo`, as Python numbers."""

    bits: int
    max: int
    min: int
    dtype: np.dtype


def finfo(type, /):  # noqa: A002
    """Limits of a floating-point dtype, or of the parts of a complex one: an object with `bits`, `eps` and so on.

    `type` is a dtype or an array, of which only the dtype is used; does not wait. Raises `ValueError` for other dtypes.
    """
    limits = np.finfo(type.dtype if isinstance(type, _GPUArray) else type)
    floats = (float(x) for x in (limits.eps, limits.max, limits.min, limits.smallest_normal))
    return _FloatLimits(limits.bits, *floats, limits.dtype)


def iinfo(type, /):  # noqa: A002
    """Limits of an integer dtype: an object with `bits`, `max`, `min` and `dtype`.

    `type` is a dtype or an array, of which only the dtype is used; does not wait. Raises `ValueError` for other dtypes.
    """
    limits = np.iinfo(type.dtype if isinstance(type, _GPUArray) else type)
    return _IntegerLimits(limits.bits, int(limits.max), int(limits.min), limits.dtype)


def isdtype(dtype, kind):
    """Whether a dtype is of a kind, or of one of a tuple of kinds, as `numpy.isdtype`: a bool. Does not wait."""
    return np.isdtype(dtype, kind)


# -- element by element -------------------------------------------------------------------------------


def _make_unary(name, function):
    def elementwise_function(x, /):
        return function(x)

    elementwise_function.__name__ = elementwise_function.__qualname__ = name
    elementwise_function.__doc__ = f"`{name}` of each element of an array, as the standard has it: a new array."
    return elementwise_function


def _make_binary(name, function):
    def elementwise_function(x1, x2, /):
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


def clip(x, /, min=None, max=None):  # noqa: A002
    """Elements limited to a range, with the dtype of `x`: a new array."""
    result = _xp.clip(x, min, max)
    return result if result.dtype == x.dtype else result.astype(x.dtype)


# -- rearranging --------------------------------------------------------------------------------------


def broadcast_arrays(*arrays):
    """Views with a common shape."""
    return tuple(_xp.broadcast_arrays(*arrays))


def broadcast_to(x, /, shape):
    """A view with a larger shape."""
    return _xp.broadcast_to(x, shape)


def concat(arrays, /, *, axis=0):
    """Join arrays along an existing axis."""
    return _xp.concatenate(arrays, axis)


def stack(arrays, /, *, axis=0):
    """Join arrays along a new axis."""
    return _xp.stack(arrays, axis)


def unstack(x, /, *, axis=0):
    """Split an array along an axis."""
    return tuple(_xp.unstack(x, axis=axis))


def moveaxis(x, source, destination, /):
    """Move axes to other positions."""
    return _xp.moveaxis(x, source, destination)


def permute_dims(x, /, axes):
    """Permute the axes."""
    return _xp.permute_dims(x, axes)


def roll(x, /, shift, *, axis=None):
    """Shift elements along axes, cyclically."""
    return _xp.roll(x, shift, axis)


def tile(x, repetitions, /):
    """Repeat an array along each axis."""
    return _xp.tile(x, repetitions)


def expand_dims(x, /, axis):
    """Add a new axis."""
    return _xp.expand_dims(x, axis)


def flip(x, /, *, axis=None):
    """Reverse the order of elements along axes."""
    return _xp.flip(x, axis)


def repeat(x, repeats, /, *, axis=None):
    """Repeat each element."""
    return _xp.repeat(x, repeats, axis)


def reshape(x, /, shape, *, copy=None):
    """Change the shape."""
    result = x.reshape(shape)
    shares = result.size == 0 or result.ptr == x.ptr
    if copy is False and not shares:
        raise ValueError(f"reshape of shape {x.shape} with strides {x.strides} to {shape} needs a copy")
    return result.copy() if copy and shares else result


def squeeze(x, /, axis):
    """Remove axes of length 1."""
    return x.squeeze(axis)


# -- products -----------------------------------------------------------------------------------------


def matmul(x1, x2, /):
    """The matrix product."""
    return _xp.matmul(x1, x2)


def matrix_transpose(x, /):
    """Exchange the last two axes."""
    return _xp.matrix_transpose(x)


def tensordot(x1, x2, /, *, axes=2):
    """Sums of products over axes of two arrays."""
    return _xp.tensordot(x1, x2, axes)


def vecdot(x1, x2, /, *, axis=-1):
    """Sums of products along an axis, with the first operand conjugated."""
    x1, x2 = _xp.broadcast_arrays(x1, x2) if x1.shape != x2.shape and x1.shape[axis] == x2.shape[axis] else (x1, x2)
    return _xp.vecdot(x1, x2, axis=axis)


# -- searching, sorting, sets -------------------------------------------------------------------------


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """The number of elements that are not zero."""
    return _xp.count_nonzero(x, axis, keepdims=keepdims)


def nonzero(x, /):
    """The indices of elements that are not zero, one array per axis."""
    if x.ndim == 0:
        raise ValueError("nonzero: an array without axes has no indices")
    return _xp.nonzero(x)


def where(condition, x1, x2, /):
    """Elements of one array where a condition is true, else of the other."""
    return _xp.where(condition, x1, x2)


def take(x, indices, /, *, axis=None):
    """Elements, or parts along an axis, at the given indices."""
    if axis is None and x.ndim != 1:
        raise ValueError(f"take: axis must be given for an array of {x.ndim} axes")
    return _xp.take(x, indices, axis or 0)


def take_along_axis(x, indices, /, *, axis=-1):
    """Elements along an axis, with one index per position."""
    return _xp.take_along_axis(x, indices, axis)


def argmax(x, /, *, axis=None, keepdims=False):
    """The index of the largest element."""
    return x.argmax(axis, keepdims=keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    """The index of the smallest element."""
    return x.argmin(axis, keepdims=keepdims)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """The positions at which elements would be inserted into a sorted array."""
    return _xp.searchsorted(x1, x2, side, sorter)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """A sorted copy."""
    return _xp.sort(x, axis, descending=descending)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The indices that sort."""
    return _xp.argsort(x, axis, descending=descending)


_UniqueAllResult = namedtuple("unique_all_result", "values indices inverse_indices counts")
_UniqueCountsResult = namedtuple("unique_counts_result", "values counts")
_UniqueInverseResult = namedtuple("unique_inverse_result", "values inverse_indices")


def unique_all(x, /):
    """The unique elements, their first indices, the index of each element among them, and their counts."""
    return _UniqueAllResult(*_xp.unique(x, True, True, True, equal_nan=False))


def unique_counts(x, /):
    """The unique elements and their counts."""
    return _UniqueCountsResult(*_xp.unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x, /):
    """The unique elements and the index of each element among them."""
    return _UniqueInverseResult(*_xp.unique(x, return_inverse=True, equal_nan=False))


def unique_values(x, /):
    """The unique elements."""
    return _xp.unique(x, equal_nan=False)


# -- statistics ---------------------------------------------------------------------------------------


def sum(x, /, *, axis=None, dtype=None, keepdims=False):  # noqa: A001
    """The sum over axes."""
    return x.sum(axis, dtype, None, keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product over axes."""
    return x.prod(axis, dtype, None, keepdims)


def max(x, /, *, axis=None, keepdims=False):  # noqa: A001
    """The largest element over axes."""
    return x.max(axis, keepdims=keepdims)


def min(x, /, *, axis=None, keepdims=False):  # noqa: A001
    """The smallest element over axes."""
    return x.min(axis, keepdims=keepdims)


def mean(x, /, *, axis=None, keepdims=False):
    """The mean over axes."""
    return x.mean(axis, keepdims=keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The variance over axes."""
    return x.var(axis, ddof=float(correction), keepdims=keepdims)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The standard deviation over axes."""
    return x.std(axis, ddof=float(correction), keepdims=keepdims)


def all(x, /, *, axis=None, keepdims=False):  # noqa: A001
    """Whether all elements over axes are true."""
    return x.all(axis, keepdims=keepdims)


def any(x, /, *, axis=None, keepdims=False):  # noqa: A001
    """Whether any element over axes is true."""
    return x.any(axis, keepdims=keepdims)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences of adjacent elements along an axis."""
    return _xp.diff(x, n, axis, prepend, append)


def _cumulative_along_axis(x, op, start, axis, dtype, include_initial):
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


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Cumulative sums."""
    return _cumulative_along_axis(x, "sum", 0, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Cumulative products."""
    return _cumulative_along_axis(x, "prod", 1, axis, dtype, include_initial)


# -- inspection ---------------------------------------------------------------------------------------


class _NamespaceInfo:
    """The result of `__array_namespace_info__`."""

    def capabilities(self):
        """The capabilities, as the standard names them."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """The device of the current context."""
        return self.devices()[0]

    def devices(self):
        """The devices on which arrays can now be created: that of the current context."""
        from rtcg import driver as driver

        return [driver.Context.get_device()]

    def default_dtypes(self, *, device=None):
        """The default dtypes of arrays."""
        _check_device(device)
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device=None, kind=None):
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


def __array_namespace_info__():
    """Devices, dtypes and capabilities."""
    return _NamespaceInfo()


def refer_to(module, functions, renamed=()):
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
from rtcg.array_api import linalg  # noqa: E402, F401

__all__ = [
    _name for _name in dir() if not _name.startswith("_") and _name not in ("np", "namedtuple", "dataclass", "refer_to")
]
