"""Programs compiled for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._messages import shown
from rtcg.copperhead._ragged import is_device_array, ragged

if TYPE_CHECKING:
    from rtcg.copperhead._function import CuFunction
    from rtcg.copperhead._places import DevicePlace


def call(function: CuFunction, args: tuple[Any, ...], place: DevicePlace) -> Any:
    """The result of a program at a device."""
    program = program_of(function)
    if place.current() is not None:
        return program(args)
    with place.scope():
        return program(args)


def program_of(function: CuFunction) -> _native.LangProgram:
    """The program of a function, made once."""
    found: _native.LangProgram | None = function.__dict__.get("_program")
    if found is None:
        found = function.__dict__["_program"] = _native.LangProgram(function)
    return found


# -- arguments and results that the native code leaves to Python ----------------------------------


def argument(name: str, value: Any) -> Any:
    """An argument as the native code takes it: a number, a `GPUArray`, a tuple, or a list that begins with its kind."""
    from rtcg import numpy as device_arrays
    from rtcg.copperhead._values import check_dtype

    if isinstance(value, ragged):
        return ["ragged", device_arrays.asarray(value.offsets, np.int64), argument(name, value.values)]
    if all(hasattr(value, attribute) for attribute in ("indptr", "indices", "data")):
        if getattr(value, "format", "csr") != "csr":
            text = f"{name} is a sparse matrix in the format {shown(value.format)}; expected 'csr' (see `tocsr`)"
            raise TypeError(text)
        return tuple(Rows(ragged(part, value.indptr)) for part in (value.data, value.indices))
    if isinstance(value, Rows):
        return argument(name, value.rows)
    if isinstance(value, range):
        value = np.array(value, np.int64)
    if isinstance(value, list):
        value = _from_list(name, value)
        if isinstance(value, (ragged, tuple)):
            return argument(name, value)
    if isinstance(value, tuple):
        return value
    if isinstance(value, (np.ndarray, np.generic)) or is_device_array(value) or hasattr(value, "__dlpack__"):
        if isinstance(value, np.ndarray) and not value.dtype.isnative:
            value = value.astype(value.dtype.newbyteorder("="))
        dtype = getattr(value, "dtype", None)
        if isinstance(dtype, np.dtype):
            check_dtype(name, dtype)
        if isinstance(dtype, np.dtype) and dtype.names is not None:
            return ["zip", *(argument(name, value[field]) for field in dtype.names)]
        return device_arrays.asarray(value) if hasattr(value, "dtype") else device_arrays.from_dlpack(value)
    if callable(value):
        return ["function", value]
    raise TypeError(f"{name} is {shown(value)}; expected a number, an array, a list, a tuple or a function")


class Rows:
    """Rows in a tuple of arguments."""

    def __init__(self, rows: ragged) -> None:
        self.rows = rows


def _from_list(name: str, items: list[Any]) -> Any:
    from rtcg.copperhead._values import from_argument, to_array

    try:
        return to_array(from_argument(name, items))
    except (TypeError, ValueError, OverflowError) as error:
        text = str(error)
        raise type(error)(text if text.startswith(name) else f"{name}: {text}") from None


def records(parts: list[Any]) -> Any:
    """A sequence of tuples from the sequences of their parts: an array of a structure."""
    from rtcg import numpy as device_arrays

    for place, part in enumerate(parts):
        if isinstance(part, ragged):
            raise TypeError(
                f"elements are tuples that hold sequences of different lengths at [{place}]; return those on their own "
                "(`unzip` makes a tuple of sequences)"
            )
    dtype = np.dtype(
        [(f"f{place}", np.dtype(part.dtype), part.shape[1:]) for place, part in enumerate(parts)], align=True
    )
    array = device_arrays.empty(parts[0].shape[0], dtype)
    for place, part in enumerate(parts):
        array[f"f{place}"][...] = part
    return array


def rows(offsets: Any, values: Any) -> ragged:
    """Rows that may differ in length."""
    return ragged(values, offsets)
