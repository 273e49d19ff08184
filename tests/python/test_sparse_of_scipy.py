"""Solvers and the functions beside them take sparse arrays and operators of SciPy where SciPy's take them."""

import numpy as np
import pytest

scipy_sparse = pytest.importorskip("scipy.sparse")
scipy_linalg = pytest.importorskip("scipy.sparse.linalg")

from rtcg import sparse  # noqa: E402
from rtcg.sparse import csgraph, linalg  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")

SOLVERS = ["cg", "bicg", "bicgstab", "cgs", "qmr", "tfqmr", "gmres", "gcrotmk", "minres", "lsqr", "lsmr"]
FORMATS = ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"]


def system():
    return scipy_sparse.csr_array(sparse.gallery.poisson2d(5).get()), np.random.default_rng(1).random(25)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_take_arrays_and_operators_of_scipy(name):
    a, b = system()
    want = np.linalg.solve(a.toarray(), b)
    tight = {"atol": 1e-12, "btol": 1e-12} if name in ("lsqr", "lsmr") else {"rtol": 1e-10}
    matrix = scipy_sparse.csr_matrix(a)
    operators = [scipy_linalg.aslinearoperator(a), scipy_linalg.LinearOperator((25, 25), matrix.dot, matrix.T.dot)]
    given = [a.asformat(format) for format in FORMATS] if name in ("cg", "gmres") else [a, matrix.tocoo()]
    for operand in (*given, *operators):
        x = getattr(linalg, name)(operand, b, **tight)[0]
        np.testing.assert_allclose(x.get(), want, rtol=1e-7, err_msg=str(type(operand)))


@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab", "minres"])
def test_preconditioners_of_scipy(name):
    a, b = system()
    inverse = scipy_sparse.diags_array(1 / a.diagonal())
    for M in (inverse, scipy_linalg.aslinearoperator(inverse), scipy_linalg.LinearOperator((25, 25), lambda x: x / 4)):
        x, info = getattr(linalg, name)(a, b, rtol=1e-10, M=M)
        assert info == 0
        np.testing.assert_allclose(x.get(), np.linalg.solve(a.toarray(), b), rtol=1e-7)


def test_other_functions_take_arrays_and_operators_of_scipy():
    a, b = system()
    values = np.linalg.eigvalsh(a.toarray())
    x = np.random.default_rng(2).random((25, 2))
    for operand in (a, a.tocsc(), scipy_linalg.aslinearoperator(a)):
        np.testing.assert_allclose(linalg.eigsh(operand, k=2, which="LA")[0].get(), values[-2:])
        np.testing.assert_allclose(linalg.svds(operand, k=2)[1].get(), values[-2:])
        np.testing.assert_allclose(linalg.lobpcg(operand, x, maxiter=100, tol=1e-8)[0].get(), values[:-3:-1])
        np.testing.assert_allclose(linalg.onenormest(operand), abs(a).sum(axis=0).max())
        trace = {} if scipy_sparse.issparse(operand) else {"traceA": a.trace()}
        want = scipy_linalg.expm_multiply(a, b)
        np.testing.assert_allclose(linalg.expm_multiply(operand, b, **trace).get(), want, rtol=1e-10)
    np.testing.assert_allclose(linalg.spsolve(a, b).get(), np.linalg.solve(a.toarray(), b))
    np.testing.assert_allclose(linalg.splu(a.tocsc()).solve(b).get(), np.linalg.solve(a.toarray(), b))
    assert linalg.ilu0(a).shape == (25, 25)
    assert csgraph.connected_components(a)[0] == 1 and csgraph.reverse_cuthill_mckee(a).size == 25


def test_an_operator_without_an_adjoint_is_still_named():
    a, b = system()
    with pytest.raises((ValueError, NotImplementedError), match="rmatvec"):
        linalg.bicg(scipy_linalg.LinearOperator((25, 25), a.dot), b)


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32]
)
def test_laplacians_of_every_dtype_of_weights(dtype):
    weights = np.array([[0, 1, 1], [1, 0, 100], [1, 100, 5]]).astype(dtype)
    for graph in (scipy_sparse.csr_array(weights), sparse.csr_array(weights), weights):
        lap, degrees = csgraph.laplacian(graph, return_diag=True)
        dense = lap.toarray().get() if hasattr(lap, "toarray") else lap.get()
        plain = np.asarray(weights, np.int64)
        want = np.diag(plain.sum(axis=0) - np.diag(plain)) - (plain - np.diag(np.diag(plain)))
        np.testing.assert_array_equal(dense, want)
        np.testing.assert_array_equal(degrees.get(), np.diag(want))
        assert dense.dtype.kind != "u" and (dense.dtype == dtype or np.dtype(dtype).kind in "bu")
        for options in ({"normed": True}, {"symmetrized": True}, {"use_out_degree": True}):
            got = csgraph.laplacian(graph, **options)
            got = got.toarray().get() if hasattr(got, "toarray") else got.get()
            np.testing.assert_allclose(got, scipy_sparse.csgraph.laplacian(plain.astype(float), **options), rtol=1e-6)
    full = (np.ones((130, 130), np.int8)).astype(dtype)
    got = csgraph.laplacian(full).get()
    assert (got.diagonal() == 129).all() and got[0, 1] == -1


def test_weights_that_int64_cannot_hold_are_refused():
    with pytest.raises(ValueError, match="csgraph has weights above 9223372036854775807"):
        csgraph.laplacian(np.array([[0, 2**63], [1, 0]], np.uint64))


def test_results_are_stored_in_out():
    from rtcg import numpy as xp

    host = scipy_sparse.random_array((5, 3), density=0.5, rng=np.random.default_rng(3))
    for name in FORMATS:
        array = getattr(sparse.csr_array(host.tocsr()), f"to{name}")()
        for out, call in [
            (xp.zeros(3), lambda out, a=array: a.sum(axis=0, out=out)),
            (xp.zeros(5), lambda out, a=array: a.mean(axis=1, out=out)),
            (xp.zeros(()), lambda out, a=array: a.sum(out=out)),
            (xp.zeros((5, 3)), lambda out, a=array: a.toarray(out=out)),
        ]:
            result = call(out)
            assert result is out and np.array_equal(out.get(), call(None).get())
        for wrong in (xp.zeros(4), np.zeros(3), 3):
            with pytest.raises(ValueError, match=r"out is .*; expected an array on a device of shape \(3,\)"):
                array.sum(axis=0, out=wrong)
        with pytest.raises(TypeError, match="out is .*float64 can be cast to"):
            array.sum(axis=0, out=xp.zeros(3, np.int32))
    assert (out.get() == host.toarray()).all()
