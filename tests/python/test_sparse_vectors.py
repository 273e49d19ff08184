"""Sparse arrays of one axis against those of `scipy.sparse`: the same bodies with both."""

import numpy as np
import pytest

scipy_sparse = pytest.importorskip("scipy.sparse")
hypothesis = pytest.importorskip("hypothesis")

from hypothesis import given, settings, strategies as st  # noqa: E402
from test_sparse import dense  # noqa: E402

import rtcg.numpy as rnp  # noqa: E402
from rtcg import sparse  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")

ONE = [
    lambda m, v: v,
    lambda m, v: v.tocsr(),
    lambda m, v: v.tocoo(),
    lambda m, v: v.T,
    lambda m, v: v.reshape(1, -1),
    lambda m, v: v.reshape((-1, 1)),
    lambda m, v: v.reshape((-1, 1)).reshape(v.shape),
    lambda m, v: v * 2,
    lambda m, v: -v,
    lambda m, v: abs(v),
    lambda m, v: v.astype(np.complex64),
    lambda m, v: v.power(2),
    lambda m, v: v / 2,
    lambda m, v: v.conj(),
    lambda m, v: v.sum(),
    lambda m, v: v.sum(axis=0),
    lambda m, v: v.mean(),
    lambda m, v: v.max(),
    lambda m, v: v.min(axis=-1),
    lambda m, v: v.argmax(),
    lambda m, v: v.count_nonzero(),
    lambda m, v: v.sum(axis=1),
    lambda m, v: v.nonzero()[0],
    lambda m, v: v.copy(),
    lambda m, v: v > 0,
    lambda m, v: v[0],
    lambda m, v: v[-1],
    lambda m, v: v[1:],
    lambda m, v: v[::-1],
    lambda m, v: v[[0, -1, 0]],
    lambda m, v: v[np.arange(v.shape[0]) % 2 == 0],
    lambda m, v: v[...],
    lambda m, v: v[None, :],
    lambda m, v: v[:, None],
    lambda m, v: v[v.shape[0]],
    lambda m, v: v @ np.ones(v.shape[0]),
    lambda m, v: np.ones(v.shape[0]) @ v,
    lambda m, v: v @ np.ones((v.shape[0], 3)),
    lambda m, v: np.ones((2, v.shape[0])) @ v,
    lambda m, v: v @ np.ones(v.shape[0] + 1),
    lambda m, v: v + np.ones(v.shape[0]),
    lambda m, v: v * np.ones(v.shape[0]),
    lambda m, v: v.tocsc(),
    lambda m, v: v.tobsr(),
    lambda m, v: v.todia(),
    lambda m, v: v.tolil(),
    lambda m, v: v.diagonal(),
    lambda m, v: v.todok().tocsr(),
    lambda m, v: m.hstack([v, v], format="csr"),
    lambda m, v: m.vstack([v, v], format="csr"),
    lambda m, v: m.csr_matrix(v.reshape(1, -1)),
    lambda m, v: m.csc_array(v),
    lambda m, v: m.csr_array(v),
    lambda m, v: m.coo_array(v),
    lambda m, v: len(v),
    lambda m, v: m.find(v)[1],
]

TWO = [
    lambda m, v, w, a: v + w,
    lambda m, v, w, a: v - w,
    lambda m, v, w, a: v.multiply(w),
    lambda m, v, w, a: v * w,
    lambda m, v, w, a: v != w,
    lambda m, v, w, a: v.maximum(w),
    lambda m, v, w, a: v @ w,
    lambda m, v, w, a: a @ v,
    lambda m, v, w, a: a.T @ v,
    lambda m, v, w, a: v @ a.T,
    lambda m, v, w, a: v @ a,
    lambda m, v, w, a: a.multiply(v),
    lambda m, v, w, a: a * v,
    lambda m, v, w, a: a + v,
    lambda m, v, w, a: a[0],
    lambda m, v, w, a: a[1, :],
    lambda m, v, w, a: a[:, 0],
    lambda m, v, w, a: a[0, [0, 0]],
    lambda m, v, w, a: a.tocoo()[1],
    lambda m, v, w, a: a.tocsc()[:, -1],
    lambda m, v, w, a: a[0] + v,
    lambda m, v, w, a: a.max(axis=0),
    lambda m, v, w, a: a.tocsc().min(axis=1),
    lambda m, v, w, a: [row.sum() for row in a],
]


@st.composite
def vectors(draw, n):
    count = draw(st.integers(0, 8))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    dtype = np.dtype(draw(st.sampled_from(["f4", "f8", "i4", "?"])))
    index = draw(st.sampled_from([np.int32, np.int64]))
    data = (rng.integers(-3, 4, count)).astype(dtype)
    return scipy_sparse.coo_array((data, (rng.integers(0, n, count).astype(index),)), shape=(n,))


def both(body, hosts):
    ours = [getattr(sparse, f"{host.format}_array")(host) for host in hosts]
    try:
        expected = body(scipy_sparse, *hosts)
    except Exception as error:  # noqa: BLE001
        with pytest.raises(type(error)):
            body(sparse, *ours)
        return
    got = body(sparse, *ours)
    if scipy_sparse.issparse(expected):
        assert (got.shape, got.ndim) == (expected.shape, expected.ndim)
        # SciPy's products without elements are of another format than others.
        if expected.nnz:
            assert (type(got).__name__, got.format) == (type(expected).__name__, expected.format)
        back = got.get()
        assert back.format == got.format and back.shape == expected.shape
    if isinstance(expected, list):
        got, expected = [dense(part) for part in got], [dense(part) for part in expected]
    got, expected = dense(got), dense(expected)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.filterwarnings("ignore::rtcg.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("format", ["coo", "csr"])
@pytest.mark.parametrize("body", ONE, ids=range(len(ONE)))
@settings(max_examples=3, deadline=None, derandomize=True)
@given(data=st.data())
def test_one_vector(format, body, data):
    both(body, [data.draw(vectors(data.draw(st.integers(2, 9)))).asformat(format)])


@pytest.mark.parametrize("format", ["coo", "csr"])
@pytest.mark.parametrize("body", TWO, ids=range(len(TWO)))
@settings(max_examples=3, deadline=None, derandomize=True)
@given(data=st.data())
def test_two_vectors_and_an_array(format, body, data):
    n = data.draw(st.integers(2, 7))
    v, w = (data.draw(vectors(n)).asformat(format) for _ in range(2))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    a = scipy_sparse.csr_array(rng.integers(-1, 2, (5, n)).astype(np.float64))
    both(body, [v, w, a])


def test_constructors():
    for format in ("coo", "csr"):
        ours, theirs = (getattr(module, f"{format}_array") for module in (sparse, scipy_sparse))
        for args, kwargs in (
            (([1.0, 0, 2],), {}),
            ((np.array([1.0, 0, 2]),), {"dtype": np.float32}),
            (((5,),), {}),
            ((([1.0, 2.0], ([0, 2],)),), {}),
            ((([1.0, 2.0], ([0, 2],)),), {"shape": (4,)}),
            ((([1.0, 2.0], ([0, 4],)),), {"shape": (4,)}),
        ):
            try:
                wanted = theirs(*args, **kwargs)
            except ValueError:
                with pytest.raises(ValueError, match=r"4"):
                    ours(*args, **kwargs)
                continue
            made = ours(*args, **kwargs)
            assert isinstance(made, ours) and (made.shape, made.dtype) == (wanted.shape, wanted.dtype)
            assert (made.toarray().get() == wanted.toarray()).all()
    made = sparse.csr_array(([1.0, 2.0], [0, 2], [0, 2]), shape=(3,))
    assert made.toarray().get().tolist() == [1, 0, 2] and made.indptr.get().tolist() == [0, 2]
    assert sparse.csr_matrix(np.ones(3)).shape == (1, 3)
    assert sparse.coo_array(rnp.to_gpu(np.array([0.0, 5]))).coords[0].get().tolist() == [1]
    for name in ("csc", "bsr", "dia", "lil"):
        with pytest.raises(ValueError, match="don't support 1D input. Use 2D"):
            getattr(sparse, f"{name}_array")(np.ones(3))


def test_writing():
    v = sparse.csr_array(np.array([1.0, 0, 3, 0]))
    v[0] = 7
    v *= 2
    assert v.toarray().get().tolist() == [14, 0, 6, 0]
    v.data = v.data / 2
    v.eliminate_zeros()
    assert repr(v) == "<Compressed Sparse Row sparse array of dtype 'float64'\n\twith 2 stored elements and shape (4,)>"
