"""`dok_array` and `lil_array` against those of `scipy.sparse`, and as inputs."""

import numpy as np
import pytest
from depth import at_depth
from subprocesses import run_python

scipy_sparse = pytest.importorskip("scipy.sparse")
hypothesis = pytest.importorskip("hypothesis")

from hypothesis import given, settings, strategies as st  # noqa: E402

import rtcg.numpy as rnp  # noqa: E402
from rtcg import sparse  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")


@st.composite
def keys(draw, shape):
    """An index with values that fit it."""
    rows, columns = shape
    kind = draw(st.sampled_from(["element", "row", "column", "slices", "lists", "outer"]))
    row, column = draw(st.integers(-rows, rows - 1)), draw(st.integers(-columns, columns - 1))
    step = draw(st.sampled_from([1, 2, -1]))
    if kind == "element":
        return (row, column), draw(st.integers(-2, 2))
    if kind == "row":
        return row, np.arange(columns) - 1
    if kind == "column":
        return (slice(None), column), draw(st.integers(0, 2))
    if kind == "slices":
        return (slice(None, None, step), slice(0, columns, 2)), 3
    if kind == "lists":
        return ([0, row], [column, 0]), np.array([5, 6])
    return np.ix_([0, row % rows], [column % columns]), 4


@pytest.mark.parametrize("name", ["dok", "lil"])
@settings(max_examples=at_depth(10, 40), deadline=None, derandomize=True)
@given(data=st.data())
def test_building(name, data):
    shape = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    dtype = data.draw(st.sampled_from([np.float64, np.int32, np.complex64]))
    ours = getattr(sparse, f"{name}_array")(shape, dtype=dtype)
    theirs = getattr(scipy_sparse, f"{name}_array")(shape, dtype=dtype)
    dense = np.zeros(shape, dtype)
    for _ in range(data.draw(st.integers(1, 5))):
        key, value = data.draw(keys(shape))
        ours[key] = value
        dense[key] = value
        if not (isinstance(key, tuple) and isinstance(key[0], list)) or name == "lil":
            theirs[key] = value
        else:
            for row, column, one in zip(*key, value, strict=True):
                theirs[row, column] = one
    for made in (ours.toarray(), ours.tocsr().toarray(), ours.tocsc().toarray(), ours.tocoo().toarray()):
        assert (made.get() == dense).all() and made.dtype == dtype
    assert (theirs.toarray() == dense).all()
    assert ours.nnz == theirs.nnz
    assert type(ours.get()) is type(theirs) and (ours.get().toarray() == dense).all()
    for i in range(-shape[0], shape[0]):
        assert ours[i, 0] == theirs[i, 0] and type(ours[i, 0]) is type(theirs[i, 0])
    assert (ours.T.toarray().get() == dense.T).all() and ours.T.format == name
    assert (ours[::-1].toarray().get() == dense[::-1]).all()
    assert (ours[0].toarray().get() == dense[0]).all() and ours[0].shape == theirs[0].shape


@pytest.mark.parametrize("name", ["dok", "lil"])
def test_operations_and_conversions(name):
    host = scipy_sparse.random_array((9, 7), density=0.3, rng=np.random.default_rng(0)).asformat(name)
    for format in ("csr", "csc", "coo", "dia", "bsr", "dok", "lil"):
        made = getattr(sparse, f"{format}_array")(host)
        assert made.format == format and (made.toarray().get() == host.toarray()).all()
        assert (made.asformat(name).get().toarray() == host.toarray()).all()
    ours = getattr(sparse, f"{name}_array")(host)
    x = np.arange(7.0)
    np.testing.assert_allclose((ours @ x).get(), host @ x)
    np.testing.assert_allclose((x @ ours.T).get(), x @ host.T)
    np.testing.assert_allclose((ours + ours).toarray().get(), (host + host).toarray())
    np.testing.assert_allclose((ours @ ours.T).toarray().get(), (host @ host.T).toarray())
    np.testing.assert_allclose((ours * 2).toarray().get(), host.toarray() * 2)
    np.testing.assert_allclose(ours.sum(axis=0).get(), host.sum(axis=0))
    assert ours.copy().nnz == host.nnz and ours.astype(np.float32).dtype == np.float32
    assert (sparse.vstack([ours, ours]).toarray().get() == np.vstack([host.toarray()] * 2)).all()
    ours.resize(3, 4)
    assert (ours.toarray().get() == host.toarray()[:3, :4]).all()
    ours.setdiag([1, 2, 3])
    assert ours.diagonal().get().tolist() == [1, 2, 3]
    for key in ((3, 0), (0, -5)):
        with pytest.raises(IndexError, match="out of range"):
            ours[key] = 1
    with pytest.raises(ValueError, match="shape mismatch"):
        ours[:, 0] = [1, 2]


def test_a_dictionary():
    d = sparse.dok_array((3, 4))
    d[0, 1] = 5
    d.update({(2, 2): 7})
    assert dict(d.items()) == {(0, 1): 5, (2, 2): 7} and len(d) == 2 and (0, 1) in d
    assert d.get((0, 0), 9) == 9 and d.get((0, 1)) == 5 and d.setdefault((1, 1), 2.0) == 2
    assert d.pop((2, 2)) == 7 and list(d.keys()) == [(0, 1), (1, 1)] and list(d.values()) == [5, 2]
    with pytest.raises(IndexError, match="Index out of bounds"):
        d.get((9, 9))
    d[0, 1] = 0
    assert d.nnz == 1
    del d[1, 1]
    assert d.nnz == 0 and isinstance(d, sparse.dok_array)
    made = sparse.dok_array.fromkeys([(0, 1), (2, 0)], 2)
    assert made.shape == (3, 2) and made.dtype == np.int64 and made.nnz == 2
    line = sparse.dok_array((4,))
    line[2] = 3
    assert line.tocsr().toarray().get().tolist() == [0, 0, 3, 0] and line[2] == 3
    assert sparse.isspmatrix_dok(sparse.dok_matrix((2, 2))) and sparse.isspmatrix_lil(sparse.lil_matrix((2, 2)))


def test_lists():
    made = sparse.lil_array([[1, 0], [3, 2]])
    assert [list(row) for row in made.rows] == [[0], [0, 1]] and [list(row) for row in made.data] == [[1], [3, 2]]
    made.getrowview(0)[0, 1] = 8
    assert made.toarray().get().tolist() == [[1, 8], [3, 2]]
    device = sparse.lil_array(rnp.to_gpu(np.eye(3)))
    assert device.nnz == 3


def test_without_scipy():
    run_python(
        """
import sys
sys.modules["scipy"] = sys.modules["scipy.sparse"] = None
import numpy as np
import rtcg.autoinit
from rtcg import sparse

for name in ("dok_array", "lil_array"):
    a = getattr(sparse, name)((3, 3))
    a[0, 1] = 2
    a[1, :] = [1, 0, 4]
    assert (a.tocsr() @ np.ones(3)).get().tolist() == [2, 5, 0]
"""
    )
