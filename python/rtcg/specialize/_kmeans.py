"""k-means by Lloyd's algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_dtype, as_float, as_integer, shown

if TYPE_CHECKING:
    from typing import SupportsFloat, SupportsIndex, TypeAlias

    from numpy.typing import ArrayLike, DTypeLike

    from rtcg.numpy import GPUArray

    _Array: TypeAlias = GPUArray | ArrayLike

__all__ = ["KMeansResult", "kmeans"]


@dataclass(frozen=True)
class KMeansResult:
    """What `kmeans` returns.

    Attributes
    ----------
    centers : GPUArray of shape (k, d)
        float64 for vectors of float64, else float32.
    labels : GPUArray of shape (n,), int32
        The nearest centre of each vector.
    inertia : float
        The sum of the squared distances of vectors from their centres, times their weights.
    n_iter : int
        Iterations of the start that was best.
    """

    centers: GPUArray
    labels: GPUArray
    inertia: float
    n_iter: int


def kmeans(
    x: _Array,
    k: SupportsIndex,
    init: str | _Array = "k-means++",
    n_init: SupportsIndex = 1,
    max_iter: SupportsIndex = 300,
    tol: SupportsFloat = 1e-4,
    *,
    dtype: DTypeLike | None = None,
    weights: _Array | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> KMeansResult:
    """Divide vectors into `k` clusters around their means; waits, once in each iteration.

    Parameters
    ----------
    x : GPUArray or array-like of shape (n, d)
        Finite real numbers, a vector in each row.
    k : int
        From 1 to n.
    init : {"k-means++", "random"} or array-like of shape (k, d)
        The first centres: vectors that are far from each other, vectors at random, or the given ones.
    n_init : int
        The number of starts, of which that with the least inertia is returned; 1 if centres are given.
    max_iter : int
        The most iterations of a start.
    tol : float
        A start ends when no label changes, or the sum of the squared shifts of centres is at most `tol` times the mean
        variance of columns.
    dtype : {float16, float32, float64}, optional
        The dtype of vectors. By default float16 for float16, float32 for float32, bfloat16 and integers of up to 16
        bits, else float64. Centres and sums of float16 are float32; products of float16 take centres rounded to it.
    weights : GPUArray or array-like of shape (n,), optional
        Weights of vectors, not negative.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Determines random choices; None makes new ones in each call.

    Returns
    -------
    KMeansResult

    Raises
    ------
    ValueError
        If shapes do not fit, numbers are not finite, or a parameter is out of range.
    TypeError
        If elements are not real numbers.

    Notes
    -----
    Steps and stopping are those of `sklearn.cluster.KMeans` with ``algorithm="lloyd"``: from the same first centres, it
    finds the same ones, up to rounding. A cluster without vectors gets the vector that is farthest from its centre.
    Vectors are assigned by products with centres, of which the nearest one is kept: distances are never stored. Where
    tensor cores multiply, labels of float32 are still those of float32 arithmetic. The bits of the result are the same
    in every run on a device.

    Examples
    --------
    >>> from rtcg.specialize import kmeans
    >>> found = kmeans([[0.0], [1.0], [10.0], [11.0]], 2, init=[[0.0], [1.0]])
    >>> found.centers.get().ravel().tolist(), found.labels.get().tolist(), found.inertia
    ([0.5, 10.5], [0, 0, 1, 1], 1.0)
    """
    first, name = None, "k-means++"
    if isinstance(init, str):
        name = init
        if name not in ("k-means++", "random"):
            raise ValueError(f"init is {shown(init)}; expected 'k-means++', 'random' or an array of centres")
    else:
        first = _xp._unmasked_to_device("init", init)
    counts = {
        "k": as_integer("k", k),
        "n_init": as_integer("n_init", n_init),
        "max_iter": as_integer("max_iter", max_iter),
    }
    for argument, count in counts.items():
        if not 1 <= count < 2**31:
            raise ValueError(f"{argument} is {count}; expected 1 to {2**31 - 1}")
    centers, labels, inertia, n_iter = _native.specialize_kmeans(
        _xp._unmasked_to_device("x", x), counts["k"], name, first, 1 if first is not None else counts["n_init"],
        counts["max_iter"], as_float("tol", tol), as_dtype("dtype", dtype),
        None if weights is None else _xp._unmasked_to_device("weights", weights), _seed(random_state),
    )  # fmt: skip
    return KMeansResult(centers, labels, inertia, n_iter)


def _seed(random_state: Any) -> int:
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**32, dtype=np.uint64))
    seed = as_integer("random_state", random_state)
    if not 0 <= seed < 2**64:
        raise ValueError(f"random_state is {seed}; expected 0 to {2**64 - 1}")
    return seed
