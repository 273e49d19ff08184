"""NVIDIA's cuSOLVER for device arrays, where it is asked for: rtcg itself does not use it.

::

    import rtcg.numpy as xp
    from rtcg import cusolver

    a, b = xp.random.standard_normal((500, 500)), xp.ones((500, 3))
    lu, piv, info = cusolver.getrf(a)
    x = cusolver.getrs(lu, piv, b)                        # as rtcg.linalg.solve(a, b)
    w, v, info = cusolver.syevd(a @ a.T)                  # as rtcg.linalg.eigh(a @ a.T)

Functions are those of LAPACK, by name and result: factors as LAPACK stores them, pivots from 1, and `info`, an array of
int32 on the device, which is 0 where the function succeeded. Arrays are float32, float64, complex64 or complex128, in
any memory order; they are copied, and results are in column-major order. Work goes to the current stream, in workspaces
from the pool of arrays; a function waits only where the library needs host memory to work in.

The functions and constants of C have their C names (`cusolver.cusolverDnSgetrf`), for device pointers: see
`rtcg._library_calls.RawFunction`.

The library is opened by the first call that needs it: that which `RTCG_CUSOLVER` names, else that of the wheel
``nvidia-cusolver`` (or ``nvidia-cusolver-cu12``), of a toolkit or of the system. On the virtual GPU functions raise an
error that names the function of rtcg to use instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtcg import _library_calls, _native
from rtcg._library_calls import array, choice
from rtcg._native import CusolverError, CusolverHandle as Handle, LibraryError

if TYPE_CHECKING:
    from rtcg.numpy import GPUArray

__all__ = [
    "CusolverError", "Handle", "LibraryError", "geev", "geqrf", "gesv", "gesvd", "gesvdj", "getrf", "getrs", "ormqr",
    "path", "potrf", "potrs", "syevd", "syevj", "version",
]  # fmt: skip

#: Whether the functions would work here: with a GPU and the library, which is opened to find out.
available: bool


def version() -> tuple[int, int]:
    """The version of the library, which is opened.

    Raises
    ------
    CusolverError
        When there is none; the message lists what was tried, and the wheel to install.
    """
    return _library_calls.version_and_path("cusolver")[0]


def path() -> str:
    """The file of the library as a str. Opens it, and raises as `version` does."""
    return _library_calls.version_and_path("cusolver")[1]


_TRANSPOSITIONS = {"n": "n", "N": "n", "t": "t", "T": "t", "c": "c", "C": "c"}


def potrf(a: GPUArray, *, lower: bool = False, handle: Handle | None = None) -> tuple[GPUArray, GPUArray]:
    """The Cholesky factor of a matrix, or of each of a stack of shape ``(count, n, n)``.

    Parameters
    ----------
    a : GPUArray
        Positive definite; only one triangle is read.
    lower : bool
        Which one; the factor replaces it, and the other one is as it was.
    handle : Handle, optional
        The calling thread's own without it.

    Returns
    -------
    c, info : GPUArray
        The factor, and 0 or the order of the first minor that is not positive definite.

    Raises
    ------
    ValueError, TypeError
        When the array does not fit.
    CusolverError
        On the virtual GPU, without the library, and when it refuses the call.
    """
    c, info = _native.cusolver_potrf(array("a", a), bool(lower), handle)
    return c, info


def potrs(c: GPUArray, b: GPUArray, *, lower: bool = False, handle: Handle | None = None) -> GPUArray:
    """Solve ``a @ x = b`` with the Cholesky factor of `a`; for a stack, `b` is a stack of single columns.

    Returns a new array of the shape of `b`; waits for addresses of stacks only.
    """
    return _native.cusolver_potrs(array("c", c), array("b", b), bool(lower), handle)


def getrf(a: GPUArray, *, handle: Handle | None = None) -> tuple[GPUArray, GPUArray, GPUArray]:
    """LU factors of a matrix with partial pivoting.

    Returns
    -------
    lu, piv, info : GPUArray
        The factors; the pivots, int64, from 1; 0, or the place of the first zero pivot, from 1.
    """
    lu, piv, info = _native.cusolver_getrf(array("a", a), handle)
    return lu, piv, info


def getrs(lu: GPUArray, piv: GPUArray, b: GPUArray, *, trans: str = "n", handle: Handle | None = None) -> GPUArray:
    """Solve ``op(a) @ x = b`` with what `getrf` returned; `trans` is "n", "t" or "c".

    Returns a new array of the shape of `b`, ``(n, k)``; does not wait.
    """
    letter = choice("trans", trans, _TRANSPOSITIONS)
    return _native.cusolver_getrs(array("lu", lu), array("piv", piv), array("b", b), letter, handle)


def gesv(a: GPUArray, b: GPUArray, *, handle: Handle | None = None) -> tuple[GPUArray, GPUArray]:
    """The solution of ``a @ x = b``, by `getrf` and `getrs`, and the `info` of the former: two new arrays."""
    x, info = _native.cusolver_gesv(array("a", a), array("b", b), handle)
    return x, info


def geqrf(a: GPUArray, *, handle: Handle | None = None) -> tuple[GPUArray, GPUArray, GPUArray]:
    """QR factors of a matrix.

    Returns
    -------
    qr, tau, info : GPUArray
        ``R`` in the upper triangle and the vectors of Householder reflections below it; their factors; 0.
    """
    qr, tau, info = _native.cusolver_geqrf(array("a", a), handle)
    return qr, tau, info


def ormqr(
    qr: GPUArray, tau: GPUArray, c: GPUArray, *, side: str = "l", trans: str = "n", handle: Handle | None = None
) -> GPUArray:
    """``op(Q) @ c``, or ``c @ op(Q)`` with `side` "r", for the square ``Q`` of `geqrf` (``unmqr`` for complex numbers).

    `trans` is "n" or "c"; "t" for real numbers too. Returns a new array, without waiting.
    """
    is_right = choice("side", side, {"l": False, "L": False, "r": True, "R": True})
    letter = choice("trans", trans, _TRANSPOSITIONS)
    return _native.cusolver_ormqr(array("qr", qr), array("tau", tau), array("c", c), is_right, letter, handle)


def gesvd(
    a: GPUArray, *, full_matrices: bool = True, compute_uv: bool = True, handle: Handle | None = None
) -> tuple[GPUArray, GPUArray, GPUArray, GPUArray]:
    """Singular values of a matrix, by QR iterations.

    Returns
    -------
    u, s, vh, info : GPUArray
        As `numpy.linalg.svd`; `u` and `vh` have no elements without `compute_uv`. `info` counts superdiagonals that did
        not converge.
    """
    u, s, vh, info = _native.cusolver_gesvd(array("a", a), bool(full_matrices), bool(compute_uv), handle)
    return u, s, vh, info


def gesvdj(
    a: GPUArray,
    *,
    full_matrices: bool = True,
    tolerance: float | None = None,
    max_sweeps: int | None = None,
    handle: Handle | None = None,
) -> tuple[GPUArray, GPUArray, GPUArray, GPUArray]:
    """Singular values of a matrix, or of each of a stack of matrices of up to 32 by 32, by Jacobi's method.

    Parameters
    ----------
    a : GPUArray
        The matrix. Those of a stack have full matrices of singular vectors.
    full_matrices : bool
        As in `numpy.linalg.svd`.
    tolerance, max_sweeps
        When it stops; by default at the accuracy of the dtype, or after 100 sweeps.

    Returns
    -------
    u, s, v, info : GPUArray
        ``a = u @ diag(s) @ v.conj().T``; `info` is ``min(m, n) + 1`` where the sweeps were not enough.
    """
    u, s, v, info = _native.cusolver_gesvdj(array("a", a), bool(full_matrices), tolerance, max_sweeps, handle)
    return u, s, v, info


def syevd(
    a: GPUArray, *, lower: bool = False, compute_v: bool = True, handle: Handle | None = None
) -> tuple[GPUArray, GPUArray, GPUArray]:
    """Eigenvalues of a symmetric or Hermitian matrix, of which one triangle is read, by divide and conquer.

    Returns
    -------
    w, v, info : GPUArray
        The values, ascending; the vectors in columns, without elements if they are not computed; 0, or how many
        off-diagonal elements did not converge.
    """
    w, v, info = _native.cusolver_syevd(array("a", a), bool(lower), bool(compute_v), handle)
    return w, v, info


def syevj(
    a: GPUArray,
    *,
    lower: bool = False,
    compute_v: bool = True,
    tolerance: float | None = None,
    max_sweeps: int | None = None,
    handle: Handle | None = None,
) -> tuple[GPUArray, GPUArray, GPUArray]:
    """As `syevd`, by Jacobi's method, of a matrix or of each of a stack; `info` is ``n + 1`` after too few sweeps."""
    options = bool(lower), bool(compute_v), tolerance, max_sweeps
    w, v, info = _native.cusolver_syevj(array("a", a), *options, handle)
    return w, v, info


def geev(a: GPUArray, *, compute_v: bool = True, handle: Handle | None = None) -> tuple[GPUArray, GPUArray, GPUArray]:
    """Eigenvalues of a general matrix, and its right eigenvectors; needs cuSOLVER of CUDA 12.8 or newer.

    Returns
    -------
    w, v, info : GPUArray
        The values, complex; the vectors in columns, of the dtype of `a`; 0, or where the iterations failed. Of a real
        matrix a conjugate pair of values has the real and the imaginary part of the first one's vector in two columns,
        as in LAPACK.
    """
    w, v, info = _native.cusolver_geev(array("a", a), bool(compute_v), handle)
    return w, v, info


def __getattr__(name: str) -> Any:
    return _library_calls.attribute(__name__, name)


def __dir__() -> list[str]:
    return _library_calls.directory("cusolver", list(globals()))
