"""Declarators of CUDA C++."""

from __future__ import annotations

from rtcg.cgen._base import _Node
from rtcg.cgen._declarators import DeclSpecifier, NestedDeclarator, RestrictPointer

__all__ = ["CudaConstant", "CudaDevice", "CudaGlobal", "CudaLaunchBounds", "CudaRestrictPointer", "CudaShared"]


class CudaGlobal(DeclSpecifier):
    """A kernel (``__global__``)."""

    mapper_method = "map_cuda_global"

    def __init__(self, subdecl: _Node) -> None:
        super().__init__(subdecl, "__global__")


class CudaDevice(DeclSpecifier):
    """A device function or variable (``__device__``)."""

    mapper_method = "map_cuda_device"

    def __init__(self, subdecl: _Node) -> None:
        super().__init__(subdecl, "__device__")


class CudaShared(DeclSpecifier):
    """A variable in shared memory (``__shared__``)."""

    mapper_method = "map_cuda_shared"

    def __init__(self, subdecl: _Node) -> None:
        super().__init__(subdecl, "__shared__")


class CudaConstant(DeclSpecifier):
    """A variable in constant memory (``__constant__``)."""

    mapper_method = "map_cuda_constant"

    def __init__(self, subdecl: _Node) -> None:
        super().__init__(subdecl, "__constant__")


class CudaRestrictPointer(RestrictPointer):
    """A pointer without aliases (``__restrict__``)."""

    mapper_method = "map_cuda_restrict_pointer"


class CudaLaunchBounds(NestedDeclarator):
    """A kernel with ``__launch_bounds__``: the most threads per block and the fewest blocks per multiprocessor."""

    _kind = "launch_bounds"
    mapper_method = "map_cuda_launch_bounds"

    def __init__(self, max_threads_per_block: _Node, subdecl: _Node, min_blocks_per_mp: _Node | None = None) -> None:
        super().__init__(subdecl)
        self.max_threads_per_block = max_threads_per_block
        self.min_blocks_per_mp = min_blocks_per_mp
