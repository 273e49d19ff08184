from collections.abc import Sequence
from typing import Any

from rtcg._arguments import Argument
from rtcg.driver import Function
from rtcg.reduction import ReductionKernel as ReductionKernel

def get_reduction_module(
    out_type: str,
    block_size: int,
    neutral: str,
    reduce_expr: str,
    map_expr: str,
    arguments: str,
    name: str = "reduce_kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
) -> Any: ...
def get_reduction_kernel_and_types(
    stage: int,
    out_type: str,
    block_size: int,
    neutral: str,
    reduce_expr: str,
    map_expr: str | None = None,
    arguments: str | Sequence[Argument | str] | None = None,
    name: str = "reduce_kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
) -> tuple[Function, list[Any]]: ...
def get_sum_kernel(dtype_out: Any, dtype_in: Any) -> ReductionKernel: ...
def get_any_kernel(dtype_out: Any, dtype_in: Any) -> ReductionKernel: ...
def get_all_kernel(dtype_out: Any, dtype_in: Any) -> ReductionKernel: ...
def get_subset_sum_kernel(dtype_out: Any, dtype_subset: Any, dtype_in: Any) -> ReductionKernel: ...
def get_dot_kernel(dtype_out: Any, dtype_a: Any = None, dtype_b: Any = None) -> ReductionKernel: ...
def get_subset_dot_kernel(
    dtype_out: Any, dtype_subset: Any, dtype_a: Any = None, dtype_b: Any = None
) -> ReductionKernel: ...
def get_minmax_neutral(what: str, dtype: Any) -> str: ...
def get_minmax_kernel(what: str, dtype: Any) -> ReductionKernel: ...
def get_subset_minmax_kernel(what: str, dtype: Any, dtype_subset: Any) -> ReductionKernel: ...
