"""C functions of NVIDIA's libraries, called by name: what `rtcg.cublas`, `rtcg.cufft` and `rtcg.cusolver` share.

A `RawFunction` takes what the function of C takes, but for results in host memory, which it returns; the native module
has the declarations.
"""

from __future__ import annotations

import functools
import inspect
import operator
import struct
from typing import Any, NamedTuple

import numpy as np

from rtcg import _native
from rtcg._messages import shown
from rtcg.numpy import GPUArray


class _Parameter(NamedTuple):
    name: str
    kind: str
    #: The dtype of numbers in host memory, or "pointer".
    dtype: str
    length: int


def _address(name: str, value: Any) -> int:
    """The address of memory on the device."""
    if value is None:
        return 0
    try:
        return int(getattr(value, "gpudata", value) or 0)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(value)}; expected an array on the device or a device pointer") from None


def _handle(name: str, value: Any) -> int:
    if value is None:
        return 0
    try:
        return operator.index(getattr(value, "handle", value))
    except TypeError:
        raise TypeError(f"{name} is {shown(value)}; expected a handle") from None


_LIMITS = {"int8": (-(2**7), 2**8), "int32": (-(2**31), 2**32), "int64": (-(2**63), 2**63)}


def _integer(library: str, name: str, value: Any, dtype: str) -> int:
    if isinstance(value, str):
        if dtype == "int8" and len(value) == 1:
            return ord(value)
        value = constants(library).get(value, value)
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {shown(value)}; expected an integer or the name of a constant") from None
    least, end = _LIMITS[dtype]
    if not least <= number < end:
        raise ValueError(f"{name} is {number}; expected an integer from {least} to {end - 1}")
    return number


def _host_numbers(parameter: _Parameter, value: Any) -> tuple[int, Any]:
    """The address of numbers in host memory, and what keeps it alive; `value` is memory of the device, or numbers."""
    if isinstance(value, (GPUArray, _native.DeviceAllocation)):
        return _address(parameter.name, value), value
    dtype = np.dtype(np.uintp if parameter.dtype == "pointer" else parameter.dtype)
    if value is None:
        memory = np.zeros(parameter.length, dtype)
        return memory.ctypes.data, memory
    if dtype.kind != "c" and np.iscomplexobj(value):
        raise TypeError(f"{parameter.name} is {shown(value)}; expected a real number")
    try:
        memory = np.array(value, dtype, ndmin=1)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{parameter.name} is {shown(value)}; expected numbers of {dtype}") from None
    return memory.ctypes.data, memory


class RawFunction:
    """A function of C. Its results in host memory are returned: one, or a tuple of several.

    Device memory is given as an array, an allocation or an address; scalars as numbers, or as arrays on the device in
    the library's device pointer mode; values of enumerations as integers or by their C names. A result that is given a
    place on the device (`result=array`) is not returned. Handles are objects of this package, whose work goes to the
    current stream, or integers of the library, which have streams of their own.
    """

    def __init__(self, library: str, name: str, parameters: list[tuple[str, str, str, int]], instead: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = f"rtcg.{library}"
        self._library = library
        self._instead = instead
        self._parameters = [_Parameter(*parameter) for parameter in parameters]
        kinds = inspect.Parameter
        given = [kinds(p.name, kinds.POSITIONAL_OR_KEYWORD) for p in self._parameters if p.kind != "output"]
        results = [kinds(p.name, kinds.KEYWORD_ONLY, default=None) for p in self._parameters if p.kind == "output"]
        self.__signature__ = inspect.Signature(given + results)

    def __repr__(self) -> str:
        return f"<function {self.__module__}.{self.__name__}{self.__signature__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self.__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        words, kept, results = [], [], []
        for parameter in self._parameters:
            value = bound.arguments[parameter.name]
            word, memory = self._word(parameter, value)
            words.append(word & 0xFFFF_FFFF_FFFF_FFFF)
            kept.append((value, memory))
            is_result = parameter.kind == "inout" or (parameter.kind == "output" and value is None)
            if is_result and isinstance(memory, np.ndarray):
                results.append(memory)
        _native.library_call(self._library, self.__name__, words, self._instead)
        del kept
        found = [memory[0] if memory.size == 1 else memory for memory in results]
        found = [int(value) if isinstance(value, np.integer) else value for value in found]
        return found[0] if len(found) == 1 else tuple(found) if found else None

    def _word(self, parameter: _Parameter, value: Any) -> tuple[int, Any]:
        name, kind = parameter.name, parameter.kind
        if kind == "integer":
            return _integer(self._library, name, value, parameter.dtype), None
        if kind == "double":
            return struct.unpack("=q", struct.pack("=d", value))[0], None
        if kind == "handle":
            return _handle(name, value), value
        if kind == "device":
            return _address(name, value), value
        if kind == "host" and isinstance(value, np.ndarray):
            return value.ctypes.data, value
        if kind == "host":
            return _address(name, value), value
        if kind == "input" and value is None:
            # Such as the layouts of plans, which may be absent.
            return 0, None
        return _host_numbers(parameter, value)


_constants = functools.cache(_native.library_constants)


def constants(library: str) -> dict[str, int]:
    """The values of a library's enumerations, by their C names."""
    return _constants(library)


def _read_signatures(library: str) -> dict[str, list[tuple[str, str, str, int]]]:
    return {name: parameters for name, _, parameters in _native.library_signatures(library)}


_signatures = functools.cache(_read_signatures)


def _make_function(library: str, name: str) -> RawFunction:
    return RawFunction(library, name, _signatures(library)[name], "rtcg.fft" if library == "cufft" else "rtcg.linalg")


_raw_function = functools.cache(_make_function)


def raw_function(library: str, name: str) -> RawFunction | None:
    """A declared function; those whose C names end in ``_v2`` also without it."""
    known = _signatures(library)
    name = f"{name}_v2" if f"{name}_v2" in known else name
    return _raw_function(library, name) if name in known else None


def attribute(module: str, name: str) -> Any:
    """What ``__getattr__`` of a module returns: a function or a constant of C, or whether the library can be used."""
    library = module.rpartition(".")[2]
    if name == "available":
        return _is_available(library)
    found = None if name.startswith("__") else constants(library).get(name, raw_function(library, name))
    if found is None:
        raise AttributeError(f"module {shown(module)} has no attribute {name!r}")
    return found


def _is_available(library: str) -> bool:
    try:
        context = _native.Context.get_current()
        if context is None or context.get_device().is_virtual:
            return False
        _native.library_load(library)
    except Exception:
        return False
    return True


def directory(library: str, names: list[str]) -> list[str]:
    """What ``dir`` of a module shows."""
    return sorted({*names, *constants(library), *_signatures(library), "available"})


def array(name: str, value: Any) -> GPUArray:
    """An argument that must be an array on the device."""
    if isinstance(value, GPUArray):
        return value
    raise TypeError(f"{name} is {shown(value)}; expected an array on the device (rtcg.numpy.asarray copies one there)")


def optional_array(name: str, value: Any) -> GPUArray | None:
    """An argument that may be missing."""
    return None if value is None else array(name, value)


def choice(name: str, value: Any, values: dict[Any, Any]) -> Any:
    """What an option stands for."""
    try:
        return values[value]
    except (KeyError, TypeError):
        expected = ", ".join(repr(known) for known in values)
        raise ValueError(f"{name} is {shown(value)}; expected one of {expected}") from None


def version_and_path(library: str) -> tuple[tuple[int, int], str]:
    """The version and the file of a library, which is opened."""
    path, version, _ = _native.library_load(library)
    return (version // 1000, version % 1000 // 10), str(path)
