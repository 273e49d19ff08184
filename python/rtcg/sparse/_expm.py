"""Products with the exponential of a matrix, without forming it."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._conversions import as_flag, as_integer, as_number, converts
from rtcg.sparse._base import issparse
from rtcg.sparse._eigen import square_operand, vector_dtype
from rtcg.sparse._norm_estimate import onenormest
from rtcg.sparse._operands import to_device
from rtcg.sparse._operators import LinearOperator, as_operand, aslinearoperator

if TYPE_CHECKING:
    from rtcg.numpy import GPUArray

#: Norms up to which the Taylor polynomial of so many terms has the precision of the dtype: Table 3.1 of Al-Mohy and
#: Higham (2011).
_TAYLOR_NORMS = {
    "f": {5: 0.13, 10: 1.0, 15: 2.2, 20: 3.6, 25: 4.9, 30: 6.3, 35: 7.7, 40: 9.1, 45: 11.0, 50: 12.0, 55: 13.0},
    "d": {5: 2.4e-3, 10: 0.14, 15: 0.64, 20: 1.4, 25: 2.4, 30: 3.5, 35: 4.7, 40: 6.0, 45: 7.2, 50: 8.5, 55: 9.9},
}


@converts(
    A=as_operand,
    B=_xp._named_to_device,
    start=as_number,
    stop=as_number,
    num=as_integer,
    endpoint=as_flag,
    traceA=as_number,
)
def expm_multiply(
    A: Any,
    B: Any,
    start: float | None = None,
    stop: float | None = None,
    num: int | None = None,
    endpoint: bool | None = None,
    traceA: Any = None,
) -> GPUArray:
    """The product of the exponential of `A`, or of multiples of it, with `B`; see `scipy.sparse.linalg.expm_multiply`.

    Uses Taylor polynomials of ``A - mu * I`` (Al-Mohy and Higham 2011), with a number of terms that depends on the
    1-norm. Waits for that norm and for the trace, but not for products.

    Parameters
    ----------
    A : sparse array, array, or `LinearOperator` with ``rmatvec``
        Of shape (n, n).
    B : array of shape (n,) or (n, k)
    start, stop, num, endpoint : optional
        ``numpy.linspace(start, stop, num, endpoint)`` of the factors of `A`. If any of these is given, the others
        default to 0, 1 and 50 factors.
    traceA : number, optional
        The trace of `A`; by default computed from the diagonal, or 0 for an operator.

    Returns
    -------
    GPUArray
        ``expm(A) @ B``, or for several factors ``t`` an array with ``expm(t * A) @ B`` along its first axis.
    """
    A = square_operand(A)
    n = A.shape[0]
    B = to_device(B)
    if B.ndim not in (1, 2) or B.shape[0] != n:
        raise ValueError(f"the matrices A and B have incompatible shapes: A {A.shape}, B {B.shape}")
    dtype = vector_dtype(A.dtype, B.dtype, np.float32 if traceA is None else np.result_type(traceA, np.float32))
    B = B.astype(dtype)
    product = _Exponential(A, dtype, traceA)
    if start is None and stop is None and num is None and endpoint is None:
        return product.apply(1.0, B)
    times, step = np.linspace(
        0.0 if start is None else start, 1.0 if stop is None else stop, 50 if num is None else operator.index(num),
        True if endpoint is None else endpoint, retstep=True,
    )  # fmt: skip
    results = [product.apply(times[0], B)] if len(times) else []
    for _ in times[1:]:
        results.append(product.apply(step, results[-1]))
    return _xp.stack(results) if results else _xp.empty((0, *B.shape), dtype)


class _Exponential:
    """A shifted matrix, with the norms that determine the number of terms."""

    def __init__(self, A: Any, dtype: Any, trace: Any) -> None:
        n = A.shape[0]
        if trace is None:
            trace = 0.0 if not hasattr(A, "diagonal") or not n else A.diagonal().sum().get()[()]
        self.shift = complex(trace) / max(n, 1) if dtype.kind == "c" else float(np.real(trace)) / max(n, 1)
        if issparse(A):
            from rtcg.sparse import eye_array

            # One array, so that a term is one product.
            self.matrix = (A.astype(dtype) - self.shift * eye_array(n, dtype=dtype, format="csr")).tocsr()
            self.norm = float(abs(self.matrix).sum(axis=0).max().get()) if n else 0.0
        else:
            shift = self.shift
            A = aslinearoperator(A)
            self.matrix = LinearOperator(
                A.shape, lambda x: A.matvec(x) - shift * x, lambda x: A.rmatvec(x) - np.conj(shift) * x,
                lambda x: A.matmat(x) - shift * x, dtype, lambda x: A.rmatmat(x) - np.conj(shift) * x,
            )  # fmt: skip
            self.norm = onenormest(self.matrix) if n else 0.0
        self.limits = _TAYLOR_NORMS["f" if np.finfo(dtype).eps > 1e-10 else "d"]

    def apply(self, t: float, B: Any) -> Any:
        """``expm(t * A) @ B``."""
        norm = abs(t) * self.norm
        if not np.isfinite(norm):
            raise ValueError("A has infinities or NaN")
        costs = {terms: terms * max(1, int(np.ceil(norm / limit))) for terms, limit in self.limits.items()}
        terms = min(costs, key=lambda terms: costs[terms])
        steps = costs[terms] // terms
        growth = B.dtype.type(np.exp(t * self.shift / steps))
        for _ in range(steps):
            term = B
            for k in range(1, terms + 1):
                term = (self.matrix @ term) * B.dtype.type(t / (steps * k))
                B = B + term
            B = B * growth
        return B
