"""Triangular systems, and preconditioners that solve some: incomplete factors, and SSOR."""

import warnings

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_flag, as_float, converts
from rtcg.numpy import GPUArray
from rtcg.sparse._base import SparseEfficiencyWarning, issparse
from rtcg.sparse._operands import as_matrix, own_of_scipy, to_device
from rtcg.sparse._operators import LinearOperator


class _NativeSolver(LinearOperator):
    """Systems that the core solves, also as an operator that solvers launch by themselves."""

    def __init__(self, shape, dtype, native):
        adjoint = lambda x: self._native_of("H").solve(x)  # noqa: E731
        super().__init__(shape, native.solve, adjoint, native.solve, dtype, adjoint)
        self._native_handle = native
        self._natives = {"N": native}

    def _native_of(self, trans):
        if trans not in ("N", "T", "H"):
            raise ValueError("trans must be N, T, or H")
        if trans not in self._natives:
            self._natives[trans] = self._native_handle.transposed(trans == "H")
        return self._natives[trans]

    def _native_adjoint(self):
        return self._native_of("H")

    @property
    def levels(self):
        """How many rows need each other one after the other; of two factors, one number for each."""
        return self._native_handle.levels

    def solve(self, b, trans="N"):
        """The solution for a vector of shape (n,), or for each column of a matrix of shape (n, k).

        Parameters
        ----------
        b : array
            On the device or on the host, from where it is copied.
        trans : {"N", "T", "H"}
            The system of the matrix, of its transpose, or of its adjoint. The first use of the latter two analyses the
            transpose, and waits; all others do not wait.

        Returns
        -------
        GPUArray
            With the shape of `b`; in the dtype of the matrix, or complex where `b` is.

        Raises
        ------
        ValueError
            If `b` has another number of rows, or `trans` is something else.
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


def make_native(make, A):
    """What `make` gives of the native matrix of `A` in rows whose columns ascend."""
    csr = A.tocsr()
    native = make(csr._native)
    if native is None:
        csr = csr.copy()
        csr.sum_duplicates()
        native = make(csr._native)
    return native


def square_matrix(A):
    """`A` in compressed rows and in a dtype that solvers have, if it is square."""
    A = own_of_scipy(A)
    if not issparse(A):
        raise TypeError(f"A is a {type(A).__name__}; expected a sparse array")
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix, but got shape={A.shape}")
    dtype = {"e": np.float32, "f": np.float32, "F": np.complex64, "D": np.complex128}.get(A.dtype.char, np.float64)
    return A.tocsr().astype(dtype, copy=False)


class TriangularSolver(_NativeSolver):
    """Systems with one triangle of a sparse array, analysed once.

    What is in the other triangle does not count. Values are those that the array has when a system is solved.

    Rows are sorted by levels: a row's level is one more than the largest one of the rows that it needs. All of them are
    solved in one launch, in which rows wait for what they need (Liu, Li, Hogg, Duff and Vinter, "A
    Synchronization-Free Algorithm for Parallel Sparse Triangular Solves", 2016). Results do not depend on scheduling.
    It may be a preconditioner, which graphs can have.

    Parameters
    ----------
    A : sparse array
        Square. It is analysed here, which waits once.
    lower : bool
        The lower triangle, else the upper one.
    unit_diagonal : bool
        Elements on the diagonal are taken for 1.

    Raises
    ------
    ValueError
        If `A` is not square.
    numpy.linalg.LinAlgError
        If an element on the diagonal is 0 or not stored; the error names its row.
    """

    def __init__(self, A, lower=True, unit_diagonal=False):
        csr = square_matrix(A)
        native = make_native(lambda matrix: _native.sparse_triangular(matrix, lower, unit_diagonal), csr)
        super().__init__(csr.shape, csr.dtype, native)


def _kept_solver(A, lower, unit_diagonal):
    """The analysis of `A`, which is kept with its arrays."""
    kept = getattr(A, "_triangles", None)
    if kept is None or kept[0] is not A._native:
        kept = A._triangles = A._native, {}
    key = bool(lower), bool(unit_diagonal)
    if key not in kept[1]:
        kept[1][key] = TriangularSolver(A, *key)
    return kept[1][key]


@converts(A=as_matrix, lower=as_flag, overwrite_A=as_flag, overwrite_b=as_flag, unit_diagonal=as_flag)
def spsolve_triangular(A, b, lower=True, overwrite_A=False, overwrite_b=False, unit_diagonal=False):
    """The solution of ``A @ x = b`` for a triangular `A`; see `scipy.sparse.linalg.spsolve_triangular`.

    The analysis of a `csr_array` is kept with it, so that further systems with it do not wait; its `indices` and
    `indptr` must not be changed in place. See `TriangularSolver`.

    Parameters
    ----------
    A : sparse array, shape (n, n)
        What is in the other triangle does not count.
    b : array, shape (n,) or (n, k)
        On the device or on the host.
    lower : bool
        `A` is a lower triangle, else an upper one.
    overwrite_A, overwrite_b : bool
        For the sake of SciPy's signature: neither is written to.
    unit_diagonal : bool
        Elements on the diagonal are taken for 1.

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
    """Incomplete factors without fill."""

    def __init__(self, A, native, is_cholesky):
        super().__init__(A.shape, A.dtype, native)
        self._is_cholesky = is_cholesky

    def _factor(self, which):
        from rtcg.sparse import csr_array

        shape, parts = self._native_handle.parts(which)
        return csr_array._of(tuple(shape), *parts)

    @property
    def L(self):
        """The lower factor, as a `csr_array`; that of ILU(0) has ones on its diagonal."""
        if self._is_cholesky:
            return self._factor(0)
        from rtcg.sparse import eye_array, tril

        return (tril(self._factor(0), -1) + eye_array(self.shape[0], dtype=self.dtype)).tocsr()

    @property
    def U(self):
        """The upper factor, as a `csr_array`; that of IC(0) is the adjoint of `L`."""
        from rtcg.sparse import triu

        return self._factor(1) if self._is_cholesky else triu(self._factor(0)).tocsr()


def ilu0(A):
    """Incomplete factors with the sparsity of `A` as a preconditioner: ILU(0).

    ``L @ U`` equals `A` wherever `A` has an element. Both the factorisation and the solutions of triangular systems are
    on the device, one launch each, and do not depend on scheduling. (Saad, Iterative Methods for Sparse Linear Systems,
    section 10.3)

    Parameters
    ----------
    A : sparse array
        Square, with all elements of its diagonal stored. Making factors waits.

    Returns
    -------
    LinearOperator
        With `L`, `U`, `levels` and ``solve(b, trans="N")``. Does not wait. Graphs can have it.

    Raises
    ------
    ValueError
        If `A` is not square.
    numpy.linalg.LinAlgError
        If an element of the diagonal is not stored, or a pivot becomes 0; the error names its row.
    """
    csr = square_matrix(A)
    return _IncompleteFactors(csr, make_native(lambda m: _native.sparse_incomplete(m, False), csr), False)


def ic0(A):
    """An incomplete Cholesky factor with the sparsity of `A` as a preconditioner: IC(0).

    ``L @ L.T.conj()`` equals `A` wherever its lower triangle, which alone is looked at, has an element. (Meijerink
    and van der Vorst, 1977) Waits, as `ilu0`.

    Parameters
    ----------
    A : sparse array
        Hermitian positive definite. The factor exists if `A` is an M-matrix, too, or diagonally dominant.

    Returns
    -------
    LinearOperator
        Hermitian positive definite; as that of `ilu0`.

    Raises
    ------
    ValueError
        If `A` is not square.
    numpy.linalg.LinAlgError
        If an element of the diagonal is not stored, or a pivot becomes no positive number; the error names its row.
    """
    from rtcg.sparse import tril

    lower = tril(square_matrix(A)).tocsr()
    return _IncompleteFactors(lower, make_native(lambda m: _native.sparse_incomplete(m, True), lower), True)


@converts(omega=as_float)
def ssor(A, omega=1.0):
    """Symmetric successive over-relaxation as a preconditioner, with rows in the order of colours.

    With ``A = D + E + F``, a diagonal and two triangles of the rows in that order, it is the inverse of
    ``(D / omega + E) @ inv(D) @ (D / omega + F) * omega / (2 - omega)``. Rows of one colour have no elements in common,
    and are computed at once: a five-point stencil has two colours. Each row in turn has the least colour that its
    neighbours leave. (Saad, Iterative Methods for Sparse Linear Systems, sections 3.3.3 and 10.2)

    Parameters
    ----------
    A : sparse array
        Square, without a 0 on its diagonal. Making the preconditioner waits.
    omega : float
        Between 0 and 2.

    Returns
    -------
    LinearOperator
        Hermitian positive definite if `A` is. Does not wait. Graphs can have it.

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
        row = int(np.flatnonzero(diagonal.get() == 0)[0])
        raise np.linalg.LinAlgError(f"A is singular: zero entry on diagonal in row {row}.")
    order = colour_order(csr)
    n = csr.shape[0]
    places = _xp.empty(n, csr.indices.dtype)
    places[order] = _xp.arange(n, dtype=csr.indices.dtype)
    coo = csr.tocoo()
    row, col = places[coo.row], places[coo.col]
    pivots, relaxed = diagonal[order], coo.data / (2 - omega)
    lower = coo_array._of(csr.shape, _xp.where(row == col, relaxed / omega, relaxed), row, col).tocsr()
    upper = coo_array._of(csr.shape, coo.data * omega / pivots[row], row, col).tocsr()
    first = make_native(lambda m: _native.sparse_triangular(m, True, False, order, None), lower)
    second = make_native(lambda m: _native.sparse_triangular(m, False, True, None, order), upper)
    return _NativeSolver(csr.shape, csr.dtype, _native.TriangularFactors(first, second))


def colour_order(A):
    """Rows of a square `csr_array` sorted by colours, those of one colour in their own order; waits."""
    ones = A._with_data(_xp.ones(A.nnz, np.float32))
    colours, _ = make_native(_native.sparse_colours, (ones + ones.transpose().tocsr()).tocsr())
    return to_device(_xp.argsort(colours, stable=True), np.int64)
