"""Sparse arrays against `scipy.sparse`: the same bodies with both."""

import io
import itertools

import numpy as np
import pytest
from depth import each_kind, pairs
from same_body import values

scipy_sparse = pytest.importorskip("scipy.sparse")

import rtcg.numpy as rnp  # noqa: E402
from rtcg import _native, sparse  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")

DTYPES = [np.dtype(t) for t in ("f4", "f8", "c8", "c16")]
ALL_DTYPES = [*DTYPES, *(np.dtype(t) for t in ("?", "i1", "u2", "i4", "u8"))]
FORMATS = ["csr", "csc", "coo", "dia", "bsr"]


def host_matrix(shape, dtype, density=0.15, seed=0, index=np.int32):
    """Random elements, explicit zeros and empty rows among them, in compressed sparse rows."""
    rng = np.random.default_rng(seed)
    count = int(density * shape[0] * shape[1])
    places = np.sort(rng.choice(shape[0] * shape[1], count, replace=False))
    row, col = np.divmod(places, shape[1])
    keep = row % 5 != 3
    data = values(dtype, count, seed)[keep]
    matrix = scipy_sparse.csr_array((data, (row[keep], col[keep])), shape=shape)
    parts = matrix.data, matrix.indices.astype(index), matrix.indptr.astype(index)
    return scipy_sparse.csr_array(parts, shape=shape)


def dense(result):
    if sparse.issparse(result):
        return result.toarray().get()
    if isinstance(result, rnp.GPUArray):
        return result.get()
    return result.toarray() if scipy_sparse.issparse(result) else np.asarray(result)


def same(body, *hosts, rtol=1e-5):
    """Compares ``body(module, *arrays)`` of both: values, dtype, shape, format; or the exception and its text."""
    ours = [getattr(sparse, type(host).__name__)(host) if scipy_sparse.issparse(host) else host for host in hosts]
    try:
        expected = body(scipy_sparse, *hosts)
    except Exception as error:
        with pytest.raises(type(error)) as raised:
            body(sparse, *ours)
        assert str(raised.value) == str(error)
        return
    got = body(sparse, *ours)
    assert dense(got).dtype == dense(expected).dtype
    assert dense(got).shape == dense(expected).shape
    if scipy_sparse.issparse(expected):
        assert (got.format, got.shape) == (expected.format, expected.shape)
        assert type(got).__name__ == type(expected).__name__
    np.testing.assert_allclose(dense(got), dense(expected), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("index, dtype", each_kind(itertools.product([np.int32, np.int64], ALL_DTYPES)), ids=str)
def test_products_with_vectors(dtype, index):
    a = host_matrix((53, 41), dtype, index=index)
    device = sparse.csr_array(a)
    assert (device.indices.dtype, device.indptr.dtype) == (index, index)
    for other in (dtype, np.dtype(np.float32), np.dtype(np.complex128)):
        x = values(other, 41, 1)
        same(lambda module, a, x=x: a @ x, a)
        assert (device @ rnp.to_gpu(x)).dtype == (a @ x).dtype


@pytest.mark.parametrize("format, dtype", each_kind(itertools.product(FORMATS, DTYPES)), ids=str)
def test_formats_and_back(dtype, format):
    a = host_matrix((23, 31), dtype)
    for other in FORMATS:
        source = a.asformat(other)
        device = getattr(sparse, f"{other}_array")(source).asformat(format)
        back = device.get()
        assert (back.format, back.dtype, back.shape) == (format, dtype, a.shape)
        assert (back.toarray() == a.toarray()).all()
        assert (device.T.get().toarray() == a.T.toarray()).all()
    assert (device.toarray(order="F").get() == a.toarray()).all()


@pytest.mark.parametrize("format", FORMATS)
def test_operations(format):
    a, b = (host_matrix((17, 29), np.dtype("f8"), seed=seed).asformat(format) for seed in (1, 2))
    d = values("f8", (17, 29), 3)
    x, y = values("f8", 29, 4), values("f8", 17, 5)
    bodies = [
        lambda m, a, b: a @ x,
        lambda m, a, b: a @ x[:, None],
        lambda m, a, b: y @ a,
        lambda m, a, b: a @ d.T,
        lambda m, a, b: d.T @ a,
        lambda m, a, b: a.T @ y,
        lambda m, a, b: (a @ b.T).toarray(),
        lambda m, a, b: (a + b).toarray(),
        lambda m, a, b: (a - b).toarray(),
        lambda m, a, b: a.multiply(b).toarray(),
        lambda m, a, b: a.multiply(d).toarray(),
        lambda m, a, b: (a * 3.0).toarray(),
        lambda m, a, b: (2 * a).toarray(),
        lambda m, a, b: (a / 4).toarray(),
        lambda m, a, b: (-a).toarray(),
        lambda m, a, b: abs(a).toarray(),
        lambda m, a, b: a.power(2).toarray(),
        lambda m, a, b: a + d,
        lambda m, a, b: a.sum(),
        lambda m, a, b: a.sum(axis=0),
        lambda m, a, b: a.sum(axis=1),
        lambda m, a, b: a.mean(axis=1),
        lambda m, a, b: a.diagonal(),
        lambda m, a, b: a.diagonal(-3),
        lambda m, a, b: a.diagonal(20),
        lambda m, a, b: a.trace(),
        lambda m, a, b: a.count_nonzero(),
        lambda m, a, b: a.astype(np.complex64).toarray(),
        lambda m, a, b: m.tril(a, -1).toarray(),
        lambda m, a, b: m.triu(a, 2).toarray(),
        lambda m, a, b: m.vstack([a, b]).toarray(),
        lambda m, a, b: m.hstack([a, b], format="csr"),
        lambda m, a, b: m.block_diag([a, b], format="csc"),
        lambda m, a, b: m.kron(a, b, format="csr"),
        lambda m, a, b: m.find(a)[2],
        lambda m, a, b: a @ np.ones(28),
        lambda m, a, b: a @ np.ones((28, 3)),
        lambda m, a, b: a @ 3,
        lambda m, a, b: a @ b,
        lambda m, a, b: a + 1,
        lambda m, a, b: m.hstack([a, b.T]),
    ]
    for body in bodies:
        same(body, a, b)


def test_construction():
    bodies = [
        lambda m: m.eye_array(5),
        lambda m: m.eye_array(4, 6, k=2, dtype=np.float32, format="csr"),
        lambda m: m.eye(4, format="csc"),
        lambda m: m.identity(3),
        lambda m: m.diags_array([np.arange(1.0, 5), np.ones(3)], offsets=[0, 1]),
        lambda m: m.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(5, 5), format="csr"),
        lambda m: m.diags([[1.0, 2.0]], [1], format="csr"),
        lambda m: m.diags_array([np.ones(3)], offsets=[0, 1]),
        lambda m: m.kronsum(m.eye_array(3), m.eye_array(2), format="csr"),
        lambda m: m.csr_array((4, 5)),
        lambda m: m.csr_array(np.diag([1.0, 0, 2])),
        lambda m: m.csc_array(([1.0, 2, 3], ([0, 1, 1], [2, 0, 0])), shape=(3, 4)),
        lambda m: m.coo_array(([1.0, 2, 3], ([0, 1, 1], [2, 0, 0]))),
        lambda m: m.csr_array(([1.0, 2, 3], [2, 0, 2], [0, 1, 3])),
        lambda m: m.csr_array(([1.0, 2, 3], [2, 0, 2], [0, 1, 3]), shape=(2, 7), dtype=np.complex64),
        lambda m: m.dia_array((np.arange(8.0).reshape(2, 4), [0, -1]), shape=(4, 4)),
        lambda m: m.csr_array(3),
        lambda m: m.csr_array(([1.0, 2], [0, 1, 2], [0, 1])),
        lambda m: m.csr_array(([1.0, 2], [0, 1], [0, 1]), shape=(3, 3)),
        lambda m: m.csr_array(([1.0, 2], [0, 1], [1, 2])),
        lambda m: m.coo_array(([1.0, 2], ([0, 3], [0, 1])), shape=(2, 2)),
        lambda m: m.coo_array(([1.0, 2], ([0, -1], [0, 1])), shape=(2, 2)),
        lambda m: m.dia_array((np.ones((2, 4)), [0, 0]), shape=(4, 4)),
    ]
    for body in bodies:
        same(body)


def test_indices_out_of_range_are_refused():
    # SciPy looks at them in `check_format` only. A kernel must not be given them.
    with pytest.raises(ValueError, match="indices must be < 3"):
        sparse.csr_array((np.ones(3), np.array([0, 1, 3]), np.arange(4)), shape=(3, 3))
    with pytest.raises(ValueError, match="indptr must be a non-decreasing sequence"):
        sparse.csr_array((np.ones(3), np.array([0, 1, 2]), np.array([0, 2, 1, 3])), shape=(3, 3))
    with pytest.raises(ValueError, match="indices must be >= 0"):
        sparse.csr_array((rnp.ones(1), rnp.to_gpu(np.array([-1])), rnp.to_gpu(np.array([0, 1]))), shape=(1, 1))
    with pytest.raises(ValueError, match="does not support dtype <U1"):
        sparse.csr_array((np.array(["a"]), np.array([0]), np.array([0, 1])), shape=(1, 1))


@pytest.mark.parametrize("name", ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"])
def test_parts_are_shared_unless_a_copy_is_asked_for(name):
    data, ints = rnp.arange(1.0, 4.0), rnp.arange(4, dtype=np.int32)
    parts = {
        "coo": (data, (ints[:3], ints[:3])), "dia": (data.reshape(1, 3), [0]),
        "bsr": (data.reshape(3, 1, 1), ints[:3], ints),
    }.get(name, (data, ints[:3], ints))  # fmt: skip
    for kind in ("array", "matrix"):
        make = getattr(sparse, f"{name}_{kind}")
        if name in ("lil", "dok"):
            parts = np.diag([1.0, 2.0, 3.0])
        else:
            for copy in (False, True, np.True_):
                made = make(parts, shape=(3, 3), copy=copy)
                assert (made.data.ptr == data.ptr) == (not copy)
                assert (make(made, copy=copy).data.ptr == made.data.ptr) == (not copy)
        for wrong in ("no", None, 2):
            with pytest.raises(TypeError, match=f"copy is {wrong!r}; expected True or False"):
                make(parts, shape=(3, 3), copy=wrong)


def test_diagonals_that_are_none_are_named():
    data = np.ones((2, 4))
    for diags, error, message in [
        ("x", TypeError, "diags is 'x'; expected integers"), ([0, 0.5], TypeError, r"diags is \[0, 0.5\]; expected"),
        (None, TypeError, "diags is None; expected integers"), ([0, np.inf], TypeError, "expected integers"),
        ([[0, 1]], ValueError, r"rank 1; diags has shape \(1, 2\)"),
        ([1, 1], ValueError, r"duplicate values; diags is \[1, 1\]"),
    ]:  # fmt: skip
        with pytest.raises(error, match=message):
            sparse.spdiags(data, diags, 4, 4)
    # Diagonals beyond what the index dtype of the shape holds are outside of the matrix, too.
    far = sparse.spdiags(data, [0.0, 2**40], 4, 4)
    assert far.nnz == 4 and (far.toarray().get() == np.eye(4)).all()


def test_duplicates_and_order():
    data, row, col = np.arange(1.0, 9), np.array([2, 0, 2, 2, 1, 0, 2, 0]), np.array([3, 1, 0, 3, 2, 1, 3, 0])
    a = sparse.coo_array((data, (row, col)), shape=(4, 5))
    expected = scipy_sparse.coo_array((data, (row, col)), shape=(4, 5))
    assert a.nnz == 8
    assert (a.toarray().get() == expected.toarray()).all()
    csr, wanted = a.tocsr(), expected.tocsr()
    assert csr.nnz == wanted.nnz == 5 and csr.has_canonical_format
    for name in ("data", "indices", "indptr"):
        assert (getattr(csr, name).get() == getattr(wanted, name)).all()
    # Elements of one place in compressed rows stay apart, and count as their sum.
    twice = sparse.csr_array((data, np.array([3, 1, 1, 0, 2, 2, 0, 3]), np.array([0, 3, 3, 6, 8])), shape=(4, 4))
    assert not twice.has_sorted_indices and twice.nnz == 8
    before = twice.get().toarray()
    twice.sort_indices()
    assert twice.has_sorted_indices and not twice.has_canonical_format and twice.nnz == 8
    twice.sum_duplicates()
    assert twice.nnz == 6 and (twice.get().toarray() == before).all()
    zeros = sparse.csr_array((np.array([0.0, 2, 0]), np.array([0, 1, 1]), np.array([0, 2, 3])))
    zeros.eliminate_zeros()
    assert zeros.nnz == 1 and (zeros.toarray().get() == [[0, 2], [0, 0]]).all()


def test_infinities_of_elements_that_are_not_stored_stay_away():
    a = sparse.csr_array(np.array([[1.0, 0], [0, 2]]))
    assert (a @ np.array([np.inf, 1])).get().tolist() == [np.inf, 2]
    assert np.isnan((a @ np.array([np.nan, 1])).get()).tolist() == [True, False]


def test_matrices_multiply_with_a_star():
    a, b = (host_matrix((9, 9), np.dtype("f8"), seed=seed) for seed in (1, 2))
    for left, right in ((scipy_sparse.csr_matrix(a), scipy_sparse.csr_matrix(b)),):
        same(lambda m, a, b: (a * b).toarray(), left, right)
        same(lambda m, a, b: a * np.arange(9.0), left, right)
        same(lambda m, a, b: (3 * a).toarray(), left, right)
        same(lambda m, a, b: (a**3).toarray(), left, right)
    assert "sparse matrix of dtype 'float64'" in repr(sparse.csr_matrix(a))


def test_files():
    a = host_matrix((9, 7), np.dtype("f8"))
    for format in FORMATS:
        file = io.BytesIO()
        sparse.save_npz(file, sparse.csr_array(a).asformat(format))
        file.seek(0)
        again = scipy_sparse.load_npz(file)
        assert again.format == format and (again.toarray() == a.toarray()).all()
        file.seek(0)
        assert (sparse.load_npz(file).toarray().get() == a.toarray()).all()


def test_rounding_errors_are_those_of_sums():
    # Componentwise: as many roundings as a row has elements, and those of the tree.
    a = host_matrix((200, 900), np.dtype("f4"), density=0.3)
    x = np.random.default_rng(5).standard_normal(900).astype(np.float32)
    exact = a.astype(np.float64) @ x.astype(np.float64)
    bound = (np.diff(a.indptr) + 8) * np.finfo(np.float32).eps * (abs(a).astype(np.float64) @ abs(x.astype(np.float64)))
    assert (abs((sparse.csr_array(a) @ x).get() - exact) <= bound).all()


def test_the_same_bits_at_every_run():
    a = sparse.csr_array(host_matrix((300, 300), np.dtype("f4"), density=0.2))
    x = rnp.to_gpu(np.random.default_rng(1).standard_normal(300).astype(np.float32))
    first = (a @ x).get()
    assert all(((a @ x).get() == first).all() for _ in range(5))
    assert ((a.T @ x).get() == (a.T.copy() @ x).get()).all()


def forced(kernel, lanes, call, name="sparse.spmv"):
    """What `call` gives with this choice of the kernel of products."""
    _, met = _native.record_array_decisions(call)
    (decision,) = [decision for decision in met if decision.name == name]
    return decision.force({"kernel": kernel, "lanes": lanes}, call)


def skewed(dtype, index):
    """Empty rows, short ones, and rows that are longer than a tile of the merge path; no two elements in one place."""
    rng = np.random.default_rng(11)
    lengths = rng.integers(0, 4, 700)
    lengths[[5, 300, 699]] = 9000, 2500, 5000
    lengths[600:650] = 0
    columns = np.concatenate([np.sort(rng.choice(9500, n, replace=False)) for n in lengths])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    data = values(dtype, len(columns), 1)
    return scipy_sparse.csr_array((data, columns.astype(index), indptr.astype(index)), shape=(700, 9500))


KERNELS = [("merge", 1), *(("rows", 2**k) for k in range(6))]


@pytest.mark.parametrize(
    "kernel, dtype, index", pairs(KERNELS, [*DTYPES, np.dtype("i4"), np.dtype("?")], [np.int32, np.int64]), ids=str
)
def test_kernels_of_products(kernel, dtype, index):
    kernel, lanes = kernel
    a = skewed(dtype, index)
    x = values(dtype, 9500, 2)
    device, y = sparse.csr_array(a), rnp.to_gpu(x)
    got = forced(kernel, lanes, lambda: device @ y)
    wanted = a.astype(np.complex128) @ x if dtype.kind == "c" else a @ x.astype(a.dtype)
    np.testing.assert_allclose(got.get(), wanted, rtol=1e-4, atol=1e-3)
    assert got.dtype == dtype
    assert (forced(kernel, lanes, lambda: device @ y).get() == got.get()).all()
    out = rnp.to_gpu(np.ones(700, dtype))
    forced(kernel, lanes, lambda: device._matvec(y, out.fill(1), accumulate=True))
    np.testing.assert_allclose(out.get(), np.ones(700, dtype) + wanted, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5000), (5000, 1), (3, 0), (0, 3), (2048, 2048)])
def test_the_merge_path_at_its_ends(shape):
    rng = np.random.default_rng(4)
    for density in (0, 0.002, 1):
        if density * shape[0] * shape[1] > 1e5:
            continue
        a = host_matrix(shape, np.dtype("f8"), density=density)
        x = rng.standard_normal(shape[1])
        device = sparse.csr_array(a)
        got = forced("merge", 1, lambda device=device, x=x: device @ x) if shape[0] else device @ x
        np.testing.assert_allclose(got.get(), a @ x, atol=1e-12)


def test_the_longest_row_decides_on_a_gpu(on_virtual_device):
    _, met = _native.record_array_decisions(lambda: sparse.csr_array(skewed("f8", np.int32)) @ np.ones(9500))
    (decision,) = [decision for decision in met if decision.name == "sparse.spmv"]
    # Lengths count by powers of two.
    assert decision.problem["longest_row"] == 16384
    assert decision.current == {"kernel": "rows" if on_virtual_device else "merge", "lanes": 1}


@pytest.mark.parametrize("columns, dtype", each_kind(itertools.product([0, 1, 3, 32, 50], DTYPES)), ids=str)
def test_products_with_dense_matrices(dtype, columns):
    a = host_matrix((37, 23), dtype)
    dense = values(dtype, (23, columns), 3)
    for host in (dense, np.asfortranarray(dense), values(dtype, (23, 2 * columns), 3)[:, ::2]):
        got = (sparse.csr_array(a) @ rnp.to_gpu(host)).get()
        assert got.shape == (37, columns) and got.dtype == dtype
        np.testing.assert_allclose(got, a @ host, rtol=1e-4, atol=1e-5)
    view = rnp.to_gpu(dense.T.copy()).T
    np.testing.assert_allclose((sparse.csr_array(a) @ view).get(), a @ dense, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "columns, dtype", each_kind(itertools.product([1, 3, 16, 40], [*DTYPES, np.dtype("i4"), np.dtype("?")])), ids=str
)
def test_kernels_of_products_with_dense_matrices(dtype, columns):
    # Products with one column are those with a vector where a program asks for them.
    a = skewed(dtype, np.int32)
    x = values(dtype, (9500, columns), 3)
    wanted = a.astype(np.complex128) @ x if dtype.kind == "c" else a @ x
    native = sparse.csr_array(a)._native
    kernels = ["elements", "columns", "merge"] if columns <= 16 else ["columns", "merge"]
    for kernel, lanes, order in pairs(kernels, [1, 4, 32], "CF"):
        y = rnp.to_gpu(np.array(x, order=order))
        got = forced(kernel, lanes, lambda y=y: native.matmat(y), "sparse.spmm")
        assert got.dtype == dtype and got.flags.c_contiguous
        np.testing.assert_allclose(got.get(), wanted, rtol=1e-4, atol=1e-3)


GALLERY = [
    (lambda g: g.poisson1d(9), "spd"),
    (lambda g: g.poisson2d(7, 5), "spd"),
    (lambda g: g.poisson2d(6, points=9), "spd"),
    (lambda g: g.poisson3d(4, 3, 5), "spd"),
    (lambda g: g.poisson3d(4, points=27), "spd"),
    (lambda g: g.anisotropic(6, 7, epsilon=0.01), "spd"),
    (lambda g: g.convection_diffusion(6, peclet=2), ""),
    (lambda g: g.rmat(7, 4, seed=3), ""),
    (lambda g: g.power_law(90, seed=1), "symmetric"),
    (lambda g: g.banded(50, 5, seed=1), ""),
    (lambda g: g.circuit(60, 2), "spd"),
    (lambda g: g.linear_program(40, 90), ""),
    (lambda g: g.block_diagonal(50, 7), ""),
    (lambda g: g.arrow(30), ""),
    (lambda g: g.elasticity2d(5, 4), "spd"),
    (lambda g: g.elasticity3d(3, 2, 4), "spd"),
    (lambda g: g.delaunay(9, seed=2), "spd"),
    (lambda g: g.delaunay(9, permuted=True, seed=2), "spd"),
    (lambda g: g.quadratic_tetrahedra(2, 3, 2), "spd"),
    (lambda g: g.discontinuous(3, 4, block=5), "spd"),
    (lambda g: g.road_network(20), "symmetric"),
]


def test_gallery_beside_pyamg():
    oracle = pytest.importorskip("pyamg.gallery")
    box = -np.ones((3, 3))
    box[1, 1] = 8
    cube = -np.ones((3, 3, 3))
    cube[1, 1, 1] = 26
    gallery = sparse.gallery
    for ours, theirs in (
        (gallery.poisson1d(7), oracle.poisson((7,))),
        (gallery.poisson2d(6, 5), oracle.poisson((6, 5))),
        (gallery.poisson3d(3, 4, 5), oracle.poisson((3, 4, 5))),
        (gallery.poisson2d(6, 5, points=9), oracle.stencil_grid(box, (6, 5))),
        (gallery.poisson3d(3, 4, 5, points=27), oracle.stencil_grid(cube, (3, 4, 5))),
    ):
        assert (ours.toarray().get() == theirs.toarray()).all()
    # Its first unknown of a point is along the last axis.
    swapped = np.arange(32).reshape(16, 2)[:, ::-1].ravel()
    theirs = oracle.linear_elasticity((4, 4), E=1.0, nu=0.3)[0].toarray()[np.ix_(swapped, swapped)]
    np.testing.assert_allclose(gallery.elasticity2d(4, poisson_ratio=0.3).toarray().get(), theirs, atol=1e-12)


def test_a_permuted_mesh_is_the_same_mesh():
    natural, permuted = (sparse.gallery.delaunay(8, permuted=p, seed=5).toarray().get() for p in (False, True))
    assert (natural != permuted).any()
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(natural)), np.sort(np.linalg.eigvalsh(permuted)))


def test_road_networks_have_short_rows():
    lengths = np.diff(sparse.gallery.road_network(60).indptr.get())
    assert 2 <= lengths[lengths > 0].mean() <= 3 and lengths.max() <= 4 and (lengths == 0).any()


@pytest.mark.parametrize("make, kind", GALLERY)
def test_gallery(make, kind):
    a = make(sparse.gallery)
    assert a.format == "csr" and a.dtype == np.float64 and a.has_canonical_format
    host = a.toarray().get()
    if kind:
        assert (host == host.T).all()
    if kind == "spd":
        assert np.linalg.eigvalsh(host)[0] > 0
    x = np.arange(1.0, a.shape[1] + 1)
    np.testing.assert_allclose((a @ x).get(), host @ x, atol=1e-12)
    assert (make(sparse.gallery).toarray().get() == host).all()


def test_the_gallery_agrees_with_others():
    pyamg = pytest.importorskip("pyamg")
    for shape in ((7,), (5, 6), (3, 4, 5)):
        make = {1: sparse.gallery.poisson1d, 2: sparse.gallery.poisson2d, 3: sparse.gallery.poisson3d}[len(shape)]
        assert (make(*shape).toarray().get() == pyamg.gallery.poisson(shape).toarray()).all()
    assert sparse.gallery.poisson2d(8, dtype=np.float32, format="dia").format == "dia"
    with pytest.raises(ValueError, match="points is 6; expected 5 or 9"):
        sparse.gallery.poisson2d(4, points=6)
    with pytest.raises(ValueError, match="expected numbers of at least 0"):
        sparse.gallery.arrow(-1)


def test_elements_may_be_changed_in_place():
    a = host_matrix((20, 30), np.dtype("f8"))
    x = np.arange(30.0)
    for format in FORMATS:
        device = sparse.csr_array(a).asformat(format)
        np.testing.assert_allclose((device @ x).get(), a @ x)
        device.data *= 3
        np.testing.assert_allclose((device @ x).get(), 3 * (a @ x))
        np.testing.assert_allclose((device.T @ np.arange(20.0)).get(), 3 * (a.T @ np.arange(20.0)))


@pytest.mark.parametrize("kind", ["general", "symmetric", "skew-symmetric", "hermitian", "pattern", "integer"])
def test_matrix_market_files(tmp_path, kind):
    from scipy.io import mmread, mmwrite

    dtype = np.dtype("c16" if kind == "hermitian" else "i8" if kind == "integer" else "f8")
    a = host_matrix((12, 12), dtype).tocoo()
    transpose = {"symmetric": a.T, "skew-symmetric": -a.T, "hermitian": a.conj().T}.get(kind)
    if transpose is not None:
        a = (a + transpose).tocoo()
    file = tmp_path / "a.mtx"
    symmetry = kind if transpose is not None else "general"
    mmwrite(file, a, field="pattern" if kind == "pattern" else None, symmetry=symmetry)
    ours, theirs = sparse.mmread(file), mmread(file, spmatrix=False)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    assert (ours.toarray().get() == theirs.toarray()).all()
    for target in (tmp_path / "b.mtx", tmp_path / "b.mtx.gz"):
        sparse.mmwrite(target, ours, comment="by us\nand nobody else")
        assert (mmread(target, spmatrix=False).toarray() == theirs.toarray()).all()
        assert (sparse.mmread(target).toarray().get() == theirs.toarray()).all()


def test_what_is_no_matrix_market_file(tmp_path):
    file = tmp_path / "a.mtx"
    for text, message in (
        ("1 2 3\n", "expected '%%MatrixMarket matrix"),
        ("%%MatrixMarket matrix array pattern general\n1 1\n3\n", "the layout is 'array' of 'pattern'"),
        (
            "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3.5\n",
            "line 3: 1 elements up to here; expected 2",
        ),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 3.5\n", "element 1 is in row 3; expected 1 to 2"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=message):
            sparse.mmread(file)


def test_matrices_on_the_host_are_no_operands(context):
    host = scipy_sparse.eye_array(3, format="csr")
    a = sparse.csr_array(host)
    for operation in (lambda: a + host, lambda: a @ host, lambda: a * host):
        with pytest.raises(TypeError, match="of SciPy, on the host; expected one on the device"):
            operation()
