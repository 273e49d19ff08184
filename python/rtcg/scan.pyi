from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rtcg import _native
from rtcg._arguments import Argument
from rtcg._native import GPUArray, Stream

class GenericScanKernel(_native._ScanKernel):
    dtype: np.dtype[Any]
    def __init__(
        self,
        dtype: Any,
        arguments: str | Sequence[Argument | str],
        input_expr: str,
        scan_expr: str,
        neutral: Any = None,
        output_statement: str = "",
        is_segment_start_expr: str | None = None,
        input_fetch_exprs: Sequence[tuple[str, str, int]] = (),
        index_dtype: Any = ...,
        name_prefix: str = "scan",
        options: Sequence[str] | None = None,
        preamble: str = "",
        devices: Any = None,
    ) -> None: ...
    def __call__(self, *args: Any, size: int | None = None, stream: Stream | None = None) -> None: ...

class _ScanKernel(_native._ScanKernel):
    dtype: np.dtype[Any]
    def __init__(
        self,
        dtype: Any,
        scan_expr: str,
        neutral: Any = None,
        name_prefix: str = "scan",
        options: Sequence[str] | None = None,
        preamble: str = "",
        devices: Any = None,
    ) -> None: ...
    def __call__(
        self,
        input_ary: GPUArray,
        output_ary: GPUArray | str | None = None,
        allocator: Callable[[int], Any] | None = None,
        stream: Stream | None = None,
    ) -> GPUArray: ...

class InclusiveScanKernel(_ScanKernel): ...
class ExclusiveScanKernel(_ScanKernel): ...
