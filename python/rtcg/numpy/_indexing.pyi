"""Elements chosen by indices, sorted and searched for; part of `rtcg.numpy`."""

from typing import Any

from rtcg._native import GPUArray

def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None, descending: Any = False) -> GPUArray:
    """The indices that sort, stably; see `numpy.argsort`."""

def argwhere(a: Any) -> GPUArray:
    """The indices of the elements that are not 0, a row for each; waits for their number."""

def flatnonzero(a: Any) -> GPUArray:
    """The places, in C order, of the elements that are not 0; waits for their number."""

def nonzero(a: Any) -> tuple[GPUArray, ...]:
    """The indices of the elements that are not 0; waits for their number."""

def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Writes `v` to elements of the flattened array; see `numpy.put`."""

def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> GPUArray:
    """The counterpart of `take_along_axis` for writing."""

def resize(a: Any, new_shape: Any) -> GPUArray:
    """The elements of `a`, repeated as often as needed, in another shape; see `numpy.resize`."""

def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> GPUArray:
    """Where elements of `v` would go in the sorted `a`; see `numpy.searchsorted`."""

def sort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None, descending: Any = False) -> GPUArray:
    """A sorted copy, stable, NaN last; see `numpy.sort`."""

def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", stream: Any = None) -> GPUArray:
    """Elements by an array of indices; see `numpy.take`."""

def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> GPUArray:
    """Elements by an array of indices of the same number of axes; see `numpy.take_along_axis`."""
