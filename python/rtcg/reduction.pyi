from collections.abc import Callable, Sequence
from typing import Any

from rtcg import _native
from rtcg._arguments import Argument
from rtcg._typed_kernels import TypedReductionKernel as TypedReductionKernel

class ReductionKernel(_native.ReductionKernel):
    arguments: tuple[Argument, ...]
    def __new__(cls, *args: Any, **keywords: Any) -> Any: ...
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
