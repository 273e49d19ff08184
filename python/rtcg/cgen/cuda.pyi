"""Declarators of CUDA C++."""

from typing import ClassVar

from rtcg.cgen._base import _Node
from rtcg.cgen._declarators import DeclSpecifier, NestedDeclarator, RestrictPointer

__all__ = ["CudaConstant", "CudaDevice", "CudaGlobal", "CudaLaunchBounds", "CudaRestrictPointer", "CudaShared"]

class CudaGlobal(DeclSpecifier):
    mapper_method: ClassVar[str]
    def __init__(self, subdecl: _Node) -> None: ...

class CudaDevice(DeclSpecifier):
    mapper_method: ClassVar[str]
    def __init__(self, subdecl: _Node) -> None: ...

class CudaShared(DeclSpecifier):
    mapper_method: ClassVar[str]
    def __init__(self, subdecl: _Node) -> None: ...

class CudaConstant(DeclSpecifier):
    mapper_method: ClassVar[str]
    def __init__(self, subdecl: _Node) -> None: ...

class CudaRestrictPointer(RestrictPointer):
    mapper_method: ClassVar[str]

class CudaLaunchBounds(NestedDeclarator):
    mapper_method: ClassVar[str]
    max_threads_per_block: _Node
    min_blocks_per_mp: _Node | None
    def __init__(
        self, max_threads_per_block: _Node, subdecl: _Node, min_blocks_per_mp: _Node | None = None
    ) -> None: ...
