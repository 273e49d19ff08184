"""Elements chosen by indices, sorted and searched for; part of `rtcg.numpy`."""

from typing import Any

from rtcg._native import GPUArray

def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None, descending: Any = False) -> GPUArray:
    """The indices (int64) that sort along `axis`, stably, NaN last; parameters as of `sort`. Does not wait."""

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
    """A sorted copy along `axis` (None: of the flattened array); does not wait. See `numpy.sort`.

    Always stable, whatever `kind` and `stable` say; NaN last; complex numbers by real, then imaginary part.
    Long rows are radix sorted, one sweep over memory for each byte of a key; others are merge sorted.

    Parameters
    ----------
    a : array-like
        Of any shape and of bool, integers, floats or complex numbers.
    axis : int or None
    kind, stable
        Of no effect; NumPy's.
    descending : bool
        The greatest first; equal elements keep their order.

    Raises
    ------
    numpy.exceptions.AxisError
        For an axis that the array has not.
    """

def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", stream: Any = None) -> GPUArray:
    """Elements by an array of indices, along `axis` or of the flattened array; see `numpy.take`. Does not wait.

    `indices` are integers of any shape on the device or the host. With `mode` raise an index out of bounds is an
    `IndexError` (at once for indices on the host); wrap and clip are NumPy's.
    """

def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> GPUArray:
    """Elements by an array of indices of the same number of axes; see `numpy.take_along_axis`."""
