"""Products of two sparse arrays, dense products at the positions of a sparse array, and functions of two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_number, converts
from rtcg._messages import shown
from rtcg.sparse._base import issparse
from rtcg.sparse._operands import is_scalar, to_device

if TYPE_CHECKING:
    from rtcg.numpy import GPUArray


def multiply_sparse(a: Any, b: Any) -> Any:
    """`a @ b` for two arrays in compressed sparse rows with sorted columns.

    Counts and then fills the rows, with hash tables in shared memory (Nagasaka, Nukada and Matsuoka 2017). Results are
    bitwise reproducible. Waits for the numbers of products and of elements.
    """
    parts = _native.sparse_multiply(a._native, b._native)
    return a._container("csr")._of((a.shape[0], b.shape[1]), *parts)


def combine(a: Any, b: Any, op: Any) -> Any:
    """An element-wise function of two arrays of one shape, without zeros: "add", "subtract", "multiply", "maximum",
    "minimum", "ne", "lt" or "gt". The result is in compressed sparse rows, or columns if `a` is; waits for the number
    of elements.
    """
    if a.format == "csc":
        return combine(a.T, b.T, op).T
    dtype = np.result_type(a.dtype, b.dtype)
    left, right = (_canonical_rows(x, dtype) for x in (a, b))
    data, indices, indptr = _native.sparse_combine(left._native, right._native, op)
    if op not in ("ne", "lt", "gt") and data.dtype != dtype:
        data = data.astype(dtype)
    return a._container("csr")._of(a.shape, data, indices, indptr)


def _canonical_rows(a: Any, dtype: Any) -> Any:
    """Compressed sparse rows, with duplicates summed in `dtype`."""
    rows = a.tocsr()
    if rows.has_canonical_format:
        return rows
    return rows.astype(dtype)._summed()


def _pattern_and_factors(name: str, a: Any, x: Any, y: Any) -> tuple[Any, GPUArray, GPUArray]:
    if not issparse(a):
        raise TypeError(f"{name} is a {type(a).__name__}; expected a sparse array")
    x, y = (to_device(factor) for factor in (x, y))
    if x.ndim != 2 or y.ndim != 2 or (x.shape[0], y.shape[1]) != a.shape or x.shape[1] != y.shape[0]:
        rows, columns = a.shape
        raise ValueError(
            f"dimension mismatch: the factors have shapes {x.shape} and {y.shape}; expected ({rows}, k) and "
            f"(k, {columns})"
        )
    return a.tocsr(), x, y


@converts(X=_xp._named_to_device, Y=_xp._named_to_device)
def sampled_matmul(A: Any, X: Any, Y: Any) -> Any:
    """``A.multiply(X @ Y)``, computed only at stored positions of `A` (SDDMM); does not wait.

    Parameters
    ----------
    A : sparse array of shape (m, n)
        Duplicates are kept.
    X, Y : GPUArray or array-like of shapes (m, k) and (k, n)

    Returns
    -------
    csr_array
        Has the positions of `A` and the dtype that all three promote to. Sums are bitwise reproducible.

    Raises
    ------
    ValueError
        If shapes do not fit.
    TypeError
        If `A` is not sparse.
    """
    rows, x, y = _pattern_and_factors("A", A, X, Y)
    return rows._with_data(_native.sparse_sddmm(rows._native, x, y, None))


@converts(mat1=_xp._named_to_device, mat2=_xp._named_to_device, beta=as_number, alpha=as_number)
def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """``alpha * (mat1 @ mat2) + beta * input`` at the stored positions of `input`, as `torch.sparse.sampled_addmm`.

    Does not wait.

    Parameters
    ----------
    input : sparse array of shape (m, n)
        Only its positions are read if `beta` is 0.
    mat1, mat2 : GPUArray or array-like of shapes (m, k) and (k, n)
    beta, alpha : number

    Returns
    -------
    csr_array
        Has the positions of `input` and the dtype that all three promote to.

    Raises
    ------
    ValueError
        If shapes do not fit, or a complex number scales real elements.
    TypeError
        If `input` is not sparse, or `beta` or `alpha` is not a number.
    """
    rows, x, y = _pattern_and_factors("input", input, mat1, mat2)
    dtype = np.result_type(rows.dtype, x.dtype, y.dtype)
    scalars = []
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not is_scalar(value) or isinstance(value, (str, bytes)):
            raise TypeError(f"{name} is a {type(value).__name__}; expected a number")
        number = complex(value.get() if isinstance(value, _xp.GPUArray) else value)
        if number.imag and dtype.kind != "c":
            raise ValueError(f"{name} is {shown(value)}, and elements are {dtype}; expected a real number")
        scalars.append([number.real, number.imag])
    return rows._with_data(_native.sparse_sddmm(rows._native, x, y, scalars))
