"""Indexing, assignment, comparisons, extremes and shapes of sparse arrays: the same bodies with `scipy.sparse`."""

import io
import itertools
import warnings

import numpy as np
import pytest
from depth import each_kind
from test_sparse import dense, host_matrix
from test_sparse_solvers import WAITS, traced_calls

scipy_sparse = pytest.importorskip("scipy.sparse")

import rtcg.numpy as rnp  # noqa: E402
from rtcg import sparse, tracing  # noqa: E402
from rtcg.sparse import _operands  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")


def outcome(body, module, *arrays):
    """A dense copy of what the body returns, its format, its warnings; or the exception's type and text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = body(module, *arrays)
        except Exception as error:  # noqa: BLE001
            return type(error), str(error)
    found = [(w.category.__name__, str(w.message)) for w in caught if "Sparse" in w.category.__name__]
    kind = None
    if module.issparse(result) and result.ndim == 2:
        kind = result.format
    return dense(result), kind, found


def same(body, *hosts, text=True):
    ours = [getattr(sparse, type(host).__name__)(host) if scipy_sparse.issparse(host) else host for host in hosts]
    hosts = [host.copy() if scipy_sparse.issparse(host) else host for host in hosts]
    expected, got = outcome(body, scipy_sparse, *hosts), outcome(body, sparse, *ours)
    if isinstance(expected[0], type):
        assert got[0] is expected[0], (got, expected)
        assert got[1] == expected[1] or not text
        return
    assert not isinstance(got[0], type), got
    assert got[0].dtype == expected[0].dtype
    assert got[0].shape == expected[0].shape
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-6)
    assert got[1:] == expected[1:]


READS = [
    "a[3, 4]", "a[-1, -2]", "a[2]", "a[-3]", "a[:, 5]", "a[:, -1]", "a[2:9]", "a[2:9, 3:11]", "a[::2]", "a[::-1]",
    "a[:, ::3]", "a[:, ::-2]", "a[10:2:-3, 7:1:-1]", "a[5:5]", "a[:, 4:4]", "a[...]", "a[2, ...]", "a[..., 3]",
    "a[[0, 4, 4, -1]]", "a[:, [1, 1, 0]]", "a[[3], :]", "a[np.array([2, 0])]", "a[np.arange(17) % 3 == 0]",
    "a[:, np.arange(13) % 2 == 1]", "a[[0, 2, 5], [1, 3, 3]]", "a[[0, 2], 3]", "a[4, [0, 1, 2]]", "a[1:4, [5, 2]]",
    "a[[1, 2], 3:8]", "a[np.ix_([0, 3, 3], [1, 12, 2])]", "a[[[0], [1]], [[1, 3]]]",
    "a[[[0, 1], [2, 3]], [[1, 3], [0, 0]]]",
    "a[a > 0]", "a[a.toarray() > 0] if m is scipy_sparse else a[a.toarray().get() > 0]", "a[17, 0]", "a[0, -14]",
    "a[[0, 17]]", "a[:, [13]]", "a[np.array([True, False])]", "a[[], :]",
]  # fmt: skip


@pytest.mark.parametrize("format, dtype", each_kind(itertools.product(["csr", "csc", "coo"], ["f8", "c8", "i4", "?"])))
def test_reads(format, dtype):
    a = host_matrix((17, 13), np.dtype(dtype), density=0.4).asformat(format)
    for read in READS:
        body = eval(f"lambda m, a: {read}", globals())
        # Triples have words of their own.
        if format != "coo" or (":" in read and "[" not in read[2:]):
            same(body, a, text=format != "coo")


def test_matrices_keep_two_axes():
    a = scipy_sparse.csr_matrix(host_matrix((9, 7), np.dtype("f8"), density=0.5))
    for read in ("a[2]", "a[:, 3]", "a[2, 1:4]", "a[[0, 1], 1]", "a[1, [0, 1]]", "a[[0, 2], [1, 3]]", "a[a > 0]",
                 "a.getrow(2)", "a.getcol(-1)", "a.getH()", "a.max(axis=0)", "a.min(axis=1)", "a.argmax(axis=0)",
                 "a.argmin(axis=1)"):  # fmt: skip
        same(eval(f"lambda m, a: {read}", globals()), a)


WRITES = [
    "a[3, 4] = 7", "a[-1, -2] = 0", "a[0, 0] += 2", "a[2] = 1", "a[:, 3] = 2", "a[1:9:2, 2:5] = 3",
    "a[[0, 2, 0], [1, 1, 1]] = [4, 5, 6]", "a[[1, 3], :] = np.arange(26).reshape(2, 13)", "a[:, [0, 5]] = [[1, 2]]",
    "a[np.ix_([0, 3], [1, 2])] = [[1, 2], [3, 4]]", "a[a > 0] = 9",
    "a[2:4, 3:5] = m.csr_array([[1, 0], [0, 2]], dtype=a.dtype)",
    "a[np.arange(17) < 3] = 5", "a[1, 2, 3] = 4", "a[17, 0] = 1", "a[5:5] = 1", "a[2, :] = np.arange(13)",
    "a.setdiag(3)", "a.setdiag([1, 2, 3], -2)", "a.setdiag(np.arange(20), 4)", "a.setdiag(1, 40)",
]  # fmt: skip


@pytest.mark.parametrize("format, dtype", each_kind(itertools.product(["csr", "csc"], ["f8", "c16"])))
def test_writes(format, dtype):
    a = host_matrix((17, 13), np.dtype(dtype), density=0.3).asformat(format)

    def body(m, a, write):
        exec(write, {"a": a, "m": m, "np": np})
        return a

    for write in WRITES:
        same(lambda m, a, write=write: body(m, a, write), a)
    with pytest.raises(ValueError):
        sparse.csr_array(a)[2:4, 3:5] = np.ones((3, 3))


def test_writes_keep_the_last_and_the_array():
    integers = sparse.csr_array(np.eye(3, dtype=np.int32))
    integers[1, 1] = 7.9
    assert integers.dtype == np.int32 and integers.diagonal().get().tolist() == [1, 7, 1]
    a = sparse.csr_array(np.array([[1.0, 0], [0, 2]]))
    x = rnp.to_gpu(np.array([1.0, 10]))
    a @ x
    with pytest.warns(sparse.SparseEfficiencyWarning, match="sparsity structure of a csr_array is expensive"):
        a[0, 1] = 5
    assert (a @ x).get().tolist() == [51, 20] and a.has_canonical_format
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a[0, [1, 1]] = [6, 7]
    assert a.toarray().get().tolist() == [[1, 7], [0, 2]]
    coo = sparse.coo_array(([1.0, 1.0], ([0, 0], [1, 1])), shape=(2, 2))
    coo[0, 1] = 3
    assert coo.toarray().get().tolist() == [[0, 3], [0, 0]]


def test_indices_on_the_device():
    host = host_matrix((17, 13), np.dtype("f8"), density=0.4)
    a = sparse.csr_array(host)
    rows, cols = np.array([3, -1, 3, 0]), np.array([1, 2, -13, 0])
    got = a[rnp.to_gpu(rows), rnp.to_gpu(cols)]
    assert (got.get() == host[rows, cols]).all()
    assert (a[rnp.to_gpu(rows)].toarray().get() == host[rows].toarray()).all()
    mask = np.arange(17) % 2 == 0
    assert (a[rnp.to_gpu(mask)].toarray().get() == host[mask].toarray()).all()
    with pytest.raises(IndexError, match=r"index \(17\) out of range"):
        a[rnp.to_gpu(np.array([0, 17]))]
    with pytest.raises(IndexError, match="dtype float64; expected integers"):
        a[[1.5]]


COMPARISONS = [
    f"a {op} {other}" for op in ("==", "!=", "<", ">", "<=", ">=") for other in ("b", "0", "1", "-1", "np.nan")
]


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dia", "bsr"])
def test_comparisons(format):
    a, b = (host_matrix((17, 13), np.dtype("f8"), density=0.4, seed=seed).asformat(format) for seed in (1, 2))
    for comparison in COMPARISONS:
        same(eval(f"lambda m, a, b: ({comparison}).toarray()", globals()), a, b, text=False)
    for body in (
        lambda m, a, b: a == b.T,
        lambda m, a, b: a != b.T,
        lambda m, a, b: a < b.T,
        lambda m, a, b: a > b.toarray(),
        lambda m, a, b: a.maximum(b).toarray(),
        lambda m, a, b: a.minimum(b).toarray(),
        lambda m, a, b: a.maximum(-1).toarray(),
        lambda m, a, b: a.maximum(0.5).toarray(),
        lambda m, a, b: a.minimum(-0.5).toarray(),
        lambda m, a, b: a.minimum(2).toarray(),
        lambda m, a, b: a.maximum(b.T),
    ):
        same(body, a, b, text=False)


@pytest.mark.parametrize(
    "format, dtype", each_kind(itertools.product(["csr", "csc", "coo", "bsr"], ["f4", "f8", "i4"]))
)
def test_extremes(format, dtype):
    matrices = [host_matrix((17, 13), np.dtype(dtype), density=density, seed=1) for density in (0.2, 0.5, 1)]
    full = np.random.default_rng(1).integers(-9, 9, (5, 6)).astype(dtype)
    full[full == 0] = 3
    matrices += [scipy_sparse.csr_array(full), scipy_sparse.csr_array(-abs(full)), scipy_sparse.csr_array(abs(full))]
    if dtype[0] == "f":
        wrong = full.copy()
        wrong[[0, 2, 2], [1, 0, 5]] = np.nan
        matrices.append(scipy_sparse.csr_array(wrong))
    for a in matrices:
        a = a.asformat(format)
        for axis in (None, 0, 1, -1):
            for name in ("max", "min", "argmax", "argmin", "nanmax", "nanmin"):
                if format == "bsr" and name.startswith(("arg", "nan")):
                    continue  # SciPy's has none.

                def body(m, a, name=name, axis=axis):
                    result = getattr(a, name)(axis=axis)
                    return result.toarray() if scipy_sparse.issparse(result) else result

                same(body, a)
    same(lambda m, a: a.max(axis=2), matrices[0].tocsr(), text=False)
    same(lambda m: m.csr_array((0, 3)).max())
    with pytest.raises(TypeError, match="complex64 has no largest"):
        sparse.csr_array(host_matrix((3, 3), np.dtype("c8"))).max()


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dia", "bsr"])
def test_shapes_counts_and_functions(format):
    a = host_matrix((12, 10), np.dtype("f8"), density=0.4).asformat(format)
    for body in (
        lambda m, a: a.reshape((10, 12)).toarray(),
        lambda m, a: a.reshape(5, 24).toarray(),
        lambda m, a: a.reshape((-1, 3)).toarray(),
        lambda m, a: a.reshape((4, 30), order="F").toarray(),
        lambda m, a: a.reshape((7, 3)),
        lambda m, a: a.tocsr().count_nonzero(axis=0),
        lambda m, a: a.tocoo().count_nonzero(axis=1).astype(np.int64),
        lambda m, a: abs(a).sqrt().toarray(),
        lambda m, a: a.sin().toarray(),
        lambda m, a: a.floor().toarray(),
        lambda m, a: a.sign().toarray(),
        lambda m, a: round(a, 1).toarray(),
        lambda m, a: a.multiply(m.csr_array(np.arange(10.0)[None])).toarray(),
        lambda m, a: a.multiply(m.csr_array(np.arange(12.0)[:, None])).toarray(),
        lambda m, a: m.csr_array(np.arange(10.0)[None]).multiply(a).toarray(),
        lambda m, a: a.multiply(np.arange(10.0)).toarray(),
        lambda m, a: a.mean(),
        lambda m, a: a.mean(axis=0),
    ):
        same(body, a, text=False)
    scaled = sparse.csr_array(a)
    scaled *= 3
    scaled /= 2
    np.testing.assert_allclose(scaled.toarray().get(), a.toarray() * 1.5)


def test_elements_do_not_wait(tmp_path):
    a = sparse.csr_array(host_matrix((17, 13), np.dtype("f8"), density=0.4))
    a[1, 2], a[0:2].max
    with tracing.trace(tmp_path / "trace.json"):
        a[1, 2]
    assert not [name for name in traced_calls(tmp_path / "trace.json") if name in WAITS]


def test_device_indices_are_checked_with_one_wait(tmp_path):
    host = host_matrix((300, 200), np.dtype("f8"))
    parts = [rnp.to_gpu(part) for part in (host.data, host.indices, host.indptr)]
    sparse.csr_array(tuple(parts), shape=host.shape)
    with tracing.trace(tmp_path / "trace.json"):
        made = sparse.csr_array(tuple(parts), shape=host.shape)
    calls = traced_calls(tmp_path / "trace.json")
    assert len([name for name in calls if name in WAITS]) == 1, calls
    # No copies either.
    assert all(
        int(made_part.gpudata) == int(part.gpudata)
        for made_part, part in zip((made.data, made.indices), parts, strict=False)
    )
    assert (made.get() != host).nnz == 0
    data, indices, indptr = (part.copy() for part in (host.data, host.indices, host.indptr))
    for at, value, message in (
        (("indices", 7), 200, "indices must be < 200; one is 200"),
        (("indices", 7), -5, "indices must be >= 0; one is -5"),
        (("indptr", 0), 1, "index pointer should start with 0; it starts with 1"),
        (("indptr", 300), len(data) + 1, f"index and data arrays: {len(data) + 1}, of {len(data)}"),
        (("indptr", 5), 0, "indptr must be a non-decreasing sequence; it falls by"),
    ):
        wrong = {"indices": indices.copy(), "indptr": indptr.copy()}
        wrong[at[0]][at[1]] = value
        device = rnp.to_gpu(data), rnp.to_gpu(wrong["indices"]), rnp.to_gpu(wrong["indptr"])
        with pytest.raises(ValueError, match=message):
            sparse.csr_array(device, shape=host.shape)
    rows = rnp.to_gpu(np.array([0, 9], np.int64))
    with pytest.raises(ValueError, match="axis 0 index 9 exceeds matrix dimension 3"):
        sparse.coo_array((rnp.ones(2), (rows, rows)), shape=(3, 30))


def test_many_elements_widen_indices(monkeypatch):
    coo = sparse.coo_array(host_matrix((20, 30), np.dtype("f8"), density=0.4))
    assert coo.tocsr().indices.dtype == np.int32
    monkeypatch.setattr(_operands, "MAX_INT32_ELEMENTS", coo.nnz - 1)
    csr = coo.tocsr()
    assert (csr.indices.dtype, csr.indptr.dtype) == (np.int64, np.int64)
    assert (csr.toarray().get() == coo.toarray().get()).all()


def test_broken_files_are_named():
    text = "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 1 5\n3 5 1\n"
    with pytest.raises(ValueError, match="element 2 is in column 5; expected 1 to 4"):
        sparse.mmread(io.StringIO(text))
    with pytest.raises(ValueError, match="element 1 is in row 0; expected 1 to 3"):
        sparse.mmread(io.StringIO(text.replace("1 1 5", "0 1 5")))
    file = io.BytesIO()
    np.savez(file, a=np.ones(2))
    file.seek(0)
    with pytest.raises(ValueError, match="no 'format'; expected a file of save_npz"):
        sparse.load_npz(file)
    file = io.BytesIO()
    np.savez(file, format=b"csr", shape=(2, 2), data=np.ones(2), indices=np.zeros(2, int))
    file.seek(0)
    with pytest.raises(ValueError, match="'indptr' is missing from an array of format 'csr'"):
        sparse.load_npz(file)


class Foreign:
    """An array of another library, of which the device interface is all that is known."""

    def __init__(self, array):
        self.array = rnp.to_gpu(array)
        self.__cuda_array_interface__ = self.array.__cuda_array_interface__

    def __len__(self):
        return len(self.array)


class ForeignCsr:
    """As CuPy's arrays look."""

    format = "csr"

    def __init__(self, host):
        self.data, self.indices, self.indptr = (Foreign(part) for part in (host.data, host.indices, host.indptr))
        self.shape = host.shape

    def tocsr(self):
        return self


class ForeignTensor:
    """As PyTorch's tensors of compressed rows or columns look."""

    def __init__(self, host):
        parts = (Foreign(part) for part in (host.data, host.indices.astype(np.int64), host.indptr.astype(np.int64)))
        self.data, self.indices, self.indptr = parts
        self.shape, self.layout = host.shape, f"torch.sparse_{host.format}"
        names = ("crow_indices", "col_indices") if host.format == "csr" else ("ccol_indices", "row_indices")
        self.crow_indices = None
        for name, part in zip(("values", *names), (self.data, self.indptr, self.indices), strict=True):
            setattr(self, name, lambda part=part: part)


class ForeignTriples:
    def __init__(self, host):
        coo = host.tocoo()
        self.shape = host.shape
        self.coords, self.data = Foreign(np.array([coo.row, coo.col], np.int64)), Foreign(coo.data)

    def is_coalesced(self):
        return True

    def _indices(self):
        return self.coords

    def _values(self):
        return self.data

    values = _values


def address(array):
    return array.__cuda_array_interface__["data"][0]


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_arrays_of_other_libraries_share_memory(format):
    host = host_matrix((30, 20), np.dtype("f4")).asformat(format)
    foreign = [ForeignTensor(host)] + ([ForeignCsr(host)] if format == "csr" else [])
    for theirs in foreign:
        ours = getattr(sparse, f"{format}_array")(theirs)
        assert (ours.get() != host).nnz == 0
        for name in ("data", "indices", "indptr"):
            assert address(getattr(ours, name)) == address(getattr(theirs, name)), name
        assert (sparse.coo_array(theirs).toarray().get() == host.toarray()).all()
    # Parts too.
    parts = [Foreign(part) for part in (host.data, host.indices, host.indptr)]
    ours = getattr(sparse, f"{format}_array")(tuple(parts), shape=host.shape)
    assert address(ours.data) == address(parts[0]) and (ours.toarray().get() == host.toarray()).all()
    triples = ForeignTriples(host)
    made = sparse.coo_array(triples)
    assert address(made.data) == address(triples.data) and (made.toarray().get() == host.toarray()).all()
    # And back: what others ask for.
    assert address(ours.indices) == address(parts[1])
