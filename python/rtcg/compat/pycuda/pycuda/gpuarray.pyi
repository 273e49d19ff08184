"""Arrays on the device under PyCUDA's names."""

from typing import Any

from rtcg.numpy import (
    GPUArray as GPUArray,
    all as all,
    any as any,
    arange as arange,
    concatenate as concatenate,
    dot as dot,
    empty as empty,
    empty_like as empty_like,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    max as max,
    maximum as maximum,
    min as min,
    minimum as minimum,
    ones as ones,
    ones_like as ones_like,
    reshape as reshape,
    stack as stack,
    sum as sum,
    take as take,
    to_gpu as to_gpu,
    to_gpu_async as to_gpu_async,
    transpose as transpose,
    where as where,
    zeros as zeros,
    zeros_like as zeros_like,
)

__all__ = [
    "GPUArray",
    "all",
    "any",
    "arange",
    "concatenate",
    "dot",
    "empty",
    "empty_like",
    "if_positive",
    "logical_and",
    "logical_not",
    "logical_or",
    "max",
    "maximum",
    "min",
    "minimum",
    "multi_put",
    "multi_take",
    "multi_take_put",
    "ones",
    "ones_like",
    "reshape",
    "splay",
    "stack",
    "subset_dot",
    "subset_max",
    "subset_min",
    "subset_sum",
    "sum",
    "take",
    "to_gpu",
    "to_gpu_async",
    "transpose",
    "vec",
    "where",
    "zeros",
    "zeros_like",
]

def if_positive(criterion: Any, then_: Any, else_: Any, out: Any = None, stream: Any = None) -> GPUArray:
    """Elements of `then_` where the criterion is greater than 0, else of `else_`; all of one shape."""

def multi_put(
    arrays: Any, dest_indices: Any, dest_shape: Any = None, out: Any = None, stream: Any = None
) -> list[GPUArray]:
    """Write the elements of each array to the indices `dest_indices` of a new array, or of one in `out`."""

def multi_take(arrays: Any, indices: Any, out: Any = None, stream: Any = None) -> list[GPUArray]:
    """`take` from several arrays with one array of indices."""

def multi_take_put(
    arrays: Any,
    dest_indices: Any,
    src_indices: Any,
    dest_shape: Any = None,
    out: Any = None,
    stream: Any = None,
    src_offsets: Any = None,
) -> list[GPUArray]:
    """Write the elements at `src_indices` (with an offset for each array) to the indices `dest_indices`."""

def splay(n: Any, dev: Any = None) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """``(grid, block)`` of a launch over `n` elements that fills the device."""

def subset_dot(subset: Any, a: Any, b: Any, dtype: Any = None, stream: Any = None, allocator: Any = None) -> GPUArray:
    """The inner product of the elements that `subset` selects."""

def subset_max(subset: Any, a: Any, stream: Any = None) -> GPUArray:
    """The largest of the elements that `subset` selects."""

def subset_min(subset: Any, a: Any, stream: Any = None) -> GPUArray:
    """The smallest of the elements that `subset` selects."""

def subset_sum(subset: Any, a: Any, dtype: Any = None, stream: Any = None, allocator: Any = None) -> GPUArray:
    """The sum of the elements that `subset` selects."""

vec: Any
