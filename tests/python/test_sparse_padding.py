"""What is stored is not always an element: diagonals stick out, blocks are padded, places are there twice."""

import warnings

import numpy as np
import pytest

pytest.importorskip("scipy.sparse")

from rtcg import sparse  # noqa: E402
from rtcg.sparse import linalg  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")

ROW, COL = [0, 1, 1, 2, 0, 1], [1, 1, 1, 3, 1, 0]


def arrays(dtype):
    """Arrays by name, each with something stored that is no element of its own."""
    values = np.array([0.5, 1.5, -1.5, 3, 0.75, -2]).astype(dtype)
    outside = np.arange(1, 11).reshape(2, 5).astype(dtype)
    twice = sparse.coo_array((values, (ROW, COL)), shape=(4, 5))
    yield "dia", sparse.dia_array((outside, [1, -2]), shape=(3, 5))
    yield "wide dia", sparse.dia_array((np.ones((3, 9)).astype(dtype), [-1, 0, 2]), shape=(6, 4))
    yield "coo", twice
    csr = sparse.csr_array((values, np.array([1, 1, 1, 3, 1, 0]), np.array([0, 2, 5, 6, 6])), shape=(4, 5))
    yield "csr", csr
    yield "csc", sparse.csc_array((values, np.array([1, 1, 1, 3, 1, 0]), np.array([0, 2, 5, 6, 6])), shape=(5, 4))
    blocks = np.arange(1, 13).reshape(3, 2, 2).astype(dtype)
    blocks[1] = 0 if np.dtype(dtype).kind in "bu" else -blocks[0]
    yield "bsr", sparse.bsr_array((blocks, np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(4, 4))


def dense_of(a):
    """The elements, by triples on the host that are added up there."""
    host = a.get().tocoo()
    dense = np.zeros(a.shape, a.dtype)
    (np.logical_or if a.dtype == bool else np.add).at(dense, (host.row, host.col), host.data)
    return dense


def as_host(found):
    found = found.toarray() if hasattr(found, "toarray") else found
    return found.get() if hasattr(found, "get") else np.asarray(found)


FUNCTIONS = {
    "sum": lambda a: a.sum(),
    "sum of columns": lambda a: a.sum(axis=0),
    "sum of rows": lambda a: a.sum(axis=1),
    "mean": lambda a: a.mean(),
    "mean of rows": lambda a: a.mean(axis=1),
    "count_nonzero": lambda a: np.count_nonzero(a) if isinstance(a, np.ndarray) else a.count_nonzero(),
    "count_nonzero of rows": lambda a: np.count_nonzero(a, 1) if isinstance(a, np.ndarray) else a.count_nonzero(1),
    "max": lambda a: a.max(),
    "min of columns": lambda a: a.min(axis=0),
    "argmax": lambda a: a.argmax(),
    "argmin of rows": lambda a: a.argmin(axis=1),
    "abs": abs,
    "power": lambda a: a**2,
    "bool": lambda a: a.astype(bool),
    "int": lambda a: a.astype(np.int64),
    "float": lambda a: a.astype(np.float64),
    "twice": lambda a: a * 2,
    "halves": lambda a: a / 2,
    "trace": lambda a: a.trace(),
    "sign": lambda a: np.sign(a) if isinstance(a, np.ndarray) else a.sign(),
    "norm": lambda a: np.linalg.norm(a) if isinstance(a, np.ndarray) else linalg.norm(a),
    "1-norm": lambda a: np.linalg.norm(a.astype(float), 1) if isinstance(a, np.ndarray) else linalg.norm(a, 1),
    "greater": lambda a: a > 1,
    "maximum": lambda a: np.maximum(a, 0) if isinstance(a, np.ndarray) else a.maximum(0),
    "transpose": lambda a: a.T,
}


def expected(what, a, dense):
    """What SciPy has of elements that are stored in parts: conversions, for one, are of the parts.

    What SciPy lacks, and all of diagonals, of which it also takes what is outside, is that of a dense array.
    """
    if a.format == "dia" or "norm" in what:
        return as_host(FUNCTIONS[what](dense))
    try:
        return as_host(FUNCTIONS[what](a.get()))
    except NotImplementedError:
        return as_host(FUNCTIONS[what](dense))


@pytest.mark.parametrize("dtype", [np.float64, np.int16, np.bool_])
def test_functions_are_those_of_the_elements(dtype):
    for name, a in arrays(dtype):
        dense = dense_of(a)
        np.testing.assert_array_equal(as_host(a), dense, err_msg=name)
        for what, function in FUNCTIONS.items():
            if dtype == np.bool_ and what in ("power", "sign", "greater", "maximum"):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                np.testing.assert_allclose(
                    as_host(function(a)), expected(what, a, dense), rtol=1e-12, err_msg=f"{name}: {what}"
                )


def test_places_and_changes_are_those_of_the_elements():
    for name, a in arrays(np.float64):
        dense = dense_of(a)
        # SciPy's places are of what is stored and not 0, also where it adds up to 0.
        for ours, theirs in zip(
            a.nonzero(), np.nonzero(dense) if a.format == "dia" else a.get().nonzero(), strict=True
        ):
            np.testing.assert_array_equal(as_host(ours), theirs, err_msg=name)
        assert a.copy().nnz == a.nnz
        if hasattr(a, "eliminate_zeros") and name != "dia":
            shorter = a.copy()
            shorter.eliminate_zeros()
            np.testing.assert_array_equal(as_host(shorter), dense, err_msg=name)
        changed, want = a.copy(), dense.copy()
        changed.setdiag(7.0)
        np.fill_diagonal(want, 7.0)
        np.testing.assert_array_equal(as_host(changed), want, err_msg=name)


def test_numbers_outside_of_diagonals_are_never_seen():
    data = np.array([[np.nan, 2.0, np.inf], [1.0, 1.0, np.nan]])
    a = sparse.dia_array((data, [1, -1]), shape=(2, 2))
    for function in (a.sum, a.mean, a.max, a.count_nonzero, a.trace, lambda: linalg.norm(a)):
        assert np.isfinite(float(as_host(function()))), function
    line = sparse.spdiags(np.array([[-1.0] * 5, [2.0] * 5, [-1.0] * 5]), [-1, 0, 1], 5, 5)
    assert float(as_host(line.sum())) == 2
