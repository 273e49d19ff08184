from collections.abc import Callable, Sequence
from typing import Any, overload

from rtcg import _native
from rtcg._arguments import Argument
from rtcg._typed_kernels import TypedReductionKernel as TypedReductionKernel

class ReductionKernel(_native.ReductionKernel):
    arguments: tuple[Argument, ...]
    def __new__(cls, *args: Any, **keywords: Any) -> Any: ...
    @overload
    def __init__(
        self,
        dtype_out: Any,
        neutral: Any,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: str | Sequence[Argument | str] | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
        allocator: Callable[[int], Any] | None = None,
    ) -> None: ...
    # The form with types that calls determine.
    @overload
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
