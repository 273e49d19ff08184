"""Triangular systems, and preconditioners that solve some: incomplete factors, and SSOR."""

from collections.abc import Callable
from typing import Any

from rtcg.numpy import GPUArray
from rtcg.sparse._compressed import csr_array
from rtcg.sparse._operators import LinearOperator

class _NativeSolver(LinearOperator):
    """Systems that the core solves, also as an operator that solvers launch by themselves."""

    def __init__(self, shape: Any, dtype: Any, native: Any) -> None: ...
    @property
    def levels(self) -> Any:
        """How many rows need each other one after the other; of two factors, one number for each."""
    def solve(self, b: Any, trans: str = "N") -> GPUArray:
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

def make_native(make: Callable[[Any], Any], A: Any) -> Any:
    """What `make` gives of the native matrix of `A` in rows whose columns ascend."""

def square_matrix(A: Any) -> csr_array:
    """`A` in compressed rows and in a dtype that solvers have, if it is square."""

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

    def __init__(self, A: Any, lower: bool = True, unit_diagonal: bool = False) -> None: ...

def spsolve_triangular(
    A: Any,
    b: Any,
    lower: bool = True,
    overwrite_A: bool = False,
    overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> GPUArray:
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

class _IncompleteFactors(_NativeSolver):
    """Incomplete factors without fill."""

    def __init__(self, A: Any, native: Any, is_cholesky: bool) -> None: ...
    @property
    def L(self) -> csr_array:
        """The lower factor, as a `csr_array`; that of ILU(0) has ones on its diagonal."""
    @property
    def U(self) -> csr_array:
        """The upper factor, as a `csr_array`; that of IC(0) is the adjoint of `L`."""

def ilu0(A: Any) -> _IncompleteFactors:
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

def ic0(A: Any) -> _IncompleteFactors:
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

def ssor(A: Any, omega: float = 1.0) -> LinearOperator:
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

def colour_order(A: csr_array) -> GPUArray:
    """Rows of a square `csr_array` sorted by colours, those of one colour in their own order; waits."""
