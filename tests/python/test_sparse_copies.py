"""Which operations of sparse arrays copy matrices to the host: those of the table in docs/sparse.md, no other ones."""

import json
import re

import numpy as np
import pytest
from subprocesses import ROOT

import rtcg.numpy as rnp
from rtcg import sparse, tracing
from rtcg.sparse import csgraph, linalg

pytestmark = pytest.mark.usefixtures("context")

#: What is read to know a number of elements is shorter than this: extremes of indices, from each block.
SMALL_BYTES = 8500

#: What the table names: operations, and how many copies of parts of matrices they make.
MOVING = {
    "get": (lambda a, b, path: a.get(), 3),
    "mmwrite": (lambda a, b, path: sparse.mmwrite(path / "a.mtx", a), 3),
    "save_npz": (lambda a, b, path: sparse.save_npz(path / "a.npz", a), 3),
    "todok": (lambda a, b, path: a[:2000].todok(), 3),
    "tolil": (lambda a, b, path: a[:2000].tolil(), 3),
    "csgraph.connected_components": (lambda a, b, path: csgraph.connected_components(a, connection="strong"), 2),
    "csgraph.breadth_first_order": (lambda a, b, path: csgraph.breadth_first_order(a, 0), 2),
    "csgraph.reverse_cuthill_mckee": (lambda a, b, path: csgraph.reverse_cuthill_mckee(a, True), 2),
}

STAYING = {
    "product with a vector": lambda a, b: a @ rnp.ones(a.shape[1]),
    "product with a dense matrix": lambda a, b: a @ rnp.ones((a.shape[1], 3)),
    "product with a sparse array": lambda a, b: a @ b,
    "sampled product": lambda a, b: sparse.sampled_matmul(a, rnp.ones((a.shape[0], 4)), rnp.ones((4, a.shape[1]))),
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product of elements": lambda a, b: a.multiply(b),
    "product with a number": lambda a, b: a * 2,
    "comparison": lambda a, b: a != b,
    "maximum": lambda a, b: a.maximum(b),
    "transpose": lambda a, b: a.T,
    "columns": lambda a, b: a.tocsc(),
    "rows of columns": lambda a, b: a.tocsc().tocsr(),
    "triples": lambda a, b: a.tocoo().tocsr(),
    "blocks": lambda a, b: a.tobsr((2, 2)),
    "diagonals": lambda a, b: sparse.diags_array([a.diagonal(), a.diagonal()[1:]], offsets=[0, 1]).tocsr().todia(),
    "dense": lambda a, b: a[:50].toarray(),
    "sums of rows": lambda a, b: a.sum(axis=1),
    "largest elements": lambda a, b: a.max(axis=0),
    "row": lambda a, b: a[7],
    "rows": lambda a, b: a[[5, 3, 9]],
    "column range": lambda a, b: a[:, 10:2000],
    "assignment": lambda a, b: a.copy().__setitem__((0, 0), 7.0),
    "order of indices": lambda a, b: a.copy().sort_indices(),
    "sum of duplicates": lambda a, b: a.copy().sum_duplicates(),
    "canonical": lambda a, b: a.has_canonical_format,
    "without zeros": lambda a, b: a.copy().eliminate_zeros(),
    "lower triangle": lambda a, b: sparse.tril(a),
    "stack": lambda a, b: sparse.vstack([a, b]),
    "Kronecker product": lambda a, b: sparse.kron(a[:100], np.eye(2)),
    "norm": lambda a, b: linalg.norm(a),
    "components": lambda a, b: csgraph.connected_components(a, directed=False),
    "Laplacian": lambda a, b: csgraph.laplacian(a),
    "parts on the device": lambda a, b: sparse.csr_array((a.data, a.indices, a.indptr), shape=a.shape),
    "shape": lambda a, b: a.reshape((1, -1)),
    "one axis": lambda a, b: a[3] @ a,
}


def copied_bytes(path, body):
    """Bytes of each copy from the device to the host."""
    with tracing.trace(path):
        body()
    events = json.loads(path.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    copies = [event for event in events if event.get("ph") == "X" and "DtoH" in event["name"]]
    return [int(event["args"]["ByteCount"], 0) for event in copies]


@pytest.fixture(scope="module")
def matrices(request):
    request.getfixturevalue("context")
    a = sparse.gallery.poisson2d(60)
    assert min(a.data.nbytes, a.indices.nbytes, a.indptr.nbytes) > SMALL_BYTES
    return a, sparse.csr_array(a.T)


@pytest.mark.parametrize("name", STAYING)
def test_what_stays_on_the_device(name, tmp_path, matrices):
    copies = copied_bytes(tmp_path / "trace.json", lambda: STAYING[name](*matrices))
    assert not [size for size in copies if size > SMALL_BYTES], copies


@pytest.mark.parametrize("name", MOVING)
def test_what_is_copied_to_the_host(name, tmp_path, matrices):
    operation, count = MOVING[name]
    copies = copied_bytes(tmp_path / "trace.json", lambda: operation(*matrices, tmp_path))
    assert len([size for size in copies if size > 4000]) == count, copies


def test_the_table_names_what_moves():
    text = (ROOT / "docs" / "sparse.md").read_text(encoding="utf-8")
    table = text[text.index("| copies to the host |") :].split("\n\n")[0]
    named = set(re.findall(r"`(?:A\.|sparse\.)?([\w.]+)\(", table))
    assert named == set(MOVING)
