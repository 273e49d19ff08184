"""Sparse arrays and `scipy.sparse` with the same arguments, drawn at random: formats, dtypes, indices and operations;
elements of one place, indices in any order, empty rows and stored zeros."""

import warnings

import numpy as np
import pytest
from depth import at_depth

hypothesis = pytest.importorskip("hypothesis")
scipy_sparse = pytest.importorskip("scipy.sparse")

from hypothesis import given, settings, strategies as st  # noqa: E402
from same_body import values  # noqa: E402
from test_sparse import dense  # noqa: E402

import rtcg.numpy as rnp  # noqa: E402
from rtcg import sparse  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")

FORMATS = ["csr", "csc", "coo", "dia", "bsr"]
DTYPES = ["f4", "f8", "c8", "c16", "i4", "i8", "?"]


@st.composite
def arrays(draw, shape=None):
    """A SciPy array in some format; compressed ones have indices in any order, some of them twice."""
    rows, columns = shape or (draw(st.integers(1, 12)), draw(st.integers(1, 12)))
    dtype, index = np.dtype(draw(st.sampled_from(DTYPES))), draw(st.sampled_from([np.int32, np.int64]))
    count = draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    row, col = rng.integers(0, rows, count), rng.integers(0, columns, count)
    # Some rows stay empty, some elements are zeros.
    row[row % 4 == 1] = 0
    data = values(dtype, count, int(rng.integers(100)))
    data[rng.random(count) < 0.2] = 0
    format = draw(st.sampled_from(FORMATS))
    coo = scipy_sparse.coo_array((data, (row.astype(index), col.astype(index))), shape=(rows, columns))
    if format not in ("csr", "csc") or not draw(st.booleans()):
        return coo.asformat(format)
    major, minor = (row, col) if format == "csr" else (col, row)
    order = np.argsort(major, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=(rows, columns)[format == "csc"]))])
    parts = data[order], minor[order].astype(index), indptr.astype(index)
    return getattr(scipy_sparse, f"{format}_array")(parts, shape=(rows, columns))


def both(body, *hosts):
    """Results of both modules, of which the values, the dtype and the shape are the same; or the same exception."""
    ours = [getattr(sparse, f"{host.format}_array")(host) for host in hosts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = dense(body(scipy_sparse, *(host.copy() for host in hosts)))
        except (ValueError, TypeError, NotImplementedError) as error:
            with pytest.raises(type(error)):
                body(sparse, *ours)
            return
        got = dense(body(sparse, *ours))
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-3)


ONE = [
    lambda m, a: a,
    lambda m, a: a.tocsr(),
    lambda m, a: a.tocsc(),
    lambda m, a: a.tocoo().tocsr().tocoo(),
    lambda m, a: a.tobsr(),
    lambda m, a: a.todia(),
    lambda m, a: a.T,
    lambda m, a: a.T.tocsr() @ np.arange(a.shape[0]),
    # SciPy's triples of one row give a result without axes.
    lambda m, a: np.atleast_1d(dense(a @ np.arange(a.shape[1], dtype=np.float32))),
    lambda m, a: a @ np.arange(2.0 * a.shape[1]).reshape(-1, 2),
    lambda m, a: a.tocsr() @ a.T,
    lambda m, a: a + a,
    lambda m, a: a.multiply(a),
    lambda m, a: a * 3,
    lambda m, a: a.astype(np.complex64),
    lambda m, a: abs(a),
    lambda m, a: a.conj(),
    lambda m, a: a.sum(axis=0),
    lambda m, a: a.sum(axis=1),
    lambda m, a: a.diagonal(),
    lambda m, a: a.tocsr()[::-1],
    lambda m, a: a.tocsr()[:, ::-2],
    lambda m, a: a.tocsc()[[0, -1, 0]],
    lambda m, a: a.tocsr()[0, -1],
    lambda m, a: m.vstack([a, a]),
    lambda m, a: m.tril(a),
    lambda m, a: m.kron(a, np.array([[1, 2], [0, 3]])),
    lambda m, a: a.reshape((1, -1)),
]

TWO = [
    lambda m, a, b: a + b,
    lambda m, a, b: a.multiply(b),
    lambda m, a, b: a @ b.T,
    lambda m, a, b: a != b,
    lambda m, a, b: m.hstack([a, b]),
    lambda m, a, b: a - b,
]


@pytest.mark.parametrize("body", ONE, ids=range(len(ONE)))
@settings(max_examples=at_depth(5, 12), deadline=None, derandomize=True)
@given(a=arrays())
def test_one_array(body, a):
    both(body, a)


@pytest.mark.parametrize("body", TWO, ids=range(len(TWO)))
@settings(max_examples=at_depth(5, 12), deadline=None, derandomize=True)
@given(data=st.data())
def test_two_arrays(body, data):
    a = data.draw(arrays())
    shape = a.shape if data.draw(st.integers(0, 5)) else (a.shape[1] + 1, a.shape[0])
    both(body, a, data.draw(arrays(shape)))


@settings(max_examples=at_depth(15, 60), deadline=None, derandomize=True)
@given(a=arrays(), format=st.sampled_from(FORMATS))
def test_formats_are_the_same_array(a, format):
    device = getattr(sparse, f"{a.format}_array")(a)
    other = device.asformat(format)
    assert other.format == format and other.dtype == a.dtype
    assert (other.toarray().get() == a.toarray()).all()
    assert (other.asformat(a.format).toarray().get() == a.toarray()).all()
    assert (other.get().toarray() == a.toarray()).all()


@settings(max_examples=at_depth(10, 40), deadline=None, derandomize=True)
@given(a=arrays(), sigma=st.sampled_from([1, 2, 5, 100]), seed=st.integers(0, 99))
def test_kernels_of_products(a, sigma, seed):
    device = getattr(sparse, f"{a.format}_array")(a).tocsr()
    x = values(a.dtype, a.shape[1], seed)
    wanted = a @ x
    native = device._native
    for matrix in (native.to_sell(sigma, 1e9), native.planned("merge"), native.planned("rows", 4)):
        np.testing.assert_allclose(matrix.matvec(rnp.to_gpu(x)).get(), wanted, rtol=1e-4, atol=1e-3)
