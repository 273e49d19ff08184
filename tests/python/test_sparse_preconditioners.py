"""Preconditioners: that they are what they say, and that solvers need fewer iterations with them."""

import numpy as np
import pytest

scipy_sparse = pytest.importorskip("scipy.sparse")

import rtcg.numpy as rnp  # noqa: E402
from rtcg import sparse  # noqa: E402
from rtcg.sparse import gallery, linalg  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")


def scaled(n=20):
    """Poisson's equation with rows and columns of very different sizes."""
    a = gallery.poisson2d(n).get()
    sizes = scipy_sparse.diags_array(np.logspace(0, 2, n * n))
    return sparse.csr_array((sizes @ a @ sizes).tocsr())


def iterations(a, M, mode="auto"):
    b = np.random.default_rng(2).standard_normal(a.shape[0])
    x, info, report = linalg.cg(a, b, M=M, rtol=1e-8, mode=mode, return_report=True)
    assert info == 0 and report.waits_in_loop == 0
    assert np.linalg.norm(b - a.get() @ x.get()) < 1e-8 * np.linalg.norm(b)
    return report.iterations


def test_jacobi_and_blocks():
    a = scaled()
    host = a.toarray().get()
    np.testing.assert_allclose(linalg.jacobi(a).toarray().get(), np.diag(1 / np.diag(host)), rtol=1e-12)
    blocks = linalg.block_jacobi(a, 20)
    expected = np.zeros_like(host)
    for k in range(0, 400, 20):
        expected[k : k + 20, k : k + 20] = np.linalg.inv(host[k : k + 20, k : k + 20])
    np.testing.assert_allclose(blocks.toarray().get(), expected, atol=1e-12 * abs(expected).max())
    plain, diagonal = iterations(gallery.poisson2d(20), None), iterations(a, linalg.jacobi(a))
    assert diagonal < 2 * plain and iterations(a, blocks, mode="graph") < diagonal
    with pytest.raises(ValueError, match="blocksize is 7"):
        linalg.block_jacobi(a, 7)
    with pytest.raises(ValueError, match="a diagonal block of A is singular"):
        linalg.block_jacobi(sparse.csr_array(np.ones((4, 4))), 2)
    with pytest.raises(ValueError, match="has a 0 in row 1"):
        linalg.jacobi(sparse.csr_array(np.diag([1.0, 0, 2])))


def test_chebyshev_polynomials():
    a = scaled(12)
    host = a.toarray().get()
    # All eigenvalues within the bounds: the polynomial is near the inverse, the nearer the higher its degree.
    scaled_eigenvalues = np.linalg.eigvals(host / np.diag(host)[:, None]).real
    bounds = scaled_eigenvalues.min(), scaled_eigenvalues.max()
    r = np.random.default_rng(0).standard_normal(144)
    errors = []
    for degree in (1, 4, 16, 64):
        z = linalg.chebyshev(a, degree, bounds).matvec(rnp.to_gpu(r)).get()
        errors.append(np.linalg.norm(host @ z - r) / np.linalg.norm(r))
    assert errors[3] < 1e-3 and errors[3] < errors[2] < errors[1]
    assert iterations(a, linalg.chebyshev(a, 4)) < iterations(a, linalg.jacobi(a))
    for arguments, message in (((0,), "degree is 0"), ((2, (3, 1)), "bounds are")):
        with pytest.raises(ValueError, match=message):
            linalg.chebyshev(a, *arguments)


def hierarchy(n=40):
    pyamg = pytest.importorskip("pyamg")
    a = gallery.poisson2d(n).get()
    smoother = ("jacobi", {"omega": 4 / 3})
    np.random.seed(0)
    csr = scipy_sparse.csr_matrix(a)
    return a, pyamg.smoothed_aggregation_solver(csr, presmoother=smoother, postsmoother=smoother, max_coarse=30)


def test_a_cycle_is_that_of_pyamg():
    a, ml = hierarchy()
    r = np.random.default_rng(1).standard_normal(a.shape[0])
    expected = ml.aspreconditioner(cycle="V").matvec(r)
    M = linalg.amg(ml)
    assert len(ml.levels) > 2 and M.shape == a.shape
    np.testing.assert_allclose(M.matvec(rnp.to_gpu(r)).get(), expected, rtol=1e-9, atol=1e-9 * abs(expected).max())


def test_multigrid_as_a_preconditioner():
    a, ml = hierarchy()
    ours = sparse.csr_array(a)
    M = linalg.amg(ml)
    residuals = []
    b = np.random.default_rng(2).standard_normal(a.shape[0])
    ml.solve(b, tol=1e-8, accel="cg", residuals=residuals)
    found = [iterations(ours, M, mode) for mode in ("stream", "graph")]
    assert found[0] == found[1] and abs(found[0] - (len(residuals) - 1)) <= 2
    single = linalg.amg(ml, dtype=np.float32)
    x, info = linalg.cg(ours.astype(np.float32), b.astype(np.float32), M=single, rtol=1e-4)
    assert info == 0 and x.dtype == np.float32
    with pytest.raises(TypeError, match="expected a hierarchy with levels"):
        linalg.amg(a)
    with pytest.raises(ValueError, match="sweeps is 0"):
        linalg.amg(ml, sweeps=0)
