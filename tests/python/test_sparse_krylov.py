"""Iterative solvers beside conjugate gradients against SciPy's: iterates, ends, breakdowns, and modes."""

import itertools

import numpy as np
import pytest
from depth import each_kind

scipy_sparse = pytest.importorskip("scipy.sparse")
scipy_linalg = pytest.importorskip("scipy.sparse.linalg")

import rtcg.numpy as rnp  # noqa: E402
from rtcg import sparse  # noqa: E402
from rtcg.sparse import linalg  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")

SQUARE = ["cg", "bicg", "bicgstab", "cgs", "minres", "qmr", "tfqmr"]


def matrix(kind, dtype=np.float64):
    """A Hermitian matrix of both signs for minres, a positive one for cg, and any other for the rest."""
    rng = np.random.default_rng(3)
    n = 180
    a = scipy_sparse.random_array((n, n), density=0.04, rng=rng)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * scipy_sparse.random_array((n, n), density=0.04, rng=rng)
    if kind == "minres":
        a = a + a.conj().T + scipy_sparse.diags_array(np.where(np.arange(n) % 3, 6.0, -6.0))
    elif kind == "cg":
        a = a @ a.conj().T + 10 * scipy_sparse.eye_array(n)
    else:
        a = a + scipy_sparse.diags_array(np.linspace(4, 9, n))
    return a.tocsr().astype(dtype)


def right_side(n, dtype=np.float64):
    b = np.random.default_rng(7).standard_normal(n)
    return (b + 1j * b[::-1] if np.dtype(dtype).kind == "c" else b).astype(dtype)


def preconditioners(method, a, kind):
    """Keywords for SciPy and for us."""
    if kind == "none":
        return {}, {}
    inverse = scipy_sparse.diags_array(1 / np.abs(a.diagonal()))
    ours = sparse.dia_array(inverse)
    if kind == "operator":
        ours = sparse.csr_array(inverse)
    names = ("M1", "M2") if method == "qmr" else ("M",)
    return {name: scipy_linalg.aslinearoperator(inverse) for name in names}, {name: ours for name in names}


@pytest.mark.parametrize(
    "method, preconditioner, dtype",
    each_kind(itertools.product(SQUARE, ["none", "diagonal", "operator"], [np.float64, np.complex128])),
)
def test_iterates_are_those_of_scipy(method, preconditioner, dtype):
    a = matrix(method, dtype)
    b, x0 = right_side(a.shape[0], dtype), np.linspace(0, 1, a.shape[0]).astype(dtype)
    theirs, ours = preconditioners(method, a, preconditioner)
    if method == "minres" and dtype == np.complex128:
        pytest.skip("SciPy's minres has products without conjugates")
    if method == "tfqmr" and preconditioner != "none":
        pytest.skip("SciPy's tfqmr applies its preconditioner on the other side of the matrix")
    expected, found = [], []
    scipy_x, scipy_info = getattr(scipy_linalg, method)(
        a, b, x0=x0, rtol=1e-9, callback=lambda x: expected.append(x.copy()), **theirs
    )
    before = x0.copy()
    x, info, report = getattr(linalg, method)(
        sparse.csr_array(a), b, x0=x0, rtol=1e-9, callback=lambda x: found.append(x.get()), return_report=True, **ours
    )
    assert info == scipy_info == 0 and (x0 == before).all() and x.dtype == dtype
    if method == "tfqmr":
        expected = expected[1::2]
    assert len(found) >= 8 and abs(len(found) - len(expected)) <= max(1, len(expected) // 50)
    for one, other in zip(found[:20], expected[:20], strict=False):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10 * abs(other).max())
    np.testing.assert_allclose(report.residual, np.linalg.norm(b - a @ x.get()), rtol=1e-3)
    assert np.linalg.norm(b - a @ x.get()) <= max(2e-8, 2 * np.linalg.norm(b - a @ scipy_x))
    assert len(report.history) == report.iterations + 1


@pytest.mark.parametrize(
    "method, dtype", each_kind(itertools.product(SQUARE, [np.float32, np.float64, np.complex64, np.complex128]))
)
def test_all_modes_give_the_same_bits(method, dtype, on_virtual_device):
    a = matrix(method, dtype)
    b = right_side(a.shape[0], dtype)
    found = {}
    for mode in ["stream", "graph", "device"][: 3 if on_virtual_device else 2]:
        x, info, report = getattr(linalg, method)(
            sparse.csr_array(a), b, rtol=1e-5, mode=mode, check_every=3, return_report=True
        )
        assert info == 0 and report.mode == mode and report.waits_in_loop == 0
        assert np.linalg.norm(b - a @ x.get()) < 1e-3 * np.linalg.norm(b)
        found[mode] = x.get(), report.iterations, report.history
    first = found["stream"]
    for x, iterations, history in found.values():
        assert (x == first[0]).all() and iterations == first[1] and (history == first[2]).all()


@pytest.mark.parametrize("method", SQUARE)
def test_ends_without_a_solution(method):
    a, ours = matrix(method), sparse.csr_array(matrix(method))
    n = a.shape[0]
    solve = getattr(linalg, method)
    x, info, report = solve(ours, right_side(n), maxiter=4, rtol=1e-12, return_report=True)
    assert info == 4 and report.reason == "maxiter"
    np.testing.assert_allclose(x.get(), getattr(scipy_linalg, method)(a, right_side(n), maxiter=4, rtol=1e-12)[0])
    x, info = solve(ours, np.zeros(n), x0=np.ones(n))
    assert info == 0 and not x.get().any()
    x, info, report = solve(ours, np.full(n, np.nan), return_report=True, maxiter=30)
    assert info != 0 and report.reason == "breakdown"
    x, info = solve(sparse.csr_array((0, 0)), np.zeros(0))
    assert (x.shape, info) == ((0,), 0)
    with pytest.raises(ValueError, match="expected square matrix"):
        solve(np.ones((3, 2)), np.ones(3))


@pytest.mark.parametrize("method", ["bicg", "bicgstab", "cgs", "qmr"])
def test_breakdowns_have_the_codes_of_scipy(method):
    # A rotation takes each vector to one that is orthogonal to it.
    a = scipy_sparse.csr_array(np.array([[0.0, 1.0], [-1.0, 0.0]]))
    b = np.array([1.0, 0.0])
    info = getattr(scipy_linalg, method)(a, b)[1]
    assert info < 0 and getattr(linalg, method)(sparse.csr_array(a), b)[1] == info


def test_minres_refuses_what_is_not_hermitian_or_not_positive():
    a = sparse.csr_array(matrix("minres"))
    with pytest.raises(ValueError, match="indefinite preconditioner"):
        linalg.minres(a, right_side(180), M=sparse.diags_array(-np.ones(180)))
    shifted = linalg.minres(a, right_side(180), shift=0.5, rtol=1e-10)[0].get()
    np.testing.assert_allclose((a.get() - 0.5 * scipy_sparse.eye_array(180)) @ shifted, right_side(180), atol=1e-6)


@pytest.mark.parametrize("method", ["bicg", "qmr"])
def test_operators_need_adjoints(method):
    a = matrix(method)
    dense = rnp.to_gpu(a.toarray())
    b = right_side(180)
    x, info = getattr(linalg, method)(linalg.aslinearoperator(dense), b, rtol=1e-9)
    assert info == 0
    np.testing.assert_allclose(a @ x.get(), b, atol=1e-6)
    with pytest.raises(ValueError, match="needs the adjoint of A"):
        getattr(linalg, method)(linalg.LinearOperator(a.shape, lambda x: dense @ x), b)


@pytest.mark.parametrize(
    "method, damp, shape, dtype",
    each_kind(
        itertools.product(["lsqr", "lsmr"], [0.0, 0.3], [(90, 40), (40, 90), (60, 60)], [np.float64, np.complex128])
    ),
)
def test_least_squares(method, shape, damp, dtype):
    rng = np.random.default_rng(5)
    a = scipy_sparse.random_array(shape, density=0.2, rng=rng) + 3 * scipy_sparse.eye_array(*shape)
    a = (a * (1 + 0.5j) if dtype == np.complex128 else a).tocsr()
    b = right_side(shape[0], dtype)
    expected = getattr(scipy_linalg, method)(a, b, damp=damp, atol=1e-10, btol=1e-10)
    for mode in ("stream", "graph"):
        found = getattr(linalg, method)(sparse.csr_array(a), b, damp=damp, atol=1e-10, btol=1e-10, mode=mode)
        assert found[1] == expected[1] and abs(found[2] - expected[2]) <= 2
        np.testing.assert_allclose(found[0].get(), expected[0], atol=1e-7)
        np.testing.assert_allclose(found[3:5], expected[3:5], rtol=1e-3, atol=1e-6)
    x0 = np.linspace(-1, 1, shape[1]).astype(dtype)
    few = {"damp": damp, "x0": x0, ("iter_lim" if method == "lsqr" else "maxiter"): 5}
    expected = getattr(scipy_linalg, method)(a, b, **few)
    found = getattr(linalg, method)(sparse.csr_array(a), b, **few)
    assert found[1:3] == expected[1:3] == (7, 5)
    np.testing.assert_allclose(found[0].get(), expected[0], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found[3:9], expected[3:9], rtol=1e-6)


def test_the_algebra_of_operators():
    a, b = matrix("bicg"), matrix("minres")
    host_a, host_b = scipy_linalg.aslinearoperator(a), scipy_linalg.aslinearoperator(b)
    our_a, our_b = linalg.aslinearoperator(sparse.csr_array(a)), linalg.aslinearoperator(sparse.csr_array(b))
    x = right_side(180)
    columns = np.stack([x, x[::-1]], axis=1)
    for combine in (
        lambda a, b: a + b,
        lambda a, b: a - 2 * b,
        lambda a, b: a @ b / 3,
        lambda a, b: (a * b) ** 2,
        lambda a, b: (a @ b).H,
        lambda a, b: -a.T,
        lambda a, b: (a + b).adjoint(),
    ):
        ours, theirs = combine(our_a, our_b), combine(host_a, host_b)
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        np.testing.assert_allclose((ours @ rnp.to_gpu(x)).get(), theirs @ x, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose((ours @ rnp.to_gpu(columns)).get(), theirs @ columns, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(our_a.rmatmat(rnp.to_gpu(columns)).get(), a.T @ columns, rtol=1e-9)
    with pytest.raises(ValueError, match="shape mismatch"):
        our_a + linalg.aslinearoperator(np.ones((2, 2)))
    with pytest.raises(ValueError, match="Scalar operands are not allowed"):
        our_a @ 2


def convection(n=14):
    a = sparse.gallery.convection_diffusion(n)
    return a.get().tocsr(), a


@pytest.mark.parametrize(
    "restart, preconditioner, dtype",
    each_kind(itertools.product([7, 30], ["none", "diagonal", "operator"], [np.float64, np.complex128])),
)
def test_gmres_is_that_of_scipy(restart, preconditioner, dtype):
    a = matrix("gmres", dtype) + (scipy_sparse.diags_array(np.linspace(-1, 3, 180)) if restart == 30 else 0)
    b, x0 = right_side(180, dtype), np.linspace(0, 1, 180).astype(dtype)
    theirs, ours = preconditioners("gmres", a, preconditioner)
    scipy_norms, norms, scipy_x, x = [], [], [], []
    options = {"x0": x0, "rtol": 1e-9, "restart": restart, "maxiter": 40}
    expected, scipy_info = scipy_linalg.gmres(
        a, b, **options, **theirs, callback=scipy_norms.append, callback_type="pr_norm"
    )
    got, info, report = linalg.gmres(
        sparse.csr_array(a), b, **options, **ours, callback=norms.append, callback_type="pr_norm", return_report=True
    )
    assert info == scipy_info and report.iterations == len(norms)
    assert abs(len(norms) - len(scipy_norms)) <= max(1, len(scipy_norms) // 50)
    np.testing.assert_allclose(norms[:20], scipy_norms[:20], rtol=1e-8)
    if info == 0:
        np.testing.assert_allclose(got.get(), expected, atol=1e-7)
    linalg.gmres(sparse.csr_array(a), b, **options, **ours, callback=lambda v: x.append(v.get()), callback_type="x")
    scipy_linalg.gmres(a, b, **options, **theirs, callback=lambda v: scipy_x.append(v.copy()), callback_type="x")
    np.testing.assert_allclose(x[:2], scipy_x[:2], atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_gmres_in_all_modes(dtype, on_virtual_device):
    host, a = convection()
    b = right_side(196, dtype)
    found = []
    for mode in ["stream", "graph", "device"][: 3 if on_virtual_device else 2]:
        x, info, report = linalg.gmres(a.astype(dtype), b, rtol=1e-4, restart=11, mode=mode, return_report=True)
        assert info == 0 and report.mode == mode and report.waits_in_loop == 0
        assert np.linalg.norm(b - host @ x.get()) < 1.01e-4 * np.linalg.norm(b)
        found.append((x.get(), report.history))
    for x, history in found:
        assert (x == found[0][0]).all() and (history == found[0][1]).all()


def test_ends_of_gmres():
    host, a = convection()
    b = right_side(196)
    assert linalg.gmres(a, b, maxiter=2, restart=3)[1] == scipy_linalg.gmres(host, b, maxiter=2, restart=3)[1] == 2
    x, info = linalg.gmres(a, np.zeros(196), x0=np.ones(196))
    assert info == 0 and not x.get().any()
    assert linalg.gmres(a, np.full(196, np.nan))[1] != 0
    # An exact solution before the basis is full, and a matrix that has none.
    eye = sparse.eye_array(5, format="csr")
    x, info, report = linalg.gmres(eye, np.arange(5.0), return_report=True)
    assert info == 0 and report.iterations == 1
    np.testing.assert_allclose(x.get(), np.arange(5), rtol=1e-12)
    singular = scipy_sparse.csr_array(np.diag([1.0, 0.0]))
    expected = scipy_linalg.gmres(singular, np.ones(2), maxiter=3)
    x, info = linalg.gmres(sparse.csr_array(singular), np.ones(2), maxiter=3)
    assert info == expected[1] == 3
    with pytest.raises(ValueError, match="Unknown callback_type"):
        linalg.gmres(eye, np.ones(5), callback_type="y")
    with pytest.raises(ValueError, match="restart is 0"):
        linalg.gmres(eye, np.ones(5), restart=0)
