"""Products of two sparse arrays, sampled products, and functions of two arrays, against `scipy.sparse`."""

import itertools

import numpy as np
import pytest
from depth import at_depth, each_kind
from same_body import values
from subprocesses import has_real_device, run_python

scipy_sparse = pytest.importorskip("scipy.sparse")
hypothesis = pytest.importorskip("hypothesis")

from hypothesis import given, settings, strategies as st  # noqa: E402
from test_sparse import ALL_DTYPES, host_matrix  # noqa: E402
from test_sparse_draws import arrays  # noqa: E402

import rtcg.numpy as rnp  # noqa: E402
from rtcg import _native, sparse  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")


def same_product(a, b, rtol=1e-5):
    """The product of both modules: values, number of elements, dtypes; ours has columns in order. By all kernels."""
    left, right = sparse.csr_array(a), sparse.csr_array(b)
    ours, wanted = left @ right, a @ b
    first = ours.get()
    for has_thread_rows in (True, False):
        parts = _native.sparse_multiply(left._native, right._native, has_thread_rows)
        for part, own in zip(parts, (first.data, first.indices, first.indptr), strict=True):
            np.testing.assert_allclose(part.get(), own, rtol=rtol, atol=rtol)
    assert (ours.shape, ours.dtype, ours.nnz) == (wanted.shape, wanted.dtype, wanted.nnz)
    assert ours.indices.dtype == wanted.indices.dtype
    assert ours.has_canonical_format
    found = ours.get()
    wanted.sort_indices()
    assert (found.indices == wanted.indices).all() and (found.indptr == wanted.indptr).all()
    np.testing.assert_allclose(found.data, wanted.data, rtol=rtol, atol=rtol)
    return ours


@pytest.mark.parametrize("index, dtype", each_kind(itertools.product([np.int32, np.int64], ALL_DTYPES)), ids=str)
def test_products_of_all_dtypes(dtype, index):
    a = host_matrix((40, 61), dtype, index=index)
    same_product(a, host_matrix((61, 35), dtype, seed=1, index=index))
    same_product(a, host_matrix((61, 35), np.dtype("f4"), seed=2, index=np.int32))


def test_rows_of_all_sizes():
    rng = np.random.default_rng(0)
    # Rows of 0, a few, some hundred and all columns: every bin, and right rows longer than a group of lanes.
    densities = np.array([0, 0.002, 0.02, 0.2, 1.0])[np.arange(60) % 5]
    dense = (rng.random((60, 6000)) < densities[:, None]) * rng.standard_normal((60, 6000))
    right = scipy_sparse.random_array((6000, 7000), density=0.001, rng=rng, format="csr")
    same_product(scipy_sparse.csr_array(dense), right, rtol=1e-9)
    same_product(scipy_sparse.csr_array(dense[:, :60]), scipy_sparse.csr_array(dense), rtol=1e-9)


def test_empty_products():
    empty = scipy_sparse.csr_array((5, 7))
    full = scipy_sparse.csr_array(np.ones((7, 3)))
    same_product(empty, full)
    same_product(scipy_sparse.csr_array((0, 7)), full)
    same_product(scipy_sparse.csr_array(np.ones((3, 0))), scipy_sparse.csr_array((0, 4)))
    # No element of the left side meets one of the right side.
    left, right = np.zeros((3, 4)), np.zeros((4, 3))
    left[0, 1], right[2, 2] = 1, 1
    same_product(scipy_sparse.csr_array(left), scipy_sparse.csr_array(right))


def test_products_that_cancel_are_left_out():
    left = scipy_sparse.csr_array(np.array([[1.0, 1, 0], [2, 0, 1]]))
    right = scipy_sparse.csr_array(np.array([[1.0, 2], [-1, 3], [0, 4]]))
    assert same_product(left, right).nnz == 3


def test_elements_of_one_place_and_columns_out_of_order():
    rng = np.random.default_rng(3)
    parts = []
    for rows, columns in ((30, 20), (20, 25)):
        indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 40, rows))])
        parts.append(
            scipy_sparse.csr_array(
                (rng.standard_normal(indptr[-1]), rng.integers(0, columns, indptr[-1]), indptr), shape=(rows, columns)
            )
        )
    same_product(*parts, rtol=1e-9)


def test_the_same_bits_at_every_run():
    a = sparse.gallery.rmat(9)
    first = (a @ a).get()
    for _ in range(3):
        again = (a @ a).get()
        assert (again.data == first.data).all() and (again.indices == first.indices).all()


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dia", "bsr"])
def test_products_of_formats(format):
    a, b = host_matrix((12, 18), np.dtype("f8")), host_matrix((18, 12), np.dtype("f8"), seed=1)
    ours = sparse.csr_array(a).asformat(format) @ sparse.csr_array(b).asformat(format)
    np.testing.assert_allclose(ours.toarray().get(), (a @ b).toarray())
    with pytest.raises(ValueError, match="dimension mismatch"):
        sparse.csr_array(a).asformat(format) @ sparse.csr_array(a)


FUNCTIONS_OF_TWO = ["__add__", "__sub__", "multiply", "__ne__", "__lt__", "__gt__", "maximum", "minimum"]


@settings(max_examples=at_depth(15, 60), deadline=None, derandomize=True)
@given(data=st.data())
def test_functions_of_two_arrays(data):
    a = data.draw(arrays())
    b = data.draw(arrays(a.shape))
    ours = [getattr(sparse, f"{host.format}_array")(host) for host in (a, b)]
    # Usually three of eight, as each has a kernel of its own for each pair of dtypes.
    first = data.draw(st.integers(0, 7))
    for name in (FUNCTIONS_OF_TWO * 2)[first : first + at_depth(3, 8)]:
        try:
            with np.errstate(all="ignore"):
                wanted = getattr(a, name)(b)
        except (TypeError, NotImplementedError) as error:
            with pytest.raises(type(error)):
                getattr(ours[0], name)(ours[1])
            continue
        found = getattr(ours[0], name)(ours[1])
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found.toarray().get(), wanted.toarray(), rtol=1e-5, atol=1e-4)
        assert found.nnz == found.count_nonzero()


@pytest.mark.parametrize(
    "index, dtype", each_kind(itertools.product([np.int32, np.int64], ["f4", "f8", "c8", "c16", "i4"]))
)
def test_sampled_products(dtype, index):
    a = host_matrix((31, 23), np.dtype(dtype), index=index)
    device = sparse.csr_array(a)
    for length in (0, 1, 5, 64, 150):
        x, y = values(dtype, (31, length), 1), values(dtype, (length, 23), 2)
        for left, right in ((x, y), (np.asfortranarray(x), y), (rnp.to_gpu(x), rnp.to_gpu(y.T.copy()).T)):
            found = sparse.sampled_matmul(device, left, right)
            assert (found.dtype, found.nnz) == (dtype, a.nnz)
            np.testing.assert_allclose(found.toarray().get(), a.multiply(x @ y).toarray(), rtol=1e-3, atol=1e-2)
        found = sparse.sampled_addmm(device, x, y, beta=3, alpha=2)
        wanted = a.toarray() * 3 + 2 * (x @ y) * (abs(a) != 0).toarray()
        there = (abs(a) != 0).toarray()
        np.testing.assert_allclose(found.toarray().get() * there, wanted, rtol=1e-3, atol=1e-2)


def test_sampled_products_do_not_read_what_is_scaled_by_0():
    a = scipy_sparse.csr_array(np.array([[np.nan, 0], [0, np.inf]]))
    found = sparse.sampled_addmm(sparse.csr_array(a), np.ones((2, 3)), np.ones((3, 2)), beta=0)
    assert found.toarray().get().tolist() == [[3, 0], [0, 3]]


def test_sampled_products_refuse():
    a = sparse.csr_array(np.eye(3))
    with pytest.raises(ValueError, match=r"expected \(3, k\) and \(k, 3\)"):
        sparse.sampled_matmul(a, np.ones((3, 2)), np.ones((3, 3)))
    with pytest.raises(TypeError, match="expected a sparse array"):
        sparse.sampled_addmm(np.eye(3), np.ones((3, 2)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="alpha is 1j"):
        sparse.sampled_addmm(a, np.ones((3, 2)), np.ones((2, 3)), alpha=1j)
    with pytest.raises(TypeError, match="beta is '1x'; expected a number"):
        sparse.sampled_addmm(a, np.ones((3, 2)), np.ones((2, 3)), beta="1x")


def test_results_that_are_real_are_refused_for_complex_products():
    real, complex_ = np.eye(4), np.eye(4) * 1j
    out = rnp.zeros(4, np.float64)
    for matrix, x in ((complex_, np.ones(4)), (real, np.ones(4) * 1j)):
        rows = sparse.csr_array(matrix)
        for native in (rows._native, rows.tobsr((2, 2))._native):
            with pytest.raises(TypeError, match="are complex; expected complex64 or complex128"):
                native.matvec(rnp.to_gpu(x), out)


def test_extremes_of_no_indices():
    assert _native.sparse_index_extremes(rnp.empty(0, np.int32)) is None
    assert list(_native.sparse_index_extremes(rnp.to_gpu(np.array([3, 1, 2])))) == [1, 3]
    empty = rnp.empty(0, np.int32)
    made = sparse.csr_array((rnp.empty(0, np.float64), empty, rnp.zeros(4, np.int32)), shape=(3, 5))
    assert (made.shape, made.nnz) == ((3, 5), 0)
    assert sparse.coo_array((rnp.empty(0, np.float64), (empty, empty)), shape=(2, 2)).nnz == 0


NORMS = [None, "fro", 1, -1, np.inf, -np.inf, 0, 3, "nuc"]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i1", "i4", "u8", "?"])
def test_norms(dtype):
    import scipy.sparse.linalg

    a = host_matrix((9, 7), np.dtype(dtype), density=0.5)
    if dtype == "i1":
        # SciPy's powers wrap.
        a.data %= 3
    double = scipy_sparse.coo_array(
        (np.tile(a.data, 2), (np.tile(a.tocoo().row, 2), np.tile(a.indices, 2))), shape=a.shape
    )
    for host in (a, double):
        device = getattr(sparse, f"{host.format}_array")(host)
        for ord in NORMS:
            for axis in (None, 0, 1, -1, (0, 1), (1, 0), 2):
                if ord == -1 and axis in (0, 1, -1):
                    # SciPy divides by stored zeros.
                    continue
                try:
                    wanted = scipy.sparse.linalg.norm(host, ord, axis)
                except (ValueError, NotImplementedError) as error:
                    with pytest.raises(type(error)):
                        sparse.linalg.norm(device, ord, axis)
                    continue
                found = sparse.linalg.norm(device, ord, axis).get()
                np.testing.assert_allclose(found, wanted, rtol=1e-5, err_msg=f"{ord} {axis}")
    large = np.full((3, 3), 100, np.int8)
    assert float(sparse.linalg.norm(sparse.csr_array(large)).get()) == 300


@pytest.mark.skipif(has_real_device(), reason="a real device has no checked mode")
def test_kernels_have_no_races_and_give_the_same_bits_on_any_schedule():
    run_python(
        """
from rtcg import checking
checking.enable("memory,race")
import numpy as np
import rtcg.autoinit
from rtcg import _native, sparse
from rtcg.sparse import csgraph

rng = np.random.default_rng(0)
density = np.array([0, 0.01, 0.1, 1.0])[np.arange(8) % 4]
a = sparse.csr_array((rng.random((8, 2000)) < density[:, None]) * rng.random((8, 2000)))
b = sparse.csr_array((rng.random((2000, 3000)) < 0.001) * rng.random((2000, 3000)))
square = sparse.gallery.poisson2d(6)
found = set()
for seed in range(3):
    checking.set_schedule(f"chaos:{seed}")
    parts = [_native.sparse_multiply(a._native, b._native, by_threads) for by_threads in (True, False)]
    found.add(tuple(part.get().tobytes() for three in parts for part in three))
    square + square.T
    assert csgraph.connected_components(square)[0] == 1
    sparse.sampled_matmul(square, np.ones((36, 40)), np.ones((40, 36)))
assert len(found) == 1
assert not checking.findings(), checking.findings()[0]
"""
    )
