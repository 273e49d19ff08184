"""Products, diagonals and traces of matrices; part of `rtcg.linalg`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from rtcg import _native, numpy as _xp
from rtcg._axes import normalize_axis
from rtcg._conversions import as_dtype, as_mapping, as_text
from rtcg._messages import shown
from rtcg.numpy import diagonal as _diagonal, matmul as _matmul, outer as _outer, trace as _trace

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    precision: str = "native",
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
    precision : {"native", "emulated"}, optional
        How sums are computed. "native" uses instructions of the dtype: the error is at most ``k * u`` times the product
        of absolute values, with the unit roundoff ``u`` (2**-53 of float64 and complex128, 2**-24 of float32 and
        complex64; 16-bit floats are summed in float32). "emulated" multiplies integers on tensor cores, by Ozaki's
        second scheme, where that takes less time: float32, float64, complex64 and complex128 on compute capability 9.0
        if the environment has ``RTCG_TENSOR_COPIES=1``, matrices with at least 512 rows, columns and terms, and at most
        32768 terms. Its error is at most ``2 * sqrt(k)
        * u`` times the product of absolute values, plus one rounding; elements for which this cannot be shown, such as
        those of rows with infinities, are computed natively.
    out : GPUArray, optional
        Receives the result; has its shape and a dtype to which the rule "same_kind" allows a cast.

    Raises
    ------
    ValueError
        If the shapes do not fit, `precision` is another text, an operand of the product has no axis, or one of the
        epilogue has no valid name.
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
    if precision not in ("native", "emulated"):
        raise ValueError(f"precision is {shown(precision)}; expected 'native' or 'emulated'")
    if epilogue is None:
        for name, value in (("operands", operands), ("dtype", dtype)):
            if value is not None:
                raise ValueError(f"{name} is {shown(value)} without an epilogue; expected None")
        if precision == "native":
            return _matmul(x1, x2, out)
    else:
        as_text("epilogue", epilogue, "an expression of CUDA C")
    operands = {} if operands is None else as_mapping("operands", operands)
    named = [
        (as_text("a name in operands", name), _xp._unmasked_to_device(f"operands[{name!r}]", array))
        for name, array in operands.items()
    ]
    found = _native.linalg_matmul(
        _xp._named_to_device("x1", x1),
        _xp._named_to_device("x2", x2),
        epilogue,
        named,
        as_dtype("dtype", dtype),
        precision == "emulated",
    )
    return _xp._copy_to_out(out, found)


def matrix_power(a: Any, n: Any) -> GPUArray:
    """The `n`-th power of matrices `a`, or of their inverses if `n` is negative: a new array with the shape of `a`.

    `a` is array-like of shape ``(..., m, m)``. Raises `LinAlgError` for others, and for singular matrices with negative
    `n`, and `TypeError` unless `n` is an integer. Does not wait, except as `inv` does for negative `n`. Uses repeated
    squaring.
    """
    a = _xp._to_device(a)
    if a.ndim < 2:
        raise LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional; its shape is {a.shape}"
        )
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"Last 2 dimensions of the array must be square; its shape is {a.shape}")
    if not isinstance(n, (int, np.integer)):
        raise TypeError(f"exponent must be an integer; n is {shown(n)}")
    if n == 0:
        identity = _xp.zeros(a.shape, a.dtype, a.allocator)
        _diagonal(identity, 0, -2, -1)[...] = 1
        return identity
    square = _native.linalg_inv(a) if n < 0 else a
    result: Any = None
    n = abs(n)
    while n:
        if n % 2:
            result = square if result is None else result @ square
        n //= 2
        square = square @ square if n else square
    return result.copy() if result is a else result


def multi_dot(arrays: Any, *, out: Any = None) -> GPUArray:
    """The product of several matrices in the order with the fewest multiplications; does not wait.

    `arrays` are two or more array-like matrices (`ValueError` for fewer); the first and the last may be vectors. Raises
    `LinAlgError` for other numbers of axes. The result is `out` or a new array. Dynamic programming over the shapes
    finds the order.
    """
    arrays = [_xp._to_device(a) for a in arrays]
    if len(arrays) < 2:
        raise ValueError(f"Expecting at least two arrays. {len(arrays)} were given")
    row, column = arrays[0].ndim == 1, arrays[-1].ndim == 1
    arrays[0] = arrays[0][None, :] if row else arrays[0]
    arrays[-1] = arrays[-1][:, None] if column else arrays[-1]
    for k, a in enumerate(arrays):
        if a.ndim != 2:
            raise LinAlgError(f"multi_dot: array {k} has {a.ndim} axes; expected 2, or 1 for the first and the last")
    result = _multiply_in_optimal_order(arrays)
    result = result[0] if row else result
    result = result[..., 0] if column else result
    return _xp._copy_to_out(out, result)


def _multiply_in_optimal_order(arrays: list[GPUArray]) -> GPUArray:
    """The product with the fewest multiplications, by dynamic programming over the lengths."""
    n, length = len(arrays), [arrays[0].shape[0], *(a.shape[1] for a in arrays)]
    cost, cut = np.zeros((n, n)), np.zeros((n, n), int)
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            each = [cost[i, k] + cost[k + 1, j] + length[i] * length[k + 1] * length[j + 1] for k in range(i, j)]
            cut[i, j] = i + int(np.argmin(each))
            cost[i, j] = min(each)

    def multiply_range(i: int, j: int) -> GPUArray:
        return arrays[i] if i == j else multiply_range(i, cut[i, j]) @ multiply_range(cut[i, j] + 1, j)

    return multiply_range(0, n - 1)


def diagonal(x: Any, /, *, offset: Any = 0) -> GPUArray:
    """The diagonal `offset` of each matrix: a view of `x` with the shape ``(..., k)``; does not wait.

    `x` is a device array with at least two axes, else raises `ValueError`. `offset` is positive above the main
    diagonal.
    """
    return _diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> GPUArray:
    """The sum of the diagonal `offset` of each matrix: a new array with the shape ``(...)``; does not wait.

    `x` is array-like with at least two axes, else raises `ValueError`; `dtype` is that of the result, by default that
    of `sum`.
    """
    return _trace(x, offset, -2, -1, dtype)


def outer(x1: Any, x2: Any, /) -> GPUArray:
    """The outer product of two vectors: a new array with their lengths and the common dtype; does not wait.

    `x1` and `x2` are array-like with one axis, else raises `ValueError`.
    """
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {np.ndim(x1)} and {np.ndim(x2)}.")
    return _outer(x1, x2)


def cross(x1: Any, x2: Any, /, *, axis: Any = -1) -> GPUArray:
    """The cross products of vectors with three elements along `axis`: a new array; does not wait.

    Operands are array-like and are broadcast along other axes. Raises `ValueError` for vectors of other lengths, and
    `AxisError` for an axis that is not there.
    """
    x1, x2 = _xp._to_device(x1), _xp._to_device(x2)
    normalize_axis(axis, min(x1.ndim, x2.ndim))
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
                         f"{x1.shape[axis]} and {x2.shape[axis]} dimensional instead.")  # fmt: skip
    return _xp.cross(x1, x2, axis=axis)
