"""C names of dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._messages import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    _T = TypeVar("_T")

__all__ = [
    "DTYPE_TO_NAME", "NAME_TO_DTYPE", "TYPE_REGISTRY", "DTypeRegistry", "TypeNameNotKnown", "dtype_to_ctype",
    "fill_registry_with_c99_complex_types", "fill_registry_with_c99_stdint_types", "fill_registry_with_c_types",
    "fill_registry_with_opencl_c_types", "get_or_register_dtype", "parse_c_arg_backend", "register_dtype",
]  # fmt: skip


class TypeNameNotKnown(RuntimeError):  # noqa: N818
    """A C name for which no dtype is registered."""


def _as_list(c_names: str | Sequence[str]) -> list[str]:
    return [c_names] if isinstance(c_names, str) else list(c_names)


class DTypeRegistry:
    """A registry of C names for dtypes, which is initially empty."""

    def __init__(self) -> None:
        self.dtype_to_name: dict[np.dtype[Any], str] = {}
        self.name_to_dtype: dict[str, np.dtype[Any]] = {}

    def get_or_register_dtype(self, names: str | Sequence[str], dtype: Any = None) -> np.dtype[Any]:
        """Return the dtype of C names; with `dtype`, first register them as its names.

        Parameters
        ----------
        names : str or sequence of str
            The first one is the name that :meth:`dtype_to_ctype` returns.
        dtype : dtype, optional
            Raises ``RuntimeError`` if a name already means another dtype.
        """
        names = _as_list(names)
        if dtype is None:
            for name in names:
                if name in self.name_to_dtype:
                    return self.name_to_dtype[name]
            raise TypeNameNotKnown(f"name {shown(names[0])} not known")
        dtype = np.dtype(dtype)
        for name in names:
            known = self.name_to_dtype.setdefault(name, dtype)
            if known != dtype:
                raise RuntimeError(f"name {shown(name)} is already the dtype {known}; it cannot become {dtype}")
        self.dtype_to_name.setdefault(dtype, names[0])
        return self.name_to_dtype[names[0]]

    def dtype_to_ctype(self, dtype: Any) -> str:
        """Return the C name of a dtype; ``ValueError`` if it has none."""
        if dtype is None:
            raise ValueError("dtype may not be None")
        dtype = np.dtype(dtype)
        try:
            return self.dtype_to_name[dtype]
        except KeyError:
            raise ValueError(f"unable to map dtype '{dtype}'") from None


class _SharedRegistry(DTypeRegistry):
    """The registry with which kernels of this package are made; it knows the names of C and CUDA."""

    def get_or_register_dtype(self, names: str | Sequence[str], dtype: Any = None) -> np.dtype[Any]:
        names = _as_list(names)
        if dtype is None:
            try:
                return _native.dtype_of_c_name(names[0])
            except ValueError:
                raise TypeNameNotKnown(f"name {shown(names[0])} not known") from None
        try:
            dtype = _native.register_ctype(names, np.dtype(dtype))
        except ValueError as error:
            raise RuntimeError(str(error)) from None
        self.name_to_dtype.update(dict.fromkeys(names, dtype))
        self.dtype_to_name.setdefault(dtype, names[0])
        return dtype

    def dtype_to_ctype(self, dtype: Any) -> str:
        if dtype is None:
            raise ValueError("dtype may not be None")
        return _native.c_name_of_dtype(np.dtype(dtype))


_C_TYPES = {
    np.int8: ["signed char", "char"], np.uint8: ["unsigned char"],
    np.int16: ["short", "signed short", "signed short int", "short signed int"],
    np.uint16: ["unsigned short", "unsigned short int", "short unsigned int"],
    np.int32: ["int", "signed int"], np.uint32: ["unsigned int", "unsigned"],
    np.float32: ["float"], np.float64: ["double"],
}  # fmt: skip


def fill_registry_with_c_types(reg: DTypeRegistry, respect_windows: bool, include_bool: bool = True) -> None:
    """Register the names of C; with `respect_windows`, ``long`` has its size on this platform."""
    import platform

    if include_bool:
        reg.get_or_register_dtype("bool", np.bool_)
    for dtype, names in _C_TYPES.items():
        reg.get_or_register_dtype(names, dtype)
    windows = respect_windows and platform.system() == "Windows"
    long = "long long" if windows else "long"
    unsigned = [f"unsigned {long}", f"unsigned {long} int"] + ([] if windows else ["long unsigned int"])
    reg.get_or_register_dtype([long, f"{long} int", f"signed {long}"], np.int64)
    reg.get_or_register_dtype(unsigned, np.uint64)


def fill_registry_with_opencl_c_types(reg: DTypeRegistry) -> None:
    """Register the names of OpenCL C."""
    for name, dtype in [
        ("char", np.int8), ("short", np.int16), ("int", np.int32), ("long", np.int64), ("half", np.float16),
        ("float", np.float32), ("double", np.float64),
    ]:  # fmt: skip
        reg.get_or_register_dtype(name, dtype)
    for name, dtype in [("uchar", np.uint8), ("ushort", np.uint16), ("uint", np.uint32), ("ulong", np.uint64)]:
        reg.get_or_register_dtype([name, name.replace("u", "unsigned ", 1)], dtype)


def fill_registry_with_c99_stdint_types(reg: DTypeRegistry) -> None:
    """Register the names of ``<stdint.h>``."""
    reg.get_or_register_dtype("bool", np.bool_)
    for bits in (8, 16, 32, 64):
        reg.get_or_register_dtype(f"int{bits}_t", np.dtype(f"int{bits}"))
        reg.get_or_register_dtype(f"uint{bits}_t", np.dtype(f"uint{bits}"))
    reg.get_or_register_dtype("float", np.float32)
    reg.get_or_register_dtype("double", np.float64)


def fill_registry_with_c99_complex_types(reg: DTypeRegistry) -> None:
    """Register the names of ``<complex.h>``."""
    reg.get_or_register_dtype("float complex", np.complex64)
    reg.get_or_register_dtype("double complex", np.complex128)
    reg.get_or_register_dtype("long double complex", np.clongdouble)


#: The registry that kernels are made with.
TYPE_REGISTRY: DTypeRegistry = _SharedRegistry()
#: Names that were registered here, and their dtypes, both ways.
DTYPE_TO_NAME: dict[np.dtype[Any], str] = TYPE_REGISTRY.dtype_to_name
NAME_TO_DTYPE: dict[str, np.dtype[Any]] = TYPE_REGISTRY.name_to_dtype
fill_registry_with_c_types(TYPE_REGISTRY, respect_windows=True)
TYPE_REGISTRY.get_or_register_dtype("pycuda::complex<float>", np.complex64)
TYPE_REGISTRY.get_or_register_dtype("pycuda::complex<double>", np.complex128)

dtype_to_ctype = TYPE_REGISTRY.dtype_to_ctype
get_or_register_dtype = TYPE_REGISTRY.get_or_register_dtype


def register_dtype(dtype: Any, c_names: str | Sequence[str], alias_ok: bool = False) -> None:
    """Register C names for `dtype`. Deprecated: use :func:`get_or_register_dtype`.

    Unless `alias_ok`, raises ``RuntimeError`` for a dtype or name that is already registered.
    """
    from warnings import warn

    warn("register_dtype is deprecated. Use get_or_register_dtype instead.", DeprecationWarning, stacklevel=2)
    names = _as_list(c_names)
    known = [name for name in names if name in NAME_TO_DTYPE]
    if not alias_ok and (known or np.dtype(dtype) in DTYPE_TO_NAME):
        raise RuntimeError(f"{known or dtype} already registered (alias_ok=True allows it)")
    get_or_register_dtype(names, dtype)


def parse_c_arg_backend(
    c_arg: str,
    scalar_arg_factory: Callable[[np.dtype[Any], str], _T],
    vec_arg_factory: Callable[[np.dtype[Any], str], _T],
    name_to_dtype: Callable[[str], Any] | Mapping[str, Any] | None = None,
) -> _T:
    """Parse a C declaration such as ``const float *x``.

    Parameters
    ----------
    scalar_arg_factory, vec_arg_factory : callable
        Called as ``factory(dtype, name)`` for a value and for a pointer or array.
    name_to_dtype : callable or dict, optional
        Looks up type names, instead of :data:`TYPE_REGISTRY`.
    """
    if name_to_dtype is None:
        is_vector, _, dtype, name = _native.parse_declaration(c_arg)
        return (vec_arg_factory if is_vector else scalar_arg_factory)(dtype, name)
    import re

    text = re.sub(r"\b(const|volatile|restrict|__restrict__|__restrict)\b", " ", c_arg)
    match = re.fullmatch(r"(.*?)\s*(\*?)\s*\b(\w+)\s*(\[[^]]*\])?\s*", text, re.DOTALL)
    if not match:
        raise ValueError(f"{shown(c_arg)} is no declaration of a C parameter")
    type_name, name = " ".join(match[1].split()), match[3]
    lookup = name_to_dtype if callable(name_to_dtype) else name_to_dtype.__getitem__
    try:
        dtype = lookup(type_name)
    except (LookupError, TypeNameNotKnown):
        raise ValueError(f"unknown type '{type_name}' in the declaration {shown(c_arg)}") from None
    return (vec_arg_factory if match[2] or match[4] else scalar_arg_factory)(dtype, name)
