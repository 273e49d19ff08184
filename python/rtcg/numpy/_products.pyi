"""Products and functions of adjacent elements: sums over indices, convolutions, differences, interpolation; part of
`rtcg.numpy`.

Sums of products are those of the tiled kernel of `matmul`, over strided views of the operands.
"""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = [
    "convolve",
    "correlate",
    "cross",
    "cumulative_prod",
    "cumulative_sum",
    "einsum",
    "einsum_path",
    "gradient",
    "interp",
    "kron",
    "matvec",
    "polyval",
    "trapezoid",
    "unwrap",
    "vander",
    "vecmat",
]

def convolve(a: Any, v: Any, mode: Any = "full") -> GPUArray:
    """The convolution of two rows of numbers; see `numpy.convolve`."""

def correlate(a: Any, v: Any, mode: Any = "valid") -> GPUArray:
    """The cross-correlation of two rows of numbers; see `numpy.correlate`."""

def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> GPUArray:
    """The cross products of vectors of three elements along an axis; see `numpy.cross`."""

def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> GPUArray:
    """`cumprod` along an axis, with the start before it if wanted."""

def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> GPUArray:
    """`cumsum` along an axis, with the start before it if wanted."""

def einsum(
    *operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, order: Any = "K", casting: Any = "safe"
) -> GPUArray:
    """Sums of products over named axes; does not wait. See `numpy.einsum`.

    Parameters
    ----------
    *operands
        A string such as ``"ij,jk->ik"`` and the arrays, or arrays with lists of axes, as NumPy takes them.
    out : GPUArray, optional
    optimize : bool, str or list
        False: operands are taken from left to right; else in the order that `numpy.einsum_path` finds for it.
    dtype : dtype-like, optional
        Of the computation and the result; by default the common dtype of the operands.
    order, casting
        NumPy's.

    Raises
    ------
    ValueError
        When subscripts and shapes do not fit.

    Notes
    -----
    Two operands at a time become a batched matrix product, after sums over axes that only one of them has.
    """

def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: Any = False) -> Any:
    """The order in which `einsum` joins operands best, which depends on shapes alone; see `numpy.einsum_path`."""

def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> GPUArray:
    """Differences of adjacent elements; see `numpy.diff`."""

def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Derivatives along axes by differences of adjacent elements; see `numpy.gradient`."""

def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> GPUArray:
    """Values between points by straight lines; see `numpy.interp`."""

def kron(a: Any, b: Any) -> GPUArray:
    """The Kronecker product; see `numpy.kron`."""

def matvec(x1: Any, x2: Any, /) -> GPUArray:
    """Products of matrices with vectors, stacked; see `numpy.matvec`."""

def polyval(p: Any, x: Any) -> GPUArray:
    """The polynomial with coefficients `p`, the highest first, at `x`; see `numpy.polyval`."""

def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> GPUArray:
    """The integral along an axis by the trapezoidal rule; see `numpy.trapezoid`."""

def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 6.283185307179586) -> GPUArray:
    """Jumps by more than half a period taken out; see `numpy.unwrap`."""

def vander(x: Any, N: Any = None, increasing: Any = False) -> GPUArray:
    """Powers of the elements as rows; see `numpy.vander`."""

def vecmat(x1: Any, x2: Any, /) -> GPUArray:
    """Products of conjugated vectors with matrices, stacked; see `numpy.vecmat`."""
