"""Arrays created from patterns, functions, files and host memory; part of `rtcg.numpy`."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._messages import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import ParamSpec

    from rtcg.numpy import GPUArray

    _P = ParamSpec("_P")

__all__ = [
    "asanyarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "bartlett", "blackman", "c_",
    "diag_indices", "frombuffer", "fromfile", "fromfunction", "fromiter", "fromstring", "genfromtxt", "hamming",
    "hanning", "indices", "isfortran", "kaiser", "load", "loadtxt", "mask_indices", "mgrid", "ogrid", "r_", "require",
    "tri", "tril_indices", "triu_indices",
]  # fmt: skip


def _from_host(what: str) -> Callable[[Callable[_P, Any]], Callable[_P, GPUArray]]:
    """A decorator: a function that NumPy computes on the host, under the name and with the parameters of the decorated
    one, and whose result is copied to the device.
    """

    def decorate(parameters: Callable[_P, Any]) -> Callable[_P, GPUArray]:
        name = parameters.__name__

        def on_device(*args: _P.args, **kwargs: _P.kwargs) -> GPUArray:
            return _xp.to_gpu(np.asarray(getattr(np, name)(*args, **kwargs)))

        on_device.__name__ = on_device.__qualname__ = name
        on_device.__doc__ = (
            f"{what} Returns a new array on the device, and waits for the copy to it.\n\n"
            f"    Parameters and errors are those of `numpy.{name}`, which computes on the host.\n    "
        )
        made: Any = on_device
        made.__signature__ = inspect.signature(parameters)
        return made

    return decorate


@_from_host("Bartlett's window, a triangle.")
def bartlett(M: int) -> Any: ...


@_from_host("Blackman's window.")
def blackman(M: int) -> Any: ...


@_from_host("Hamming's window.")
def hamming(M: int) -> Any: ...


@_from_host("Hann's window.")
def hanning(M: int) -> Any: ...


@_from_host("Kaiser's window with a shape parameter.")
def kaiser(M: int, beta: float) -> Any: ...


@_from_host("The elements in a buffer of bytes.")
def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Any: ...


@_from_host("The elements in a file, as text or bytes.")
def fromfile(file: Any, dtype: Any = float, count: int = -1, sep: str = "", offset: int = 0) -> Any: ...


@_from_host("The elements of an iterable.")
def fromiter(iter: Any, dtype: Any, count: int = -1) -> Any: ...


@_from_host("The numbers in a string.")
def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Any: ...


@_from_host("The numbers in a text file, where some may be missing.")
def genfromtxt(fname: Any, dtype: Any = float, **kwargs: Any) -> Any: ...


@_from_host("The array in a file in the npy format.")
def load(file: Any, **kwargs: Any) -> Any: ...


@_from_host("The numbers in a text file.")
def loadtxt(fname: Any, dtype: Any = float, **kwargs: Any) -> Any: ...


def _in_order(a: GPUArray, order: str) -> GPUArray:
    """An array in a memory order: the array itself if it has that order."""
    is_there = a.flags.c_contiguous if order == "C" else a.flags.f_contiguous
    return a if is_there else a.copy(order=order)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = np.float64) -> GPUArray:
    """A new matrix of ones on and below the diagonal `k` and zeros above it; does not wait.

    It has `N` rows and `M` columns (`N` by default) of `dtype`.
    """
    return _xp.tril(_xp.ones((N, N if M is None else M), dtype), k)


def indices(dimensions: Sequence[int], dtype: Any = np.int64, sparse: bool = False) -> Any:
    """The index of each element of an array of shape `dimensions`, along each axis; does not wait.

    Returns a new array of shape ``(len(dimensions), *dimensions)`` of `dtype`; with `sparse`, a tuple of arrays, each
    of which is longer than 1 along its own axis only.
    """
    dimensions = tuple(dimensions)
    ndim = len(dimensions)
    axes = tuple(
        _xp.arange(length, dtype=dtype).reshape((1,) * axis + (length,) + (1,) * (ndim - axis - 1))
        for axis, length in enumerate(dimensions)
    )
    if sparse:
        return axes
    result = _xp.empty((ndim, *dimensions), dtype)
    for axis, steps in enumerate(axes):
        result[axis] = steps
    return result


def diag_indices(n: int, ndim: int = 2) -> tuple[GPUArray, ...]:
    """The indices of the main diagonal of an array with `ndim` axes of length `n`, a tuple of arrays; does not wait."""
    return (_xp.arange(n),) * ndim


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[GPUArray, ...]:
    """The indices of the triangle on and below the diagonal `k` of `n` rows and `m` columns: a tuple of two arrays.

    Waits for their number, as `nonzero` does.
    """
    return tri(n, m, k, bool).nonzero()


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[GPUArray, ...]:
    """The indices of the triangle on and above the diagonal `k` of `n` rows and `m` columns: a tuple of two arrays.

    Waits for their number, as `nonzero` does.
    """
    return (~tri(n, m, k - 1, bool)).nonzero()


def mask_indices(n: int, mask_func: Callable[[GPUArray, Any], GPUArray], k: Any = 0) -> tuple[GPUArray, ...]:
    """The indices at which ``mask_func(ones((n, n)), k)`` is not zero, such as those of `triu`: a tuple of arrays.

    Waits for their number, as `nonzero` does.
    """
    return (mask_func(_xp.ones((n, n), np.int64), k) != 0).nonzero()


def fromfunction(function: Callable[..., Any], shape: Sequence[int], *, dtype: Any = np.float64, **kwargs: Any) -> Any:
    """``function(*indices(shape, dtype), **kwargs)``, called with arrays on the device; returns its result.

    Does not wait unless the function does.
    """
    return function(*indices(shape, dtype), **kwargs)


def asanyarray(a: Any, dtype: Any = None, order: str | None = None) -> GPUArray:
    """An array on the device, as `asarray`: `a` itself if it is one, else a copy, for which the call waits.

    `a` is array-like, `dtype` and `order` are those of `asarray`.
    """
    return _xp.asarray(a, dtype=dtype, order=order)


def ascontiguousarray(a: Any, dtype: Any = None) -> GPUArray:
    """An array in C order with at least one axis: `a` itself if possible; does not wait for arrays on the device.

    `a` is array-like, and is converted to `dtype` if given.
    """
    return _in_order(_xp.atleast_1d(_xp.asarray(a, dtype=dtype)), "C")


def asfortranarray(a: Any, dtype: Any = None) -> GPUArray:
    """An array in Fortran order: `a` itself if possible; does not wait for arrays on the device.

    `a` is array-like, and is converted to `dtype` if given.
    """
    return _in_order(_xp.asarray(a, dtype=dtype), "F")


def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> GPUArray:
    """An array as by `asarray`; waits to check that all elements are finite, else raises ValueError."""
    a = _xp.asarray(a, dtype=dtype, order=order)
    if a.dtype.kind in "fc" and not bool(_xp.isfinite(a).all()):
        raise ValueError("array must not contain infs or NaNs")
    return a


def isfortran(a: GPUArray) -> bool:
    """Whether the device array `a` is in Fortran order and not in C order: a bool; does not wait."""
    return a.flags.f_contiguous and not a.flags.c_contiguous


def require(a: Any, dtype: Any = None, requirements: Sequence[str] = ()) -> GPUArray:
    """An array on the device with the required properties: ``"C"`` or ``"F"``; ``"O"``, ``"W"``, ``"A"`` always hold.

    `a` is array-like; "C" and "F" are memory orders. Does not wait for arrays on the device. Raises ValueError for
    other letters.
    """
    wanted = {str(letter).upper()[0] for letter in requirements or ()}
    if not wanted <= set("CFOWAE"):
        raise ValueError(f"requirements is {shown(requirements)}; expected letters among C, F, A, W, O, E")
    if wanted >= {"C", "F"}:
        raise ValueError('requirements has both "C" and "F"')
    array = _xp.asarray(a, dtype=dtype)
    order = wanted & {"C", "F"}
    return _in_order(array, order.pop()) if order else array


class _HostGrid:
    """The type of `mgrid` and `ogrid`: grids from slices, as arrays on the device."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __reduce__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<rtcg.numpy.{self._name}>"

    def __getitem__(self, key: Any) -> Any:
        grids = getattr(np, self._name)[key]
        return tuple(map(_xp.to_gpu, grids)) if isinstance(grids, tuple) else _xp.to_gpu(grids)


class _Concatenated:
    """The type of `r_` and `c_`: concatenates the bracketed items along the first or the last axis, on the device."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __reduce__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<rtcg.numpy.{self._name}>"

    def __getitem__(self, key: Any) -> GPUArray:
        parts = list(key) if isinstance(key, tuple) else [key]
        if not any(isinstance(part, _xp.GPUArray) for part in parts):
            return _xp.to_gpu(getattr(np, self._name)[key])
        if any(isinstance(part, str) for part in parts):
            raise NotImplementedError(f"{self._name} with a text beside arrays on the device; use concatenate or stack")
        parts = [np.r_[part] if isinstance(part, slice) else part for part in parts]
        if self._name == "c_":
            return _xp.column_stack(parts) if all(np.ndim(part) < 3 for part in parts) else _xp.concatenate(parts, -1)
        return _xp.concatenate([_xp.atleast_1d(_xp.asarray(part)) for part in parts])


mgrid, ogrid, r_, c_ = _HostGrid("mgrid"), _HostGrid("ogrid"), _Concatenated("r_"), _Concatenated("c_")
