"""Data-parallel Python: functions decorated with `cu` run in Python's interpreter or compiled for a device.

A program is a Python function of arrays and numbers, written with the functions of a prelude such as `map`, `reduce`,
`scan` and `gather`, with comprehensions, nested functions, ``if`` and tail recursion::

    from rtcg.copperhead import *

    @cu
    def axpy(a, x, y):
        return [a * xi + yi for xi, yi in zip(x, y)]

    with places.gpu0:
        z = axpy(2.0, x, y)

Its meaning is what Python's interpreter computes with the prelude's functions, at ``places.here``. Elements of arrays
are NumPy scalars there: dtypes decide as in NumPy, numbers written in the program adapt to what they meet, ``/`` is
true division, ``//`` rounds down, ``%`` has the sign of the divisor, and integers wrap. At a device, reductions and
scans may combine elements in another order.

``from rtcg.copperhead import *`` also replaces built-in functions of Python, such as `map`, `sum` and `range`, by the
prelude's. In programs that is so without importing them.
"""

from __future__ import annotations

from typing import Any

import numpy as _np

from rtcg._messages import shown as _shown
from rtcg.copperhead import _prelude
from rtcg.copperhead._errors import UntranslatableError as UntranslatableError
from rtcg.copperhead._function import CuFunction as CuFunction, cu as cu
from rtcg.copperhead._places import DevicePlace as _DevicePlace, Place as Place, as_place as _as_place, places as places
from rtcg.copperhead._prelude import *  # noqa: F403
from rtcg.copperhead._ragged import is_device_array as _is_device_array, on_host as _on_host, ragged as ragged
from rtcg.copperhead._values import (
    check_array as _check_array,
    from_argument as _from_argument,
    to_result as _to_result,
)

__all__ = [
    *_prelude.__all__,
    "CuFunction",
    "Place",
    "UntranslatableError",
    "cu",
    "cuarray",
    "force",
    "places",
    "ragged",
    "to_numpy",
]


def to_numpy(x: Any) -> Any:
    """A sequence, a number or a tuple of these on the host: new NumPy arrays and scalars, `ragged`, or a tuple.

    `x` is anything that a program takes as an argument, but functions, or a result. Waits for arrays on a device.
    Raises `TypeError` for other objects.
    """
    if isinstance(x, tuple):
        return tuple(to_numpy(item) for item in x)
    if isinstance(x, ragged):
        return ragged(_on_host(x.values).copy(), _on_host(x.offsets).copy())
    if _is_device_array(x):
        return _on_host(x)
    if isinstance(x, _np.ndarray):
        _check_array("x", x)
        return _np.array(x)
    value = _from_argument("x", x)
    if callable(value):
        raise TypeError(f"x is {_shown(value)}; expected a number, an array, a list or a tuple")
    return _to_result(value)


def force(x: Any, place: Place) -> Any:
    """The same values at a place: NumPy arrays at `places.here`, arrays on the device at another.

    Parameters
    ----------
    x : number, array, list, ragged or tuple of these
        What programs take and return; numbers stay on the host.
    place : Place

    Returns
    -------
    scalar, array, ragged or tuple
        What is at the place already is returned as it is.

    Raises
    ------
    TypeError
        For other objects, and if `place` is no place.
    ValueError
        If there is no such place.
    rtcg.driver.MemoryError
        If the device does not have enough memory.

    Notes
    -----
    Copies to the host wait for the device, and copies to a device are done when the call returns.
    """
    place = _as_place("place", place)
    if isinstance(x, tuple):
        return tuple(force(item, place) for item in x)
    if isinstance(x, _np.ndarray):
        _check_array("x", x)
    elif not isinstance(x, (ragged, _np.generic)) and not _is_device_array(x):
        x = to_numpy(x)
    if isinstance(x, ragged):
        values, offsets = force(x.values, place), force(x.offsets, place)
        return x if values is x.values and offsets is x.offsets else ragged(values, offsets)
    return _moved_to_device(x, place) if isinstance(place, _DevicePlace) else _on_host(x) if _is_device_array(x) else x


def _moved_to_device(x: Any, place: _DevicePlace) -> Any:
    from rtcg import numpy as device_arrays

    with place.scope():
        if isinstance(x, device_arrays.GPUArray) and x.device == place.device:
            return x
        host = to_numpy(x)
        return device_arrays.to_gpu(host) if host.ndim else host


def cuarray(x: Any) -> Any:
    """A copy of a sequence at the current place, `places.default_place`: see `force`."""
    return force(to_numpy(x), places.default_place)
