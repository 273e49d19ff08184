from collections.abc import Sequence
from typing import Any

from rtcg import _native
from rtcg._arguments import Argument, ScalarArg as ScalarArg, VectorArg as VectorArg
from rtcg._native import Function, TextureReference

class ElementwiseKernel(_native.ElementwiseKernel):
    arguments: tuple[Argument, ...]
    def __init__(
        self,
        arguments: Any,
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        **kwargs: str,
    ) -> None: ...
    def generate_stride_kernel_and_types(self, use_range: bool) -> tuple[Any, Function, list[Argument]]: ...

class ElementwiseModule:
    def __init__(self, kernel: ElementwiseKernel, use_range: bool) -> None: ...
    def get_function(self, name: str) -> Function: ...
    def get_global(self, name: str) -> tuple[int, int]: ...
    def get_texref(self, name: str) -> TextureReference: ...

def prepared_kernel(
    module: ElementwiseModule, name: str, arguments: list[Argument], use_range: bool
) -> tuple[ElementwiseModule, Function, list[Argument]]: ...
