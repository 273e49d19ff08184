"""Files of sparse arrays: those that other programs write, and those that are broken at any place."""

import bz2
import copy
import gzip
import io
import lzma
import pickle

import numpy as np
import pytest
from depth import at_depth

scipy_sparse = pytest.importorskip("scipy.sparse")
scipy_io = pytest.importorskip("scipy.io")

from rtcg import sparse  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")

HEADER = "%%MatrixMarket matrix coordinate real general\n"


def read(text):
    return sparse.mmread(io.BytesIO(text.encode("latin-1")))


def test_integers_of_64_bits_are_exact(tmp_path):
    for dtype in (np.int64, np.uint64, np.int32, np.uint8):
        info = np.iinfo(dtype)
        values = np.array([info.max, info.min + 1, info.max - 1, 2**53 + 1 if info.bits == 64 else 7], dtype)
        a = scipy_sparse.coo_array((values, (range(4), range(4))), shape=(4, 4))
        sparse.mmwrite(tmp_path / "ours.mtx", sparse.coo_array(a))
        scipy_io.mmwrite(tmp_path / "theirs.mtx", a)
        for name in ("ours", "theirs"):
            path = tmp_path / f"{name}.mtx"
            got = sparse.mmread(path)
            np.testing.assert_array_equal(got.toarray().get(), a.toarray().astype(got.dtype))
            assert got.dtype.itemsize == 8 and (name == "theirs" or got.dtype.kind == np.dtype(dtype).kind)
            np.testing.assert_array_equal(scipy_io.mmread(path, spmatrix=False).toarray(), a.toarray())


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric", "hermitian"])
@pytest.mark.parametrize("field", ["real", "double", "integer", "unsigned-integer", "complex", "pattern"])
@pytest.mark.parametrize("layout", ["coordinate", "array"])
def test_every_header_is_read_as_scipy_reads_it(layout, field, symmetry):
    if (layout, field) == ("array", "pattern") or (symmetry, field) == ("skew-symmetric", "unsigned-integer"):
        with pytest.raises(ValueError, match="line 1"):
            read(f"%%MatrixMarket matrix {layout} {field} {symmetry}\n1 1\n")
        return
    numbers = iter(range(1, 20))
    element = {"complex": lambda: f" {next(numbers)}.5 -2.25", "pattern": lambda: ""}.get(
        field, lambda: f" {next(numbers)}"
    )
    places = [(i, j) for j in range(1, 4) for i in range(1, 4)]
    if symmetry != "general":
        places = [(i, j) for i, j in places if i > j or (i == j and symmetry != "skew-symmetric")]
    if layout == "coordinate":
        lines = [f"3 3 {len(places)}", *(f"{i} {j}{element()}" for i, j in places)]
    else:
        lines = ["3 3", *(element().strip() for _ in places)]
    text = "\n".join([f"%%MatrixMarket matrix {layout} {field} {symmetry}", "% c", "", " % another", *lines, ""])
    got = read(text)
    peer = scipy_io.mmread(io.BytesIO(text.replace("\n % another", "").encode()), spmatrix=False)
    want = peer if isinstance(peer, np.ndarray) else peer.toarray()
    np.testing.assert_array_equal(got.toarray().get(), want)
    assert got.dtype == (np.float64 if field == "pattern" else want.dtype)


def test_ends_of_lines_exponents_and_packed_files(tmp_path):
    text = HEADER.upper().replace("%%MATRIXMARKET", "%%MatrixMarket") + "2 2 2\r\n1 1 5.5D2\r\n2 1 -1d-3\r\n"
    want = [[550.0, 0], [-1e-3, 0]]
    np.testing.assert_array_equal(read(text).toarray().get(), want)
    np.testing.assert_array_equal(sparse.mmread(io.StringIO(text)).toarray().get(), want)
    for packer, end in ((gzip, "gz"), (bz2, "bz2"), (lzma, "xz")):
        path = tmp_path / f"a.mtx.{end}"
        path.write_bytes(packer.compress(text.encode()))
        np.testing.assert_array_equal(sparse.mmread(path).toarray().get(), want)
        sparse.mmwrite(path, read(text))
        np.testing.assert_array_equal(sparse.mmread(str(path)).toarray().get(), want)
        whole = path.read_bytes()
        for length in at_depth(range(0, len(whole), 7), range(len(whole))):
            path.write_bytes(whole[:length])
            with pytest.raises(ValueError, match=f"a.mtx.{end}"):
                sparse.mmread(path)


@pytest.mark.parametrize(
    "body, line, message",
    [
        ("", 1, "ends behind its header"),
        ("2 2 1\n1 1 x\n", 3, "'x' is no float64"),
        ("2 2 1\n1 1 1.0 9.0\n", 3, "4 words; expected 3"),
        ("2 2 2\n1 1\n1.0 2 2 2.0\n", 3, "2 words; expected 3"),
        ("2 2 2\n1 1 1.0\n", 3, "1 elements up to here; expected 2"),
        ("2 2 0\n1 1 1.0\n", 3, "1 elements up to here; expected 0"),
        ("2 2 1\n% a\n\n1.5 1 1.0\n", 5, "'1.5' is no int64"),
        ("2 2 1\n3 1 1.0\n", 3, "element 1 is in row 3; expected 1 to 2"),
        ("2 2 1\n1 0 1.0\n", 3, "element 1 is in column 0; expected 1 to 2"),
        ("2 -2 1\n1 1 1.0\n", 2, "sizes are '2 -2 1'"),
        ("1 18446744073709551615 0\n", 2, "expected numbers of 63 bits"),
        ("2 2 1\n1 1 1_0\n", 3, "'1_0' is no float64"),
        ("2 2 1\n99999999999999999999 1 1\n", 3, "is no int64"),
    ],
)
def test_mistakes_are_named_with_file_and_line(tmp_path, body, line, message):
    path = tmp_path / "wrong.mtx"
    path.write_text(HEADER + body)
    with pytest.raises(ValueError, match=f"wrong.mtx, line {line}: .*{message}"):
        sparse.mmread(path)


def test_integers_beyond_64_bits_are_refused():
    for field, value in (("integer", 2**63), ("unsigned-integer", 2**64), ("unsigned-integer", -1)):
        with pytest.raises(ValueError, match="line 3: .*is no u?int64"):
            read(HEADER.replace("real", field) + f"1 1 1\n1 1 {value}\n")


FORMATS = ["csr", "csc", "coo", "dia", "bsr"]


@pytest.mark.parametrize("name", FORMATS)
def test_files_that_end_too_early_raise_what_is_promised(tmp_path, name):
    a = sparse.gallery.poisson2d(2).asformat(name)
    whole = {}
    for path in (tmp_path / "a.npz", tmp_path / "a.mtx"):
        (sparse.save_npz if path.suffix == ".npz" else sparse.mmwrite)(path, a)
        whole[path] = path.read_bytes()
    for path, content in whole.items():
        reader = sparse.load_npz if path.suffix == ".npz" else sparse.mmread
        for length in range(0, len(content), at_depth(max(1, len(content) // 40), 1)):
            path.write_bytes(content[:length])
            try:
                found = reader(path)
            except ValueError as error:
                assert str(path) in str(error), error
            else:  # digits of the last number, or the end of its line, are missing
                assert path.suffix == ".mtx" and found.shape == a.shape and length > len(content) - 25
        with pytest.raises(FileNotFoundError):
            reader(tmp_path / "nothing")


@pytest.mark.parametrize("part", ["shape", "data", "indices", "indptr", "format"])
def test_parts_of_npz_files_that_are_wrong(tmp_path, part):
    a = sparse.gallery.poisson2d(2).tocsr().get()
    good = {"data": a.data, "indices": a.indices, "indptr": a.indptr, "shape": a.shape, "format": b"csr"}
    for wrong in (None, np.array("x"), np.zeros(0), np.array([1.5, 2e300]), np.full(3, -7), np.zeros((2, 2), "M8[s]")):
        parts = good | {part: wrong}
        np.savez(tmp_path / "b.npz", **{key: value for key, value in parts.items() if value is not None})
        with pytest.raises(ValueError, match="b.npz"):
            sparse.load_npz(tmp_path / "b.npz")


@pytest.mark.parametrize("name", [*FORMATS, "dok", "lil"])
def test_arrays_are_pickled_and_copied(name):
    plain = scipy_sparse.random_array((4, 6), density=0.5, rng=1).asformat("csr" if name in ("dok", "lil") else name)
    for a in (sparse.csr_array(plain).asformat(name), getattr(sparse, f"{name}_matrix")(sparse.csr_array(plain))):
        dense = a.toarray().get()
        for made in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a), copy.copy(a)):
            assert type(made) is type(a) and made.shape == a.shape and made.dtype == a.dtype
            np.testing.assert_array_equal(made.toarray().get(), dense)
        deep = copy.deepcopy({"a": a, "b": [a]})
        if name not in ("dok", "lil"):
            deep["a"].data[:] = 0
            np.testing.assert_array_equal(a.toarray().get(), dense)
        np.testing.assert_array_equal((deep["b"][0] @ np.ones(6)).get().shape, (4,))


def test_arrays_of_one_axis_are_pickled_and_copied():
    for container in (sparse.coo_array, sparse.csr_array):
        a = container(np.array([0, 2.0, 0, 3]))
        for made in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a)):
            assert type(made) is type(a) and made.shape == (4,)
            np.testing.assert_array_equal(made.toarray().get(), a.toarray().get())
