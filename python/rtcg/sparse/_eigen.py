"""Eigenvalues and singular values of sparse arrays and operators, by `crates/sparse/src/eigen`."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from rtcg import _native, linalg as _dense, numpy as _xp
from rtcg._conversions import as_flag, as_float, as_integer, as_rng, as_text, converts
from rtcg._messages import shown
from rtcg.numpy import GPUArray
from rtcg.sparse._base import issparse
from rtcg.sparse._operands import to_device
from rtcg.sparse._operators import LinearOperator, as_operand, aslinearoperator


class ArpackError(RuntimeError):
    """Eigenvalues could not be computed. The name is SciPy's; ARPACK is not used."""


class ArpackNoConvergence(ArpackError):
    """Not all eigenvalues converged within the allowed number of restarts.

    Attributes
    ----------
    eigenvalues, eigenvectors : GPUArray
        The results that converged.
    """

    def __init__(self, message: str, eigenvalues: GPUArray, eigenvectors: GPUArray) -> None:
        super().__init__(message)
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors


def vector_dtype(*dtypes: Any) -> np.dtype[Any]:
    """The dtype of vectors: floating-point, with more than 16 bits."""
    kind = np.result_type(*dtypes)
    return np.dtype(kind.char if kind.char in "fdFD" else "f" if kind.char == "e" else "d")


def _operand(A: Any) -> Any:
    """A sparse array, an array on the device, or a `LinearOperator`."""
    if issparse(A):
        return A
    if isinstance(A, (GPUArray, np.ndarray)):
        A = to_device(A)
        if A.ndim != 2:
            raise ValueError(f"array must have ndim <= 2; it has shape {A.shape}")
        return A
    return aslinearoperator(A)


def _native_operand(A: Any, dtype: Any, blocks: bool = False) -> Any:
    """The operand for native functions: a matrix, or functions of vectors and of blocks, with a shape."""
    if issparse(A):
        return A._native_matrix() if A.format == "dia" and not blocks else A.tocsr()._native
    if isinstance(A, GPUArray):
        return A if A.dtype == dtype else A.astype(dtype)
    native = getattr(A, "_native_handle", None)
    if native is not None:
        return native
    return (A.matvec, A.shape) if A._of_columns is None else (A.matvec, A.shape, A.matmat)


def _native_adjoint(A: Any, dtype: Any) -> Any:
    if issparse(A):
        return A.transpose().conj().tocsr()._native
    if isinstance(A, GPUArray):
        return A.astype(dtype).conj().T
    if not A._has_adjoint():
        raise NotImplementedError(f"rmatvec is not defined for A, {shown(A)}; expected an operator with its adjoint")
    return A.rmatvec, A.shape[::-1]


def square_operand(A: Any) -> Any:
    A = _operand(A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix (shape={A.shape})")
    return A


def _start(v0: Any, rng: Any, n: int, dtype: Any) -> GPUArray | None:
    """The start vector on the device, or None for one that the native functions choose."""
    if v0 is None:
        if rng is None:
            return None
        v0 = np.random.default_rng(rng).uniform(-1, 1, n)
    v0 = v0 if isinstance(v0, GPUArray) else np.asarray(v0)
    if v0.shape not in ((n,), (n, 1)):
        raise ValueError(f"v0 has shape {v0.shape}; expected ({n},)")
    return to_device(v0, dtype).ravel()


def _limits(ncv: Any, maxiter: Any, tol: float) -> dict[str, Any]:
    """The numeric parameters that `eigsh` and `svds` share."""
    if maxiter is not None and maxiter <= 0:
        raise ValueError(f"maxiter must be positive, maxiter={maxiter}")
    if not tol >= 0:
        raise ValueError(f"tol is {tol}; expected at least 0")
    ncv = None if ncv is None else operator.index(ncv)
    return {"ncv": ncv, "maxiter": None if maxiter is None else operator.index(maxiter), "tol": float(tol), "seed": 0}


def _shift_inverse(A: Any, sigma: Any, dtype: Any, tol: float) -> Any:
    """The inverse of ``A - sigma * I`` as an operator: by a factorization if possible, else by MINRES."""
    n = A.shape[0]
    if isinstance(A, GPUArray):
        return _dense.inv(A.astype(dtype) - _xp.eye(n, dtype=dtype) * sigma)
    from rtcg.sparse import eye_array, linalg

    if issparse(A) and hasattr(linalg, "splu"):
        factors = linalg.splu((A - sigma * eye_array(n, dtype=A.dtype)).astype(dtype).tocsc())
        return LinearOperator(A.shape, factors.solve, dtype=dtype)
    rtol = max(tol, float(np.finfo(dtype).eps)) / 4

    def solve(b: GPUArray) -> GPUArray:
        x, info = linalg.minres(A, b, shift=sigma, rtol=rtol, maxiter=max(1000, 20 * n))
        if info:
            raise ArpackError(
                f"minres did not solve (A - sigma * I) x = b, sigma={sigma} (info={info}); expected an OPinv that does"
            )
        return x

    return LinearOperator(A.shape, solve, dtype=dtype)


_WHICH = ("LM", "SM", "LA", "SA", "BE")


@converts(
    A=as_operand,
    rng=as_rng,
    k=as_integer,
    sigma=as_float,
    which=as_text,
    ncv=as_integer,
    maxiter=as_integer,
    tol=as_float,
    return_eigenvectors=as_flag,
    mode=as_text,
)
def eigsh(
    A: Any, k: int = 6, M: Any = None, sigma: float | None = None, which: str = "LM", v0: Any = None,
    ncv: int | None = None, maxiter: int | None = None, tol: float = 0, return_eigenvectors: bool = True,
    Minv: Any = None, OPinv: Any = None, mode: str = "normal", rng: Any = None,
) -> Any:  # fmt: skip
    """A few eigenvalues and eigenvectors of a Hermitian `A`; see `scipy.sparse.linalg.eigsh`.

    Uses the thick-restart Lanczos method (Wu and Simon 2000) with full reorthogonalization: two passes of classical
    Gram-Schmidt, with sums in double precision. The projected matrix of order `ncv` is decomposed on the host, which
    waits once per restart. When all eigenvalues are found, a cycle from a random vector searches for further vectors in
    the same eigenspaces, so that multiple eigenvalues are found with their multiplicity. Results are bitwise
    reproducible.

    Parameters
    ----------
    A : sparse array, array, `LinearOperator`, or a callable with `shape` and `dtype`
        Of shape (n, n). Vectors are float32, float64, complex64 or complex128; float64 for integers.
    k : int
        The number of eigenvalues, less than n.
    sigma : float, optional
        Finds eigenvalues near `sigma`; `which` then refers to ``1 / (w - sigma)``. `A - sigma * I` is inverted by
        `OPinv`; without it by `splu` if available, for dense arrays by `rtcg.linalg.inv`, and otherwise by `minres`,
        which waits once per product.
    which : {"LM", "SM", "LA", "SA", "BE"}
        Largest or smallest magnitude, largest, smallest, or half from each end. For the smallest eigenvalues of a
        positive `A`, ``sigma=0`` takes far fewer products, and `lobpcg` with a preconditioner may as well.
    v0 : array of shape (n,), optional
        The start vector.
    ncv : int, optional
        The number of basis vectors, ``min(n, max(2 * k + 1, 20))`` unless given. Memory is needed for one more.
    maxiter : int, optional
        The maximum number of restarts, ten times n unless given.
    tol : float
        The tolerance for estimated errors relative to eigenvalues; 0 means the precision of the dtype.
    OPinv : as `A`, optional
        The inverse of ``A - sigma * I``.
    rng : int or `numpy.random.Generator`, optional
        Draws `v0` if that is not given.

    Returns
    -------
    w : GPUArray of shape (k,)
        In ascending order, real.
    v : GPUArray of shape (n, k)
        Normalised vectors, as columns. Only with `return_eigenvectors`.

    Raises
    ------
    ArpackNoConvergence
        If the restarts do not suffice; the exception has the results found so far.
    ValueError, TypeError
        If arguments are out of range, and for a sparse `A` or an operator if ``k >= n``.
    numpy.linalg.LinAlgError
        If `A` maps a vector to infinities or NaN.
    NotImplementedError
        For `M`, `Minv`, and modes other than "normal"; `lobpcg` solves the generalized problem.
    """
    A = square_operand(A)
    n, dtype, k = A.shape[0], vector_dtype(A.dtype), operator.index(k)
    if M is not None or Minv is not None:
        raise NotImplementedError("M: the generalized problem is not supported by eigsh; see lobpcg(A, X, B=M)")
    if which not in _WHICH:
        raise ValueError(f"which is {shown(which)}; expected one of {' '.join(_WHICH)}")
    if mode != "normal":
        if mode in ("buckling", "cayley"):
            raise NotImplementedError(f"mode is {shown(mode)}; expected 'normal'")
        raise ValueError(f"unrecognized mode '{mode}'; expected 'normal'")
    if OPinv is not None and sigma is None:
        raise ValueError("OPinv should not be specified with sigma = None.")
    if k <= 0:
        raise ValueError(f"k={k} must be greater than 0.")
    if k >= n:
        return _all_eigenvalues(A, k, return_eigenvectors)
    limits = _limits(ncv, maxiter, tol)
    inverse = A
    if sigma is not None:
        sigma = float(sigma)
        inverse = _shift_inverse(A, sigma, dtype, tol) if OPinv is None else _operand(OPinv)
        if inverse.shape != A.shape:
            raise ValueError(f"OPinv has shape {inverse.shape}; expected {A.shape}")
    values, vectors, report = _native.sparse_eigsh(
        _native_operand(inverse, dtype), dtype, _start(v0, rng, n, dtype), k=k, which=which, shift=sigma, **limits
    )
    found = to_device(np.array(values, dtype.type(0).real.dtype))
    if not report["converged"]:
        message = f"No convergence ({report['restarts']} restarts, {len(found)}/{k} eigenvectors converged)"
        raise ArpackNoConvergence(message, found, vectors)
    return (found, vectors) if return_eigenvectors else found


def _all_eigenvalues(A: Any, k: int, return_eigenvectors: bool) -> Any:
    """All eigenvalues of a dense array, which SciPy returns if there are no more than requested."""
    n = A.shape[0]
    if not isinstance(A, GPUArray):
        what = "sparse A" if issparse(A) else "LinearOperator A"
        hint = " Use rtcg.linalg.eigh(A.toarray()) or" if issparse(A) else " Expected to"
        raise TypeError(f"Cannot use rtcg.linalg.eigh for {what} with k >= N (k={k}, N={n}).{hint} reduce k.")
    warnings.warn(
        f"k >= N for N * N square matrix (k={k}, N={n}). Using rtcg.linalg.eigh instead.", RuntimeWarning, stacklevel=3
    )
    return _dense.eigh(A) if return_eigenvectors else _dense.eigvalsh(A)


@converts(
    A=as_operand,
    rng=as_rng,
    k=as_integer,
    ncv=as_integer,
    tol=as_float,
    which=as_text,
    maxiter=as_integer,
    solver=as_text,
)
def svds(
    A: Any, k: int = 6, ncv: int | None = None, tol: float = 0, which: str = "LM", v0: Any = None,
    maxiter: int | None = None, return_singular_vectors: bool | str = True, solver: str = "arpack", rng: Any = None,
    options: Any = None,
) -> Any:  # fmt: skip
    """A few singular values and vectors of `A`; see `scipy.sparse.linalg.svds`.

    Computes eigenvalues of ``A^H A`` or ``A A^H``, whichever is smaller, as `eigsh` does, then decomposes `k` columns
    (`rtcg.linalg.svd`). Singular values smaller than the largest one times the square root of the precision are lost by
    squaring. Waits once per restart, and at the end.

    Parameters
    ----------
    A : sparse array, array, or `LinearOperator` with ``rmatvec``
        Of shape (m, n).
    k : int
        The number of singular values, less than m and n.
    which : {"LM", "SM"}
        The largest, or the smallest.
    v0 : array of shape (min(m, n),), optional
        The start vector.
    ncv, tol, maxiter, rng
        As in `eigsh`; `tol` is squared.
    return_singular_vectors : bool, "u" or "vh"
        Which vectors are returned along with `s`.
    solver : {"arpack"}
        SciPy's other solvers are not available.

    Returns
    -------
    u : GPUArray of shape (m, k)
        None with "vh".
    s : GPUArray of shape (k,)
        In ascending order. The only result if no vectors are requested.
    vh : GPUArray of shape (k, n)
        None with "u".

    Raises
    ------
    ArpackNoConvergence, ValueError, numpy.linalg.LinAlgError
        As in `eigsh`.
    """
    A = _operand(A)
    if solver in ("lobpcg", "propack"):
        raise NotImplementedError(f"solver is {shown(solver)}; expected 'arpack'")
    if solver != "arpack":
        raise ValueError(f"solver must be one of {{'arpack', 'lobpcg', 'propack'}}; it is {shown(solver)}")
    if options:
        raise NotImplementedError(f"options is {shown(options)}; expected None")
    size, dtype, k = min(A.shape), vector_dtype(A.dtype), operator.index(k)
    if not 0 < k < size:
        raise ValueError(f"`k` must be an integer satisfying `0 < k < min(A.shape)`; k={k}, A.shape={A.shape}")
    if which not in ("LM", "SM"):
        raise ValueError(f"`which` must be in {{'LM', 'SM'}}; it is {shown(which)}")
    if return_singular_vectors not in (True, False, "u", "vh"):
        raise ValueError(
            f"`return_singular_vectors` must be in {{True, False, 'u', 'vh'}}; it is {shown(return_singular_vectors)}"
        )
    u, s, vh, is_converged = _native.sparse_svds(
        _native_operand(A, dtype), _native_adjoint(A, dtype), dtype, _start(v0, rng, size, dtype), k=k, which=which,
        **_limits(ncv, maxiter, tol),
    )  # fmt: skip
    if not is_converged:
        raise ArpackNoConvergence(f"No convergence ({len(s)}/{k} singular vectors converged)", s, u)
    if return_singular_vectors is False:
        return s
    return None if return_singular_vectors == "vh" else u, s, None if return_singular_vectors == "u" else vh


def _block_operator(name: str, A: Any, n: int, dtype: Any) -> Any:
    """An operator for blocks; also a function of blocks, whose shape and dtype are known from elsewhere."""
    if A is None:
        return None
    if not (issparse(A) or isinstance(A, (GPUArray, np.ndarray))) and not hasattr(A, "shape") and callable(A):
        return LinearOperator((n, n), lambda x: A(x.reshape(n, 1)).ravel(), matmat=A, dtype=dtype)
    A = _operand(A)
    if A.shape != (n, n):
        raise ValueError(f"{name} has shape {A.shape}; expected ({n}, {n})")
    return A


def _as_function(name: str, value: Any) -> Any:
    """`value`, which must be an operand or a function of blocks."""
    return value if callable(value) else as_operand(name, value)


def _as_vectors(name: str, value: Any) -> Any:
    """`value` as an array of numbers."""
    array = value if isinstance(value, GPUArray) else np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{name} is {shown(value)}; expected an array of numbers")
    return array


@converts(
    A=_as_function,
    B=_as_function,
    M=_as_function,
    tol=as_float,
    maxiter=as_integer,
    largest=as_flag,
    verbosityLevel=as_integer,
    retLambdaHistory=as_flag,
    retResidualNormsHistory=as_flag,
    restartControl=as_integer,
)
def lobpcg(
    A: Any, X: Any, B: Any = None, M: Any = None, Y: Any = None, tol: float | None = None, maxiter: int | None = None,
    largest: bool = True, verbosityLevel: int = 0, retLambdaHistory: bool = False,
    retResidualNormsHistory: bool = False, restartControl: int = 20,
) -> Any:  # fmt: skip
    """The largest or smallest eigenvalues of ``A x = w B x``; see `scipy.sparse.linalg.lobpcg`.

    Uses the locally optimal block preconditioned conjugate gradient method (Knyazev 2001). Each iteration multiplies a
    block of vectors in one product, and decomposes matrices of order 3 k on the host, which waits once. Results are
    bitwise reproducible.

    Parameters
    ----------
    A : sparse array, array, `LinearOperator`, or a function of blocks
        Hermitian, of shape (n, n).
    X : array of shape (n, k)
        Initial approximations of the eigenvectors; not modified.
    B : as `A`, optional
        Hermitian positive definite.
    M : as `A`, optional
        A preconditioner, an approximation of the inverse of `A`: `jacobi`, `amg`, ...
    Y : array of shape (n, m), optional
        Vectors to which results are orthogonal, in the inner product of `B`.
    tol : float, optional
        The bound for norms of residuals ``A x - w B x``. Unless given, ``n * sqrt(eps)``, times the magnitude of the
        problem if that is less than 1, and at least ``10 * n * eps`` times that magnitude.
    maxiter : int, optional
        The maximum number of iterations, 20 unless given.
    largest : bool
        Whether to find the largest eigenvalues.
    verbosityLevel : int
        From 1 on, prints the numbers of iterations and the residuals at the end.
    retLambdaHistory, retResidualNormsHistory : bool
        Whether to return eigenvalues, and norms of residuals, before each iteration and after the last.
    restartControl : int
        Without effect: directions that are linearly dependent within the precision are dropped instead.

    Returns
    -------
    w : GPUArray of shape (k,)
        Eigenvalues, the most extreme one first.
    v : GPUArray of shape (n, k)
        Eigenvectors, orthonormal in the inner product of `B`.
    lambdaHistory, residualNormsHistory : list of numpy.ndarray
        If requested.

    Warns
    -----
    UserWarning
        If `tol` is not reached, in which case results are those of the iteration with the smallest residuals; and if n
        is less than 5 k, in which case the whole space is decomposed.

    Raises
    ------
    ValueError
        If shapes do not fit or columns of `X` or `Y` are linearly dependent.
    numpy.linalg.LinAlgError
        If an operator maps vectors to infinities or NaN.
    """
    X = _as_vectors("X", X)
    if X.ndim != 2:
        raise ValueError(f"expected rank-2 array for argument X; it has shape {X.shape}")
    Y = None if Y is None else _as_vectors("Y", Y)
    n, k = X.shape
    A, B, M = (_block_operator(name, op, n, X.dtype) for name, op in (("A", A), ("B", B), ("M", M)))
    dtype = vector_dtype(X.dtype, A.dtype, *(operand.dtype for operand in (B, Y) if operand is not None))
    if Y is not None:
        if Y.ndim != 2 or Y.shape[0] != n:
            raise ValueError(f"Y has shape {Y.shape}; expected {n} rows and two axes")
        Y = to_device(Y, dtype)
        if not bool(_xp.isfinite(Y).all()):
            raise ValueError("Y has infinities or NaN; expected finite numbers")
    maxiter = 20 if maxiter is None else operator.index(maxiter)
    if maxiter < 0:
        raise ValueError(f"maxiter is {maxiter}; expected at least 0")
    rows = n - (0 if Y is None else Y.shape[-1])
    if rows < 5 * k:
        warnings.warn(
            f"The problem size {n} minus the constraints size {n - rows} is too small relative to the block size {k}. "
            "Using a dense eigensolver instead of LOBPCG iterations.",
            UserWarning,
            stacklevel=2,
        )
    A, B, M = (None if op is None else _native_operand(op, dtype, blocks=True) for op in (A, B, M))
    values, vectors, report = _native.sparse_lobpcg(
        A, to_device(X, dtype), B, M, Y, tol=None if tol is None else float(tol), maxiter=maxiter, largest=bool(largest)
    )
    real = dtype.type(0).real.dtype
    if not report["converged"] and rows >= 5 * k:
        warnings.warn(
            f"Exited at iteration {report['iterations']} with accuracies {report['residuals']} not reaching the "
            f"requested tolerance {report['tolerance']}.",
            UserWarning,
            stacklevel=2,
        )
    if verbosityLevel > 0:
        print(f"lobpcg: {report['iterations']} iterations, eigenvalues {values}, residuals {report['residuals']}")
    results: tuple[Any, ...] = (to_device(np.array(values, real)), vectors)
    for wanted, name in ((retLambdaHistory, "value_history"), (retResidualNormsHistory, "residual_history")):
        if wanted:
            results += ([np.array(numbers, real) for numbers in report[name]],)
    return results
