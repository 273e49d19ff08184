from collections.abc import Mapping, Sequence
from typing import Any

from rtcg._native import Stream
from rtcg.numpy import GPUArray

def are_typed(args: Sequence[Any], keywords: Mapping[str, Any]) -> bool: ...

class _TypedKernel:
    name: str
    def __init__(self, in_params: str, out_params: str, operation: str, name: str) -> None: ...

class TypedElementwiseKernel(_TypedKernel):
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
        **settings: Any,
    ) -> None: ...
    def __call__(
        self,
        *args: Any,
        size: int | None = None,
        stream: Stream | None = None,
        block_size: int | None = None,
        **named: Any,
    ) -> Any: ...

class TypedReductionKernel(_TypedKernel):
    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: str | complex,
        name: str = "reduce_kernel",
        reduce_type: Any = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Sequence[str] = (),
    ) -> None: ...
    def __call__(
        self,
        *args: Any,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        out: GPUArray | None = None,
        stream: Stream | None = None,
        **named: Any,
    ) -> GPUArray: ...
