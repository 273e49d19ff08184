"""Triangular systems, and preconditioners that solve them: incomplete factors, and SSOR."""

from collections.abc import Callable
from typing import Any

from rtcg.numpy import GPUArray
from rtcg.sparse._compressed import csr_array
from rtcg.sparse._operators import LinearOperator

class _NativeSolver(LinearOperator):
    """Systems that native code solves, also as an operator that solvers launch directly."""

    def __init__(self, shape: Any, dtype: Any, native: Any) -> None: ...
    @property
    def levels(self) -> Any:
        """The number of levels of rows that must be solved one after the other; for two factors, one number each."""
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

def make_native(make: Callable[[Any], Any], A: Any) -> Any:
    """The result of `make` for the native matrix of `A` in rows with sorted columns."""

def square_matrix(A: Any) -> csr_array:
    """`A` in compressed rows and in a dtype that solvers support; checks that it is square."""

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

    def __init__(self, A: Any, lower: bool = True, unit_diagonal: bool = False) -> None: ...

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

class _IncompleteFactors(_NativeSolver):
    """Incomplete factors without fill-in."""

    def __init__(self, A: Any, native: Any, is_cholesky: bool) -> None: ...
    @property
    def L(self) -> csr_array:
        """The lower factor, as a `csr_array`; that of ILU(0) has ones on its diagonal."""
    @property
    def U(self) -> csr_array:
        """The upper factor, as a `csr_array`; that of IC(0) is the adjoint of `L`."""

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

def colour_order(A: csr_array) -> GPUArray:
    """The rows of a square `csr_array` sorted by colours, stably within each colour; waits."""
