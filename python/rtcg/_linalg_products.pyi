"""Products, diagonals and traces of matrices: part of `rtcg.linalg`."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import DTypeLike

from rtcg.numpy import GPUArray

def matmul(
    x1: Any,
    x2: Any,
    /,
    *,
    epilogue: str | None = None,
    operands: Mapping[str, Any] | None = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """The matrix product, or what an expression makes of each of its elements; does not wait. See `numpy.matmul`.

    Parameters
    ----------
    x1, x2 : array-like
        Of shapes ``(..., m, k)`` and ``(..., k, n)``; leading axes are broadcast.
    epilogue : str, optional
        What is stored: an expression of CUDA C of the sum `acc`, its row `i` and column `j`, the matrix `batch` of a
        stack, the lengths `m`, `n`, `k`, and `operands`. The kernel of the product computes it, so that there is no
        further pass over memory. `acc` is a float for float16 and bfloat16, else of the dtype of the product. Operands
        of one axis are matrices of one row or one column.
    operands : dict of str to array-like, optional
        Arrays that the expression reads, by name. They are indexed flat in C order, as ``bias[j]`` or ``other[i * n +
        j]``, which is not checked; scalars and arrays without axes are values.
    dtype : dtype, optional
        Of the result with an epilogue; by default that of the product.
    out : GPUArray, optional
        For the result, of its shape and of a dtype that it may be cast to by the rule "same_kind".

    Raises
    ------
    ValueError
        When the shapes do not fit, an operand of the product has no axis, or one of the epilogue no proper name.
    TypeError
        When the result may not be cast to the dtype of `out`.
    pycuda.driver.CompileError
        When the expression does not compile.

    Examples
    --------
    >>> import numpy as np, rtcg.autoinit
    >>> from rtcg import linalg
    >>> bias = np.array([1.0, -2.0])
    >>> linalg.matmul(np.eye(2), np.eye(2), epilogue="fmax(acc + bias[j], 0.0)", operands={"bias": bias}).get().tolist()
    [[2.0, 0.0], [1.0, 0.0]]
    """

def cross(x1: Any, x2: Any, /, *, axis: Any = -1) -> GPUArray:
    """The cross products of vectors of three elements along `axis`: a new array; does not wait.

    Operands are array-like and broadcast along other axes. Raises `ValueError` for vectors of other lengths, and
    `AxisError` for an axis that is not there.
    """

def diagonal(x: Any, /, *, offset: Any = 0) -> GPUArray:
    """The diagonals `offset` of matrices: a view of shape ``(..., k)`` of `x`; does not wait.

    `x` is a device array with at least two axes, else raises `ValueError`. `offset` is positive above the main
    diagonal.
    """

def matrix_power(a: Any, n: Any) -> GPUArray:
    """The product of `n` matrices `a`, or of its inverse if `n` is negative: a new array of its shape.

    `a` is array-like of shape ``(..., m, m)``; raises `LinAlgError` for others, and for singular matrices with negative
    `n`; a `TypeError` unless `n` is an integer. Does not wait, but as `inv` for negative `n`. By repeated squaring.
    """

def multi_dot(arrays: Any, *, out: Any = None) -> GPUArray:
    """The product of several matrices in the order of the fewest multiplications; does not wait.

    `arrays` are two or more array-like matrices (`ValueError` for fewer); the first and the last may be vectors, a
    `LinAlgError` for other numbers of axes. The result is `out` or a new array. The order is found by dynamic
    programming over the shapes.
    """

def outer(x1: Any, x2: Any, /) -> GPUArray:
    """The outer product of two vectors: a new array of their lengths and of the common dtype; does not wait.

    `x1` and `x2` are array-like with one axis, else raises `ValueError`.
    """

def trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> GPUArray:
    """The sums of the diagonals `offset` of matrices: a new array of shape ``(...)``; does not wait.

    `x` is array-like with two axes at least, else raises `ValueError`; `dtype` is that of the result, by default that
    of `sum`.
    """
