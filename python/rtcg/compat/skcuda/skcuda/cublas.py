"""cuBLAS's functions under scikit-cuda's names, computed by `rtcg.numpy` and `rtcg.linalg`, without a library.

Matrices are in column-major order, arrays are device pointers (``x.gpudata``) or arrays, of which only the address
counts, and increments may be negative, as in BLAS. Functions are computed in the stream of the handle. Those that
return a number wait for it, others do not wait. Letters of names: S, D, C, Z for float32, float64, complex64,
complex128.

There are the functions that programs use most: amax amin asum axpy copy dot dotu dotc nrm2 rot scal swap, gemv symv
hemv ger geru gerc syr her trmv trsv, gemm symm hemm syrk herk trmm trsm, geam dgmm, gemmBatched gemmStridedBatched
trsmBatched getrfBatched getrsBatched getriBatched. The others that scikit-cuda has (rotg rotm rotmg, functions of
banded and packed matrices, spr2 syr2 her2 syr2k her2k ...) are those of cuBLAS itself, through `rtcg.cublas`: they need
a GPU and the wheel nvidia-cublas.
"""

from __future__ import annotations

import ctypes  # noqa: F401  (programs name the types of pointers as cublas.ctypes.c_void_p)
import inspect
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _library_calls, cublas as _library, linalg, numpy as xp
from rtcg._conversions import as_integer
from rtcg._device_views import view
from rtcg._messages import shown
from rtcg.driver import Stream
from rtcg.numpy import GPUArray, _run_in_stream

from . import _batched_lu

if TYPE_CHECKING:
    from collections.abc import Callable


class cublasError(Exception):
    """An error of a function of this module."""


class cublasNotInitialized(cublasError):
    """No handle of `cublasCreate` was given."""


class cublasAllocFailed(cublasError):
    """Memory could not be allocated."""


class cublasInvalidValue(cublasError):
    """An argument has a value that it may not have."""


class cublasArchMismatch(cublasError):
    """The device lacks something."""


class cublasMappingError(cublasError):
    """Memory of the device could not be reached."""


class cublasExecutionFailed(cublasError):
    """A kernel failed."""


class cublasInternalError(cublasError):
    """The library failed."""


class cublasNotSupported(cublasError):
    """The function is not supported."""


class cublasLicenseError(cublasError):
    """There is no licence."""


cublasExceptions = {
    1: cublasNotInitialized,
    3: cublasAllocFailed,
    7: cublasInvalidValue,
    8: cublasArchMismatch,
    11: cublasMappingError,
    13: cublasExecutionFailed,
    14: cublasInternalError,
    15: cublasNotSupported,
    16: cublasLicenseError,
}

_CUBLAS_OP = {0: 0, "n": 0, "N": 0, 1: 1, "t": 1, "T": 1, 2: 2, "c": 2, "C": 2}
_CUBLAS_FILL_MODE = {0: 0, "l": 0, "L": 0, 1: 1, "u": 1, "U": 1}
_CUBLAS_DIAG = {0: 0, "n": 0, "N": 0, 1: 1, "u": 1, "U": 1}
_CUBLAS_SIDE_MODE = {0: 0, "l": 0, "L": 0, 1: 1, "r": 1, "R": 1}

_DTYPES = {letter: np.dtype(name) for letter, name in zip("SDCZ", ("f4", "f8", "c8", "c16"), strict=True)}
_REAL = "SD"
_COMPLEX = "CZ"

_STREAMS: dict[int, Stream | None] = {}
_HANDLES = itertools.count(1)
# Handles of the library, for functions that are not computed here.
_LIBRARY_HANDLES: dict[int, _library.Handle] = {}


def cublasCheckStatus(status: int) -> None:
    """Raise the exception of a status code; 0 is success."""
    if status:
        raise cublasExceptions.get(status, cublasError)


def cublasCreate() -> int:
    """A new handle, which computes in the default stream."""
    handle = next(_HANDLES)
    _STREAMS[handle] = None
    return handle


def _stream_of(handle: Any) -> Stream | None:
    """The stream of a handle; None, as `skcuda.linalg` has it, stands for the default stream."""
    if handle is None:
        return None
    try:
        return _STREAMS[handle]
    except (KeyError, TypeError):
        raise cublasNotInitialized(f"handle is {shown(handle)}; expected one of cublasCreate that exists") from None


def cublasDestroy(handle: int) -> None:
    """Forget a handle."""
    _stream_of(handle)
    del _STREAMS[handle]
    _LIBRARY_HANDLES.pop(handle, None)


def cublasGetVersion(handle: int) -> int:
    """The version of cuBLAS whose functions these are."""
    _stream_of(handle)
    return 11000


_cublas_version = 11000


def cublasSetStream(handle: int, id: Any) -> None:  # noqa: A002
    """Compute in a stream from now on: a `Stream` or its handle; None or 0 is the default stream."""
    _stream_of(handle)
    if id is not None and not isinstance(id, Stream):
        number = as_integer("id", id, least=0, expected="a Stream or the handle of one")
        id = Stream.from_handle(number) if number else None
    _STREAMS[handle] = id


def cublasGetStream(handle: int) -> int:
    """The handle of the stream; 0 is the default stream."""
    stream = _stream_of(handle)
    return stream.handle if stream is not None else 0


# -- arguments


def _mode(name: str, table: dict[Any, int], value: Any) -> int:
    try:
        return table[value]
    except (KeyError, TypeError):
        expected = ", ".join(repr(key) for key in table if isinstance(key, str))
        raise cublasInvalidValue(f"{name} is {shown(value)}; expected one of {expected}") from None


def _size(name: str, value: Any, least: int = 0) -> int:
    number = as_integer(name, value)
    if number < least:
        raise cublasInvalidValue(f"{name} is {number}; expected {least} or more")
    return number


def _scalar(name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "f" and np.iscomplexobj(value):
        raise cublasInvalidValue(f"{name} is {shown(value)}; expected a real number")
    return dtype.type(value)


def _vector(name: str, memory: Any, n: int, increment: int, dtype: np.dtype[Any]) -> GPUArray:
    """Elements that lie `increment` apart, backwards from the last if it is negative."""
    increment = as_integer(f"inc{name}", increment)
    elements = view(name, memory, (n,), dtype, (abs(increment),))
    return elements[::-1] if increment < 0 else elements


def _matrix(name: str, memory: Any, rows: int, columns: int, leading: int, dtype: np.dtype[Any]) -> GPUArray:
    leading = _size(f"ld{name.lower()}", leading, max(1, rows))
    return view(name, memory, (rows, columns), dtype, (1, leading))


def _operand(
    name: str, memory: Any, trans: Any, rows: int, columns: int, leading: int, dtype: np.dtype[Any]
) -> GPUArray:
    """A matrix that has `rows` and `columns` once it is transposed as `trans` says."""
    is_transposed = _mode(f"trans{name.lower()}", _CUBLAS_OP, trans)
    if is_transposed:
        rows, columns = columns, rows
    return _op(is_transposed, _matrix(name, memory, rows, columns, leading, dtype))


def _op(trans: int, matrix: GPUArray) -> GPUArray:
    axes = (*range(matrix.ndim - 2), matrix.ndim - 1, matrix.ndim - 2)
    return (matrix, matrix.transpose(axes), matrix.transpose(axes).conj())[trans] if trans else matrix


def _whole(a: GPUArray, uplo: Any, is_hermitian: bool) -> GPUArray:
    """The symmetric or Hermitian matrix of which one triangle is stored."""
    is_upper = _mode("uplo", _CUBLAS_FILL_MODE, uplo)
    half = xp.triu(a, 1) if is_upper else xp.tril(a, -1)
    diagonal = xp.diag(xp.diag(a).real if is_hermitian else xp.diag(a)).astype(a.dtype, copy=False)
    return half + (half.T.conj() if is_hermitian else half.T) + diagonal


def _triangle(a: GPUArray, uplo: Any, trans: Any, diag: Any) -> GPUArray:
    is_upper, is_unit = _mode("uplo", _CUBLAS_FILL_MODE, uplo), _mode("diag", _CUBLAS_DIAG, diag)
    triangle = xp.triu(a, is_unit) if is_upper else xp.tril(a, -is_unit)
    if is_unit:
        triangle = triangle + xp.eye(a.shape[0], dtype=a.dtype)
    return _op(_mode("trans", _CUBLAS_OP, trans), triangle)


def _solve(a: GPUArray, b: GPUArray, uplo: Any, trans: Any, diag: Any, is_right: bool = False) -> GPUArray:
    """The solution of ``op(A) @ X = B`` for a triangular `A`, or of ``X @ op(A) = B``."""
    is_upper, is_unit = _mode("uplo", _CUBLAS_FILL_MODE, uplo), _mode("diag", _CUBLAS_DIAG, diag)
    form = _mode("trans", _CUBLAS_OP, trans)
    if not is_right:
        return linalg.solve_triangular(a, b, form, not is_upper, is_unit)
    # What is transposed twice is not transposed; the adjoint is then the conjugate.
    a, form = (a.conj(), 0) if form == 2 else (a, 1 - form)
    return linalg.solve_triangular(a, b.T, form, not is_upper, is_unit).T


def _store(alpha: Any, result: GPUArray, beta: Any, out: GPUArray) -> None:
    """``out = alpha * result + beta * out``; `out` is not read if beta is 0."""
    if alpha != 1:
        result = alpha * result
    if beta != 0:
        result = result + (out if beta == 1 else beta * out)
    out[...] = result


def _store_triangle(alpha: Any, result: GPUArray, beta: Any, out: GPUArray, uplo: Any) -> None:
    """`_store` into one triangle."""
    is_upper = _mode("uplo", _CUBLAS_FILL_MODE, uplo)
    whole = out.copy()
    _store(alpha, result, beta, whole)
    out[...] = xp.triu(whole) + xp.tril(out, -1) if is_upper else xp.tril(whole) + xp.triu(out, 1)


def _absolute(x: GPUArray) -> GPUArray:
    """The sums of the absolute values of real and imaginary parts."""
    return xp.abs(x.real) + xp.abs(x.imag) if x.dtype.kind == "c" else xp.abs(x)


def _number(result: GPUArray) -> Any:
    return result.get()[()]


# -- vectors


def _amax(dtype: np.dtype[Any], n: int, x: Any, incx: int) -> int:
    """The index, from 0, of the first element with the largest sum of absolute real and imaginary parts."""
    return int(_number(xp.argmax(_absolute(_vector("x", x, _size("n", n, 1), incx, dtype)))))


def _amin(dtype: np.dtype[Any], n: int, x: Any, incx: int) -> int:
    """The index, from 0, of the first element with the smallest sum of absolute real and imaginary parts."""
    return int(_number(xp.argmin(_absolute(_vector("x", x, _size("n", n, 1), incx, dtype)))))


def _asum(dtype: np.dtype[Any], n: int, x: Any, incx: int) -> Any:
    """The sum of the absolute values of real and imaginary parts."""
    return _number(xp.sum(_absolute(_vector("x", x, _size("n", n), incx, dtype))))


def _axpy(dtype: np.dtype[Any], n: int, alpha: Any, x: Any, incx: int, y: Any, incy: int) -> None:
    """``y += alpha * x``."""
    n = _size("n", n)
    target = _vector("y", y, n, incy, dtype)
    target += _scalar("alpha", alpha, dtype) * _vector("x", x, n, incx, dtype)


def _copy(dtype: np.dtype[Any], n: int, x: Any, incx: int, y: Any, incy: int) -> None:
    """``y = x``."""
    n = _size("n", n)
    _vector("y", y, n, incy, dtype)[...] = _vector("x", x, n, incx, dtype)


def _dot(dtype: np.dtype[Any], n: int, x: Any, incx: int, y: Any, incy: int) -> Any:
    """The sum of the products ``x[i] * y[i]``."""
    n = _size("n", n)
    return _number(xp.dot(_vector("x", x, n, incx, dtype), _vector("y", y, n, incy, dtype)))


def _dotc(dtype: np.dtype[Any], n: int, x: Any, incx: int, y: Any, incy: int) -> Any:
    """The sum of the products ``conj(x[i]) * y[i]``."""
    n = _size("n", n)
    return _number(xp.vdot(_vector("x", x, n, incx, dtype), _vector("y", y, n, incy, dtype)))


def _nrm2(dtype: np.dtype[Any], n: int, x: Any, incx: int) -> Any:
    """The Euclidean norm."""
    return _number(linalg.norm(_vector("x", x, _size("n", n), incx, dtype)))


def _rot(dtype: np.dtype[Any], n: int, x: Any, incx: int, y: Any, incy: int, c: Any, s: Any) -> None:
    """``x, y = c * x + s * y, c * y - conj(s) * x``."""
    n = _size("n", n)
    a, b = _vector("x", x, n, incx, dtype), _vector("y", y, n, incy, dtype)
    c, s = _scalar("c", c, dtype), _scalar("s", s, dtype)
    a[...], b[...] = c * a + s * b, c * b - np.conj(s) * a


def _scal(dtype: np.dtype[Any], n: int, alpha: Any, x: Any, incx: int) -> None:
    """``x *= alpha``."""
    elements = _vector("x", x, _size("n", n), incx, dtype)
    elements *= _scalar("alpha", alpha, dtype)


def _swap(dtype: np.dtype[Any], n: int, x: Any, incx: int, y: Any, incy: int) -> None:
    """Exchange `x` and `y`."""
    n = _size("n", n)
    a, b = _vector("x", x, n, incx, dtype), _vector("y", y, n, incy, dtype)
    a[...], b[...] = b.copy(), a.copy()


# -- matrices and vectors


def _gemv(
    dtype: np.dtype[Any],
    trans: Any,
    m: int,
    n: int,
    alpha: Any,
    A: Any,
    lda: int,
    x: Any,
    incx: int,
    beta: Any,
    y: Any,
    incy: int,
) -> None:
    """``y = alpha * op(A) @ x + beta * y``; `A` has m rows and n columns."""
    a = _op(_mode("trans", _CUBLAS_OP, trans), _matrix("A", A, _size("m", m), _size("n", n), lda, dtype))
    product = a @ _vector("x", x, a.shape[1], incx, dtype)
    target = _vector("y", y, a.shape[0], incy, dtype)
    _store(_scalar("alpha", alpha, dtype), product, _scalar("beta", beta, dtype), target)


def _symv(
    dtype: np.dtype[Any],
    uplo: Any,
    n: int,
    alpha: Any,
    A: Any,
    lda: int,
    x: Any,
    incx: int,
    beta: Any,
    y: Any,
    incy: int,
    *,
    is_hermitian: bool = False,
) -> None:
    """``y = alpha * A @ x + beta * y`` for a symmetric or Hermitian matrix, of which one triangle is read."""
    n = _size("n", n)
    product = _whole(_matrix("A", A, n, n, lda, dtype), uplo, is_hermitian) @ _vector("x", x, n, incx, dtype)
    _store(_scalar("alpha", alpha, dtype), product, _scalar("beta", beta, dtype), _vector("y", y, n, incy, dtype))


def _hemv(
    dtype: np.dtype[Any],
    uplo: Any,
    n: int,
    alpha: Any,
    A: Any,
    lda: int,
    x: Any,
    incx: int,
    beta: Any,
    y: Any,
    incy: int,
) -> None:
    """``y = alpha * A @ x + beta * y`` for a Hermitian matrix, of which one triangle is read."""
    _symv(dtype, uplo, n, alpha, A, lda, x, incx, beta, y, incy, is_hermitian=True)


def _ger(
    dtype: np.dtype[Any],
    m: int,
    n: int,
    alpha: Any,
    x: Any,
    incx: int,
    y: Any,
    incy: int,
    A: Any,
    lda: int,
    *,
    conjugates: bool = False,
) -> None:
    """``A += alpha * outer(x, y)``."""
    m, n = _size("m", m), _size("n", n)
    columns = _vector("y", y, n, incy, dtype)
    product = xp.outer(_vector("x", x, m, incx, dtype), columns.conj() if conjugates else columns)
    _store(_scalar("alpha", alpha, dtype), product, dtype.type(1), _matrix("A", A, m, n, lda, dtype))


def _gerc(
    dtype: np.dtype[Any], m: int, n: int, alpha: Any, x: Any, incx: int, y: Any, incy: int, A: Any, lda: int
) -> None:
    """``A += alpha * outer(x, conj(y))``."""
    _ger(dtype, m, n, alpha, x, incx, y, incy, A, lda, conjugates=True)


def _syr(dtype: np.dtype[Any], uplo: Any, n: int, alpha: Any, x: Any, incx: int, A: Any, lda: int) -> None:
    """``A += alpha * outer(x, x)``, in one triangle."""
    n = _size("n", n)
    elements = _vector("x", x, n, incx, dtype)
    product, matrix = xp.outer(elements, elements), _matrix("A", A, n, n, lda, dtype)
    _store_triangle(_scalar("alpha", alpha, dtype), product, dtype.type(1), matrix, uplo)


def _her(dtype: np.dtype[Any], uplo: Any, n: int, alpha: Any, x: Any, incx: int, A: Any, lda: int) -> None:
    """``A += alpha * outer(x, conj(x))``, in one triangle; `alpha` is real."""
    n = _size("n", n)
    elements = _vector("x", x, n, incx, dtype)
    product, matrix = xp.outer(elements, elements.conj()), _matrix("A", A, n, n, lda, dtype)
    _store_triangle(dtype.type(alpha), product, dtype.type(1), matrix, uplo)


def _trmv(dtype: np.dtype[Any], uplo: Any, trans: Any, diag: Any, n: int, A: Any, lda: int, x: Any, incx: int) -> None:
    """``x = op(A) @ x`` for a triangular matrix."""
    n = _size("n", n)
    elements = _vector("x", x, n, incx, dtype)
    elements[...] = _triangle(_matrix("A", A, n, n, lda, dtype), uplo, trans, diag) @ elements


def _trsv(dtype: np.dtype[Any], uplo: Any, trans: Any, diag: Any, n: int, A: Any, lda: int, x: Any, incx: int) -> None:
    """Solve ``op(A) @ y = x`` for a triangular matrix; `x` receives the solution."""
    n = _size("n", n)
    elements = _vector("x", x, n, incx, dtype)
    elements[...] = _solve(_matrix("A", A, n, n, lda, dtype), elements, uplo, trans, diag)


# -- matrices


def _gemm(
    dtype: np.dtype[Any],
    transa: Any,
    transb: Any,
    m: int,
    n: int,
    k: int,
    alpha: Any,
    A: Any,
    lda: int,
    B: Any,
    ldb: int,
    beta: Any,
    C: Any,
    ldc: int,
) -> None:
    """``C = alpha * op(A) @ op(B) + beta * C``: an m by k matrix times a k by n matrix."""
    m, n, k = _size("m", m), _size("n", n), _size("k", k)
    a, b = _operand("A", A, transa, m, k, lda, dtype), _operand("B", B, transb, k, n, ldb, dtype)
    c = _matrix("C", C, m, n, ldc, dtype)
    _store(_scalar("alpha", alpha, dtype), a @ b, _scalar("beta", beta, dtype), c)


def _pointers(batch_count: Any, **arrays: Any) -> list[tuple[int, ...]]:
    """The tuples of pointers that arrays on the device hold."""
    count = _size("batchCount", batch_count)
    columns = [view(name, array, (count,), np.uint64, (1,)).get().tolist() for name, array in arrays.items()]
    return list(zip(*columns, strict=True))


def _gemm_batched(
    dtype: np.dtype[Any],
    transa: Any,
    transb: Any,
    m: int,
    n: int,
    k: int,
    alpha: Any,
    A: Any,
    lda: int,
    B: Any,
    ldb: int,
    beta: Any,
    C: Any,
    ldc: int,
    batchCount: int,
) -> None:
    """`gemm` for each of `batchCount` triples of matrices; `A`, `B` and `C` are arrays of pointers on the device.

    Waits for the pointers, which are copied to the host.
    """
    for a, b, c in _pointers(batchCount, A=A, B=B, C=C):
        _gemm(dtype, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)


def _gemm_strided(
    dtype: np.dtype[Any],
    transa: Any,
    transb: Any,
    m: int,
    n: int,
    k: int,
    alpha: Any,
    A: Any,
    lda: int,
    strideA: int,
    B: Any,
    ldb: int,
    strideB: int,
    beta: Any,
    C: Any,
    ldc: int,
    strideC: int,
    batchCount: int,
) -> None:
    """`gemm` for each of `batchCount` triples of matrices, whose first elements are `strideA` and so on apart."""
    m, n, k, count = _size("m", m), _size("n", n), _size("k", k), _size("batchCount", batchCount)

    def batch(name: str, memory: Any, trans: Any, rows: int, columns: int, leading: int, stride: int) -> GPUArray:
        is_transposed = _mode(f"trans{name.lower()}", _CUBLAS_OP, trans)
        shape = (columns, rows) if is_transposed else (rows, columns)
        leading = _size(f"ld{name.lower()}", leading, max(1, shape[0]))
        strides = (_size(f"stride{name}", stride), 1, leading)
        return _op(is_transposed, view(name, memory, (count, *shape), dtype, strides))

    a, b = batch("A", A, transa, m, k, lda, strideA), batch("B", B, transb, k, n, ldb, strideB)
    c = batch("C", C, "n", m, n, ldc, strideC)
    _store(_scalar("alpha", alpha, dtype), a @ b, _scalar("beta", beta, dtype), c)


def _symm(
    dtype: np.dtype[Any],
    side: Any,
    uplo: Any,
    m: int,
    n: int,
    alpha: Any,
    A: Any,
    lda: int,
    B: Any,
    ldb: int,
    beta: Any,
    C: Any,
    ldc: int,
    *,
    is_hermitian: bool = False,
) -> None:
    """``C = alpha * A @ B + beta * C``, or with ``B @ A``, for a symmetric `A`, of which one triangle is read."""
    m, n = _size("m", m), _size("n", n)
    is_right = _mode("side", _CUBLAS_SIDE_MODE, side)
    order = n if is_right else m
    a, b = _whole(_matrix("A", A, order, order, lda, dtype), uplo, is_hermitian), _matrix("B", B, m, n, ldb, dtype)
    product = b @ a if is_right else a @ b
    _store(_scalar("alpha", alpha, dtype), product, _scalar("beta", beta, dtype), _matrix("C", C, m, n, ldc, dtype))


def _hemm(
    dtype: np.dtype[Any],
    side: Any,
    uplo: Any,
    m: int,
    n: int,
    alpha: Any,
    A: Any,
    lda: int,
    B: Any,
    ldb: int,
    beta: Any,
    C: Any,
    ldc: int,
) -> None:
    """``C = alpha * A @ B + beta * C``, or with ``B @ A``, for a Hermitian `A`, of which one triangle is read."""
    _symm(dtype, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc, is_hermitian=True)


def _syrk(
    dtype: np.dtype[Any],
    uplo: Any,
    trans: Any,
    n: int,
    k: int,
    alpha: Any,
    A: Any,
    lda: int,
    beta: Any,
    C: Any,
    ldc: int,
) -> None:
    """``C = alpha * op(A) @ op(A).T + beta * C``, in one triangle."""
    n, k = _size("n", n), _size("k", k)
    a = _operand("A", A, trans, n, k, lda, dtype)
    c = _matrix("C", C, n, n, ldc, dtype)
    _store_triangle(_scalar("alpha", alpha, dtype), a @ a.T, _scalar("beta", beta, dtype), c, uplo)


def _herk(
    dtype: np.dtype[Any],
    uplo: Any,
    trans: Any,
    n: int,
    k: int,
    alpha: Any,
    A: Any,
    lda: int,
    beta: Any,
    C: Any,
    ldc: int,
) -> None:
    """``C = alpha * op(A) @ conj(op(A)).T + beta * C``, in one triangle."""
    n, k = _size("n", n), _size("k", k)
    a = _operand("A", A, trans, n, k, lda, dtype)
    c = _matrix("C", C, n, n, ldc, dtype)
    _store_triangle(_scalar("alpha", alpha, dtype), a @ a.T.conj(), _scalar("beta", beta, dtype), c, uplo)


def _trmm(
    dtype: np.dtype[Any],
    side: Any,
    uplo: Any,
    trans: Any,
    diag: Any,
    m: int,
    n: int,
    alpha: Any,
    A: Any,
    lda: int,
    B: Any,
    ldb: int,
    C: Any,
    ldc: int,
) -> None:
    """``C = alpha * op(A) @ B``, or with ``B @ op(A)``, for a triangular `A`."""
    m, n = _size("m", m), _size("n", n)
    is_right = _mode("side", _CUBLAS_SIDE_MODE, side)
    order = n if is_right else m
    a, b = _triangle(_matrix("A", A, order, order, lda, dtype), uplo, trans, diag), _matrix("B", B, m, n, ldb, dtype)
    product = b @ a if is_right else a @ b
    _store(_scalar("alpha", alpha, dtype), product, dtype.type(0), _matrix("C", C, m, n, ldc, dtype))


def _trsm(
    dtype: np.dtype[Any],
    side: Any,
    uplo: Any,
    trans: Any,
    diag: Any,
    m: int,
    n: int,
    alpha: Any,
    A: Any,
    lda: int,
    B: Any,
    ldb: int,
) -> None:
    """Solve ``op(A) @ X = alpha * B``, or ``X @ op(A) = alpha * B``, for a triangular `A`; `B` receives `X`.

    Raises `numpy.linalg.LinAlgError` if `A` is singular.
    """
    m, n = _size("m", m), _size("n", n)
    is_right = _mode("side", _CUBLAS_SIDE_MODE, side)
    order = n if is_right else m
    a, b = _matrix("A", A, order, order, lda, dtype), _matrix("B", B, m, n, ldb, dtype)
    b[...] = _solve(a, _scalar("alpha", alpha, dtype) * b, uplo, trans, diag, is_right)


def _trsm_batched(
    dtype: np.dtype[Any],
    side: Any,
    uplo: Any,
    trans: Any,
    diag: Any,
    m: int,
    n: int,
    alpha: Any,
    A: Any,
    lda: int,
    B: Any,
    ldb: int,
    batchCount: int,
) -> None:
    """`trsm` for each of `batchCount` pairs of matrices; `A` and `B` are arrays of pointers on the device.

    Waits for the pointers, which are copied to the host.
    """
    for a, b in _pointers(batchCount, A=A, B=B):
        _trsm(dtype, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb)


def _memory(name: str, memory: Any, count: int, dtype: Any) -> np.uintp:
    """The address of `count` elements; 0 for None or a null pointer."""
    if memory is None or (isinstance(memory, int) and not memory) or not count:
        return np.uintp(0)
    return np.uintp(int(view(name, memory, (count,), dtype, (1,)).gpudata))


def _getrf_batched(dtype: np.dtype[Any], n: int, A: Any, lda: int, P: Any, info: Any, batchSize: int) -> None:
    """The LU factors of `batchSize` matrices, in place, with partial pivoting unless `P` is 0.

    `A` is an array of pointers on the device; `P` (n for each matrix) and `info` (one for each) are arrays of int32
    there. `info` receives 0, or the number of the first pivot that is 0.
    """
    n, count, lda = _size("n", n), _size("batchSize", batchSize), _size("lda", lda, max(1, n))
    pointers, pivots = _memory("A", A, count, np.uint64), _memory("P", P, n * count, np.int32)
    _batched_lu.launch("factor", dtype, count, pointers, n, lda, pivots, _memory("info", info, count, np.int32))


def _getrs_batched(
    dtype: np.dtype[Any],
    trans: Any,
    n: int,
    nrhs: int,
    Aarray: Any,
    lda: int,
    devIpiv: Any,
    Barray: Any,
    ldb: int,
    info: Any,
    batchSize: int,
) -> None:
    """Solve ``op(A) @ X = B`` for `batchSize` matrices, with the factors of `getrfBatched`; `B` receives `X`.

    `Aarray` and `Barray` are arrays of pointers on the device. `info` is not used.
    """
    n, nrhs, count = _size("n", n), _size("nrhs", nrhs), _size("batchSize", batchSize)
    lda, ldb = _size("lda", lda, max(1, n)), _size("ldb", ldb, max(1, n))
    factors, right = _memory("Aarray", Aarray, count, np.uint64), _memory("Barray", Barray, count, np.uint64)
    pivots, mode = _memory("devIpiv", devIpiv, n * count, np.int32), _mode("trans", _CUBLAS_OP, trans)
    _batched_lu.launch("solve", dtype, count, factors, n, lda, pivots, right, ldb, nrhs, mode)


def _getri_batched(
    dtype: np.dtype[Any], n: int, A: Any, lda: int, P: Any, C: Any, ldc: int, info: Any, batchSize: int
) -> None:
    """The inverses of `batchSize` matrices from the factors of `getrfBatched`, in other memory.

    `A` and `C` are arrays of pointers on the device. `info` (int32, there) receives 0, or the number of the first pivot
    that is 0, in which case there is no inverse.
    """
    n, count = _size("n", n), _size("batchSize", batchSize)
    lda, ldc = _size("lda", lda, max(1, n)), _size("ldc", ldc, max(1, n))
    factors, inverses = _memory("A", A, count, np.uint64), _memory("C", C, count, np.uint64)
    pivots, codes = _memory("P", P, n * count, np.int32), _memory("info", info, count, np.int32)
    _batched_lu.launch("invert", dtype, count, factors, n, lda, pivots, inverses, ldc, codes)


def _geam(
    dtype: np.dtype[Any],
    transa: Any,
    transb: Any,
    m: int,
    n: int,
    alpha: Any,
    A: Any,
    lda: int,
    beta: Any,
    B: Any,
    ldb: int,
    C: Any,
    ldc: int,
) -> None:
    """``C = alpha * op(A) + beta * op(B)``; neither is read if its factor is 0."""
    m, n = _size("m", m), _size("n", n)
    alpha, beta = _scalar("alpha", alpha, dtype), _scalar("beta", beta, dtype)
    a = alpha * _operand("A", A, transa, m, n, lda, dtype) if alpha != 0 else xp.zeros((m, n), dtype)
    b = beta * _operand("B", B, transb, m, n, ldb, dtype) if beta != 0 else None
    _matrix("C", C, m, n, ldc, dtype)[...] = a if b is None else a + b


def _dgmm(
    dtype: np.dtype[Any], side: Any, m: int, n: int, A: Any, lda: int, x: Any, incx: int, C: Any, ldc: int
) -> None:
    """``C = diag(x) @ A``, or ``A @ diag(x)``."""
    m, n = _size("m", m), _size("n", n)
    is_right = _mode("side", _CUBLAS_SIDE_MODE, side)
    factors = _vector("x", x, n if is_right else m, incx, dtype)
    product = _matrix("A", A, m, n, lda, dtype) * (factors if is_right else factors[:, None])
    _matrix("C", C, m, n, ldc, dtype)[...] = product


# -- names


def _public(name: str, routine: Callable[..., Any], dtype: np.dtype[Any]) -> Callable[..., Any]:
    """The routine for one dtype, in the stream of a handle, which is its first argument."""
    parameters = list(inspect.signature(routine).parameters.values())
    positional = [each for each in parameters[1:] if each.kind is not each.KEYWORD_ONLY]
    handle = inspect.Parameter("handle", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([handle, *positional])

    def function(*args: Any, **kwargs: Any) -> Any:
        handle, *rest = signature.bind(*args, **kwargs).args
        return _run_in_stream(_stream_of(handle), lambda: routine(dtype, *rest))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{routine.__doc__ or ''}".rstrip() + f"\n\nThe elements are {dtype}."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


# Of each routine: its name after the letter, and the letters that it has.
_ROUTINES: list[tuple[Callable[..., Any], str, str]] = [
    (_axpy, "axpy", "SDCZ"),
    (_copy, "copy", "SDCZ"),
    (_dot, "dot", _REAL),
    (_dot, "dotu", _COMPLEX),
    (_dotc, "dotc", _COMPLEX),
    (_rot, "rot", "SDCZ"),
    (_scal, "scal", "SDCZ"),
    (_swap, "swap", "SDCZ"),
    (_gemv, "gemv", "SDCZ"),
    (_symv, "symv", "SDCZ"),
    (_hemv, "hemv", _COMPLEX),
    (_ger, "ger", _REAL),
    (_ger, "geru", _COMPLEX),
    (_gerc, "gerc", _COMPLEX),
    (_syr, "syr", "SDCZ"),
    (_her, "her", _COMPLEX),
    (_trmv, "trmv", "SDCZ"),
    (_trsv, "trsv", "SDCZ"),
    (_gemm, "gemm", "SDCZ"),
    (_gemm_batched, "gemmBatched", "SDCZ"),
    (_gemm_strided, "gemmStridedBatched", "SDCZ"),
    (_symm, "symm", "SDCZ"),
    (_hemm, "hemm", _COMPLEX),
    (_syrk, "syrk", "SDCZ"),
    (_herk, "herk", _COMPLEX),
    (_trmm, "trmm", "SDCZ"),
    (_trsm, "trsm", "SDCZ"),
    (_trsm_batched, "trsmBatched", "SDCZ"),
    (_getrf_batched, "getrfBatched", "SDCZ"),
    (_getrs_batched, "getrsBatched", "SDCZ"),
    (_getri_batched, "getriBatched", "SDCZ"),
    (_geam, "geam", "SDCZ"),
    (_dgmm, "dgmm", "SDCZ"),
]
_NAMED = {f"cublas{letter}{name}": (routine, letter) for routine, name, letters in _ROUTINES for letter in letters}
_NAMED |= {f"cublasI{letter.lower()}amax": (_amax, letter) for letter in "SDCZ"}
_NAMED |= {f"cublasI{letter.lower()}amin": (_amin, letter) for letter in "SDCZ"}
for _routine, _name in ((_asum, "asum"), (_nrm2, "nrm2")):
    _NAMED |= {
        f"cublas{given}{_name}": (_routine, letter)
        for given, letter in zip(("S", "D", "Sc", "Dz"), "SDCZ", strict=True)
    }
# Complex vectors with real factors.
_NAMED |= {"cublasCsscal": (_scal, "C"), "cublasZdscal": (_scal, "Z")}
_NAMED |= {"cublasCsrot": (_rot, "C"), "cublasZdrot": (_rot, "Z")}

globals().update({name: _public(name, routine, _DTYPES[letter]) for name, (routine, letter) in _NAMED.items()})

__all__ = [name for name in globals() if name.startswith("cublas")]


# -- functions of the library

_MODES = {
    "uplo": _CUBLAS_FILL_MODE, "diag": _CUBLAS_DIAG, "side": _CUBLAS_SIDE_MODE,
    "trans": _CUBLAS_OP, "transa": _CUBLAS_OP, "transb": _CUBLAS_OP,
}  # fmt: skip


def _forward(name: str, raw: _library_calls.RawFunction) -> Callable[..., Any]:
    """A function of the library itself, in the stream of a handle, with scikit-cuda's letters and results."""
    signature = raw.__signature__

    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        own = bound.arguments["handle"]
        stream = _stream_of(own)
        for parameter in bound.arguments.keys() & _MODES.keys():
            bound.arguments[parameter] = _mode(parameter, _MODES[parameter], bound.arguments[parameter])
        if own not in _LIBRARY_HANDLES:
            _LIBRARY_HANDLES[own] = _library.Handle()
        bound.arguments["handle"] = _LIBRARY_HANDLES[own]
        try:
            result = _run_in_stream(stream, lambda: raw(*bound.args, **bound.kwargs))
        except _library.LibraryError as error:
            raise cublasExceptions.get(error.status or 15, cublasError)(str(error)) from error
        if name.endswith("rotg"):
            r, _, c, s = result
            return r, c, s
        return result[-1] if name.endswith("rotmg") else result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{raw.__name__}`` of cuBLAS, which needs a GPU and the wheel nvidia-cublas."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def __getattr__(name: str) -> Any:
    if name.startswith("cublas"):
        raw = _library_calls.raw_function("cublas", name)
        if raw is not None and next(iter(raw.__signature__.parameters), None) == "handle":
            return globals().setdefault(name, _forward(name, raw))
        raise AttributeError(f"skcuda.cublas has no {name}: use the functions of rtcg.linalg and rtcg.numpy")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
