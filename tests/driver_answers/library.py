"""The functions of a driver by `ctypes`, with the signatures of the project's declaration list."""

from __future__ import annotations

import ctypes
import re
from enum import IntEnum
from pathlib import Path

SYS = Path(__file__).resolve().parents[2] / "crates/cuda-sys/src"
SCALARS = {
    "c_int": ctypes.c_int,
    "c_uint": ctypes.c_uint,
    "c_uchar": ctypes.c_ubyte,
    "c_ushort": ctypes.c_ushort,
    "f32": ctypes.c_float,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "usize": ctypes.c_size_t,
    "CUdevice": ctypes.c_int,
    "CUdeviceptr": ctypes.c_uint64,
    "CUtexObject": ctypes.c_uint64,
    "CUsurfObject": ctypes.c_uint64,
    "CUmemGenericAllocationHandle": ctypes.c_uint64,
}
HANDLES = set(
    "CUarray CUcontext CUevent CUfunction CUgraph CUgraphExec CUgraphNode CUkernel CUlibrary CUlinkState CUmemoryPool"
    " CUmipmappedArray CUmodule CUstream CUtexref CUsurfref CUuserObject CUhostFn CUstreamCallback"
    " CUoccupancyB2DSize".split()
)


class Location(ctypes.Structure):
    """`CUmemLocation`"""

    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class IpcHandle(ctypes.Structure):
    """`CUipcMemHandle` and `CUipcEventHandle`"""

    _fields_ = [("reserved", ctypes.c_char * 64)]


STRUCTS = {"CUmemLocation": Location, "CUipcMemHandle": IpcHandle, "CUipcEventHandle": IpcHandle}


def _ctype(declared: str) -> type:
    if declared.startswith("*") or declared in HANDLES:
        return ctypes.c_void_p
    # What is neither is an enumeration, which C passes as an int.
    return SCALARS.get(declared) or STRUCTS.get(declared) or ctypes.c_uint


def _declarations() -> dict[str, tuple[str, list[type]]]:
    """Symbol and argument types by name."""
    entry = re.compile(r'^ +(cu\w+) = "(\w+)" since \d+ \((.*)\);$', re.MULTILINE)
    found = {}
    for name, symbol, arguments in entry.findall((SYS / "functions.rs").read_text()):
        found[name] = symbol, [_ctype(a.split(": ")[1]) for a in arguments.split(", ") if a]
    return found


DECLARATIONS = _declarations()
Result = IntEnum("Result", re.findall(r"CUDA_(?:ERROR_)?(\w+) = (\d+)", (SYS / "types/result.rs").read_text()))


def _by_symbol(library: ctypes.CDLL, symbol: str) -> int | None:
    try:
        return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
    except AttributeError:
        return None


class Driver:
    """The functions of a driver as methods that return a `Result`.

    `path` is a library in the place of `libcuda.so.1`; without it the driver tables of the installed package are used.
    """

    def __init__(self, path: str | None, virtual: bool = False) -> None:
        if path:
            library = ctypes.CDLL(path)
            self._address = lambda name: _by_symbol(library, DECLARATIONS[name][0])
        else:
            from rtcg import _native

            self._address = lambda name: _native.driver_function_address(name, virtual=virtual)

    def __getattr__(self, name: str):
        if not name.startswith("cu"):
            raise AttributeError(name)
        address = self._address(name)
        if not address:
            raise AttributeError(f"the driver has no {name}")
        raw = ctypes.CFUNCTYPE(ctypes.c_int, *DECLARATIONS[name][1])(address)

        def call(*arguments):
            code = raw(*arguments)
            return Result(code) if code in Result._value2member_map_ else code

        setattr(self, name, call)
        return call
