"""Comparisons, maxima and minima of sparse arrays, element by element and over axes."""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg.sparse._base import SparseEfficiencyWarning, issparse
from rtcg.sparse._operands import is_scalar, to_device
from rtcg.sparse._products import combine

if TYPE_CHECKING:
    from rtcg.sparse._base import sparray
    from rtcg.sparse._coo import coo_array

_SYMBOLS = {
    operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.gt: ">", operator.le: "<=", operator.ge: ">=",
}  # fmt: skip
#: What is suggested in place of comparisons that are true of zeros.
_OPPOSITES = {
    operator.eq: "!=", operator.ne: "==", operator.lt: ">=", operator.gt: "<=", operator.le: ">", operator.ge: "<",
}  # fmt: skip


def _warn(text: str) -> None:
    warnings.warn(text, SparseEfficiencyWarning, stacklevel=5)


def _finished(a: sparray, result: coo_array) -> Any:
    """The coordinate array `result` without zeros, in the format that sums have."""
    result.eliminate_zeros()
    return result._compressed("csr").asformat("csc" if a.format == "csc" else "csr")


def _from_dense(a: sparray, values: Any) -> Any:
    return a._container("csc" if a.format == "csc" else "csr")(values)


def compare(a: Any, other: Any, op: Any) -> Any:
    """`op(a, other)` as a sparse array of bool; a `GPUArray` for a dense operand. Waits for the number of elements."""
    symbol = _SYMBOLS[op]
    if is_scalar(other):
        if bool(op(np.zeros((), a.dtype), other)):
            _warn(
                f"Comparing a sparse matrix with {other} using {symbol} is inefficient. Try using {_OPPOSITES[op]} "
                "instead."
            )
            return _from_dense(a, op(a.toarray(), other))
        coo = a.tocoo()._canonical("csr")
        return _finished(a, coo._with_data(op(coo.data, other)))
    if not issparse(other):
        return op(a.toarray(), to_device(other))
    if a.shape != other.shape:
        if op in (operator.eq, operator.ne):
            return op is operator.ne
        raise ValueError("inconsistent shapes")
    if op in (operator.eq, operator.le, operator.ge):
        _warn(f"Comparing two sparse matrices using {symbol} is inefficient. Try using {_OPPOSITES[op]} instead.")
        return _from_dense(a, op(a.toarray(), other.toarray()))
    return combine(a, other, op.__name__)


def extreme_of_two(a: Any, other: Any, is_largest: Any) -> Any:
    """The larger (smaller) of each pair of elements; waits for their number."""
    choose = _xp.maximum if is_largest else _xp.minimum
    if is_scalar(other):
        if other > 0 if is_largest else other < 0:
            name, sign = ("maximum", "positive") if is_largest else ("minimum", "negative")
            _warn(f"Taking {name} with a {sign} number results in a dense matrix.")
            return _from_dense(a, choose(a.toarray(), other))
        coo = a.tocoo()._canonical("csr")
        return _finished(a, coo._with_data(choose(coo.data, other)))
    if not issparse(other):
        return choose(a.toarray(), to_device(other))
    if a.shape != other.shape:
        raise ValueError(f"inconsistent shapes {a.shape} and {other.shape}")
    return combine(a, other, "maximum" if is_largest else "minimum")


def _row_extremes(a: Any, axis: Any, is_largest: bool, ignores_nan: bool) -> Any:
    """Extreme values and their positions along an axis, or of all elements for None."""
    if a.dtype.kind == "c":
        raise TypeError(f"a sparse array of {a.dtype} has no largest or least elements")
    if axis not in (None, 0, 1, -1, -2):
        raise ValueError("axis out of range")
    if axis is None:
        rows = a.reshape((1, -1)) if all(a.shape) else a
    else:
        rows = a if axis % 2 else a.T
    if not (all(a.shape) if axis is None else rows.shape[1]):
        raise ValueError("zero-size array to reduction operation")
    csr = rows.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr._native.row_extremes(is_largest, ignores_nan)


def extreme(a: Any, axis: Any, is_largest: Any, ignores_nan: Any = False) -> Any:
    """The largest (smallest) element of all, or of each column (``axis=0``) or row, as a `coo_array`; waits."""
    values, _ = _row_extremes(a, axis, is_largest, ignores_nan)
    if axis is None:
        return values.reshape(())
    if a._is_matrix:
        return a._container("coo")(values.reshape((-1, 1) if axis % 2 else (1, -1)))
    return a._container("coo")(values)


def arg_extreme(a: Any, axis: Any, is_largest: Any) -> Any:
    """The index of the first largest (smallest) element; an int for all elements. Waits."""
    _, places = _row_extremes(a, axis, is_largest, False)
    if axis is None:
        return int(places[0].get())
    return places.reshape((-1, 1) if axis % 2 else (1, -1)) if a._is_matrix else places
