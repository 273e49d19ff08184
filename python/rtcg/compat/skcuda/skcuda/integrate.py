"""scikit-cuda's integrals of samples by the trapezoidal rule and by Simpson's rule, over `rtcg.numpy`.

Samples are float32, float64, complex64 or complex128, at equal distances. `handle` has no meaning. Integrals are
numbers of the dtype of the samples, for which the functions wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as xp
from rtcg._conversions import as_integer
from rtcg._messages import shown
from rtcg.numpy import GPUArray

from .linalg import _DTYPES, _check, _host
from .misc import init, shutdown

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "gen_simps_mult",
    "gen_trapz2d_mult",
    "gen_trapz_mult",
    "init",
    "shutdown",
    "simps",
    "trapz",
    "trapz2d",
]


def _check_dtype(dtype: Any) -> np.dtype[Any]:
    checked: np.dtype[Any] = np.dtype(dtype)
    if checked.name not in _DTYPES:
        raise ValueError(f"dtype is {checked}; expected {', '.join(_DTYPES[:-1])} or {_DTYPES[-1]}")
    return checked


def _check_distance(name: str, value: Any) -> Any:
    if np.ndim(value) or np.iscomplex(value):
        raise ValueError(f"{name} is {shown(value)}; expected a real number")
    return np.real(value)


def _trapezoid(n: int, dtype: Any) -> GPUArray:
    weights = xp.ones(n, dtype)
    # One sample has no width.
    weights[:1] = weights[n - 1 :] = 0.5 if n > 1 else 0
    return weights


def gen_trapz_mult(N: int, dtype: Any) -> GPUArray:
    """The `N` weights of the trapezoidal rule, as an array of `dtype`: 1/2 at both ends, 1 between."""
    return _trapezoid(as_integer("N", N, least=1), _check_dtype(dtype))


def trapz(x_gpu: GPUArray, dx: Any = 1.0, handle: Any = None) -> Any:
    """The integral of a vector of samples by the trapezoidal rule.

    Parameters
    ----------
    x_gpu : GPUArray
        With one axis.
    dx : float
        The distance of samples.

    Raises
    ------
    ValueError
        If `dx` is complex, or for another dtype or number of axes.
    """
    distance = _check_distance("dx", dx)
    weights = gen_trapz_mult(_check("x_gpu", x_gpu, 1).size, x_gpu.dtype)
    return x_gpu.dtype.type(distance) * _host(xp.dot(x_gpu, weights))


def _simpson(n: int) -> np.ndarray[Any, Any]:
    """The weights for an odd number of samples."""
    weights = np.full(n, 2.0)
    weights[1::2] = 4.0
    weights[0] = weights[-1] = 1.0
    return weights / 3.0


def gen_simps_mult(N: int, dtype: Any, even: str = "avg") -> GPUArray:
    """The weights of Simpson's rule, as an array of `dtype`.

    Parameters
    ----------
    N : int
        The number of samples, at least 3. If it is even, one interval is integrated by the trapezoidal rule.
    even : {"avg", "first", "last"}
        Which interval that is: "first" takes Simpson's rule for the first ones and the trapezoidal rule for the last
        one, "last" the other way round, and "avg" the mean of both.
    """
    n = as_integer("N", N, least=3)
    dtype = _check_dtype(dtype)
    if n % 2:
        return xp.to_gpu(_simpson(n).astype(dtype))
    if even not in ("avg", "first", "last"):
        raise ValueError(f"even is {shown(even)}; expected 'avg', 'first' or 'last'")
    first = np.append(_simpson(n - 1), 0.0)
    first[-2:] += 0.5
    last = first[::-1]
    weights = {"first": first, "last": last, "avg": (first + last) / 2}[even]
    return xp.to_gpu(weights.astype(dtype))


def simps(x_gpu: GPUArray, dx: Any = 1.0, even: str = "avg", handle: Any = None) -> Any:
    """The integral of a vector of samples by Simpson's rule.

    Parameters
    ----------
    x_gpu : GPUArray
        With one axis, and at least 3 samples.
    dx : float
        The distance of samples.
    even : {"avg", "first", "last"}
        What is done about an even number of samples; see `gen_simps_mult`. (scipy.integrate.simpson has dropped these
        methods.)

    Raises
    ------
    ValueError
        If `dx` is complex, or for other values, dtypes or numbers of axes.
    """
    distance = _check_distance("dx", dx)
    weights = gen_simps_mult(_check("x_gpu", x_gpu, 1).size, x_gpu.dtype, even)
    return x_gpu.dtype.type(distance) * _host(xp.dot(x_gpu, weights))


def gen_trapz2d_mult(mat_shape: Sequence[int], dtype: Any) -> GPUArray:
    """The weights of the trapezoidal rule in two dimensions: 1/4 in the corners, 1/2 on edges, 1 elsewhere."""
    dtype = _check_dtype(dtype)
    try:
        rows, columns = (as_integer("mat_shape", n, least=1) for n in mat_shape)
    except (TypeError, ValueError):
        raise ValueError(f"mat_shape is {shown(mat_shape)}; expected two lengths of 1 or more") from None
    return xp.outer(_trapezoid(rows, dtype), _trapezoid(columns, dtype))


def trapz2d(x_gpu: GPUArray, dx: Any = 1.0, dy: Any = 1.0, handle: Any = None) -> Any:
    """The integral of a matrix of samples by the trapezoidal rule.

    Parameters
    ----------
    x_gpu : GPUArray
        With two axes.
    dx, dy : float
        The distances of columns and of rows.

    Raises
    ------
    ValueError
        If `dx` or `dy` is complex, or for another dtype or number of axes.
    """
    area = _check_distance("dx", dx) * _check_distance("dy", dy)
    weights = gen_trapz2d_mult(_check("x_gpu", x_gpu, 2).shape, x_gpu.dtype)
    return x_gpu.dtype.type(area) * _host(xp.sum(x_gpu * weights))
