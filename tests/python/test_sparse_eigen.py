"""Eigenvalues, singular values and estimates of norms against SciPy's, and against values that are known."""

import itertools
import warnings

import numpy as np
import pytest
from depth import each_kind

scipy_sparse = pytest.importorskip("scipy.sparse")
scipy_linalg = pytest.importorskip("scipy.sparse.linalg")
dense = pytest.importorskip("scipy.linalg")

import rtcg.numpy as rnp  # noqa: E402
from rtcg import sparse  # noqa: E402
from rtcg.sparse import gallery, linalg  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")

FLOATING = [np.float32, np.float64, np.complex64, np.complex128]


def membrane(rows, columns):
    """Eigenvalues of the five-point Laplacian, in ascending order."""
    line = [4 * np.sin(np.pi * np.arange(1, n + 1) / (2 * (n + 1))) ** 2 for n in (rows, columns)]
    return np.sort(np.add.outer(*line).ravel())


def hermitian(n, dtype=np.float64, seed=3):
    """A sparse Hermitian matrix with eigenvalues of both signs."""
    rng = np.random.default_rng(seed)
    a = scipy_sparse.random_array((n, n), density=0.05, rng=rng)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * scipy_sparse.random_array((n, n), density=0.05, rng=rng)
    return (a + a.conj().T + scipy_sparse.diags_array(np.linspace(-4, 5, n))).tocsr().astype(dtype)


def chosen(values, k, which):
    """The eigenvalues that `which` names, in ascending order."""
    order = {
        "LM": np.argsort(-abs(values), kind="stable")[:k],
        "SM": np.argsort(abs(values), kind="stable")[:k],
        "LA": np.argsort(values)[-k:],
        "SA": np.argsort(values)[:k],
        "BE": np.r_[np.argsort(values)[: k // 2], np.argsort(values)[len(values) - (k - k // 2) :]],
    }[which]
    return np.sort(values[order])


def check_pairs(a, w, v, tolerance):
    """Vectors are orthonormal, and mapped to multiples of themselves."""
    w, v = w.get(), v.get()
    size = abs(a).sum(axis=0).max()
    assert abs(a @ v - v * w).max() < tolerance * size
    assert abs(v.conj().T @ v - np.eye(v.shape[1])).max() < tolerance


def precision(dtype):
    return 3e-4 if np.finfo(dtype).eps > 1e-10 else 1e-10


@pytest.mark.parametrize("which, dtype", each_kind(itertools.product(["LM", "LA", "SA", "BE"], FLOATING)))
def test_eigenvalues_of_hermitian_matrices(which, dtype):
    a = hermitian(150, dtype)
    known = np.linalg.eigvalsh(a.toarray().astype(np.complex128))
    w, v = linalg.eigsh(sparse.csr_array(a), k=5, which=which, tol=precision(dtype) / 10)
    assert w.dtype == np.dtype(dtype).type(0).real.dtype and v.dtype == dtype and v.shape == (150, 5)
    np.testing.assert_allclose(w.get(), chosen(known, 5, which), atol=10 * precision(dtype))
    check_pairs(a, w, v, 10 * precision(dtype))


@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
def test_laplacians_have_their_known_eigenvalues(which):
    # Rows and columns differ, so that eigenvalues are simple.
    a = gallery.poisson2d(17, 12)
    w = linalg.eigsh(a, k=7, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(w.get(), chosen(membrane(17, 12), 7, which), rtol=1e-11)


def test_multiple_eigenvalues_are_found_as_often_as_they_are_there():
    known = membrane(16, 16)
    w, v = linalg.eigsh(gallery.poisson2d(16), k=6, which="SA")
    np.testing.assert_allclose(w.get(), known[:6], rtol=1e-11)
    check_pairs(scipy_sparse.csr_array(gallery.poisson2d(16).get()), w, v, 1e-10)
    values = np.repeat([1.0, 2.0, 3.0, 7.0, 7.5], [30, 20, 20, 3, 4])
    w, v = linalg.eigsh(sparse.diags_array(values), k=6, which="LA")
    np.testing.assert_allclose(w.get(), np.sort(values)[-6:], rtol=1e-12)
    w, v = linalg.eigsh(sparse.eye_array(40), k=4)
    np.testing.assert_allclose(w.get(), 1, rtol=1e-14)
    check_pairs(scipy_sparse.eye_array(40).tocsr(), w, v, 1e-12)
    assert (linalg.eigsh(sparse.csr_array((30, 30)), k=3, return_eigenvectors=False).get() == 0).all()


def test_clustered_eigenvalues():
    values = np.r_[np.linspace(0, 1, 150), 2 + 1e-6 * np.arange(5)]
    q = np.linalg.qr(np.random.default_rng(5).standard_normal((155, 155)))[0]
    a = (q * values) @ q.T
    w, v = linalg.eigsh((a + a.T) / 2, k=5, which="LA")
    np.testing.assert_allclose(w.get(), values[-5:], rtol=1e-12)
    check_pairs(a, w, v, 1e-10)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr", "dense", "host", "operator"])
def test_operands_of_all_kinds(form):
    a = gallery.poisson2d(12, 9)
    host = a.toarray().get()
    operand = {
        "dense": lambda: a.toarray(),
        "host": lambda: host,
        "operator": lambda: linalg.LinearOperator(a.shape, lambda x: a @ x, dtype=np.float64),
    }.get(form, lambda: a.asformat(form))()
    known = membrane(12, 9)
    w = linalg.eigsh(operand, k=3, return_eigenvectors=False)
    np.testing.assert_allclose(w.get(), known[-3:], rtol=1e-12)
    x = np.random.default_rng(0).standard_normal((108, 3))
    w, v = linalg.lobpcg(operand, x, tol=1e-6, maxiter=200)
    np.testing.assert_allclose(w.get(), known[::-1][:3], rtol=1e-9)
    if form != "operator":
        s = linalg.svds(operand, k=3, return_singular_vectors=False)
        np.testing.assert_allclose(s.get(), known[-3:], rtol=1e-12)


@pytest.mark.parametrize("kind", ["minres", "dense", "OPinv"])
def test_eigenvalues_near_a_number(kind):
    a, sigma = gallery.poisson2d(15, 11), 1.3
    known = membrane(15, 11)
    wanted = np.sort(known[np.argsort(abs(known - sigma))[:4]])
    host = scipy_sparse.csc_array(a.get())
    inverse = None
    if kind == "OPinv":
        dense = rnp.to_gpu(np.linalg.inv(host.toarray() - sigma * np.eye(165)))
        inverse = linalg.LinearOperator(a.shape, lambda x: dense @ x, dtype=np.float64)
    w, v = linalg.eigsh(a.toarray() if kind == "dense" else a, k=4, sigma=sigma, OPinv=inverse)
    np.testing.assert_allclose(w.get(), wanted, rtol=1e-9)
    np.testing.assert_allclose(w.get(), np.sort(scipy_linalg.eigsh(host, k=4, sigma=sigma)[0]), rtol=1e-9)
    check_pairs(host, w, v, 1e-8)


def test_the_same_call_gives_the_same_bits():
    a = sparse.csr_array(hermitian(200))
    first, second = (linalg.eigsh(a, k=4) for _ in range(2))
    assert all((x.get() == y.get()).all() for x, y in zip(first, second, strict=True))
    x = np.random.default_rng(1).standard_normal((200, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        first, second = (linalg.lobpcg(a, x, maxiter=8) for _ in range(2))
    assert all((x.get() == y.get()).all() for x, y in zip(first, second, strict=True))
    v0 = np.ones(200)
    one, other = linalg.eigsh(a, k=4, v0=v0)[1].get(), linalg.eigsh(a, k=4, rng=7)[1].get()
    np.testing.assert_allclose(abs(one), abs(other), atol=1e-9)
    assert (one != other).any() and (v0 == 1).all()


def test_no_convergence_has_what_was_found():
    with pytest.raises(linalg.ArpackNoConvergence, match="No convergence.*/6 eigenvectors") as caught:
        linalg.eigsh(gallery.poisson2d(40), k=6, which="SA", maxiter=4)
    found = caught.value
    assert isinstance(found, linalg.ArpackError)
    assert found.eigenvalues.shape[0] < 6 and found.eigenvectors.shape == (1600, found.eigenvalues.shape[0])
    a = sparse.diags_array(np.r_[np.linspace(0, 1, 300), 50.0])
    with pytest.raises(linalg.ArpackNoConvergence) as caught:
        linalg.eigsh(a, k=6, which="LA", maxiter=1)
    np.testing.assert_allclose(caught.value.eigenvalues.get()[-1:], [50], rtol=1e-12)


def test_wrong_arguments_of_eigsh():
    a = gallery.poisson1d(30)
    for message, keywords in [
        ("which is 'LR'; expected one of LM SM LA SA BE", {"which": "LR"}),
        ("k=0 must be greater than 0", {"k": 0}),
        ("ncv must be k<ncv<=n, ncv=6", {"ncv": 6}),
        ("ncv must be k<ncv<=n, ncv=31", {"ncv": 31}),
        ("maxiter must be positive", {"maxiter": 0}),
        ("tol is -1", {"tol": -1}),
        ("unrecognized mode 'x'", {"mode": "x"}),
        ("OPinv should not be specified", {"OPinv": a}),
        (r"OPinv has shape \(3, 3\)", {"OPinv": np.eye(3), "sigma": 1}),
        (r"v0 has shape \(3,\)", {"v0": np.ones(3)}),
        ("v0 is 0", {"v0": np.zeros(30)}),
    ]:
        with pytest.raises(ValueError, match=message):
            linalg.eigsh(a, **keywords)
    for keywords in ({"M": a}, {"Minv": a}, {"mode": "buckling", "sigma": 1}):
        with pytest.raises(NotImplementedError):
            linalg.eigsh(a, **keywords)
    with pytest.raises(ValueError, match=r"expected square matrix \(shape=\(3, 4\)\)"):
        linalg.eigsh(np.ones((3, 4)))
    with pytest.raises(TypeError, match="sparse A with k >= N"):
        linalg.eigsh(a, k=30)
    with pytest.raises(TypeError, match="LinearOperator A with k >= N"):
        linalg.eigsh(linalg.aslinearoperator(a), k=30)
    with pytest.warns(RuntimeWarning, match="k >= N"):
        w, v = linalg.eigsh(a.toarray(), k=30)
    np.testing.assert_allclose(w.get(), np.linalg.eigvalsh(a.toarray().get()), atol=1e-13)
    # Nearly all of them need a basis that is the whole space.
    w = linalg.eigsh(a, k=29, return_eigenvectors=False)
    np.testing.assert_allclose(w.get(), np.linalg.eigvalsh(a.toarray().get())[1:], atol=1e-13)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite(bad):
    a = gallery.poisson1d(30)
    a.data[4] = bad
    with pytest.raises(np.linalg.LinAlgError, match="infinities or NaN"):
        linalg.eigsh(a, k=2)
    with pytest.raises(np.linalg.LinAlgError, match="infinities or NaN"):
        linalg.svds(a, k=2)
    with pytest.raises(np.linalg.LinAlgError, match="infinities or NaN"):
        linalg.lobpcg(a, np.eye(30, 2))
    with pytest.raises(np.linalg.LinAlgError, match="infinities or NaN"):
        linalg.eigsh(gallery.poisson1d(30), k=2, v0=np.full(30, bad))


@pytest.mark.parametrize("shape, dtype", each_kind(itertools.product([(90, 60), (60, 90)], FLOATING)))
def test_singular_values(shape, dtype):
    rng = np.random.default_rng(2)
    a = scipy_sparse.random_array(shape, density=0.1, rng=rng).astype(dtype)
    if np.dtype(dtype).kind == "c":
        a = (a * (1 + 2j) + scipy_sparse.random_array(shape, density=0.1, rng=rng)).astype(dtype)
    known = np.linalg.svd(a.toarray().astype(np.complex128))[1]
    u, s, vh = linalg.svds(sparse.csr_array(a), k=4)
    tolerance = 1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-10
    np.testing.assert_allclose(s.get(), known[3::-1], rtol=tolerance)
    assert (u.shape, s.shape, vh.shape) == ((shape[0], 4), (4,), (4, shape[1])) and u.dtype == vh.dtype == dtype
    u, s, vh = u.get(), s.get(), vh.get()
    assert abs(a @ vh.conj().T - u * s).max() < tolerance * s[-1]
    assert abs(u.conj().T @ u - np.eye(4)).max() < tolerance
    assert abs(vh @ vh.conj().T - np.eye(4)).max() < tolerance


def test_singular_values_as_they_are_asked_for():
    host = scipy_sparse.random_array((50, 30), density=0.2, rng=np.random.default_rng(4)).tocsr()
    a = sparse.csr_array(host)
    known = np.linalg.svd(host.toarray())[1]
    np.testing.assert_allclose(linalg.svds(a, k=2, which="SM", return_singular_vectors=False).get(), known[:-3:-1])
    u, s, vh = linalg.svds(a, k=2, return_singular_vectors="u")
    assert vh is None and u.shape == (50, 2)
    u, s, vh = linalg.svds(a, k=2, return_singular_vectors="vh")
    assert u is None and vh.shape == (2, 30)
    operator = linalg.LinearOperator(a.shape, lambda x: a @ x, lambda x: a.T @ x, dtype=np.float64)
    np.testing.assert_allclose(linalg.svds(operator, k=2)[1].get(), known[1::-1])
    for message, keywords in [
        ("`k` must be", {"k": 30}),
        ("`which` must be", {"which": "LA"}),
        ("solver must be", {"solver": "x"}),
        ("return_singular_vectors", {"return_singular_vectors": "v"}),
    ]:
        with pytest.raises(ValueError, match=message):
            linalg.svds(a, **keywords)
    with pytest.raises(NotImplementedError, match="propack"):
        linalg.svds(a, solver="propack")
    with pytest.raises(NotImplementedError, match="rmatvec"):
        linalg.svds(linalg.LinearOperator(a.shape, lambda x: a @ x))


@pytest.mark.parametrize("largest, dtype", each_kind(itertools.product([True, False], FLOATING)))
def test_blocks_find_the_ends_of_the_spectrum(largest, dtype):
    a = hermitian(120, dtype) + 10 * scipy_sparse.eye_array(120, dtype=dtype)
    known = np.linalg.eigvalsh(a.toarray().astype(np.complex128))
    x = np.random.default_rng(0).standard_normal((120, 4)).astype(dtype)
    single = np.finfo(dtype).eps > 1e-10
    before = x.copy()
    w, v = linalg.lobpcg(sparse.csr_array(a), x, largest=largest, tol=2e-3 if single else 1e-8, maxiter=150)
    assert w.dtype == np.dtype(dtype).type(0).real.dtype and v.dtype == dtype
    np.testing.assert_allclose(w.get(), known[::-1][:4] if largest else known[:4], rtol=1e-5 if single else 1e-11)
    residual = a @ v.get() - v.get() * w.get()
    assert np.linalg.norm(residual, axis=0).max() < (3e-3 if single else 2e-8)
    assert (x == before).all()


def test_blocks_in_single_precision():
    a = gallery.poisson2d(20).astype(np.float32)
    x = np.random.default_rng(0).standard_normal((400, 5)).astype(np.float32)
    w, v = linalg.lobpcg(a, x, largest=False, tol=1e-4, maxiter=200)
    assert w.dtype == v.dtype == np.float32
    np.testing.assert_allclose(w.get(), membrane(20, 20)[:5], rtol=1e-4)
    check_pairs(scipy_sparse.csr_array(a.get()), w, v, 1e-3)


def test_a_preconditioner_takes_less_iterations():
    a = gallery.poisson2d(30)
    x = np.random.default_rng(0).standard_normal((900, 3))
    counts = []
    for m in (None, linalg.chebyshev(a, 8)):
        w, v, history = linalg.lobpcg(a, x, M=m, tol=1e-7, maxiter=300, largest=False, retResidualNormsHistory=True)
        np.testing.assert_allclose(w.get(), membrane(30, 30)[:3], rtol=1e-9)
        assert history[-1].max() <= 1e-7 < history[-2].max()
        counts.append(len(history))
    assert counts[1] < counts[0] / 2


def test_the_generalized_problem_and_constraints():
    n = 80
    a, b = gallery.poisson1d(n), sparse.diags_array([1.0, 4.0, 1.0], offsets=[-1, 0, 1], shape=(n, n))
    host_a, host_b = a.toarray().get(), b.toarray().get()
    scipy_dense = pytest.importorskip("scipy.linalg")
    known, vectors = scipy_dense.eigh(host_a, host_b)
    x = np.random.default_rng(0).standard_normal((n, 3))
    w, v = linalg.lobpcg(a, x, B=b, largest=False, tol=1e-9, maxiter=200)
    np.testing.assert_allclose(w.get(), known[:3], rtol=1e-10)
    v = v.get()
    assert abs(v.T @ host_b @ v - np.eye(3)).max() < 1e-12
    w, v, values, norms = linalg.lobpcg(
        a, x, B=b, Y=2 * vectors[:, :2], largest=False, tol=1e-9, maxiter=200, retLambdaHistory=True,
        retResidualNormsHistory=True,
    )  # fmt: skip
    np.testing.assert_allclose(w.get(), known[2:5], rtol=1e-9)
    assert abs(vectors[:, :2].T @ host_b @ v.get()).max() < 1e-10
    assert len(values) == len(norms) and (values[-1] == w.get()).all()
    # Functions of blocks.
    w = linalg.lobpcg(lambda x: a @ x, rnp.to_gpu(x), B=lambda x: b @ x, largest=False, tol=1e-9, maxiter=200)[0]
    np.testing.assert_allclose(w.get(), known[:3], rtol=1e-10)


def test_blocks_that_are_too_wide_and_wrong_arguments():
    a = gallery.poisson1d(12)
    x = np.random.default_rng(0).standard_normal((12, 3))
    known = np.linalg.eigvalsh(a.toarray().get())
    with pytest.warns(UserWarning, match="too small relative to the block size 3"):
        w, v = linalg.lobpcg(a, x)
    np.testing.assert_allclose(w.get(), known[::-1][:3], rtol=1e-13)
    check_pairs(scipy_sparse.csr_array(a.get()), w, v, 1e-12)
    with pytest.warns(UserWarning, match="minus the constraints size 2"):
        w, v = linalg.lobpcg(a, x, Y=np.eye(12, 2), largest=False)
    np.testing.assert_allclose(w.get(), np.linalg.eigvalsh(a.toarray().get()[2:, 2:])[:3], rtol=1e-12)
    a, x = gallery.poisson1d(60), np.random.default_rng(0).standard_normal((60, 3))
    with pytest.warns(UserWarning, match="Exited at iteration 3 .*not reaching the requested tolerance 1e-12"):
        linalg.lobpcg(a, x, tol=1e-12, maxiter=3)
    for message, args, keywords in [
        ("Linearly dependent initial approximations", (a, x[:, [0, 1, 0]]), {}),
        ("Linearly dependent constraints", (a, x), {"Y": x[:, [0, 0]]}),
        (r"A has shape \(60, 60\)", (a, x[:50]), {}),
        (r"B has shape \(12, 12\)", (a, x), {"B": np.eye(12)}),
        ("expected rank-2 array", (a, x[:, 0]), {}),
        (r"Y has shape \(3, 60\)", (a, x), {"Y": x.T}),
        ("maxiter is -1", (a, x), {"maxiter": -1}),
        ("Y has infinities or NaN", (a, x), {"Y": x * np.nan}),
        ("Y is an array of dtype <U1; expected an array of numbers", (a, x), {"Y": np.full((60, 1), "a")}),
        ("X is 'start'; expected an array of numbers", (a, "start"), {}),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            linalg.lobpcg(*args, **keywords)


def test_constraints_of_a_real_matrix_may_be_complex():
    a, x = gallery.poisson1d(20), np.random.default_rng(0).standard_normal((20, 2))
    y = np.ones((20, 1)) + 1j * np.arange(20)[:, None]
    w, v = linalg.lobpcg(a, x, Y=y, largest=False, tol=1e-9, maxiter=200)
    assert v.dtype == np.complex128
    check_constrained(a.toarray().get(), np.eye(20), y, w.get(), v.get())


def check_constrained(a, b, y, w, v):
    """Whether these are the smallest eigenvalues among vectors that are orthogonal to `y`."""
    np.testing.assert_allclose(y.conj().T @ b @ v, 0, atol=1e-10)
    free = np.linalg.qr(b @ y, mode="complete")[0][:, y.shape[1] :]
    known = dense.eigh(free.conj().T @ a @ free, free.conj().T @ b @ free, eigvals_only=True)
    np.testing.assert_allclose(w, known[: len(w)], rtol=1e-9)


def test_constraints_that_are_no_eigenvectors():
    a, x = gallery.poisson1d(40), np.random.default_rng(0).standard_normal((40, 2))
    b, y = sparse.diags_array(np.linspace(1, 2, 40)), np.random.default_rng(1).standard_normal((40, 2))
    # Iterations that go on after residuals are as small as they get must not lose the constraints.
    for tol in (1e-9, 1e-20):
        with warnings.catch_warnings():
            warnings.simplefilter("error" if tol == 1e-9 else "ignore")
            w, v = linalg.lobpcg(a, x, B=b, Y=y, largest=False, tol=tol, maxiter=300)
        check_constrained(a.toarray().get(), np.diag(np.linspace(1, 2, 40)), y, w.get(), v.get())


@pytest.mark.parametrize("dtype", FLOATING)
def test_estimates_of_norms(dtype):
    a = sparse.csr_array(hermitian(120, dtype))
    known = np.linalg.norm(a.toarray().get(), 1)
    est, v, w = linalg.onenormest(a, t=3, compute_v=True, compute_w=True)
    assert 0.5 * known < est <= known * (1 + 1e-6)
    np.testing.assert_allclose(abs(w.get()).sum(), est * abs(v.get()).sum(), rtol=1e-5)
    np.testing.assert_allclose((a @ v).get(), w.get(), atol=1e-5)
    assert linalg.onenormest(a, t=3) == est
    inverse = rnp.to_gpu(np.linalg.inv(a.toarray().get()))
    operator = linalg.LinearOperator(a.shape, lambda x: inverse @ x, lambda x: inverse.conj().T @ x, dtype=dtype)
    known = np.linalg.norm(inverse.get(), 1)
    assert 0.5 * known < linalg.onenormest(operator) <= known * (1 + 1e-4)


def test_norms_of_small_matrices_are_exact():
    a = np.array([[1.0, -2], [3, 4]])
    est, v, w = linalg.onenormest(a, compute_v=True, compute_w=True)
    assert est == 6 and v.get().tolist() == [0, 1] and w.get().tolist() == [-2, 4]
    with pytest.raises(ValueError, match="t is 0"):
        linalg.onenormest(a, t=0)
    with pytest.raises(ValueError, match="expected square"):
        linalg.onenormest(np.ones((2, 3)))


@pytest.mark.parametrize("dtype", FLOATING)
def test_products_with_exponentials(dtype):
    scipy_dense = pytest.importorskip("scipy.linalg")
    a = (-1.5 * hermitian(60, dtype)).astype(dtype)
    b = np.random.default_rng(1).standard_normal((60, 2)).astype(dtype)
    known = scipy_dense.expm(a.toarray().astype(np.complex128)) @ b
    tolerance = (1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-12) * abs(known).max()
    ours = sparse.csr_array(a)
    for operand in (
        ours,
        ours.toarray(),
        linalg.LinearOperator(a.shape, lambda x: ours @ x, lambda x: ours @ x, dtype=dtype),
    ):
        x = linalg.expm_multiply(operand, b)
        assert x.dtype == dtype
        np.testing.assert_allclose(x.get(), known, atol=tolerance)
    np.testing.assert_allclose(linalg.expm_multiply(ours, b[:, 0]).get(), known[:, 0], atol=tolerance)
    x = linalg.expm_multiply(ours, b, start=0.2, stop=1, num=3, endpoint=True)
    expected = scipy_linalg.expm_multiply(a, b, start=0.2, stop=1, num=3, endpoint=True)
    np.testing.assert_allclose(x.get(), expected, atol=10 * tolerance)


def test_wrong_arguments_of_exponentials():
    with pytest.raises(ValueError, match=r"incompatible shapes: A \(3, 3\), B \(4,\)"):
        linalg.expm_multiply(np.eye(3), np.ones(4))
    with pytest.raises(ValueError, match="infinities or NaN"):
        linalg.expm_multiply(sparse.csr_array(np.diag([1.0, np.nan])), np.ones(2))
