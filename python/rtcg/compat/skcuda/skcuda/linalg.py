"""scikit-cuda's linear algebra, computed by `rtcg.linalg` and `rtcg.numpy` (neither cuBLAS nor cuSOLVER is needed).

Arrays are float32, float64, complex64 or complex128, of any memory layout, which never changes what they mean:
functions compute what NumPy would. Functions that upstream lets destroy their input leave it as it is, unless they
return their result there. `handle` is a handle of `skcuda.cublas`, in whose stream a function computes; None is that of
`init`. `lib` is "cusolver"; for "cula" all raise `NotImplementedError`. Functions that return a number wait for it, and
those that may find a singular matrix wait for the result; others do not wait.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import linalg as _linalg, numpy as xp
from rtcg._conversions import as_integer
from rtcg._messages import shown
from rtcg.numpy import GPUArray, _run_in_stream

from . import cublas, misc
from .misc import _allocates, _require_array, add_matvec, div_matvec, init, mult_matvec, shutdown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import ParamSpec, TypeVar

    _P = ParamSpec("_P")
    _T = TypeVar("_T")

__all__ = [
    "LinAlgError",
    "PCA",
    "add_diag",
    "add_dot",
    "add_matvec",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "conj",
    "det",
    "diag",
    "div_matvec",
    "dmd",
    "dot",
    "dot_diag",
    "eig",
    "eye",
    "hermitian",
    "init",
    "inv",
    "mdot",
    "mult_matvec",
    "multiply",
    "norm",
    "pinv",
    "qr",
    "scale",
    "shutdown",
    "svd",
    "trace",
    "transpose",
    "tril",
    "triu",
    "vander",
]

_has_cula = False
_has_cusolver = False

#: What singular matrices raise.
LinAlgError = np.linalg.LinAlgError

_DTYPES = ("float32", "float64", "complex64", "complex128")


def _in_stream_of_handle(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """The function, computed in the stream of its argument `handle`."""
    position = list(inspect.signature(function).parameters).index("handle")

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        handle = args[position] if len(args) > position else kwargs.get("handle")
        stream = cublas._stream_of(misc._global_cublas_handle if handle is None else handle)
        return _run_in_stream(stream, lambda: function(*args, **kwargs))

    return call


# -- arguments


def _check(name: str, array: Any, ndim: int | None = None, is_square: bool = False) -> GPUArray:
    """The array, which must have a floating-point or complex dtype and as many axes as are needed."""
    if _require_array(name, array).dtype.name not in _DTYPES:
        raise ValueError(f"{name} has dtype {array.dtype}; expected {', '.join(_DTYPES[:-1])} or {_DTYPES[-1]}")
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} has shape {array.shape}; expected {ndim} {'axis' if ndim == 1 else 'axes'}")
    if is_square and array.shape[0] != array.shape[1]:
        raise ValueError(f"{name} has shape {array.shape}; expected a square matrix")
    checked: GPUArray = array
    return checked


def _check_lib(lib: str, instead: str) -> None:
    if lib == "cula":
        raise NotImplementedError(f"lib is 'cula', which no longer exists; expected 'cusolver' (or {instead})")
    if lib != "cusolver":
        raise ValueError(f"lib is {shown(lib)}; expected 'cusolver'")


def _check_letter(name: str, letter: Any, letters: str) -> str:
    upper = letter.upper() if isinstance(letter, str) else letter
    if not isinstance(upper, str) or len(upper) != 1 or upper not in letters:
        raise ValueError(f"{name} is {shown(letter)}; expected {' or '.join(map(repr, letters))}")
    return upper


def _check_one_dtype(**arrays: GPUArray) -> None:
    dtypes = [array.dtype for array in arrays.values()]
    if len(set(dtypes)) > 1:
        names = " and ".join(arrays)
        raise ValueError(f"{names} have dtypes {' and '.join(map(str, dtypes))}; expected one dtype")


def _check_buffer(name: str, buffer: Any, dtype: Any, least: int) -> None:
    """Check memory that upstream's function would use, and this one does not."""
    if buffer is not None and (_require_array(name, buffer).dtype != dtype or buffer.size < least):
        expected = f"expected {np.dtype(dtype)} and at least {least}"
        raise ValueError(f"{name} has dtype {buffer.dtype} and {buffer.size} elements; {expected}")


def _is_column_major(array: GPUArray) -> bool:
    """Whether a matrix lies in memory as upstream's functions expect those of LAPACK."""
    return array.flags.f_contiguous and not array.flags.c_contiguous


def _op(trans: str, matrix: GPUArray) -> GPUArray:
    return {"N": lambda: matrix, "T": lambda: matrix.T, "C": lambda: matrix.T.conj()}[trans]()


def _host(result: GPUArray) -> Any:
    """A number, as NumPy's scalar."""
    return result.get()[()]


# -- products


@_in_stream_of_handle
def add_dot(
    a_gpu: GPUArray,
    b_gpu: GPUArray,
    c_gpu: GPUArray,
    transa: str = "N",
    transb: str = "N",
    alpha: Any = 1.0,
    beta: Any = 1.0,
    handle: Any = None,
) -> GPUArray:
    """``c = alpha * op(a) @ op(b) + beta * c``; returns `c_gpu`.

    Parameters
    ----------
    a_gpu, b_gpu, c_gpu : GPUArray
        Matrices of one dtype, of any layout. `c_gpu` is not read if `beta` is 0.
    transa, transb : {"N", "T", "C"}
        Whether the matrix is taken as it is, transposed, or conjugated and transposed.

    Raises
    ------
    ValueError
        If shapes, dtypes or letters do not fit.
    """
    a, b = (
        _op(_check_letter(f"trans{name}", trans, "NTC"), array[None] if array.ndim == 1 else array)
        for name, trans, array in (("a", transa, _check("a_gpu", a_gpu)), ("b", transb, _check("b_gpu", b_gpu)))
    )
    _check_one_dtype(a_gpu=a_gpu, b_gpu=b_gpu)
    c = _check("c_gpu", c_gpu, 2)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(
            f"objects are not aligned: a_gpu and b_gpu have shapes {a.shape} and {b.shape} once transposed"
        )
    if (c.shape, c.dtype) != ((a.shape[0], b.shape[1]), a.dtype):
        expected = f"expected {(a.shape[0], b.shape[1])} and {a.dtype}"
        raise ValueError(f"c_gpu has shape {c.shape} and dtype {c.dtype}; {expected}")
    alpha, beta = c.dtype.type(alpha), c.dtype.type(beta)
    if alpha == 1 and beta == 0:
        return xp.matmul(a, b, out=c)
    product = xp.matmul(a, b)
    c[...] = alpha * product if beta == 0 else alpha * product + beta * c
    return c_gpu


@_in_stream_of_handle
@_allocates
def dot(
    x_gpu: GPUArray,
    y_gpu: GPUArray,
    transa: str = "N",
    transb: str = "N",
    handle: Any = None,
    out: GPUArray | None = None,
) -> Any:
    """The product of two matrices, of a matrix and a vector, or of two vectors.

    Parameters
    ----------
    x_gpu, y_gpu : GPUArray
        Of one dtype, with one or two axes. The product of two vectors is a number, for which it waits; neither is
        conjugated.
    transa, transb : {"N", "T", "C"}
        Whether a matrix is taken as it is, transposed, or conjugated and transposed.
    out : GPUArray, optional
        Receives the product of matrices. A new array has the memory order of `x_gpu`.

    Raises
    ------
    ValueError
        If shapes, dtypes or letters do not fit.
    """
    _check("x_gpu", x_gpu), _check("y_gpu", y_gpu)
    if x_gpu.ndim == y_gpu.ndim == 1:
        _check_one_dtype(x_gpu=x_gpu, y_gpu=y_gpu)
        if x_gpu.size != y_gpu.size:
            raise ValueError(f"x_gpu and y_gpu have {x_gpu.size} and {y_gpu.size} elements; expected one length")
        return _host(xp.dot(x_gpu, y_gpu))
    x = x_gpu[None] if x_gpu.ndim == 1 else x_gpu
    y = y_gpu[:, None] if y_gpu.ndim == 1 else y_gpu
    rows = x.shape[0 if _check_letter("transa", transa, "NTC") == "N" else -1]
    columns = y.shape[-1 if _check_letter("transb", transb, "NTC") == "N" else 0]
    if out is None:
        is_column_major = x_gpu.ndim == 2 and x_gpu.strides[1] > x_gpu.strides[0]
        result = GPUArray((rows, columns), x.dtype, order="F" if is_column_major else "C")
    else:
        result = _require_array("out", out).reshape((rows, columns)) if out.ndim == 1 else out
    add_dot(x, y, result, transa, transb, 1.0, 0.0, handle)
    if x_gpu.ndim == y_gpu.ndim:
        return result
    return result.reshape(columns if x_gpu.ndim == 1 else rows)


def mdot(*args: GPUArray, handle: Any = None) -> Any:
    """The product of several matrices, from left to right; all remain as they are."""
    if not args:
        raise TypeError("mdot() takes at least 1 positional argument (0 given)")
    product = args[0]
    for factor in args[1:]:
        product = dot(product, factor, handle=handle)
    return product


def _check_diagonal(d_gpu: Any, a_gpu: Any) -> GPUArray:
    """The diagonal as a vector."""
    if _check("d_gpu", d_gpu).size != max(d_gpu.shape, default=0):
        raise ValueError(f"d_gpu has shape {d_gpu.shape}; expected a vector")
    _check("a_gpu", a_gpu, 2)
    _check_one_dtype(a_gpu=a_gpu, d_gpu=d_gpu)
    vector: GPUArray = d_gpu.reshape(-1)
    return vector


@_in_stream_of_handle
@_allocates
def dot_diag(
    d_gpu: GPUArray, a_gpu: GPUArray, trans: str = "N", overwrite: bool = False, handle: Any = None
) -> GPUArray:
    """The product of a diagonal matrix and another: ``diag(d) @ a``, or the transpose of ``diag(d) @ a.T``.

    Parameters
    ----------
    d_gpu : GPUArray
        The diagonal: a vector with the dtype of `a_gpu`, with as many elements as `a_gpu` has rows, or columns if it is
        transposed.
    a_gpu : GPUArray
        A matrix.
    trans : {"N", "T", "C"}
        "N" multiplies rows, others multiply columns; the result has the shape of `a_gpu` in any case.
    overwrite : bool
        Whether the result is stored in `a_gpu`.

    Raises
    ------
    ValueError
        If shapes, dtypes or the letter do not fit.
    """
    vector = _check_diagonal(d_gpu, a_gpu)
    axis = 0 if _check_letter("trans", trans, "NTC") == "N" else 1
    if vector.size != a_gpu.shape[axis]:
        raise ValueError(f"d_gpu has {vector.size} elements; expected {a_gpu.shape[axis]}, for shape {a_gpu.shape}")
    result = a_gpu if overwrite else xp.empty_like(a_gpu)
    return xp.multiply(a_gpu, vector[:, None] if axis == 0 else vector, out=result)


@_in_stream_of_handle
@_allocates
def add_diag(d_gpu: GPUArray, a_gpu: GPUArray, overwrite: bool = False, handle: Any = None) -> GPUArray:
    """``diag(d) + a``, for a square matrix, in new memory or in that of `a_gpu`."""
    vector = _check_diagonal(d_gpu, a_gpu)
    n = _check("a_gpu", a_gpu, 2, is_square=True).shape[0]
    if vector.size != n:
        raise ValueError(f"d_gpu has {vector.size} elements; expected {n}, for shape {a_gpu.shape}")
    result = a_gpu if overwrite else a_gpu.copy()
    diagonal = GPUArray((n,), result.dtype, base=result, gpudata=result.gpudata, strides=(sum(result.strides),))
    diagonal += vector
    return result


@_allocates
def multiply(x_gpu: GPUArray, y_gpu: GPUArray, overwrite: bool = False) -> GPUArray:
    """The product by elements of arrays of one shape, in new memory or, with `overwrite`, in that of `y_gpu`."""
    if _check("x_gpu", x_gpu).shape != _check("y_gpu", y_gpu).shape:
        raise ValueError(f"x_gpu and y_gpu have shapes {x_gpu.shape} and {y_gpu.shape}; expected one shape")
    if not overwrite:
        return x_gpu * y_gpu
    y_gpu *= x_gpu
    return y_gpu


@_in_stream_of_handle
def norm(x_gpu: GPUArray, handle: Any = None) -> Any:
    """The square root of the sum of the squares of all elements, a number; waits for it."""
    return _host(_linalg.norm(_check("x_gpu", x_gpu).ravel(order="K")))


@_in_stream_of_handle
def scale(alpha: Any, x_gpu: GPUArray, alpha_real: bool = False, handle: Any = None) -> None:
    """``x_gpu *= alpha``, for an array of any shape; `alpha_real` says that `alpha` is real."""
    if alpha_real and np.iscomplexobj(alpha):
        raise ValueError(f"alpha is {shown(alpha)}; expected a real number, as alpha_real says")
    if _check("x_gpu", x_gpu).dtype.kind == "f" and np.iscomplexobj(alpha):
        raise ValueError(f"alpha is {shown(alpha)}; expected a real number, for an array of {x_gpu.dtype}")
    x_gpu *= x_gpu.dtype.type(alpha)


# -- forms


@_in_stream_of_handle
@_allocates
def transpose(a_gpu: GPUArray, handle: Any = None) -> GPUArray:
    """The transpose of a matrix, as a new array in C order."""
    return _check("a_gpu", a_gpu, 2).T.copy(order="C")


@_in_stream_of_handle
@_allocates
def hermitian(a_gpu: GPUArray, handle: Any = None) -> GPUArray:
    """The conjugate transpose of a matrix, as a new array in C order."""
    result = GPUArray(_check("a_gpu", a_gpu, 2).shape[::-1], a_gpu.dtype)
    return xp.conjugate(a_gpu.T, out=result)


@_allocates
def conj(x_gpu: GPUArray, overwrite: bool = False) -> GPUArray:
    """The complex conjugate, in new memory or in that of `x_gpu`; an array of real numbers is returned itself."""
    if _check("x_gpu", x_gpu).dtype.kind == "f":
        return x_gpu
    return xp.conjugate(x_gpu, out=x_gpu if overwrite else xp.empty_like(x_gpu))


@_allocates
def diag(v_gpu: GPUArray) -> GPUArray:
    """The diagonal matrix of a vector, or the diagonal of a matrix; a new array."""
    if _check("v_gpu", v_gpu).ndim not in (1, 2):
        raise ValueError(f"v_gpu has shape {v_gpu.shape}; expected one or two axes")
    if not v_gpu.size:
        raise ValueError(f"v_gpu has shape {v_gpu.shape}; expected one element at least")
    return xp.diag(v_gpu).copy()


@_allocates
def eye(N: int, dtype: Any = np.float32) -> GPUArray:
    """The identity matrix with `N` rows."""
    if np.dtype(dtype).name not in _DTYPES:
        raise ValueError(f"dtype is {np.dtype(dtype)}; expected {', '.join(_DTYPES[:-1])} or {_DTYPES[-1]}")
    return xp.eye(as_integer("N", N, least=1), dtype=dtype)


def _keep_triangle(function: Any, a_gpu: GPUArray, k: int, overwrite: bool) -> GPUArray:
    result: GPUArray = function(_check("a_gpu", a_gpu, 2), k)
    if not overwrite:
        return result.copy(order="F") if _is_column_major(a_gpu) else result
    a_gpu[...] = result
    return a_gpu


@_in_stream_of_handle
@_allocates
def tril(a_gpu: GPUArray, overwrite: bool = False, handle: Any = None) -> GPUArray:
    """The matrix with zeros above its diagonal, in new memory or in that of `a_gpu`."""
    return _keep_triangle(xp.tril, a_gpu, 0, overwrite)


@_in_stream_of_handle
@_allocates
def triu(a_gpu: GPUArray, k: int = 0, overwrite: bool = False, handle: Any = None) -> GPUArray:
    """The matrix with zeros below its `k`-th diagonal, in new memory or in that of `a_gpu`."""
    return _keep_triangle(xp.triu, a_gpu, k, overwrite)


@_in_stream_of_handle
@_allocates
def vander(a_gpu: GPUArray, n: int | None = None, handle: Any = None) -> GPUArray:
    """The matrix of the powers ``a ** 0`` to ``a ** (n - 1)`` in its columns, in Fortran order.

    `n` is by default the number of elements of `a_gpu`, a vector.
    """
    count = _check("a_gpu", a_gpu, 1).size if n is None else as_integer("n", n, least=1)
    result = GPUArray((a_gpu.size, count), a_gpu.dtype, order="F")
    result[:, 0] = 1
    result[:, 1:] = a_gpu[:, None]
    return xp.cumprod(result, axis=1, out=result)


# -- decompositions


@_allocates
def svd(a_gpu: GPUArray, jobu: str = "A", jobvt: str = "A", lib: str = "cusolver") -> Any:
    """The singular value decomposition ``a == u @ diag(s) @ vh``.

    Parameters
    ----------
    a_gpu : GPUArray
        An m by n matrix; with "O" it receives the singular vectors, and must be square then.
    jobu : {"A", "S", "O", "N"}
        `u` with m columns, with k = min(m, n) columns, in the memory of `a_gpu`, or not returned.
    jobvt : {"A", "S", "O", "N"}
        `vh` with n rows, with k rows, in the memory of `a_gpu`, or not returned.

    Returns
    -------
    tuple of GPUArray, or GPUArray
        ``(u, s, vh)`` without those that are not wanted; `s` alone is not in a tuple. `s` is real and descending.
    """
    _check_lib(lib, "rtcg.linalg.svd")
    a = _check("a_gpu", a_gpu, 2)
    jobu, jobvt = _check_letter("jobu", jobu, "ASON"), _check_letter("jobvt", jobvt, "ASON")
    if jobu == jobvt == "O":
        raise ValueError("jobu and jobvt are both 'O'; expected one at most, as a_gpu has room for one")
    if "O" in (jobu, jobvt) and a.shape[0] != a.shape[1]:
        raise ValueError(f"a_gpu has shape {a.shape}; expected a square matrix, for singular vectors in its memory")
    if jobu == jobvt == "N":
        return _linalg.svd(a, compute_uv=False)
    u, s, vh = _linalg.svd(a, full_matrices="A" in (jobu, jobvt))
    k = s.shape[0]
    u, vh = u[:, :k] if jobu == "S" else u, vh[:k] if jobvt == "S" else vh
    parts = [(jobu, u), ("A", s), (jobvt, vh)]
    return tuple(
        _store_over(a, part) if job == "O" else xp.ascontiguousarray(part) for job, part in parts if job != "N"
    )


def _store_over(a: GPUArray, part: GPUArray) -> GPUArray:
    a[...] = part
    return a


def _factor(a_gpu: GPUArray, uplo: Any, lib: str) -> tuple[bool, GPUArray]:
    """Whether the upper triangle of `a_gpu` is read and written, and its Cholesky factor.

    Upstream's `uplo` is that of column-major memory: in an array in C order "L" is the upper triangle.
    """
    _check_lib(lib, "rtcg.linalg.cholesky")
    a = _check("a_gpu", a_gpu, 2, is_square=True)
    if uplo in (0, 1):
        uplo = "LU"[uplo]
    is_lower = _check_letter("uplo", uplo, "LU") == "L"
    is_upper = is_lower if not _is_column_major(a) else not is_lower
    return is_upper, _linalg.cholesky(a, upper=is_upper)


def _store_factor(a: GPUArray, is_upper: bool, factor: GPUArray) -> None:
    """Store the factor in its triangle, and leave the other one."""
    a[...] = factor + (xp.tril(a, -1) if is_upper else xp.triu(a, 1))


def cho_factor(a_gpu: GPUArray, uplo: str = "L", lib: str = "cusolver") -> None:
    """Replace one triangle of a Hermitian positive-definite matrix by its Cholesky factor; waits.

    Parameters
    ----------
    a_gpu : GPUArray
        A square matrix, of which the other triangle is neither read nor written.
    uplo : {"L", "U"}
        The triangle, of the memory in column-major order: for an array in Fortran order the lower or upper one; for one
        in C order "L" is the upper one (``a == u.conj().T @ u``), and "U" the lower one (``a == l @ l.conj().T``).

    Raises
    ------
    LinAlgError
        If the matrix is not positive-definite.
    """
    _store_factor(a_gpu, *_factor(a_gpu, uplo, lib))


def cholesky(a_gpu: GPUArray, uplo: str = "L", lib: str = "cusolver") -> None:
    """Replace a Hermitian positive-definite matrix by its Cholesky factor: `cho_factor`, with zeros elsewhere."""
    a_gpu[...] = _factor(a_gpu, uplo, lib)[1]


def cho_solve(a_gpu: GPUArray, b_gpu: GPUArray, uplo: str = "L", lib: str = "cusolver") -> None:
    """Replace `b_gpu` by the solution of ``a @ x == b``, and a triangle of `a_gpu` by its factor, as `cho_factor` does.

    `b_gpu` is a vector or a matrix with the dtype of `a_gpu`.
    """
    _check("b_gpu", b_gpu), _check("a_gpu", a_gpu, 2, is_square=True)
    _check_one_dtype(a_gpu=a_gpu, b_gpu=b_gpu)
    if b_gpu.ndim not in (1, 2) or b_gpu.shape[0] != a_gpu.shape[0]:
        raise ValueError(f"b_gpu has shape {b_gpu.shape}; expected a vector or matrix with {a_gpu.shape[0]} rows")
    is_upper, factor = _factor(a_gpu, uplo, lib)
    _store_factor(a_gpu, is_upper, factor)
    b_gpu[...] = _linalg.cho_solve((factor, not is_upper), b_gpu)


@_allocates
def pinv(a_gpu: GPUArray, rcond: float = 1e-15, lib: str = "cusolver") -> GPUArray:
    """The pseudoinverse; singular values of at most `rcond` times the largest one count as 0."""
    _check_lib(lib, "rtcg.linalg.pinv")
    return _linalg.pinv(_check("a_gpu", a_gpu, 2), rcond)


@_allocates
def inv(a_gpu: GPUArray, overwrite: bool = False, ipiv_gpu: GPUArray | None = None, lib: str = "cusolver") -> GPUArray:
    """The inverse of a square matrix, in new memory or in that of `a_gpu`; waits.

    `ipiv_gpu`, room for pivots, is checked and left as it is. Raises `LinAlgError` if the matrix is singular.
    """
    _check_lib(lib, "rtcg.linalg.inv")
    n = _check("a_gpu", a_gpu, 2, is_square=True).shape[0]
    _check_buffer("ipiv_gpu", ipiv_gpu, np.int32, n)
    inverse = _linalg.inv(a_gpu)
    return _store_over(a_gpu, inverse) if overwrite else inverse


@_in_stream_of_handle
def trace(x_gpu: GPUArray, handle: Any = None) -> Any:
    """The sum of the diagonal of a matrix, a number; waits for it."""
    return _host(xp.trace(_check("x_gpu", x_gpu, 2)))


@_in_stream_of_handle
def det(
    a_gpu: GPUArray,
    overwrite: bool = False,
    workspace_gpu: GPUArray | None = None,
    ipiv_gpu: GPUArray | None = None,
    handle: Any = None,
    lib: str = "cusolver",
) -> Any:
    """The determinant of a square matrix, a number; waits for it.

    `overwrite` allows that `a_gpu` changes, which it does not; `workspace_gpu` and `ipiv_gpu` are checked and left.
    """
    _check_lib(lib, "rtcg.linalg.det")
    n = _check("a_gpu", a_gpu, 2, is_square=True).shape[0]
    _check_buffer("workspace_gpu", workspace_gpu, a_gpu.dtype, 0)
    _check_buffer("ipiv_gpu", ipiv_gpu, np.int32, n)
    return _host(_linalg.det(a_gpu))


@_in_stream_of_handle
@_allocates
def qr(a_gpu: GPUArray, mode: str = "reduced", handle: Any = None, lib: str = "cusolver") -> Any:
    """The decomposition ``a == q @ r``, in Fortran order.

    `mode` is "reduced" for ``(q, r)`` with min(m, n) columns and rows, "economic" for `q`, or "r" for `r`.
    """
    _check_lib(lib, "rtcg.linalg.qr")
    if mode not in ("reduced", "economic", "r"):
        raise ValueError(f"mode is {shown(mode)}; expected 'reduced', 'economic' or 'r'")
    a = _check("a_gpu", a_gpu, 2)
    if mode == "r":
        return _linalg.qr(a, "r").copy(order="F")
    q, r = _linalg.qr(a, "reduced")
    q = q.copy(order="F")
    return q if mode == "economic" else (q, r.copy(order="F"))


@_allocates
def eig(a_gpu: GPUArray, jobvl: str = "N", jobvr: str = "V", imag: str = "F", lib: str = "cusolver") -> Any:
    """Eigenvalues and eigenvectors of a symmetric or Hermitian matrix.

    Parameters
    ----------
    a_gpu : GPUArray
        A square matrix, of which upstream's triangle is read: the lower one in Fortran order, the upper one in C order.
    jobvl : {"N"}
        There are no left eigenvectors.
    jobvr : {"V", "N"}
        Whether eigenvectors are returned.
    imag : {"F", "T"}
        Without meaning: eigenvalues are real.

    Returns
    -------
    (vr, w) or w
        The eigenvectors, in the columns of an array in Fortran order, and the eigenvalues in ascending order.

    Raises
    ------
    NotImplementedError
        If `jobvl` is "V"; `rtcg.linalg.eig` has general matrices.
    """
    _check_lib(lib, "rtcg.linalg.eig for general matrices")
    a = _check("a_gpu", a_gpu, 2, is_square=True)
    jobvr = _check_letter("jobvr", jobvr, "NV")
    _check_letter("imag", imag, "TF")
    if _check_letter("jobvl", jobvl, "NV") == "V":
        raise NotImplementedError("jobvl is 'V'; expected 'N': left eigenvectors are the right ones of the transpose")
    triangle = "L" if _is_column_major(a) else "U"
    if jobvr == "N":
        return _linalg.eigvalsh(a, triangle)
    values, vectors = _linalg.eigh(a, triangle)
    return vectors.copy(order="F"), values


# -- principal components and dynamic modes


class PCA:
    """Principal components of samples, in the manner of scikit-learn.

    Parameters
    ----------
    n_components : int, optional
        Number of components; at most, and by default, the smaller length of the data.
    handle : optional
        Accepted and without meaning.
    epsilon, max_iter : float, int
        Accepted and without meaning: components are computed by a singular value decomposition.
    """

    def __init__(
        self, n_components: int | None = None, handle: Any = None, epsilon: float = 1e-7, max_iter: int = 10000
    ) -> None:
        self.n_components, self.epsilon, self.max_iter = n_components, epsilon, max_iter
        misc.init()
        self.h = misc._global_cublas_handle if handle is None else handle

    def fit_transform(self, X_gpu: GPUArray) -> GPUArray:
        """The scores of N samples of P variables: an N by K array in Fortran order, by descending variance.

        As in upstream, the mean over the variables of each sample is subtracted first. Signs of components are
        arbitrary. Raises `ValueError` unless the array has two axes and is in Fortran order, `TypeError` unless it is
        of float32 or float64.
        """
        if _require_array("X_gpu", X_gpu).ndim != 2:
            raise ValueError(f"X_gpu has shape {X_gpu.shape}; expected two axes")
        if X_gpu.dtype.name not in ("float32", "float64"):
            raise TypeError(f"X_gpu has dtype {X_gpu.dtype}; expected float32 or float64")
        if X_gpu.flags.c_contiguous:
            raise ValueError(
                'X_gpu is in C order; expected Fortran order (order="F"), or the transpose of such an array'
            )
        count = min(X_gpu.shape) if self.n_components is None else min(self.n_components, *X_gpu.shape)
        centred = X_gpu - xp.mean(X_gpu, axis=1, keepdims=True)
        u, s, _ = _linalg.svd(centred, full_matrices=False)
        scores: GPUArray = u[:, :count] * s[:count]
        return scores.copy(order="F")

    def set_n_components(self, n_components: int | None) -> None:
        """Set the number of components: an int above 0, or None for as many as there are."""
        if n_components is not None and as_integer("n_components", n_components) < 1:
            raise ValueError(f"n_components is {n_components}; expected an int above 0, or None")
        self.n_components = n_components

    def get_n_components(self) -> int | None:
        """The number of components, or None."""
        return self.n_components


def _check_modes(modes: Any) -> str:
    lower = modes.lower() if isinstance(modes, str) else modes
    if lower not in ("exact", "standard"):
        raise ValueError(f"modes is {shown(modes)}; expected 'exact' or 'standard'")
    return str(lower)


def _check_rank(k: Any, most: int) -> int:
    if k is None:
        return most
    if not 1 <= as_integer("k", k) <= most:
        raise ValueError(f"k is {k}; expected 1 to {most}")
    return int(k)


def _dynamic_modes(
    a: GPUArray,
    factors: Sequence[GPUArray],
    following: GPUArray,
    modes: str,
    return_amplitudes: bool,
    return_vandermonde: bool,
) -> Any:
    """What `dmd` returns, from the decomposition of snapshots and the snapshots that follow them.

    The eigenvalues are those of `following` projected on the factors. Exact modes are made of the snapshots of `a`
    after the first one.
    """
    u, s, vh = factors
    weights = vh.T.conj() / s
    values, vectors = _linalg.eig(u.T.conj() @ following @ weights)
    f = (a[:, 1:] @ weights if modes == "exact" else u) @ vectors
    results = [f.copy(order="F")]
    if return_amplitudes:
        results.append(_linalg.lstsq(f, a[:, 0].astype(f.dtype))[0])
    if return_vandermonde:
        results.append(vander(values, n=a.shape[1] - 1))
    return (*results, xp.log(values))


@_in_stream_of_handle
@_allocates
def dmd(
    a_gpu: GPUArray,
    k: int | None = None,
    modes: str = "exact",
    return_amplitudes: bool = False,
    return_vandermonde: bool = False,
    handle: Any = None,
) -> Any:
    """Dynamic mode decomposition: the columns of `a` are snapshots, ``a[:, :-1] == f @ diag(b) @ v``.

    After Tu et al., "On dynamic mode decomposition: theory and applications" (2014).

    Parameters
    ----------
    a_gpu : GPUArray
        An m by n matrix.
    k : int, optional
        Number of modes; at most, and by default, n - 1.
    modes : {"exact", "standard"}
        Whether modes are made of the snapshots that follow, or of the left singular vectors.
    return_amplitudes, return_vandermonde : bool
        Whether `b` and `v` are returned.

    Returns
    -------
    tuple of GPUArray
        ``(f, b, v, omega)`` without those that are not wanted: modes (m by k), amplitudes (k), the powers of the
        eigenvalues (k by n - 1) and their logarithms (k). All are complex.
    """
    a, modes = _check("a_gpu", a_gpu, 2), _check_modes(modes)
    k = _check_rank(k, a.shape[1] - 1)
    u, s, vh = _linalg.svd(a[:, :-1], full_matrices=False)
    return _dynamic_modes(a, (u[:, :k], s[:k], vh[:k]), a[:, 1:], modes, return_amplitudes, return_vandermonde)
