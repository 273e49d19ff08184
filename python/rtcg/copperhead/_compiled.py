"""Programs compiled for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg.copperhead._ragged import is_device_array, ragged
from rtcg.copperhead._values import (
    WEAK_TYPES,
    check_array,
    check_dtype,
    is_function,
    list_to_array,
    unexpected,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtcg.copperhead._function import CuFunction
    from rtcg.copperhead._places import DevicePlace
    from rtcg.driver import Device


def call(function: CuFunction, args: tuple[Any, ...], place: DevicePlace) -> Any:
    """The result of a program at a device."""
    check_arguments(function, args)
    program = program_of(function)
    try:
        if place.current() is not None:
            return program(args)
        with place.scope():
            return program(args)
    except Exception as error:
        where = f"{place!r}, where the program runs"
        name_other_device(error, function, args, place.device, where, f"force({{}}, {place!r})")
        raise


def check_arguments(function: Any, args: tuple[Any, ...]) -> None:
    """Raise for an argument that native code would take without its mask, or refuse without its name."""
    if not all(map(_is_known, args)):
        for name, arg in named(function, args):
            check_argument(name, arg)


def _is_known(value: Any) -> bool:
    """Whether native code decides about an argument."""
    return type(value) in _KNOWN_TYPES or (type(value) is tuple and all(map(_is_known, value)))


#: Types of most arguments, about which native code decides.
_KNOWN_TYPES = frozenset(
    {*WEAK_TYPES, *(np.dtype(code).type for code in "?bBhHiIlLqQefdFD"), np.ndarray, list, _native.GPUArray, ragged}
)


def check_argument(name: str, value: Any) -> None:
    """Raise for an array or a scalar of NumPy that programs do not take."""
    if isinstance(value, tuple):
        for place, item in enumerate(value):
            check_argument(f"{name}[{place}]", item)
    elif isinstance(value, (np.ndarray, np.generic)):
        check_array(name, value)


def named(function: Any, args: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """The arguments with the names of parameters."""
    code = function.__wrapped__.__code__
    names = code.co_varnames[: code.co_argcount]
    for place, arg in enumerate(args):
        yield names[place] if place < len(names) else f"argument {place + 1}", arg


def name_other_device(
    error: Exception, function: Any, args: tuple[Any, ...], device: Device, where: str, advice: str
) -> None:
    """Make an error about a kernel's operand that lies on another device one about the argument of the function.

    `advice` is what to write, with ``{}`` for the name of the argument.
    """
    if not any(text in str(error) for text in ("lies in memory of device", "operands live in different contexts")):
        return
    for parameter, arg in named(function, args):
        if (name := _on_other_device(parameter, arg, device)) is not None:
            text = f"{name} lies in memory of another device than {where}"
            error.args = (f"{text}; write `{advice.format(name)}`",)
            return


def _on_other_device(name: str, value: Any, device: Device) -> str | None:
    """The name of an argument, or of its part, that is not on a device and not empty."""
    if isinstance(value, tuple):
        found = (_on_other_device(f"{name}[{k}]", item, device) for k, item in enumerate(value))
        return next((each for each in found if each is not None), None)
    array = value.values if isinstance(value, ragged) else value
    if isinstance(array, _native.GPUArray) and array.size and array.device != device:
        return name
    return None


def program_of(function: CuFunction) -> _native.LangProgram:
    """The program of a function, made once."""
    found: _native.LangProgram | None = function.__dict__.get("_program")
    if found is None:
        found = function.__dict__["_program"] = _native.LangProgram(function, function._contract)
    return found


# -- arguments and results that the native code leaves to Python ----------------------------------


def argument(name: str, value: Any) -> Any:
    """An argument as the native code takes it: a number, a `GPUArray`, a tuple, or a list that begins with its kind."""
    from rtcg import numpy as device_arrays

    if isinstance(value, ragged):
        return ["ragged", device_arrays.asarray(value.offsets, np.int64), argument(name, value.values)]
    if all(hasattr(value, attribute) for attribute in ("indptr", "indices", "data")):
        if getattr(value, "format", "csr") != "csr":
            raise unexpected(name, value)
        return tuple(Rows(ragged(part, value.indptr)) for part in (value.data, value.indices))
    if isinstance(value, Rows):
        return argument(name, value.rows)
    if isinstance(value, range):
        value = np.array(value, np.int64)
    if isinstance(value, list):
        value = list_to_array(name, value) if value else np.empty(0)
        if isinstance(value, (ragged, tuple)):
            return argument(name, value)
    if isinstance(value, tuple):
        return value
    if isinstance(value, (np.ndarray, np.generic)) or is_device_array(value) or hasattr(value, "__dlpack__"):
        if isinstance(value, np.ndarray) and not value.dtype.isnative:
            value = value.astype(value.dtype.newbyteorder("="))
        dtype = getattr(value, "dtype", None)
        if isinstance(value, (np.ndarray, np.generic)):
            check_array(name, value)
        elif isinstance(dtype, np.dtype):
            check_dtype(name, dtype)
        if isinstance(dtype, np.dtype) and dtype.names is not None:
            return ["zip", *(argument(name, value[field]) for field in dtype.names)]
        return device_arrays.asarray(value) if hasattr(value, "dtype") else device_arrays.from_dlpack(value)
    if is_function(name, value):
        return ["function", value]
    raise unexpected(name, value)


class Rows:
    """Rows in a tuple of arguments."""

    def __init__(self, rows: ragged) -> None:
        self.rows = rows


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
