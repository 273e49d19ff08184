"""Declarators of CUDA C++."""

from rtcg.cgen._declarators import DeclSpecifier, NestedDeclarator, RestrictPointer

__all__ = ["CudaConstant", "CudaDevice", "CudaGlobal", "CudaLaunchBounds", "CudaRestrictPointer", "CudaShared"]


class CudaGlobal(DeclSpecifier):
    mapper_method = "map_cuda_global"

    def __init__(self, subdecl):
        super().__init__(subdecl, "__global__")


class CudaDevice(DeclSpecifier):
    mapper_method = "map_cuda_device"

    def __init__(self, subdecl):
        super().__init__(subdecl, "__device__")


class CudaShared(DeclSpecifier):
    mapper_method = "map_cuda_shared"

    def __init__(self, subdecl):
        super().__init__(subdecl, "__shared__")


class CudaConstant(DeclSpecifier):
    mapper_method = "map_cuda_constant"

    def __init__(self, subdecl):
        super().__init__(subdecl, "__constant__")


class CudaRestrictPointer(RestrictPointer):
    mapper_method = "map_cuda_restrict_pointer"


class CudaLaunchBounds(NestedDeclarator):
    _kind = "launch_bounds"
    mapper_method = "map_cuda_launch_bounds"

    def __init__(self, max_threads_per_block, subdecl, min_blocks_per_mp=None):
        super().__init__(subdecl)
        self.max_threads_per_block = max_threads_per_block
        self.min_blocks_per_mp = min_blocks_per_mp
