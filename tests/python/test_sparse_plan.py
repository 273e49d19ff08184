"""Plans of sparse products, and the formats that they choose from: SELL-C-sigma and dense blocks."""

import itertools

import numpy as np
import pytest
from depth import each_kind, in_turns
from same_body import values
from test_sparse import DTYPES, dense, host_matrix, same, skewed
from test_sparse_solvers import traced_calls

scipy_sparse = pytest.importorskip("scipy.sparse")

import rtcg.numpy as rnp  # noqa: E402
from rtcg import sparse, tracing, tune  # noqa: E402
from rtcg.sparse import gallery  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize(
    "index, dtype",
    each_kind(itertools.product([np.int32, np.int64], [*DTYPES, np.dtype("i4"), np.dtype("?")])),
    ids=str,
)
def test_products_of_slices(dtype, index):
    for a in (skewed(dtype, index), host_matrix((70, 40), dtype, index=index), host_matrix((33, 70000), dtype, 1e-4)):
        x = values(dtype, a.shape[1], 2)
        device, y = sparse.csr_array(a), rnp.to_gpu(x)
        wanted = device @ y
        for sigma in (1, 64, a.shape[0]):
            sell = device._native.to_sell(sigma, 1e9)
            assert sell.has_short_columns == (a.shape[1] < 65536)
            got = sell.matvec(y)
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got.get(), wanted.get(), rtol=1e-4, atol=1e-3)
            out = rnp.to_gpu(np.ones(a.shape[0], dtype))
            device._native.planned(sell).matvec(y, out, True)
            np.testing.assert_allclose(out.get(), np.ones(a.shape[0], dtype) + wanted.get(), rtol=1e-4, atol=1e-3)


def test_slices_are_sorted_within_windows():
    a = sparse.csr_array(skewed("f8", np.int32))
    stored = [a._native.to_sell(sigma, 1e9).stored for sigma in (1, 64, 256, 700)]
    assert stored == sorted(stored, reverse=True) and stored[-1] < 0.6 * stored[0]
    lengths = np.diff(a.indptr.get())
    slices = np.pad(np.sort(lengths)[::-1], (0, 4)).reshape(-1, 32)
    assert stored[-1] == 32 * slices[:, 0].sum()
    assert a._native.to_sell(1, 1.5) is None


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 1), (32, 32), (33, 1)])
def test_slices_of_small_matrices(shape):
    a = host_matrix(shape, np.dtype("f8"), density=0.5 if min(shape) else 0)
    x = np.linspace(-1, 1, shape[1])
    sell = sparse.csr_array(a)._native.to_sell(max(1, shape[0]), 1e9)
    np.testing.assert_allclose(sell.matvec(rnp.to_gpu(x)).get(), a @ x)


def test_infinities_beside_slices_stay_away():
    a = sparse.csr_array(scipy_sparse.csr_array(np.array([[1.0, 0, 0], [1, 2, 3], [0, 0, 0]])))
    y = a._native.to_sell(3, 1e9).matvec(rnp.to_gpu(np.array([np.inf, 1, 1]))).get()
    assert y.tolist() == [np.inf, np.inf, 0]
    y = a._native.to_sell(1, 1e9).matvec(rnp.to_gpu(np.array([1, np.nan, 1]))).get()
    assert y[0] == 1 and np.isnan(y[1]) and y[2] == 0


def block_matrix(block, dtype, shape=(5, 7), seed=0):
    """Blocks in random places, rows of none among them."""
    rng = np.random.default_rng(seed)
    pattern = rng.random(shape) < 0.4
    pattern[2] = False
    row, col = np.nonzero(pattern)
    indptr = np.concatenate([[0], np.cumsum(pattern.sum(1))])
    data = values(dtype, (len(row), *block), seed)
    return scipy_sparse.bsr_array((data, col, indptr), shape=(shape[0] * block[0], shape[1] * block[1]))


BLOCKS = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (3, 2), (1, 7), (10, 4), (40, 3)]


@pytest.mark.parametrize("block, dtype", in_turns(BLOCKS, [DTYPES[::3], DTYPES[1:3], [np.dtype("i8")]]), ids=str)
def test_products_of_blocks(dtype, block):
    a = block_matrix(block, dtype)
    device = sparse.bsr_array(a)
    assert device.blocksize == block and device.nnz == a.nnz
    x = values(dtype, a.shape[1], 1)
    y = device @ rnp.to_gpu(x)
    np.testing.assert_allclose(y.get(), a @ x, rtol=1e-4, atol=1e-3)
    assert ((device @ rnp.to_gpu(x)).get() == y.get()).all()
    out = rnp.to_gpu(np.ones(a.shape[0], dtype))
    device._native.matvec(rnp.to_gpu(x), out, True)
    np.testing.assert_allclose(out.get(), np.ones(a.shape[0], dtype) + a @ x, rtol=1e-4, atol=1e-3)
    for columns in (1, 3, 40):
        many = values(dtype, (a.shape[1], columns), 2)
        for host in (many, np.asfortranarray(many)):
            np.testing.assert_allclose((device @ rnp.to_gpu(host)).get(), a @ host, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("block", [(2, 2), (3, 2)], ids=str)
def test_blocks_as_in_scipy(block):
    a, b = (block_matrix(block, np.dtype("f8"), seed=seed) for seed in (1, 2))
    bodies = [
        lambda m, a, b: a.T,
        lambda m, a, b: a.tocsr(),
        lambda m, a, b: a.tocoo().toarray(),
        lambda m, a, b: a.diagonal(1),
        lambda m, a, b: -a,
        lambda m, a, b: 3 * a,
        lambda m, a, b: a.astype(np.complex64),
        lambda m, a, b: (a + b).toarray(),
        lambda m, a, b: (a @ b.T).toarray(),
        lambda m, a, b: a.sum(axis=0),
        lambda m, a, b: a.tobsr((1, 2)),
        lambda m, a, b: np.array(a.tocsr().tobsr().blocksize),
        lambda m, a, b: np.array(a.blocksize),
        lambda m, a, b: a.tocsr().tobsr((4, 4)),
        lambda m, a, b: m.bsr_array(a.toarray() if m is scipy_sparse else a.toarray().get(), blocksize=block),
        lambda m, a, b: m.bsr_array((6, 8), blocksize=(3, 4)),
        lambda m, a, b: m.bsr_array((np.ones((2, 2, 2)), [0, 1], [0, 1, 2])),
        lambda m, a, b: m.bsr_array((np.ones((2, 2)), [0, 1], [0, 1, 2])),
        lambda m, a, b: m.bsr_array(([1.0, 2.0], ([0, 3], [1, 2])), blocksize=(2, 2), shape=(4, 4)),
        lambda m, a, b: a @ np.ones(3),
    ]
    for body in bodies:
        same(body, a, b)


def test_the_size_of_blocks_is_found():
    for n in (1, 2, 3, 4, 6):
        a = block_matrix((n, n), np.dtype("f8"), (20 * 6 // n, 20 * 6 // n)).tocsr()
        same(lambda m, a: np.array(a.tobsr().blocksize), a)


def test_blocks_without_elements_go():
    a = sparse.bsr_array((np.array([np.zeros((2, 2)), np.eye(2), np.ones((2, 2))]), [1, 0, 0], [0, 2, 3]))
    before = a.toarray().get()
    a.sort_indices()
    assert a.indices.get().tolist() == [0, 1, 0] and (a.toarray().get() == before).all()
    a.eliminate_zeros()
    assert a.data.shape == (2, 2, 2) and (a.toarray().get() == before).all()
    twice = sparse.bsr_array((np.ones((2, 1, 2)), [0, 0], [0, 2]))
    twice.sum_duplicates()
    assert twice.data.get().tolist() == [[[2, 2]]]


PLANNED = {
    "poisson": lambda dtype: gallery.poisson2d(40, dtype=dtype),
    "power law": lambda dtype: gallery.power_law(600, 3, dtype=dtype),
    "arrow": lambda dtype: gallery.arrow(700, dtype=dtype),
    "blocks": lambda dtype: sparse.csr_array(block_matrix((3, 3), np.dtype(dtype), (40, 40)).tocsr()),
    "wide": lambda dtype: gallery.linear_program(50, 300, dtype=dtype),
    "empty": lambda dtype: sparse.csr_array((4, 7), dtype=dtype),
}


@pytest.mark.parametrize("name, dtype", each_kind(itertools.product(PLANNED, [np.float32, np.complex128])))
def test_every_candidate_stays_within_the_bound(name, dtype, tmp_path):
    a = PLANNED[name](dtype)
    host = a.get().astype(np.complex128)
    x = values(np.dtype(dtype), a.shape[1], 3)
    exact = host @ x
    terms = np.diff(host.indptr) + 12
    bound = terms * np.finfo(dtype).eps * (abs(host) @ abs(x)) * (4 if np.dtype(dtype).kind == "c" else 1)
    from rtcg.sparse._plan import _Candidates

    candidates = _Candidates(a, "csr")
    assert candidates.names[0].split()[0] in ("rows", "merge")
    tried = [candidates.matrix(kernel) for kernel in candidates.names]
    assert sum(matrix is not None for matrix in tried) >= min(2, len(tried))
    for matrix in filter(None, tried):
        y = matrix.matvec(rnp.to_gpu(x)).get()
        assert (abs(y - exact) <= bound).all()
        assert (matrix.matvec(rnp.to_gpu(x)).get() == y).all()


@pytest.mark.parametrize("name", PLANNED)
def test_plans(name, tmp_path):
    store = tune.Store(tmp_path)
    a = PLANNED[name](np.float64)
    x = rnp.to_gpu(values("f8", a.shape[1], 3))
    before = (a @ x).get()
    plan = sparse.plan(a, store=store)
    report = plan.report
    assert not report.is_stored and report.kernel in report.candidates
    assert report.seconds > 0 and report.limit_seconds > 0 and report.analysis_seconds > report.build_seconds
    np.testing.assert_allclose((plan @ x).get(), before, rtol=1e-12, atol=1e-12)
    # `A` follows its plan, until it gets other elements.
    assert ((a @ x).get() == (plan @ x).get()).all()
    assert a._native is plan.matrix._native
    again = sparse.plan(PLANNED[name](np.float64), store=store)
    assert again.report.is_stored and again.report.kernel == report.kernel and "stored" in str(again.report)
    assert ((again @ x).get() == (plan @ x).get()).all()
    a.data = 2 * a.data
    assert a._native is not plan.matrix._native
    np.testing.assert_allclose((a @ x).get(), 2 * before, rtol=1e-12, atol=1e-12)


def test_formats_are_considered_where_they_fit():
    from rtcg.sparse._plan import _Candidates

    def names(a, given="csr"):
        return {name.partition(" ")[0] if name[0] != "b" else name for name in _Candidates(a, given).names}

    assert "dia" in names(gallery.poisson2d(20))
    assert "dia" not in names(gallery.power_law(500, 3))
    assert "dia" in names(gallery.arrow(60), given="dia")
    for n in range(2, 7):
        blocks = sparse.csr_array(block_matrix((n, n), np.dtype("f8"), (30, 30)).tocsr())
        assert f"bsr {n}" in names(blocks), n
    assert not any(name[0] == "b" for name in names(gallery.poisson2d(24)))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_features(index):
    host = skewed("f8", index)
    longest, squares, bandwidth, slice_elements, diagonals, fill = sparse.csr_array(host)._native.features()
    lengths = np.diff(host.indptr)
    assert longest == lengths.max() and squares == (lengths.astype(float) ** 2).sum()
    slices = np.pad(lengths, (0, 4)).reshape(-1, 32)
    assert slice_elements == 32 * slices.max(axis=1).sum()
    offsets = host.tocoo().col - host.tocoo().row
    assert bandwidth == abs(offsets).max() and 256 < diagonals <= len(np.unique(offsets))
    a = gallery.poisson2d(30)
    assert a._native.features()[4] == 5 and fill[0] < 0.6
    for n in (2, 3, 6):
        blocks = sparse.csr_array(block_matrix((n, n), np.dtype("f8"), (30, 30)).tocsr().astype(np.float64))
        assert blocks._native.features()[5][n - 2] == 1
    assert sparse.csr_array((3, 3))._native.features()[:2] == (0, 0)


@pytest.mark.parametrize(
    "index, dtype", each_kind(itertools.product([np.int32, np.int64], [*DTYPES, np.dtype("i8")])), ids=str
)
def test_products_with_hubs(dtype, index):
    for a in (skewed(dtype, index), host_matrix((300, 2000), dtype, index=index)):
        x, device = values(dtype, a.shape[1], 2), sparse.csr_array(a)
        y, hub = rnp.to_gpu(x), device._native.planned("hub")
        got = hub.matvec(y).get()
        np.testing.assert_allclose(got, (device @ y).get(), rtol=1e-4, atol=1e-3)
        assert (hub.matvec(y).get() == got).all()
        out = rnp.to_gpu(np.ones(a.shape[0], dtype))
        hub.matvec(y, out, True)
        np.testing.assert_allclose(out.get(), 1 + got, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("dtype", [*DTYPES, np.dtype("i8")], ids=str)
def test_formats_that_are_made_on_the_device(dtype):
    host = block_matrix((3, 3), dtype, (30, 40)).tocsr()
    device = sparse.csr_array(host)
    x = rnp.to_gpu(values(dtype, host.shape[1], 1))
    wanted = host @ x.get()
    for matrix in (device._native.to_dia(10**6), *(device._native.to_bsr(n, 9.0) for n in (1, 2, 3, 6))):
        if matrix is not None:
            np.testing.assert_allclose(device._native.planned(matrix).matvec(x).get(), wanted, rtol=1e-4, atol=1e-3)
    found = device._native.to_bsr(3, 1.5)
    wanted = host.tobsr((3, 3))
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found, part).get(), getattr(wanted, part))
    assert device._native.to_bsr(2, 1.0) is None
    line = gallery.poisson2d(12, dtype=np.float64)
    assert line._native.to_dia(4) is None and line._native.to_dia(5) is not None
    with pytest.raises(ValueError, match="no blocks of size 7 divide 90 rows, 120 columns"):
        device._native.to_bsr(7, 2.0)


def test_hubs_need_elements_of_four_bytes():
    with pytest.raises(ValueError, match="elements are int8; expected at least 4 bytes"):
        sparse.csr_array(np.eye(3, dtype=np.int8))._native.planned("hub")


def test_rows_that_are_written_to_move_tiles_of_the_merge_path():
    host = skewed("f8", np.int32)
    a, x = sparse.csr_array(host), rnp.to_gpu(values("f8", host.shape[1], 1))
    merge = a._native.planned("merge")
    np.testing.assert_allclose(merge.matvec(x).get(), host @ x.get(), atol=1e-9)
    # The same elements in other rows: the longest come last.
    lengths = np.sort(np.diff(host.indptr))
    a.indptr[:] = rnp.to_gpu(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    moved = scipy_sparse.csr_array((host.data, host.indices, a.indptr.get()), shape=host.shape)
    np.testing.assert_allclose(merge.matvec(x).get(), moved @ x.get(), atol=1e-9)


def test_noise_does_not_choose(tmp_path, monkeypatch):
    from rtcg.sparse import _plan

    def times(call):
        return next(clock)

    monkeypatch.setattr(_plan, "_seconds", times)
    for second, wanted in ((0.99, "rows 1"), (0.9, "rows 2")):
        clock = iter([1.0, second, *[5.0] * 9])
        plan = sparse.plan(gallery.power_law(400, 3), store=tune.Store(tmp_path / wanted))
        assert plan.report.kernel == wanted or not plan.report.candidates.keys() >= {"rows 1", "rows 2"}


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dia", "bsr"])
@pytest.mark.parametrize("op", ["N", "T", "H"])
def test_plans_of_other_formats_and_transposes(format, op, tmp_path):
    host = host_matrix((24, 24), np.dtype("c16"))
    a = sparse.csr_array(host).asformat(format)
    x = rnp.to_gpu(values("c16", 24, 1))
    plan = sparse.plan(a, op, uses=10**6, store=tune.Store(tmp_path))
    wanted = {"N": host, "T": host.T, "H": host.T.conj()}[op] @ x.get()
    np.testing.assert_allclose((plan @ x).get(), wanted, atol=1e-12)
    np.testing.assert_allclose((a @ x).get(), host @ x.get(), atol=1e-12)
    assert (a._kept_plan() is plan) == (op == "N" and format != "csr")


def test_few_products_do_not_repay_a_format(tmp_path):
    a = gallery.poisson2d(60)
    assert sparse.plan(a, uses=1, store=tune.Store(tmp_path)).format == "csr"


def test_solvers_follow_plans(tmp_path):
    a = gallery.poisson2d(30)
    b = rnp.ones(900)
    wanted, _ = sparse.linalg.cg(a, b, rtol=1e-10)
    for kernel in (a._native.to_sell(900, 2.0), a.todia()._native_matrix(), a.tobsr((2, 2))._native, "merge"):
        planned = sparse.csr_array(a)
        planned._native = planned._native.planned(kernel)
        x, info, report = sparse.linalg.cg(planned, b, rtol=1e-10, return_report=True)
        assert info == 0 and report.waits_in_loop == 0
        np.testing.assert_allclose(x.get(), wanted.get(), atol=1e-9)


def test_what_cannot_be_planned_is_refused():
    a = gallery.poisson2d(4)
    with pytest.raises(TypeError, match="ndarray; expected a sparse array"):
        sparse.plan(np.eye(3))
    with pytest.raises(ValueError, match="op is 'X'"):
        sparse.plan(a, "X")
    with pytest.raises(ValueError, match="uses is 0"):
        sparse.plan(a, uses=0)
    for store in ("folder", False):
        with pytest.raises(TypeError, match=f"store is {store!r}; expected rtcg.tune.Store"):
            sparse.plan(a, store=store)
    with pytest.raises(ValueError, match="lanes is 3; expected a power of two up to 32"):
        a._native.planned("rows", 3)
    with pytest.raises(ValueError, match=r"the plan has shape \(25, 25\); expected \(16, 16\)"):
        a._native.planned(gallery.poisson2d(5)._native.to_sell(1, 2.0))
    with pytest.raises(TypeError, match="a plan is"):
        a._native.planned(3)
    with pytest.raises(ValueError, match="sigma is 0"):
        a._native.to_sell(0, 2.0)


def test_products_of_planned_matrices_do_not_wait(tmp_path):
    a = gallery.poisson2d(20)
    x = rnp.ones(400)
    for kernel in (a._native.to_sell(400, 2.0), a.tobsr((2, 2))._native, a.todia()._native_matrix()):
        planned = a._native.planned(kernel)
        planned.matvec(x)
        with tracing.trace(tmp_path / "trace.json"):
            planned.matvec(x)
        assert not [name for name in traced_calls(tmp_path / "trace.json") if "Synchronize" in name or "DtoH" in name]


def test_triples_keep_their_order_for_products():
    host = host_matrix((40, 30), np.dtype("f8")).tocoo()
    a = sparse.coo_array(host)
    x = rnp.to_gpu(values("f8", 30, 1))
    first = (a @ x).get()
    order = a._order[2]
    assert ((a @ x).get() == first).all() and a._order[2] is order
    # Elements are not kept.
    a.data[:] = 2 * a.data
    np.testing.assert_allclose((a @ x).get(), 2 * first)
    np.testing.assert_allclose(dense(a @ x), 2 * (host @ x.get()))


def half_types():
    found = [np.dtype(np.float16)]
    try:
        import ml_dtypes

        found.append(np.dtype(ml_dtypes.bfloat16))
    except ImportError:
        pass
    return found


@pytest.mark.parametrize("index, dtype", each_kind(itertools.product([np.int32, np.int64], half_types())), ids=str)
def test_elements_of_16_bits_are_summed_up_in_float32(dtype, index, tmp_path):
    # Rows of so many elements have sums that 16 bits do not hold.
    host = host_matrix((60, 9000), np.dtype("f4"), density=0.5, index=index)
    stored = host.data.astype(dtype)
    a = sparse.csr_array((stored, host.indices, host.indptr), shape=host.shape)
    assert a.dtype == dtype and a.data.nbytes == 2 * a.nnz
    wide = scipy_sparse.csr_array((stored.astype(np.float64), host.indices, host.indptr), shape=host.shape)
    x = np.random.default_rng(1).standard_normal(9000).astype(np.float32)
    bound = 9000 * np.finfo(np.float32).eps * (abs(wide) @ abs(x).astype(np.float64))
    for vector in (rnp.to_gpu(x), rnp.to_gpu(x.astype(dtype))):
        exact = wide @ vector.get().astype(np.float64)
        native = a._native
        for matrix in (native, native.planned("merge"), native.planned("rows", 8),
                       native.planned(native.to_sell(60, 100.0)), native.planned(a.tobsr((2, 2))._native),
                       native.planned(a.todia()._native_matrix())):  # fmt: skip
            y = matrix.matvec(vector)
            assert y.dtype == np.float32
            assert (abs(y.get() - exact) <= bound).all()
    columns = np.stack([x, 2 * x], axis=1)
    assert (abs((a @ rnp.to_gpu(columns)).get()[:, 1] - 2 * (wide @ x)) <= 2 * bound).all()
    assert (a @ rnp.to_gpu(x.astype(np.float64))).dtype == np.float64
    assert (a.toarray().get().astype(np.float64) == wide.toarray()).all()
    assert a.tocsc().tocoo().dtype == dtype
    plan = sparse.plan(a, store=tune.Store(tmp_path))
    assert plan.report.seconds > 0 and (abs((plan @ rnp.to_gpu(x)).get() - wide @ x) <= bound).all()


@pytest.mark.parametrize("shape", [(1, 300), (3, 400)])
def test_rows_of_more_diagonals_than_are_marked_are_no_diagonals(shape):
    """Only the first elements of a row are looked at; the others must not be written beside their diagonals."""
    host = scipy_sparse.csr_array(np.random.default_rng(0).random(shape) + 1)
    a = sparse.csr_array(host)
    planned = sparse.plan(a)
    x = np.random.default_rng(1).random(shape[1])
    np.testing.assert_allclose((planned @ rnp.to_gpu(x)).get(), host @ x)
    assert planned.report.kernel != "dia"
