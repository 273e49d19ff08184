"""Products, and functions of adjacent elements: convolutions, differences, interpolation; part of `rtcg.numpy`."""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = [
    "convolve",
    "correlate",
    "cross",
    "cumulative_prod",
    "cumulative_sum",
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
    """The convolution of two arrays with one axis: sums of products of `a` with `v` reversed; does not wait.

    Operands are array-like with at least one element, else raises `ValueError`. `mode` is "full" (``n + m - 1``
    elements), "same" (as many as the longer operand has) or "valid" (only where they overlap completely). Returns a new
    array of the common dtype. Computed as a matrix product over overlapping windows, ``n * m`` multiplications;
    `rtcg.fft` is faster if both are long.
    """

def correlate(a: Any, v: Any, mode: Any = "valid") -> GPUArray:
    """The cross-correlation of two arrays with one axis: sums of products of `a` with conjugated `v`; does not wait.

    Operands, `mode` (here "valid" by default), dtype, errors and algorithm are those of `convolve`.
    """

def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> GPUArray:
    """The cross products of vectors along an axis of `a` and `b`: a new array; does not wait.

    Operands are array-like; `axisa` and `axisb` are the axes of the vectors, `axisc` that of the result, and `axis`
    sets all three. Other axes are broadcast. Vectors have 2 or 3 elements, else raises `ValueError`. For two vectors of
    2 elements only the third component is returned, without the axis. The dtype is the common one.
    """

def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> GPUArray:
    """Cumulative products along `axis`, by `cumprod`; does not wait.

    `x` is array-like; `axis` may be omitted only for arrays with one axis, else raises ValueError. With
    `include_initial` the result is one longer and begins with 1. The result, `out` or a new array, has the dtype of
    `cumprod`.
    """

def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> GPUArray:
    """Cumulative sums along `axis`, by `cumsum`; does not wait.

    `x` is array-like; `axis` may be omitted only for arrays with one axis, else raises ValueError. With
    `include_initial` the result is one longer and begins with 0. The result, `out` or a new array, has the dtype of
    `cumsum`.
    """

def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> GPUArray:
    """Differences of adjacent elements along `axis`, taken `n` times; does not wait.

    `a` is array-like with at least one axis. `prepend` and `append` are numbers or arrays that are first joined to it
    on both sides. The result is a new array, shorter by `n` along the axis and of the same dtype (`a` itself for `n`
    0); for bools it says where they differ. Raises `ValueError` for a negative `n` or no axis.
    """

def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Derivatives along axes by second-order central differences, and first- or second-order ones at the ends.

    `f` is array-like; integers become float64. `*varargs` are the spacings of elements (1 by default): one number, or
    for each axis a number or an array of coordinates. `axis` is None (all), an int or a tuple of int. Returns one array
    with the shape of `f`, or a tuple with one per axis. `edge_order` 1 or 2 is the order at the ends. Raises
    `ValueError` for arrays that are too short, and `TypeError` for any other number of spacings. Does not wait.
    """

def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> GPUArray:
    """Piecewise linear interpolation at `x` between the points (`xp`, `fp`); does not wait.

    All are array-like; `xp`, in ascending order, and `fp` have one axis and the same length, else raises `ValueError`.
    Outside the points the result is `left` and `right`, by default the first and the last element of `fp`. With
    `period` the points are periodic and may be in any order. Returns a new array with the shape of `x`, float64 or
    complex128. Uses binary searches in `xp`, whose order is not checked.
    """

def kron(a: Any, b: Any) -> GPUArray:
    """The Kronecker product: blocks of `b`, each multiplied by an element of `a`; does not wait.

    Operands are array-like; the one with fewer axes gets axes of length 1 in front. Returns a new array of the common
    dtype, whose lengths are the products of theirs.
    """

def matvec(x1: Any, x2: Any, /, out: Any = None) -> GPUArray:
    """Products of matrices with vectors: ``(..., m, n)`` and ``(..., n)`` to ``(..., m)``; does not wait.

    Operands are array-like; leading axes are broadcast. Returns `out` or a new array of the common dtype. Raises
    `ValueError` if shapes do not fit. Uses `matmul`.
    """

def polyval(p: Any, x: Any) -> GPUArray:
    """The values at `x` of the polynomial with coefficients `p`, highest power first: a new array; does not wait.

    Both are array-like, `p` with one axis. The result has the shape of `x` and the common dtype. Uses Horner's rule,
    with one kernel for each coefficient. Unlike in NumPy, `p` cannot be a `poly1d`.
    """

def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> GPUArray:
    """The integral of `y` along `axis` by the trapezoidal rule: a new array without the axis; does not wait.

    `y` is array-like. `x` has the coordinates, with one axis or the shape of `y`; without it `dx` is the spacing of
    elements. The dtype is that of NumPy's result. Raises `ValueError` if shapes do not fit.
    """

def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 6.283185307179586) -> GPUArray:
    """A copy of `p` in which jumps between adjacent elements of more than half a `period` are removed; does not wait.

    `p` is array-like. Along `axis`, multiples of `period` are added to the elements after a jump of at least `discont`
    (half a period by default). The result has the shape of `p`; integers stay integers if the period is an integer.
    Uses differences and cumulative sums.
    """

def vander(x: Any, N: Any = None, increasing: Any = False) -> GPUArray:
    """The powers of the elements of `x` as rows, a matrix of ``x.size`` by `N` (square by default); does not wait.

    `x` is array-like with one axis, else raises `ValueError`. Powers decrease from left to right, or increase if
    `increasing` is true. Returns a new array of the common dtype of `x` and int64. Uses cumulative products.
    """

def vecmat(x1: Any, x2: Any, /, out: Any = None) -> GPUArray:
    """Products of conjugated vectors with matrices: ``(..., n)`` and ``(..., n, m)`` to ``(..., m)``; does not wait.

    Operands are array-like; leading axes are broadcast. Returns `out` or a new array of the common dtype. Raises
    `ValueError` if shapes do not fit. Uses `matmul`.
    """
