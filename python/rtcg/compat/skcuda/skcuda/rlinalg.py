"""scikit-cuda's decompositions by random projections (upstream needs CULA for them), over `rtcg.linalg`.

Matrices have at least as many rows as columns where this is said; arrays are float32, float64, complex64 or complex128,
of any memory layout, and remain as they are. Random numbers are those of `rtcg.random`, whose `seed` repeats them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rtcg import linalg as _linalg, random as _random
from rtcg._conversions import as_integer
from rtcg._messages import shown
from rtcg.numpy import GPUArray

from .linalg import (
    LinAlgError,
    _check,
    _check_modes,
    _check_rank,
    _dynamic_modes,
    _in_stream_of_handle,
    hermitian,
    transpose,
)
from .misc import _allocates, add_matvec, div_matvec, init, mult_matvec

__all__ = [
    "LinAlgError",
    "add_matvec",
    "cdmd",
    "div_matvec",
    "hermitian",
    "init",
    "mult_matvec",
    "rdmd",
    "rsvd",
    "transpose",
]


def _random_matrix(rows: int, columns: int, dtype: Any) -> GPUArray:
    """Uniform numbers from -1 to 1."""
    real = np.empty(0, dtype).real.dtype
    matrix = _random.uniform(-1, 1, (rows, columns)).astype(real)
    if dtype.kind == "f":
        return matrix
    return matrix + 1j * _random.uniform(-1, 1, (rows, columns)).astype(real)


@_in_stream_of_handle
@_allocates
def rsvd(
    a_gpu: GPUArray, k: int | None = None, p: int = 0, q: int = 0, method: str = "standard", handle: Any = None
) -> tuple[GPUArray, GPUArray, GPUArray]:
    """The `k` largest singular values and their vectors, ``a ~ u @ diag(s) @ vh``, by a random projection.

    After Halko, Martinsson and Tropp, "Finding structure with randomness" (2011); power iterations are orthonormalised.

    Parameters
    ----------
    a_gpu : GPUArray
        An m by n matrix with m >= n.
    k : int
        Number of singular values, up to n.
    p : int
        Number of random vectors beyond `k`.
    q : int
        Number of power iterations, which make results more accurate.
    method : {"standard", "fast"}
        Both compute the same here.

    Returns
    -------
    u, s, vh : GPUArray
        m by k, k, and k by n.
    """
    a = _check("a_gpu", a_gpu, 2)
    m, n = a.shape
    if m < n:
        raise ValueError(f"a_gpu has shape {a.shape}; expected at least as many rows as columns")
    if k is None:
        raise ValueError(f"k is None; expected 1 to {n}")
    if method not in ("standard", "fast"):
        raise ValueError(f"method is {shown(method)}; expected 'standard' or 'fast'")
    k = _check_rank(k, n)
    width = min(k + as_integer("p", p, least=0), n)
    basis = _linalg.qr(a @ _random_matrix(n, width, a.dtype))[0]
    for _ in range(as_integer("q", q, least=0)):
        other = _linalg.qr(a.T.conj() @ basis)[0]
        basis = _linalg.qr(a @ other)[0]
    u, s, vh = _linalg.svd(basis.T.conj() @ a, full_matrices=False)
    return basis @ u[:, :k], s[:k], vh[:k]


@_in_stream_of_handle
@_allocates
def rdmd(
    a_gpu: GPUArray,
    k: int | None = None,
    p: int = 5,
    q: int = 1,
    modes: str = "exact",
    method_rsvd: str = "standard",
    return_amplitudes: bool = False,
    return_vandermonde: bool = False,
    handle: Any = None,
) -> Any:
    """`skcuda.linalg.dmd` with the decomposition of `rsvd`, whose parameters `p`, `q` and `method_rsvd` are.

    `a_gpu` has at least n - 1 rows for n columns.
    """
    a, modes = _check("a_gpu", a_gpu, 2), _check_modes(modes)
    factors = rsvd(a[:, :-1], _check_rank(k, a.shape[1] - 1), p, q, method_rsvd)
    return _dynamic_modes(a, factors, a[:, 1:], modes, return_amplitudes, return_vandermonde)


@_in_stream_of_handle
@_allocates
def cdmd(
    a_gpu: GPUArray,
    k: int | None = None,
    c: int | None = None,
    modes: str = "exact",
    return_amplitudes: bool = False,
    return_vandermonde: bool = False,
    handle: Any = None,
) -> Any:
    """`skcuda.linalg.dmd` of compressed snapshots: `c` random combinations of the rows of `a_gpu`.

    After Erichson, Brunton and Kutz, "Compressed dynamic mode decomposition for background modeling" (2016).

    Parameters
    ----------
    c : int, optional
        Number of combinations, at least `k`; by default the rows are taken as they are.
    modes : {"exact"}
        Compressed snapshots have no singular vectors of full length, of which "standard" modes could be made.
    """
    a = _check("a_gpu", a_gpu, 2)
    if _check_modes(modes) != "exact":
        raise ValueError(f"modes is {shown(modes)}; expected 'exact'")
    m, n = a.shape
    k = _check_rank(k, n - 1)
    if c is not None and not k <= as_integer("c", c) <= m:
        raise ValueError(f"c is {c}; expected {k} to {m}: at least k, and at most the number of rows")
    compressed = a if c is None else _random_matrix(c, m, a.dtype) @ a
    u, s, vh = _linalg.svd(compressed[:, :-1], full_matrices=False)
    factors = (u[:, :k], s[:k], vh[:k])
    return _dynamic_modes(a, factors, compressed[:, 1:], "exact", return_amplitudes, return_vandermonde)
