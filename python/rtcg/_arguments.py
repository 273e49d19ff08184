"""Declared parameters of generated kernels; public through `rtcg.tools`."""

from __future__ import annotations

from rtcg import _native
from rtcg._lazy import np
from rtcg._messages import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def _ctype(dtype: Any) -> str:
    from rtcg._dtypes import dtype_to_ctype

    return dtype_to_ctype(dtype)


class Argument:
    """A parameter of a kernel; use :class:`VectorArg` or :class:`ScalarArg`.

    Parameters
    ----------
    dtype : dtype
        Dtype of an element or of the value.
    name : str
        C identifier.
    """

    is_vector = False
    is_const = False

    def __init__(self, dtype: Any, name: str) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.name = name

    def declarator(self) -> str:
        """The declaration in C."""
        raise NotImplementedError

    @property
    def struct_char(self) -> str:
        """The format character of the type in `struct`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), self.dtype, self.name))


class VectorArg(Argument):
    """A pointer to elements: calls take a `GPUArray` for it. `const` says that the kernel only reads (an addition)."""

    is_vector = True
    struct_char = "P"

    def __init__(self, dtype: Any, name: str, const: bool = False) -> None:
        super().__init__(dtype, name)
        self.is_const = const

    def declarator(self) -> str:
        return f"{'const ' if self.is_const else ''}{_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """One value."""

    def declarator(self) -> str:
        return f"{_ctype(self.dtype)} {self.name}"

    @property
    def struct_char(self) -> str:
        """The format character of the type in `struct`; for structures the number of bytes and ``s``."""
        return f"{self.dtype.itemsize}s" if self.dtype.kind == "V" else self.dtype.char


def parse_c_arg(c_arg: str) -> Argument:
    """Return the :class:`VectorArg` or :class:`ScalarArg` of a C declaration such as ``const float *x``."""
    is_vector, is_const, dtype, name = _native.parse_declaration(c_arg)
    return VectorArg(dtype, name, is_const) if is_vector else ScalarArg(dtype, name)


def get_arg_type(c_arg: str) -> str:
    """Return the format character with which `Function.prepare` describes the type of a C declaration."""
    return parse_c_arg(c_arg).struct_char


_TEXTURE_TYPES = {"float32": "float", "float64": "double", "complex64": "cfloat", "complex128": "cdouble"}


def dtype_to_ctype(dtype: Any, with_fp_tex_hack: bool = False) -> str:
    """The C type of a dtype as kernels write it, a str such as ``"unsigned char"`` or ``"pycuda::complex<float>"``.

    `with_fp_tex_hack` gives the types through which textures of doubles are read. Raises `ValueError` for a dtype
    without a C type.
    """
    if dtype is None:
        raise ValueError("dtype may not be None")
    dtype = np.dtype(dtype)
    if with_fp_tex_hack and dtype.name in _TEXTURE_TYPES:
        return f"fp_tex_{_TEXTURE_TYPES[dtype.name]}"
    return _ctype(dtype)


def parse_arguments(arguments: str | Sequence[Argument | str]) -> list[Argument]:
    """`arguments` (C declarations, or a list) as a new list of arguments."""
    if isinstance(arguments, str):
        if "=" in arguments or ";" in arguments:
            raise ValueError(
                f"arguments is {shown(arguments)}, a statement; expected declarations such as 'float *x, float a', "
                "which come before the operation"
            )
        return [parse_c_arg(part) for part in _split_declarations(arguments)]
    return [parse_c_arg(a) if isinstance(a, str) else a for a in arguments]


def _split_declarations(text: str) -> list[str]:
    """The parts between commas outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "<([") - (c in ">)]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part for part in parts if part.strip()]


def c_literal(value: Any, dtype: Any) -> str:
    """A neutral element as a C expression: text is unchanged, numbers are written for `dtype`."""
    if isinstance(value, str):
        return value
    if getattr(value, "shape", ()) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, complex):
        return f"{dtype_to_ctype(dtype)}({c_literal(value.real, float)}, {c_literal(value.imag, float)})"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value != value:
            return "NAN"
        if value in (float("inf"), float("-inf")):
            return "INFINITY" if value > 0 else "-INFINITY"
        return repr(value)
    if isinstance(value, int) and value > 0x7FFFFFFFFFFFFFFF:
        return f"{value}ull"
    if value == -0x8000000000000000:
        return "(-9223372036854775807ll - 1)"
    return f"{value}ll" if isinstance(value, int) and abs(value) > 0x7FFFFFFF else str(value)
