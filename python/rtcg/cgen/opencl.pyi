"""Declarators of OpenCL C."""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import DTypeLike

from rtcg._native import cgen_cltype as dtype_to_cltype
from rtcg.cgen._base import Declarator, _Node
from rtcg.cgen._declarators import DeclSpecifier, NestedDeclarator, Value

__all__ = [
    "CLConstant",
    "CLGlobal",
    "CLImage",
    "CLKernel",
    "CLLocal",
    "CLRequiredWorkGroupSize",
    "CLVecTypeHint",
    "CLVectorPOD",
    "CLWorkGroupSizeHint",
    "dtype_to_cltype",
]

class CLKernel(DeclSpecifier):
    mapper_method: ClassVar[str]
    def __init__(self, subdecl: _Node) -> None: ...

class CLConstant(DeclSpecifier):
    mapper_method: ClassVar[str]
    def __init__(self, subdecl: _Node) -> None: ...

class CLLocal(DeclSpecifier):
    mapper_method: ClassVar[str]
    def __init__(self, subdecl: _Node) -> None: ...

class CLGlobal(DeclSpecifier):
    mapper_method: ClassVar[str]
    def __init__(self, subdecl: _Node) -> None: ...

class CLImage(Value):
    """An image with `dims` dimensions; `mode` is ``"r"`` or ``"w"``."""

    mapper_method: ClassVar[str]
    def __init__(self, dims: int, mode: Literal["r", "w"], name: str) -> None: ...

class CLVecTypeHint(NestedDeclarator):
    """A vector type hint: `dtype` and `count`, or its name `type_str`."""

    mapper_method: ClassVar[str]
    dtype: np.dtype[Any]
    count: int | None
    type_str: str
    def __init__(
        self, subdecl: _Node, dtype: DTypeLike | None = None, count: int | None = None, type_str: str | None = None
    ) -> None: ...

class _WorkGroupSize(NestedDeclarator):
    dim: tuple[int, ...]
    def __init__(self, dim: tuple[int, ...], subdecl: _Node) -> None: ...

class CLWorkGroupSizeHint(_WorkGroupSize):
    mapper_method: ClassVar[str]

class CLRequiredWorkGroupSize(_WorkGroupSize):
    mapper_method: ClassVar[str]

class CLVectorPOD(Declarator):
    """A variable of a vector type."""

    mapper_method: ClassVar[str]
    dtype: np.dtype[Any]
    count: int
    name: str
    def __init__(self, dtype: DTypeLike, count: int, name: str) -> None: ...
    def struct_maker_code(self, data: str) -> str: ...
    def struct_format(self) -> str: ...
    def alignment_requirement(self) -> int: ...
    def default_value(self) -> Any: ...
