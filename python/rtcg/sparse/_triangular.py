"""Triangular systems, and preconditioners that solve them: incomplete factors, and SSOR."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_flag, as_float, converts
from rtcg.numpy import GPUArray
from rtcg.sparse._base import SparseEfficiencyWarning, issparse
from rtcg.sparse._operands import as_matrix, own_of_scipy, to_device
from rtcg.sparse._operators import LinearOperator

if TYPE_CHECKING:
    from rtcg.sparse._compressed import csr_array


class _NativeSolver(LinearOperator):
    """Systems that native code solves, also as an operator that solvers launch directly."""

    def __init__(self, shape: Any, dtype: Any, native: Any) -> None:
        adjoint = lambda x: self._native_of("H").solve(x)  # noqa: E731
        super().__init__(shape, native.solve, adjoint, native.solve, dtype, adjoint)
        self._native_handle = native
        self._natives = {"N": native}

    def _native_of(self, trans: str) -> Any:
        if trans not in ("N", "T", "H"):
            raise ValueError("trans must be N, T, or H")
        if trans not in self._natives:
            self._natives[trans] = self._native_handle.transposed(trans == "H")
        return self._natives[trans]

    def _native_adjoint(self) -> Any:
        return self._native_of("H")

    @property
    def levels(self) -> Any:
        """The number of levels of rows that must be solved one after the other; for two factors, one number each."""
        return self._native_handle.levels

    def solve(self, b: Any, trans: str = "N") -> GPUArray:
        """Solve for a vector of shape (n,), or for each column of a matrix of shape (n, k).

        Parameters
        ----------
        b : array
            On the device, or on the host, from which it is copied.
        trans : {"N", "T", "H"}
            Solve with the matrix, its transpose, or its adjoint. The first use of the latter two analyses the transpose
            and waits; other calls do not wait.

        Returns
        -------
        GPUArray
            With the shape of `b`, in the dtype of the matrix, or complex if `b` is.

        Raises
        ------
        ValueError
            If `b` has another number of rows, or for other values of `trans`.
        """
        native = self._native_of(trans)
        b = b if isinstance(b, GPUArray) else np.asarray(b)
        if b.ndim not in (1, 2) or b.shape[0] != self.shape[0]:
            raise ValueError(f"b is of incompatible size: its shape is {b.shape}; expected {self.shape[0]} rows")
        if b.dtype.kind == "c" and self.dtype.kind != "c":
            b = to_device(b)
            parts = (native.solve(to_device(part, self.dtype)) for part in (b.real, b.imag))
            return next(parts) + next(parts) * 1j
        return native.solve(to_device(b, self.dtype))


def make_native(make: Callable[[Any], Any], A: Any) -> Any:
    """The result of `make` for the native matrix of `A` in rows with sorted columns."""
    csr = A.tocsr()
    native = make(csr._native)
    if native is None:
        csr = csr.copy()
        csr.sum_duplicates()
        native = make(csr._native)
    return native


def square_matrix(A: Any) -> csr_array:
    """`A` in compressed rows and in a dtype that solvers support; checks that it is square."""
    A = own_of_scipy(A)
    if not issparse(A):
        raise TypeError(f"A is a {type(A).__name__}; expected a sparse array")
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix, but got shape={A.shape}")
    dtype = {"e": np.float32, "f": np.float32, "F": np.complex64, "D": np.complex128}.get(A.dtype.char, np.float64)
    return A.tocsr().astype(dtype, copy=False)


class TriangularSolver(_NativeSolver):
    """Solver for one triangle of a sparse array, which is analysed once.

    Elements of the other triangle are ignored. Each solution uses the values that the array has at that time.

    Rows are sorted by levels: the level of a row is one more than the highest level of the rows that it depends on. One
    launch solves all rows, and each waits for those it depends on (Liu, Li, Hogg, Duff and Vinter, "A
    Synchronization-Free Algorithm for Parallel Sparse Triangular Solves", 2016). Results do not depend on scheduling.
    The solver can be used as a preconditioner, also in graphs.

    Parameters
    ----------
    A : sparse array
        Square. The constructor analyses it, which waits once.
    lower : bool
        Whether to use the lower triangle; else the upper one.
    unit_diagonal : bool
        Whether elements on the diagonal are taken as 1.

    Raises
    ------
    ValueError
        If `A` is not square.
    numpy.linalg.LinAlgError
        If an element on the diagonal is 0 or not stored; the error names its row.
    """

    def __init__(self, A: Any, lower: bool = True, unit_diagonal: bool = False) -> None:
        csr = square_matrix(A)
        native = make_native(lambda matrix: _native.sparse_triangular(matrix, lower, unit_diagonal), csr)
        super().__init__(csr.shape, csr.dtype, native)


def _kept_solver(A: Any, lower: bool, unit_diagonal: bool) -> TriangularSolver:
    """The analysis of `A`, which is cached with its arrays."""
    kept: Any = getattr(A, "_triangles", None)
    if kept is None or kept[0] is not A._native:
        kept = A._triangles = A._native, {}
    key = bool(lower), bool(unit_diagonal)
    if key not in kept[1]:
        kept[1][key] = TriangularSolver(A, *key)
    return kept[1][key]


@converts(A=as_matrix, lower=as_flag, overwrite_A=as_flag, overwrite_b=as_flag, unit_diagonal=as_flag)
def spsolve_triangular(
    A: Any,
    b: Any,
    lower: bool = True,
    overwrite_A: bool = False,
    overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> GPUArray:
    """Solve ``A @ x = b`` for a triangular `A`: an array; see `scipy.sparse.linalg.spsolve_triangular`.

    The analysis of a `csr_array` is cached with it, so that later calls do not wait; its `indices` and `indptr` must
    not be changed in place. See `TriangularSolver`.

    Parameters
    ----------
    A : sparse array, shape (n, n)
        Elements of the other triangle are ignored.
    b : array, shape (n,) or (n, k)
        On the device or on the host.
    lower : bool
        Whether `A` is lower triangular; else it is upper triangular.
    overwrite_A, overwrite_b : bool
        Present for SciPy's signature; neither is modified.
    unit_diagonal : bool
        Whether elements on the diagonal are taken as 1.

    Returns
    -------
    GPUArray
        With the shape of `b`.

    Raises
    ------
    ValueError
        If `A` is not square or `b` does not fit.
    numpy.linalg.LinAlgError
        If an element on the diagonal is 0 or not stored; the error names its row.
    """
    if not issparse(A) or A.format not in ("csr", "csc"):
        from rtcg.sparse import csr_array

        warnings.warn(
            "CSC or CSR matrix format is required. Converting to CSR matrix.", SparseEfficiencyWarning, stacklevel=2
        )
        A = csr_array(A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix but its shape is {A.shape}.")
    b = b if isinstance(b, GPUArray) else np.asanyarray(b)
    if b.ndim not in (1, 2):
        raise ValueError(f"b must have 1 or 2 dims but its shape is {b.shape}.")
    if A.shape[0] != b.shape[0]:
        raise ValueError(
            "The size of the dimensions of A must be equal to the size of the first dimension of b but the shape of A "
            f"is {A.shape} and the shape of b is {b.shape}."
        )
    dtype = np.promote_types(np.promote_types(A.dtype, np.float32), b.dtype)
    return _kept_solver(A.tocsr().astype(dtype, copy=False), lower, unit_diagonal).solve(to_device(b, dtype))


class _IncompleteFactors(_NativeSolver):
    """Incomplete factors without fill-in."""

    def __init__(self, A: Any, native: Any, is_cholesky: bool) -> None:
        super().__init__(A.shape, A.dtype, native)
        self._is_cholesky = is_cholesky

    def _factor(self, which: int) -> csr_array:
        from rtcg.sparse import csr_array

        shape, parts = self._native_handle.parts(which)
        return csr_array._of(tuple(shape), *parts)

    @property
    def L(self) -> csr_array:
        """The lower factor, as a `csr_array`; that of ILU(0) has ones on its diagonal."""
        if self._is_cholesky:
            return self._factor(0)
        from rtcg.sparse import eye_array, tril

        return (tril(self._factor(0), -1) + eye_array(self.shape[0], dtype=self.dtype)).tocsr()

    @property
    def U(self) -> csr_array:
        """The upper factor, as a `csr_array`; that of IC(0) is the adjoint of `L`."""
        from rtcg.sparse import triu

        return self._factor(1) if self._is_cholesky else triu(self._factor(0)).tocsr()


def ilu0(A: Any) -> _IncompleteFactors:
    """Incomplete LU factors with the sparsity of `A` as a preconditioner: ILU(0).

    ``L @ U`` equals `A` wherever `A` has an element. The factorisation and each triangular solution run on the device
    in one launch, and do not depend on scheduling. (Saad, Iterative Methods for Sparse Linear Systems, section 10.3)

    Parameters
    ----------
    A : sparse array
        Square, with all elements of its diagonal stored. The factorisation waits.

    Returns
    -------
    LinearOperator
        With `L`, `U`, `levels` and ``solve(b, trans="N")``. Does not wait. Can be used in graphs.

    Raises
    ------
    ValueError
        If `A` is not square.
    numpy.linalg.LinAlgError
        If an element of the diagonal is not stored, or a pivot becomes 0; the error names its row.
    """
    csr = square_matrix(A)
    return _IncompleteFactors(csr, make_native(lambda m: _native.sparse_incomplete(m, False), csr), False)


def ic0(A: Any) -> _IncompleteFactors:
    """An incomplete Cholesky factor with the sparsity of `A` as a preconditioner: IC(0).

    ``L @ L.T.conj()`` equals `A` wherever its lower triangle has an element; the upper one is not read. (Meijerink and
    van der Vorst, 1977) Waits as `ilu0` does.

    Parameters
    ----------
    A : sparse array
        Hermitian positive definite. The factor exists if `A` is also an M-matrix, or diagonally dominant.

    Returns
    -------
    LinearOperator
        Hermitian positive definite; otherwise as returned by `ilu0`.

    Raises
    ------
    ValueError
        If `A` is not square.
    numpy.linalg.LinAlgError
        If an element of the diagonal is not stored, or a pivot is not positive; the error names its row.
    """
    from rtcg.sparse import tril

    lower = tril(square_matrix(A)).tocsr()
    return _IncompleteFactors(lower, make_native(lambda m: _native.sparse_incomplete(m, True), lower), True)


@converts(omega=as_float)
def ssor(A: Any, omega: float = 1.0) -> LinearOperator:
    """Symmetric successive over-relaxation as a preconditioner, with rows ordered by colours.

    With ``A = D + E + F``, the diagonal and two triangles in that order of rows, it is the inverse of ``(D / omega + E)
    @ inv(D) @ (D / omega + F) * omega / (2 - omega)``. Rows of one colour are not coupled, and are computed at once: a
    five-point stencil has two colours. Colours are assigned greedily: each row gets the lowest colour that its
    neighbours do not have. (Saad, Iterative Methods for Sparse Linear Systems, sections 3.3.3 and 10.2)

    Parameters
    ----------
    A : sparse array
        Square, without a 0 on its diagonal. The setup waits.
    omega : float
        Between 0 and 2.

    Returns
    -------
    LinearOperator
        Hermitian positive definite if `A` is. Does not wait. Can be used in graphs.

    Raises
    ------
    ValueError
        If `A` is not square, or `omega` is out of range.
    numpy.linalg.LinAlgError
        If an element of the diagonal is 0 or not stored; the error names its row.
    """
    from rtcg.sparse import coo_array

    csr, omega = square_matrix(A), float(omega)
    if not 0 < omega < 2:
        raise ValueError(f"omega is {omega}; expected a number between 0 and 2")
    diagonal = to_device(csr.diagonal())
    if not bool((diagonal != 0).all().get()):
        place = int(np.flatnonzero(diagonal.get() == 0)[0])
        raise np.linalg.LinAlgError(f"A is singular: zero entry on diagonal in row {place}.")
    order = colour_order(csr)
    n = csr.shape[0]
    places = _xp.empty(n, csr.indices.dtype)
    places[order] = _xp.arange(n, dtype=csr.indices.dtype)
    coo: Any = csr.tocoo()
    row, col = places[coo.row], places[coo.col]
    pivots, relaxed = diagonal[order], coo.data / (2 - omega)
    lower = coo_array._of(csr.shape, _xp.where(row == col, relaxed / omega, relaxed), row, col).tocsr()
    upper = coo_array._of(csr.shape, coo.data * omega / pivots[row], row, col).tocsr()
    first = make_native(lambda m: _native.sparse_triangular(m, True, False, order, None), lower)
    second = make_native(lambda m: _native.sparse_triangular(m, False, True, None, order), upper)
    return _NativeSolver(csr.shape, csr.dtype, _native.TriangularFactors(first, second))


def colour_order(A: csr_array) -> GPUArray:
    """The rows of a square `csr_array` sorted by colours, stably within each colour; waits."""
    ones = A._with_data(_xp.ones(A.nnz, np.float32))
    colours, _ = make_native(_native.sparse_colours, (ones + ones.transpose().tocsr()).tocsr())
    return to_device(_xp.argsort(colours, stable=True), np.int64)
