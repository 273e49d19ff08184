"""Products, diagonals and traces of matrices; part of `rtcg.linalg`."""

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
    """The matrix product, optionally with an expression applied to each element; does not wait. See `numpy.matmul`.

    Parameters
    ----------
    x1, x2 : array-like
        Of shapes ``(..., m, k)`` and ``(..., k, n)``; leading axes are broadcast.
    epilogue : str, optional
        The value to store: a CUDA C expression of the sum `acc`, its row `i` and column `j`, the index `batch` of the
        matrix in a stack, the lengths `m`, `n`, `k`, and `operands`. The kernel of the product evaluates it, which
        saves another pass over memory. `acc` is a float for float16 and bfloat16, else it has the dtype of the product.
        Operands with one axis are matrices with one row or one column.
    operands : dict of str to array-like, optional
        Arrays that the expression reads, by name. They have flat indices in C order, as in ``bias[j]`` or ``other[i * n
        + j]``, which are not checked; scalars and arrays without axes are values.
    dtype : dtype, optional
        Dtype of the result with an epilogue; by default that of the product.
    out : GPUArray, optional
        Receives the result; has its shape and a dtype to which the rule "same_kind" allows a cast.

    Raises
    ------
    ValueError
        If the shapes do not fit, an operand of the product has no axis, or one of the epilogue has no valid name.
    TypeError
        If the result may not be cast to the dtype of `out`.
    pycuda.driver.CompileError
        If the expression does not compile.

    Examples
    --------
    >>> import numpy as np, rtcg.autoinit
    >>> from rtcg import linalg
    >>> bias = np.array([1.0, -2.0])
    >>> linalg.matmul(np.eye(2), np.eye(2), epilogue="fmax(acc + bias[j], 0.0)", operands={"bias": bias}).get().tolist()
    [[2.0, 0.0], [1.0, 0.0]]
    """

def cross(x1: Any, x2: Any, /, *, axis: Any = -1) -> GPUArray:
    """The cross products of vectors with three elements along `axis`: a new array; does not wait.

    Operands are array-like and are broadcast along other axes. Raises `ValueError` for vectors of other lengths, and
    `AxisError` for an axis that is not there.
    """

def diagonal(x: Any, /, *, offset: Any = 0) -> GPUArray:
    """The diagonal `offset` of each matrix: a view of `x` with the shape ``(..., k)``; does not wait.

    `x` is a device array with at least two axes, else raises `ValueError`. `offset` is positive above the main
    diagonal.
    """

def matrix_power(a: Any, n: Any) -> GPUArray:
    """The `n`-th power of matrices `a`, or of their inverses if `n` is negative: a new array with the shape of `a`.

    `a` is array-like of shape ``(..., m, m)``. Raises `LinAlgError` for others, and for singular matrices with negative
    `n`, and `TypeError` unless `n` is an integer. Does not wait, except as `inv` does for negative `n`. Uses repeated
    squaring.
    """

def multi_dot(arrays: Any, *, out: Any = None) -> GPUArray:
    """The product of several matrices in the order with the fewest multiplications; does not wait.

    `arrays` are two or more array-like matrices (`ValueError` for fewer); the first and the last may be vectors. Raises
    `LinAlgError` for other numbers of axes. The result is `out` or a new array. Dynamic programming over the shapes
    finds the order.
    """

def outer(x1: Any, x2: Any, /) -> GPUArray:
    """The outer product of two vectors: a new array with their lengths and the common dtype; does not wait.

    `x1` and `x2` are array-like with one axis, else raises `ValueError`.
    """

def trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> GPUArray:
    """The sum of the diagonal `offset` of each matrix: a new array with the shape ``(...)``; does not wait.

    `x` is array-like with at least two axes, else raises `ValueError`; `dtype` is that of the result, by default that
    of `sum`.
    """
