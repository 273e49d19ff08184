"""NVIDIA's cuBLAS for device arrays, where it is asked for: rtcg itself does not use it.

::

    import rtcg.numpy as xp
    from rtcg import cublas

    a, b = xp.ones((512, 256), "float16"), xp.ones((256, 128), "float16")
    c = cublas.gemm(a, b)                                # as a @ b
    c = cublas.gemm(a, b, out=c, alpha=0.5, beta=1)      # c = 0.5 * a @ b + c
    d = cublas.matmul(a, b, activation="relu")           # by cuBLASLt's heuristics

Functions take arrays of one context, in row-major or column-major order, and enqueue their work in the current stream;
a matrix of any other layout is copied first. A result is written where `out` says, or to a new array in row-major
order. Nothing waits but functions that return a number.

The functions and constants of C have their C names (`cublas.cublasSgemm`, `cublas.CUBLAS_OP_T`), for device pointers:
see `rtcg._library_calls.RawFunction`. Those of ``cublasLt`` are not among them.

The library is opened by the first call that needs it: that which `RTCG_CUBLAS` names, else that of the wheel
``nvidia-cublas`` (or ``nvidia-cublas-cu12``), of a toolkit or of the system. On the virtual GPU functions raise an
error that names the function of rtcg to use instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtcg import _library_calls, _native
from rtcg._library_calls import array, choice, optional_array
from rtcg._native import CublasError, CublasHandle as Handle, LibraryError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtcg.numpy import GPUArray

__all__ = [
    "CublasError", "Handle", "LibraryError", "amax", "axpy", "dot", "dotc", "geam", "gemm", "gemm_batched",
    "gemm_strided_batched", "gemv", "getrf_batched", "getrs_batched", "matmul", "matmul_algorithms", "nrm2", "path",
    "scal", "syrk", "trsm", "version",
]  # fmt: skip

#: Whether the functions would work here: with a GPU and the library, which is opened to find out.
available: bool


def version() -> tuple[int, int]:
    """The version of the library, which is opened.

    Raises
    ------
    CublasError
        When there is none; the message lists what was tried, and the wheel to install.
    """
    return _library_calls.version_and_path("cublas")[0]


def path() -> str:
    """The file of the library as a str. Opens it, and raises as `version` does."""
    return _library_calls.version_and_path("cublas")[1]


def _product(alpha: Any, beta: Any, transa: str = "n", transb: str = "n", compute: str = "default") -> Any:
    letters = {"n": "n", "N": "n", "t": "t", "T": "t", "c": "c", "C": "c"}
    return alpha, beta, choice("transa", transa, letters), choice("transb", transb, letters), compute


def gemm(
    a: GPUArray,
    b: GPUArray,
    out: GPUArray | None = None,
    *,
    alpha: Any = 1,
    beta: Any = 0,
    transa: str = "n",
    transb: str = "n",
    compute: str = "default",
    handle: Handle | None = None,
) -> GPUArray:
    """``out = alpha * op(a) @ op(b) + beta * out``, by ``cublasGemmEx``. Does not wait.

    Parameters
    ----------
    a, b : GPUArray
        Matrices of float16, bfloat16, float32, float64, complex64, complex128 or int8, both of one dtype.
    out : GPUArray, optional
        The result, apart from `a` and `b`: of their dtype, int32 for int8, and also float32 for 16-bit numbers.
    alpha, beta : number
        Factors. `out` is not read if `beta` is 0.
    transa, transb : {"n", "t", "c"}
        ``op``: the matrix, its transpose or its conjugate transpose.
    compute : {"default", "pedantic", "tf32", "fast_16f", "fast_16bf", "16f"}
        The arithmetic; by default sums of 16-bit numbers are float32. "tf32" and "fast_*" round float32 and complex64
        factors, "16f" sums float16 in float16.
    handle : Handle, optional
        The calling thread's own without it.

    Raises
    ------
    ValueError, TypeError
        When operands do not fit.
    CublasError
        On the virtual GPU, without the library, and when it refuses the call.
    """
    product = _product(alpha, beta, transa, transb, compute)
    return _native.cublas_gemm(array("a", a), array("b", b), optional_array("out", out), product, False, handle)


def gemm_strided_batched(
    a: GPUArray,
    b: GPUArray,
    out: GPUArray | None = None,
    *,
    alpha: Any = 1,
    beta: Any = 0,
    transa: str = "n",
    transb: str = "n",
    compute: str = "default",
    handle: Handle | None = None,
) -> GPUArray:
    """`gemm` of each pair of matrices of two stacks, without waiting.

    The stacks have the shapes ``(count, m, k)`` and ``(count, k, n)``. Returns `out`, or a new array of shape ``(count,
    m, n)``. Parameters and errors are those of `gemm`.
    """
    product = _product(alpha, beta, transa, transb, compute)
    return _native.cublas_gemm(array("a", a), array("b", b), optional_array("out", out), product, True, handle)


def gemm_batched(
    a: Sequence[GPUArray],
    b: Sequence[GPUArray],
    *,
    alpha: Any = 1,
    transa: str = "n",
    transb: str = "n",
    compute: str = "default",
    handle: Handle | None = None,
) -> GPUArray:
    """`gemm` of each pair of matrices of two lists, which may lie anywhere: a stack of the results.

    The matrices of a list have one shape, dtype and layout. Waits until their addresses are on the device.
    """
    first = [array(f"a[{i}]", matrix) for i, matrix in enumerate(a)]
    second = [array(f"b[{i}]", matrix) for i, matrix in enumerate(b)]
    return _native.cublas_gemm_batched(first, second, _product(alpha, 0, transa, transb, compute), handle)


_WORKSPACE_BYTES = 32 << 20


def matmul(
    a: GPUArray,
    b: GPUArray,
    out: GPUArray | None = None,
    *,
    alpha: Any = 1,
    beta: Any = 0,
    transa: str = "n",
    transb: str = "n",
    bias: GPUArray | None = None,
    activation: str | None = None,
    compute: str = "default",
    workspace_bytes: int = _WORKSPACE_BYTES,
    algorithm: int = 0,
    handle: Handle | None = None,
) -> GPUArray:
    """``out = activation(alpha * op(a) @ op(b) + beta * out + bias)``, by cuBLASLt. Does not wait.

    Parameters
    ----------
    a, b, out, alpha, beta, transa, transb, compute, handle
        As in `gemm`; `a` and `b` may also be stacks of matrices.
    bias : GPUArray, optional
        A vector of the dtype of `out`, which is added to each row; `out` is then in row-major order.
    activation : {None, "relu", "gelu"}
        A function of each element.
    workspace_bytes : int
        The most bytes of workspace that an algorithm may need.
    algorithm : int
        The place of the algorithm among `matmul_algorithms`.
    """
    product = _product(alpha, beta, transa, transb, compute)
    a, b, out, bias = array("a", a), array("b", b), optional_array("out", out), optional_array("bias", bias)
    return _native.cublas_matmul(a, b, out, product, bias, activation, workspace_bytes, algorithm, handle)


def matmul_algorithms(
    a: GPUArray,
    b: GPUArray,
    *,
    transa: str = "n",
    transb: str = "n",
    bias: GPUArray | None = None,
    activation: str | None = None,
    compute: str = "default",
    workspace_bytes: int = _WORKSPACE_BYTES,
    handle: Handle | None = None,
) -> list[tuple[int, float]]:
    """The algorithms that cuBLASLt's heuristics propose for a `matmul`, the fastest first by its estimate.

    Returns
    -------
    list of tuple
        Of each algorithm the bytes of workspace that it needs, and how often its grid fills the device.
    """
    product = _product(1, 0, transa, transb, compute)
    options = optional_array("bias", bias), activation, workspace_bytes
    return _native.cublas_matmul_algorithms(array("a", a), array("b", b), product, *options, handle)


def gemv(
    a: GPUArray,
    x: GPUArray,
    out: GPUArray | None = None,
    *,
    alpha: Any = 1,
    beta: Any = 0,
    trans: str = "n",
    handle: Handle | None = None,
) -> GPUArray:
    """``out = alpha * op(a) @ x + beta * out``, a new array without `out`; does not wait.

    `a` is a matrix and `x` a vector of float32, float64, complex64 or complex128.
    """
    product = _product(alpha, beta, trans)
    return _native.cublas_gemv(array("a", a), array("x", x), optional_array("out", out), product, handle)


def geam(
    a: GPUArray,
    b: GPUArray,
    out: GPUArray | None = None,
    *,
    alpha: Any = 1,
    beta: Any = 1,
    transa: str = "n",
    transb: str = "n",
    handle: Handle | None = None,
) -> GPUArray:
    """``out = alpha * op(a) + beta * op(b)``, a new array without `out`; does not wait.

    `a` and `b` are matrices of float32, float64, complex64 or complex128, both of one dtype.
    """
    product = _product(alpha, beta, transa, transb)
    return _native.cublas_geam(array("a", a), array("b", b), optional_array("out", out), product, handle)


_SIDES = {"l": False, "L": False, "r": True, "R": True}


def trsm(
    a: GPUArray,
    b: GPUArray,
    *,
    side: str = "l",
    lower: bool = False,
    trans: str = "n",
    unit_diagonal: bool = False,
    alpha: Any = 1,
    handle: Handle | None = None,
) -> GPUArray:
    """Solve ``op(a) @ x = alpha * b`` (or ``x @ op(a) = alpha * b`` with `side` "r") in place of `b`.

    Returns `b`, without waiting.

    `a` is triangular: only its lower or upper triangle is read, without its diagonal if that is `unit_diagonal`. A zero
    on the diagonal gives infinities. dtypes: float32, float64, complex64, complex128.
    """
    is_right, letters = choice("side", side, _SIDES), _product(1, 0, trans)
    _native.cublas_trsm(
        array("a", a), array("b", b), alpha, is_right, bool(lower), letters[2], bool(unit_diagonal), handle
    )
    return b


def syrk(
    a: GPUArray,
    out: GPUArray | None = None,
    *,
    alpha: Any = 1,
    beta: Any = 0,
    trans: str = "n",
    lower: bool = False,
    handle: Handle | None = None,
) -> GPUArray:
    """``out = alpha * a @ a.T + beta * out`` (``a.T @ a`` with `trans` "t"), in one triangle of `out`; does not wait.

    A new `out` has zeros in the other one. dtypes: float32, float64, complex64, complex128, without conjugation.
    """
    product = _product(alpha, beta, trans)
    return _native.cublas_syrk(array("a", a), optional_array("out", out), product, bool(lower), handle)


def getrf_batched(a: GPUArray, *, handle: Handle | None = None) -> tuple[GPUArray, GPUArray, GPUArray]:
    """LU factors with partial pivoting of a stack of square matrices, as LAPACK stores them.

    Waits until the addresses of the matrices are on the device, not for the factors.

    Returns
    -------
    lu, piv, info : GPUArray
        The factors; the pivots, int32, from 1; for each matrix 0, or the place of the first zero pivot, from 1.
    """
    lu, piv, info = _native.cublas_getrf_batched(array("a", a), handle)
    return lu, piv, info


def getrs_batched(
    lu: GPUArray, piv: GPUArray, b: GPUArray, *, trans: str = "n", handle: Handle | None = None
) -> GPUArray:
    """Solve ``op(a) @ x = b`` with what `getrf_batched` returned; waits until addresses are on the device.

    Returns a new array of the shape of `b`, ``(count, n, k)``.
    """
    letters = _product(1, 0, trans)
    return _native.cublas_getrs_batched(array("lu", lu), array("piv", piv), array("b", b), letters[2], handle)


def axpy(alpha: Any, x: GPUArray, y: GPUArray, *, handle: Handle | None = None) -> GPUArray:
    """``y += alpha * x`` for vectors with any strides, also of 16-bit numbers; returns `y` without waiting."""
    _native.cublas_axpy(alpha, array("x", x), array("y", y), handle)
    return y


def scal(alpha: Any, x: GPUArray, *, handle: Handle | None = None) -> GPUArray:
    """``x *= alpha`` for a vector with any stride, also of 16-bit numbers; returns `x` without waiting."""
    _native.cublas_scal(alpha, array("x", x), handle)
    return x


def dot(x: GPUArray, y: GPUArray, *, out: GPUArray | None = None, handle: Handle | None = None) -> Any:
    """The sum of ``x[i] * y[i]``: a number, for which it waits, or `out`, an array of one element."""
    return _native.cublas_dot(array("x", x), array("y", y), False, optional_array("out", out), handle)


def dotc(x: GPUArray, y: GPUArray, *, out: GPUArray | None = None, handle: Handle | None = None) -> Any:
    """The sum of ``conj(x[i]) * y[i]``: a number, for which it waits, or `out`, as of `dot`."""
    return _native.cublas_dot(array("x", x), array("y", y), True, optional_array("out", out), handle)


def nrm2(x: GPUArray, *, out: GPUArray | None = None, handle: Handle | None = None) -> Any:
    """The Euclidean norm: a number, for which it waits, or `out`, an array of one element of the real dtype."""
    return _native.cublas_nrm2(array("x", x), optional_array("out", out), handle)


def amax(x: GPUArray, *, handle: Handle | None = None) -> int:
    """The index of the first element with the largest sum of absolute real and imaginary parts. Waits.

    Returns an int, from 0. dtypes: float32, float64, complex64, complex128.
    """
    return _native.cublas_amax(array("x", x), handle)


def __getattr__(name: str) -> Any:
    return _library_calls.attribute(__name__, name)


def __dir__() -> list[str]:
    return _library_calls.directory("cublas", list(globals()))
