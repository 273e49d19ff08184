"""Estimates of norms of operators without access to their elements."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._conversions import as_flag, as_integer, converts
from rtcg.sparse._eigen import square_operand, vector_dtype
from rtcg.sparse._operands import to_device
from rtcg.sparse._operators import as_operand, aslinearoperator

if TYPE_CHECKING:
    from rtcg.numpy import GPUArray
    from rtcg.sparse._operators import LinearOperator


@converts(A=as_operand, t=as_integer, itmax=as_integer, compute_v=as_flag, compute_w=as_flag)
def onenormest(A: Any, t: int = 2, itmax: int = 5, compute_v: bool = False, compute_w: bool = False) -> Any:
    """A lower bound of the 1-norm of `A`, nearly always equal to it; see `scipy.sparse.linalg.onenormest`.

    Algorithm 2.4 of Higham and Tisseur (2000), with products of `A` and blocks of `t` vectors, which are the same in
    every call. Waits a few times per iteration.

    Parameters
    ----------
    A : sparse array, array, or `LinearOperator` with ``rmatvec``
        Of shape (n, n).
    t : int
        The number of columns of a block; more of them improve the estimate.
    itmax : int
        The maximum number of iterations, at least 2.
    compute_v, compute_w : bool
        Whether to return a vector `v` with ``norm(A @ v, 1) == est * norm(v, 1)``, and ``w = A @ v``.

    Returns
    -------
    est : float
    v, w : GPUArray of shape (n,)
        If requested.
    """
    A = aslinearoperator(square_operand(A))
    n, t, itmax = A.shape[0], operator.index(t), operator.index(itmax)
    if t < 1 or itmax < 2:
        raise ValueError(f"t is {t} and itmax is {itmax}; expected at least 1 and at least 2")
    dtype = vector_dtype(A.dtype)
    if t >= n:
        X = _xp.eye(n, dtype=dtype)
        images = A.matmat(X)
        norms = abs(images).sum(axis=0).get()
        column = int(norms.argmax())
        est, v, w = float(norms[column]), X[:, column], images[:, column]
    else:
        est, v, w = _estimate_norm(A, n, t, itmax, dtype)
    results = (est, *([v] if compute_v else []), *([w] if compute_w else []))
    return results if len(results) > 1 else est


def _signs(Y: GPUArray) -> GPUArray:
    size = abs(Y)
    return _xp.where(size == 0, 1, Y / _xp.where(size == 0, 1, size)).astype(Y.dtype)


def _separate(S: GPUArray, others: GPUArray | None, rng: np.random.Generator) -> GPUArray:
    """Redraw columns of signs that are parallel to an earlier one, or to one of `others`."""
    n, t = S.shape
    for column in range(t):
        for _ in range(10):
            known = S[:, :column] if others is None else _xp.concatenate([S[:, :column], others], axis=1)
            if not known.shape[1] or float(abs(known.T @ S[:, column]).max().get()) < n:
                break
            S[:, column] = to_device(rng.choice([-1.0, 1.0], n), S.dtype)
    return S


def _estimate_norm(A: LinearOperator, n: int, t: int, itmax: int, dtype: Any) -> tuple[float, Any, Any]:
    """The estimate, and a vector with norm 1 and its image."""
    rng = np.random.default_rng(0)
    X = _xp.concatenate([_xp.ones((n, 1), dtype), to_device(rng.choice([-1.0, 1.0], (n, t - 1)), dtype)], axis=1)
    X = _separate(X, None, rng) / n
    best: tuple[float, Any, Any] = (0.0, None, None)
    places: list[int] | None = None
    seen: list[int] = []
    S: Any = None
    for iteration in range(1, itmax + 2):
        Y = A.matmat(X)
        norms = abs(Y).sum(axis=0).get()
        column = int(norms.argmax())
        if iteration >= 2 and norms[column] <= best[0]:
            break
        best = float(norms[column]), X[:, column].copy(), Y[:, column].copy()
        if iteration > itmax:
            break
        S_old, S = S, _signs(Y)
        if dtype.kind == "f":
            if S_old is not None and bool((abs(S_old.T @ S).max(axis=0) >= n).all().get()):
                break
            S = _separate(S, S_old, rng)
        h = abs(A.rmatmat(S)).max(axis=1)
        order = _xp.argsort(-h)[: len(seen) + t].get()
        largest = h[order].get()
        if places is not None and float(h[places[column]].get()) == largest[0]:
            break
        if set(order[:t].tolist()) <= set(seen):
            break
        places = [int(place) for place in order if place not in seen][:t]
        seen += places
        X = (_xp.arange(n)[:, None] == to_device(np.array(places))).astype(dtype)
    return best
