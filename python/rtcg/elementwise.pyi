from collections.abc import Sequence
from typing import Any, overload

from rtcg import _native
from rtcg._arguments import Argument, ScalarArg as ScalarArg, VectorArg as VectorArg
from rtcg._native import Function, TextureReference
from rtcg._typed_kernels import TypedElementwiseKernel as TypedElementwiseKernel

class ElementwiseKernel(_native.ElementwiseKernel):
    arguments: tuple[Argument, ...]
    def __new__(cls, *args: Any, **keywords: Any) -> Any: ...
    @overload
    def __init__(
        self,
        arguments: Any,
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        **kwargs: str,
    ) -> None: ...
    # The form with types that calls determine.
    @overload
    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        *,
        keep: bool = False,
        options: Sequence[str] | None = None,
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None: ...
    # None in the form with C declarations; outputs in the form with types that calls determine.
    def __call__(self, *args: Any, **keywords: Any) -> Any: ...
    def generate_stride_kernel_and_types(self, use_range: bool) -> tuple[Any, Function, list[Argument]]: ...

class ElementwiseModule:
    def __init__(self, kernel: ElementwiseKernel, use_range: bool) -> None: ...
    def get_function(self, name: str) -> Function: ...
    def get_global(self, name: str) -> tuple[int, int]: ...
    def get_texref(self, name: str) -> TextureReference: ...

def show_parameters(kernel_class: type) -> None: ...
def kernel_repr(kernel: Any, snippet: str) -> str: ...
def prepared_kernel(
    module: ElementwiseModule, name: str, arguments: list[Argument], use_range: bool
) -> tuple[ElementwiseModule, Function, list[Argument]]: ...
