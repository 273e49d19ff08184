"""`rtcg.sparse.csgraph` against `scipy.sparse.csgraph`."""

import numpy as np
import pytest
from depth import at_depth

scipy_sparse = pytest.importorskip("scipy.sparse")
hypothesis = pytest.importorskip("hypothesis")

from hypothesis import given, settings, strategies as st  # noqa: E402
from scipy.sparse import csgraph as theirs  # noqa: E402

from rtcg import sparse  # noqa: E402
from rtcg.sparse import csgraph as ours  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")


@st.composite
def graphs(draw):
    nodes, edges = draw(st.integers(1, 40)), draw(st.integers(0, 60))
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    data = rng.integers(1, 9, edges).astype(draw(st.sampled_from([np.float64, np.int64])))
    coo = scipy_sparse.coo_array((data, (rng.integers(0, nodes, edges), rng.integers(0, nodes, edges))), (nodes, nodes))
    return coo.asformat(draw(st.sampled_from(["csr", "csc", "coo"])))


def device(graph):
    return getattr(sparse, f"{graph.format}_array")(graph)


@settings(max_examples=at_depth(15, 60), deadline=None, derandomize=True)
@given(graph=graphs(), directed=st.booleans())
def test_components(graph, directed):
    count, labels = ours.connected_components(device(graph), directed)
    wanted, wanted_labels = theirs.connected_components(graph, directed)
    assert (count, labels.get().tolist()) == (wanted, wanted_labels.tolist()) and labels.dtype == np.int32
    assert ours.connected_components(device(graph), return_labels=False) == wanted
    count, labels = ours.connected_components(device(graph), directed, "strong")
    wanted, wanted_labels = theirs.connected_components(graph, directed, "strong")
    # The same parts, maybe numbered otherwise.
    pairs = set(zip(labels.get().tolist(), wanted_labels.tolist(), strict=True))
    assert count == wanted == len(pairs)


def test_components_of_long_paths_and_stars():
    n = 3000
    shuffled = np.random.default_rng(0).permutation(n)
    for row, col in ((shuffled[:-1], shuffled[1:]), (np.zeros(n - 1, int), np.arange(1, n)), (np.arange(0, n, 2),) * 2):
        graph = scipy_sparse.csr_array((np.ones(len(row)), (row, col)), shape=(n, n))
        count, labels = ours.connected_components(sparse.csr_array(graph))
        wanted, wanted_labels = theirs.connected_components(graph)
        assert count == wanted and (labels.get() == wanted_labels).all()
        assert ours.connected_components(sparse.csr_array(graph), connection="strong")[0] == n


@settings(max_examples=at_depth(15, 60), deadline=None, derandomize=True)
@given(graph=graphs(), directed=st.booleans(), start=st.integers(0, 39))
def test_searches_in_breadth(graph, directed, start):
    graph = graph.tocsr()
    if start >= graph.shape[0]:
        with pytest.raises(ValueError, match=f"i_start is {start}"):
            ours.breadth_first_order(device(graph), start, directed)
        return
    order, from_ = ours.breadth_first_order(device(graph), start, directed)
    wanted, wanted_from = theirs.breadth_first_order(graph, start, directed)
    assert order.get().tolist() == wanted.tolist() and from_.get().tolist() == wanted_from.tolist()


def bandwidth(graph, order):
    coo = graph.tocsr()[order][:, order].tocoo()
    return abs(coo.row - coo.col).max() if coo.nnz else 0


@settings(max_examples=at_depth(10, 40), deadline=None, derandomize=True)
@given(graph=graphs())
def test_orders_of_small_bandwidth(graph):
    order = ours.reverse_cuthill_mckee(device(graph)).get()
    assert sorted(order.tolist()) == list(range(graph.shape[0])) and order.dtype == np.int32


def test_bandwidth_of_a_shuffled_square():
    host = sparse.gallery.poisson2d(12).get()
    shuffled = np.random.default_rng(1).permutation(144)
    mixed = scipy_sparse.csr_array(host.tocsr()[shuffled][:, shuffled])
    for symmetric in (False, True):
        order = ours.reverse_cuthill_mckee(sparse.csr_array(mixed), symmetric).get()
        wanted = theirs.reverse_cuthill_mckee(mixed, symmetric)
        assert bandwidth(mixed, order) <= bandwidth(mixed, wanted) + 2 < 30


@settings(max_examples=at_depth(10, 40), deadline=None, derandomize=True)
@given(graph=graphs(), normed=st.booleans(), out=st.booleans(), symmetrized=st.booleans())
def test_laplacians(graph, normed, out, symmetrized):
    options = {"normed": normed, "use_out_degree": out, "symmetrized": symmetrized, "return_diag": True}
    with np.errstate(all="ignore"):
        wanted, wanted_diagonal = theirs.laplacian(graph, **options)
    found, diagonal = ours.laplacian(device(graph), **options)
    assert found.dtype == wanted.dtype and found.format == "coo"
    np.testing.assert_allclose(found.toarray().get(), wanted.toarray(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(diagonal.get(), wanted_diagonal)
    dense = ours.laplacian(graph.toarray(), normed=normed)
    np.testing.assert_allclose(dense.get(), theirs.laplacian(graph.toarray(), normed=normed), rtol=1e-9, atol=1e-12)


def test_forms_and_errors():
    graph = sparse.gallery.poisson2d(4)
    lap = ours.laplacian(graph)
    x = np.arange(16.0)
    for form in ("function", "lo"):
        made = ours.laplacian(graph, form=form)
        found = made(x) if form == "function" else made @ x
        np.testing.assert_allclose(found.get(), (lap @ x).get())
    with pytest.raises(ValueError, match="Invalid form: 'x'"):
        ours.laplacian(graph, form="x")
    for function in (ours.connected_components, ours.laplacian):
        with pytest.raises(ValueError, match="square"):
            function(sparse.csr_array((2, 3)))
    with pytest.raises(ValueError, match="connection must be 'weak' or 'strong'"):
        ours.connected_components(graph, connection="x")
    with pytest.raises(TypeError, match="Input graph must be sparse"):
        ours.reverse_cuthill_mckee(np.eye(3))
    assert ours.connected_components(np.array([[0, np.inf], [np.nan, 0]]))[0] == 2
