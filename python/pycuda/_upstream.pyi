"""What upstream has under names of its own, of lists of arrays, of subsets, and CUDA's vector types; part of
`pycuda.gpuarray`.
"""

from typing import Any

from pycuda._rtcg import GPUArray

def multi_put(
    arrays: Any, dest_indices: Any, dest_shape: Any = None, out: Any = None, stream: Any = None
) -> list[GPUArray]:
    """Each array's elements written to the places `dest_indices` of a new array, or of one of `out`."""

def multi_take(arrays: Any, indices: Any, out: Any = None, stream: Any = None) -> list[GPUArray]:
    """`take` of several arrays with one array of indices."""

def multi_take_put(
    arrays: Any,
    dest_indices: Any,
    src_indices: Any,
    dest_shape: Any = None,
    out: Any = None,
    stream: Any = None,
    src_offsets: Any = None,
) -> list[GPUArray]:
    """Elements at `src_indices` (and an offset for each array) written to the places `dest_indices`."""

def splay(n: Any, dev: Any = None) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """``(grid, block)`` of a launch over `n` elements that fills the device."""

def subset_dot(subset: Any, a: Any, b: Any, dtype: Any = None, stream: Any = None, allocator: Any = None) -> GPUArray:
    """The inner product of the elements that `subset` indexes."""

def subset_max(subset: Any, a: Any, stream: Any = None) -> GPUArray:
    """The largest of the elements that `subset` indexes."""

def subset_min(subset: Any, a: Any, stream: Any = None) -> GPUArray:
    """The smallest of the elements that `subset` indexes."""

def subset_sum(subset: Any, a: Any, dtype: Any = None, stream: Any = None, allocator: Any = None) -> GPUArray:
    """The sum of the elements that `subset` indexes."""

vec: Any
