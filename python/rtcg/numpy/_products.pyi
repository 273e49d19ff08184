"""Products and functions of adjacent elements: convolutions, differences, interpolation; part of `rtcg.numpy`."""

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
    """The convolution of two arrays of one axis: sums of products of `a` with `v` in reverse order; does not wait.

    Operands are array-like with at least one element, else raises `ValueError`. `mode` is "full" (``n + m - 1``
    elements), "same" (as many as the longer one has) or "valid" (only where they overlap completely). Returns a new
    array of the common dtype. Computed as a matrix product over overlapping windows, ``n * m`` multiplications;
    `rtcg.fft` is faster where both are long.
    """

def correlate(a: Any, v: Any, mode: Any = "valid") -> GPUArray:
    """The cross-correlation of two arrays of one axis: sums of products of `a` with conjugated `v`; does not wait.

    Operands, `mode` (here "valid" by default), dtype, errors and algorithm are those of `convolve`.
    """

def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> GPUArray:
    """The cross products of vectors along an axis of `a` and `b`: a new array; does not wait.

    Operands are array-like; `axisa` and `axisb` are the axes of the vectors, `axisc` that of the result, `axis` is all
    three. Other axes are broadcast. Vectors have 2 or 3 elements; raises `ValueError` for others. Of two vectors of 2
    elements only the third component is returned, without the axis. The dtype is the common one.
    """

def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> GPUArray:
    """Running products along `axis`, by `cumprod`; does not wait.

    `x` is array-like; `axis` may only be left out for one axis, else there is a ValueError. With `include_initial`
    the result is one longer and begins with 1. The result, `out` or a new array, has the dtype of `cumprod`.
    """

def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> GPUArray:
    """Running sums along `axis`, by `cumsum`; does not wait.

    `x` is array-like; `axis` may only be left out for one axis, else there is a ValueError. With `include_initial`
    the result is one longer and begins with 0. The result, `out` or a new array, has the dtype of `cumsum`.
    """

def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> GPUArray:
    """Differences of adjacent elements along `axis`, `n` times over; does not wait.

    `a` is array-like with one axis at least. `prepend` and `append` are numbers or arrays that are put before and
    behind it first. The result is a new array, `n` shorter along the axis and of the same dtype (`a` itself for `n` 0);
    of bools it says where they differ. Raises `ValueError` for a negative `n` or no axis.
    """

def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Derivatives along axes by second-order differences of adjacent elements, first- or second-order at the ends.

    `f` is array-like; integers become float64. `*varargs` are the distances of elements (1 by default): one number, or
    for each axis a number or an array of coordinates. `axis` is None (all), an int or a tuple of int. Returns one array
    of the shape of `f`, or a tuple of one for each axis. `edge_order` 1 or 2 is the order at the ends. Raises
    `ValueError` for arrays that are too short, and `TypeError` for another number of distances. Does not wait.
    """

def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> GPUArray:
    """Values at `x` between the points (`xp`, `fp`), joined by straight lines; does not wait.

    All are array-like; `xp`, in ascending order, and `fp` have one axis and the same length, else raises `ValueError`.
    Outside of the points the result is `left` and `right`, by default the first and the last of `fp`. With `period` the
    points repeat, in any order. Returns a new array of the shape of `x`, float64 or complex128. By binary searches in
    `xp`, whose order is not checked.
    """

def kron(a: Any, b: Any) -> GPUArray:
    """The Kronecker product: blocks of `b`, each times an element of `a`; does not wait.

    Operands are array-like; one of fewer axes gets axes of length 1 in front. Returns a new array of the products of
    the lengths and of the common dtype.
    """

def matvec(x1: Any, x2: Any, /, out: Any = None) -> GPUArray:
    """Products of matrices with vectors: ``(..., m, n)`` and ``(..., n)`` to ``(..., m)``; does not wait.

    Operands are array-like; leading axes are broadcast. `out` or a new array of the common dtype. Raises `ValueError`
    when shapes do not fit. By `matmul`.
    """

def polyval(p: Any, x: Any) -> GPUArray:
    """The polynomial with coefficients `p`, the highest power first, at `x`: a new array; does not wait.

    Both are array-like, `p` with one axis. The result has the shape and the dtype of `x` together with `p`. By Horner's
    rule, one kernel for each coefficient. Unlike in NumPy `p` cannot be a `poly1d`.
    """

def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> GPUArray:
    """The integral of `y` along `axis` by the trapezoidal rule: a new array without the axis; does not wait.

    `y` is array-like. `x` are the coordinates, of one axis or of the shape of `y`; without it `dx` is the distance of
    elements. The dtype is that of NumPy's result. Raises `ValueError` if shapes do not fit.
    """

def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 6.283185307179586) -> GPUArray:
    """A new array of `p` without jumps between adjacent elements by more than half of a `period`; does not wait.

    `p` is array-like. Along `axis`, multiples of `period` are added to what follows a jump of at least `discont` (half
    a period by default). The result has the shape of `p`; integers stay integers if the period is one. By differences
    and running sums.
    """

def vander(x: Any, N: Any = None, increasing: Any = False) -> GPUArray:
    """The powers of the elements of `x` as rows, a matrix of ``x.size`` by `N` (by default square); does not wait.

    `x` is array-like with one axis, else raises `ValueError`. Powers fall from the left to the right, or rise if
    `increasing` is true. Returns a new array of the common dtype of `x` and int64. By running products.
    """

def vecmat(x1: Any, x2: Any, /, out: Any = None) -> GPUArray:
    """Products of conjugated vectors with matrices: ``(..., n)`` and ``(..., n, m)`` to ``(..., m)``; does not wait.

    Operands are array-like; leading axes are broadcast. `out` or a new array of the common dtype. Raises `ValueError`
    when shapes do not fit. By `matmul`.
    """
