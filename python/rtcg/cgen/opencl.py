"""Declarators of OpenCL C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rtcg._messages import shown
from rtcg._native import cgen_cltype as dtype_to_cltype
from rtcg.cgen._base import Declarator, _Node
from rtcg.cgen._declarators import DeclSpecifier, NestedDeclarator, Value

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


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
    """A kernel (``__kernel``)."""

    mapper_method = "map_cl_kernel"

    def __init__(self, subdecl: _Node) -> None:
        super().__init__(subdecl, "__kernel")


class CLConstant(DeclSpecifier):
    """A variable in constant memory (``__constant``)."""

    mapper_method = "map_cl_constant"

    def __init__(self, subdecl: _Node) -> None:
        super().__init__(subdecl, "__constant")


class CLLocal(DeclSpecifier):
    """A variable in local memory (``__local``)."""

    mapper_method = "map_cl_local"

    def __init__(self, subdecl: _Node) -> None:
        super().__init__(subdecl, "__local")


class CLGlobal(DeclSpecifier):
    """A variable in global memory (``__global``)."""

    mapper_method = "map_cl_global"

    def __init__(self, subdecl: _Node) -> None:
        super().__init__(subdecl, "__global")


class CLImage(Value):
    """An image with `dims` dimensions; `mode` is ``"r"`` or ``"w"``."""

    mapper_method = "map_cl_image"

    def __init__(self, dims: int, mode: Literal["r", "w"], name: str) -> None:
        if mode not in ("r", "w"):
            raise ValueError(f"mode is {shown(mode)}, expected 'r' or 'w'")
        super().__init__(f"__{'read' if mode == 'r' else 'write'}_only image{dims}d_t", name)


class CLVecTypeHint(NestedDeclarator):
    """A vector type hint: `dtype` and `count`, or its name `type_str`."""

    _kind = "vec_type_hint"
    mapper_method = "map_cl_vec_type_hint"

    def __init__(
        self, subdecl: _Node, dtype: DTypeLike | None = None, count: int | None = None, type_str: str | None = None
    ) -> None:
        if (dtype is None) != (count is None):
            raise ValueError(f"dtype is {shown(dtype)} and count is {shown(count)}, expected both or neither")
        if (dtype is None) == (type_str is None):
            raise ValueError(f"dtype is {shown(dtype)} and type_str is {shown(type_str)}, expected exactly one of them")
        super().__init__(subdecl)
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.count = count
        self.type_str = f"{dtype_to_cltype(dtype)}{count}" if type_str is None else type_str


class _WorkGroupSize(NestedDeclarator):
    def __init__(self, dim: tuple[int, ...], subdecl: _Node) -> None:
        super().__init__(subdecl)
        self.dim = (*dim, *(1,) * (3 - len(dim)))


class CLWorkGroupSizeHint(_WorkGroupSize):
    """A kernel that is usually launched with a work-group of this size (``work_group_size_hint``)."""

    _kind = "work_group_size_hint"
    mapper_method = "map_cl_workgroup_size_hint"


class CLRequiredWorkGroupSize(_WorkGroupSize):
    """A kernel that is only launched with a work-group of this size (``reqd_work_group_size``)."""

    _kind = "required_work_group_size"
    mapper_method = "map_cl_required_wokgroup_size"


class CLVectorPOD(Declarator):
    """A variable of a vector type."""

    _kind = "cl_vector"
    mapper_method = "map_cl_vector_pod"

    def __init__(self, dtype: DTypeLike, count: int, name: str) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.count = count
        self.name = name

    def struct_maker_code(self, data: str) -> str:
        return data

    def struct_format(self) -> str:
        return f"{self.count}{self.dtype.char}"

    def alignment_requirement(self) -> int:
        return self.count * self.dtype.itemsize

    def default_value(self) -> Any:
        return [0] * self.count
