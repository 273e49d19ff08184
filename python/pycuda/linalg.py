"""Linear algebra of device arrays under the names of `numpy.linalg`; stacks of matrices everywhere.

Factorizations are kernels of this package (no cuBLAS or cuSOLVER is needed): LU with partial pivoting, Cholesky, and
QR by Householder reflections, eigenvalues of Hermitian and of general matrices, and singular values, in float32,
float64 and their complex types. `solve`, `inv` and `cholesky` wait to see that matrices are not singular, or are
positive definite; eigenvalues, singular values and what needs them wait to see that all were found.
"""

from collections import namedtuple

import numpy as np
from numpy.linalg import LinAlgError as LinAlgError

from pycuda import _rtcg as _native, gpuarray as _g
from pycuda._linalg.decompositions import (
    EighResult as EighResult,
    EigResult as EigResult,
    SVDResult as SVDResult,
    eig as eig,
    eigh as eigh,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    lstsq as lstsq,
    matrix_rank as matrix_rank,
    pinv as pinv,
    svd as svd,
    svdvals as svdvals,
)
from pycuda._linalg.matrices import identity, stacked
from pycuda.gpuarray import (
    diagonal as _diagonal,
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    outer as _outer,
    tensordot as tensordot,
    trace as _trace,
    vecdot as vecdot,
)

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer",
    "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip


# -- systems of equations -----------------------------------------------------------------------------


def solve(a, b):
    """Solutions of ``a @ x = b``; waits to see that no matrix is singular. See `numpy.linalg.solve`."""
    return _native.linalg_solve(_g._array(a), _g._array(b))


def inv(a):
    """Inverse matrices; waits to see that no matrix is singular. See `numpy.linalg.inv`."""
    return _native.linalg_inv(_g._array(a))


def tensorsolve(a, b, axes=None):
    """Solutions of a tensor equation; see `numpy.linalg.tensorsolve`."""
    a, b = _g._array(a), _g._array(b)
    if axes is not None:
        order = [k for k in range(a.ndim) if k not in axes]
        a = a.transpose(order + [k % a.ndim for k in axes])
    shape = a.shape[-(a.ndim - b.ndim) :] if a.ndim > b.ndim else ()
    size = int(np.prod(shape, dtype=int))
    if a.size != size * size:
        raise LinAlgError("Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])")
    return solve(a.reshape((size, size)), b.ravel()).reshape(shape)


def tensorinv(a, ind=2):
    """The inverse of a tensor; see `numpy.linalg.tensorinv`."""
    a = _g._array(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    rows = int(np.prod(a.shape[ind:], dtype=int))
    return inv(a.reshape((rows, -1))).reshape(a.shape[ind:] + a.shape[:ind])


def det(a):
    """Determinants; does not wait. See `numpy.linalg.det`."""
    return _native.linalg_det(_g._array(a))


#: What `slogdet` returns: signs and logarithms of the sizes of determinants.
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")


def slogdet(a):
    """Signs and logarithms of the sizes of determinants; does not wait. See `numpy.linalg.slogdet`."""
    return SlogdetResult(*_native.linalg_slogdet(_g._array(a)))


# -- factorizations -----------------------------------------------------------------------------------


def cholesky(a, /, *, upper=False):
    """Cholesky factors of positive definite matrices; waits to see that they are. See `numpy.linalg.cholesky`."""
    return _native.linalg_cholesky(_g._array(a), bool(upper))


#: What `qr` returns.
QRResult = namedtuple("QRResult", "Q R")


def qr(a, mode="reduced"):
    """Unitary and upper triangular factors by Householder reflections; does not wait. See `numpy.linalg.qr`.

    A block of threads has a matrix: this is for stacks and for matrices up to some thousand rows.
    """
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    found = _native.linalg_qr(_g._array(a), mode)
    return found[0] if mode == "r" else found if mode == "raw" else QRResult(*found)


# -- norms --------------------------------------------------------------------------------------------


def _real(a):
    """`a` with elements that have absolute values of a floating type."""
    a = _g._array(a)
    return a if a.dtype.kind in "fcV" else a.astype(np.float64)


def _vector_norm(a, ord, axis, keepdims):  # noqa: A002
    size = _g.absolute(a)
    if ord is None or ord == 2:
        square = a.real * a.real + a.imag * a.imag if a.dtype.kind == "c" else a * a
        return _g.sqrt(square.sum(axis, keepdims=keepdims))
    if ord == np.inf:
        return size.max(axis, keepdims=keepdims)
    if ord == -np.inf:
        return size.min(axis, keepdims=keepdims)
    if ord == 0:
        return (a != 0).astype(size.dtype).sum(axis, keepdims=keepdims)
    if ord == 1:
        return size.sum(axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    return (size**ord).sum(axis, keepdims=keepdims) ** (1 / ord)


def _singular_norm(a, ord, axes, keepdims):  # noqa: A002
    """The largest (2), the smallest (-2) or the sum ("nuc") of singular values."""
    s = svdvals(_g.moveaxis(a, axes, (-2, -1)))
    if s.shape[-1] == 0 and ord != -2:
        result = _g.zeros(s.shape[:-1], s.dtype, s.allocator)
    else:
        result = s.sum(-1) if ord == "nuc" else s.max(-1) if ord == 2 else s.min(-1)
    return _g.expand_dims(result, sorted(axes)) if keepdims else result


def _matrix_norm(a, ord, axes, keepdims):  # noqa: A002
    row, column = (axis % a.ndim for axis in axes)
    if row == column:
        raise ValueError("Duplicate axes given.")
    if ord is None or ord in ("fro", "f"):
        return _vector_norm(a, None, (row, column), keepdims)
    if ord in (2, -2, "nuc"):
        return _singular_norm(a, ord, (row, column), keepdims)
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError("Invalid norm order for matrices.")
    summed, left = (row, column) if ord in (1, -1) else (column, row)
    sums = _g.absolute(a).sum(summed, keepdims=True)
    result = sums.max(left, keepdims=True) if ord > 0 else sums.min(left, keepdims=True)
    return result if keepdims else result.squeeze((row, column))


def norm(x, ord=None, axis=None, keepdims=False):  # noqa: A002
    """Norms of vectors and matrices; those of singular values wait as `svd`. See `numpy.linalg.norm`."""
    x = _real(x)
    if axis is None:
        if ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1):
            result = _vector_norm(x.ravel(), None, None, False)
            return result.reshape((1,) * x.ndim) if keepdims else result
        axis = tuple(range(x.ndim))
    elif isinstance(axis, (int, np.integer)):
        axis = (int(axis),)
    if len(axis) == 1:
        return _vector_norm(x, ord, axis[0], keepdims)
    if len(axis) == 2:
        return _matrix_norm(x, ord, axis, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):  # noqa: A002
    """Norms of vectors along axes; see `numpy.linalg.vector_norm`."""
    x = _real(x)
    shape = x.shape
    if axis is None:
        result = _vector_norm(x.ravel(), ord, 0, False)
        return result.reshape((1,) * len(shape)) if keepdims else result
    return _vector_norm(x, ord, axis, keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):  # noqa: A002
    """Norms of matrices; see `numpy.linalg.matrix_norm`."""
    return _matrix_norm(_real(x), ord, (-2, -1), keepdims)


def cond(x, p=None):
    """Condition numbers; those of singular values wait as `svd`. See `numpy.linalg.cond`."""
    x = stacked(x, is_square=False)
    if 0 in x.shape[-2:]:
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = svdvals(x)
        result = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        inverse = _native.linalg_inv_or_nan(x)
        given = x.astype(inverse.dtype)
        result = norm(given, p, axis=(-2, -1)) * norm(inverse, p, axis=(-2, -1))
    unknown = _g.isnan(result) & ~_g.isnan(x).any((-2, -1))
    return _g.where(unknown, result.dtype.type(np.inf), result)


# -- products -----------------------------------------------------------------------------------------


def matrix_power(a, n):
    """Products of a matrix with itself; of its inverse if `n` is negative. See `numpy.linalg.matrix_power`."""
    a = stacked(a)
    if not isinstance(n, (int, np.integer)):
        raise TypeError("exponent must be an integer")
    if n == 0:
        return _g.broadcast_to(identity(a, a.dtype), a.shape).copy("C")
    square, result = inv(a) if n < 0 else a, None
    n = abs(n)
    while n:
        if n % 2:
            result = square if result is None else result @ square
        n //= 2
        square = square @ square if n else square
    return result.copy() if result is a else result


def multi_dot(arrays, *, out=None):
    """The product of several matrices in the cheapest order; see `numpy.linalg.multi_dot`."""
    arrays = [_g._array(a) for a in arrays]
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    row, column = arrays[0].ndim == 1, arrays[-1].ndim == 1
    arrays[0] = arrays[0][None, :] if row else arrays[0]
    arrays[-1] = arrays[-1][:, None] if column else arrays[-1]
    if any(a.ndim != 2 for a in arrays):
        raise LinAlgError("multi_dot: matrices of two axes are expected")
    result = _product_of(arrays)
    result = result[0] if row else result
    result = result[..., 0] if column else result
    return _g._into(out, result)


def _product_of(arrays):
    """The product with the fewest multiplications, by dynamic programming over the lengths."""
    n, length = len(arrays), [arrays[0].shape[0], *(a.shape[1] for a in arrays)]
    cost, cut = np.zeros((n, n)), np.zeros((n, n), int)
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            each = [cost[i, k] + cost[k + 1, j] + length[i] * length[k + 1] * length[j + 1] for k in range(i, j)]
            cut[i, j] = i + int(np.argmin(each))
            cost[i, j] = min(each)

    def product(i, j):
        return arrays[i] if i == j else product(i, cut[i, j]) @ product(cut[i, j] + 1, j)

    return product(0, n - 1)


def diagonal(x, /, *, offset=0):
    """The diagonals of matrices."""
    return _diagonal(x, offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    """The sums of the diagonals of matrices."""
    return _trace(x, offset, -2, -1, dtype)


def outer(x1, x2, /):
    """The outer product of two vectors."""
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {np.ndim(x1)} and {np.ndim(x2)}.")
    return _outer(x1, x2)


def cross(x1, x2, /, *, axis=-1):
    """The cross product of vectors of three elements."""
    x1, x2 = _g._array(x1), _g._array(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
                         f"{x1.shape[axis]} and {x2.shape[axis]} dimensional instead.")  # fmt: skip
    return _g.cross(x1, x2, axis=axis)
