"""What solvers have beside SciPy's: several right-hand sides, refinement, flexible, pipelined and recycling forms; and
what callbacks are given."""

import inspect
import itertools

import numpy as np
import pytest
from depth import each_kind

scipy_sparse = pytest.importorskip("scipy.sparse")
scipy_linalg = pytest.importorskip("scipy.sparse.linalg")

import rtcg.numpy as rnp  # noqa: E402
from rtcg import sparse  # noqa: E402
from rtcg.sparse import linalg  # noqa: E402
from tests.python.test_sparse_krylov import SQUARE, convection, matrix, preconditioners, right_side  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")


def columns_of(n, dtype=np.float64):
    b = right_side(n, dtype)
    # Unlike numbers of iterations: rough, smooth, and none at all.
    return np.stack([b, np.ones(n, dtype), np.zeros(n, dtype), 1e-3 * b[::-1]], axis=1)


# Each dtype and each kind of preconditioner once: a case compiles kernels of its own.
CASES = [("none", np.float64), ("diagonal", np.complex128), ("operator", np.float64)]


@pytest.mark.parametrize("preconditioner, dtype", CASES)
@pytest.mark.parametrize("method", SQUARE)
def test_columns_are_solved_for_as_each_alone(method, preconditioner, dtype):
    a = matrix(method, dtype)
    b = columns_of(180, dtype)
    solve, ours = getattr(linalg, method), sparse.csr_array(a)
    options = preconditioners(method, a, preconditioner)[1] | {"rtol": 1e-9, "return_report": True}
    x, info, reports = solve(ours, b, **options)
    assert x.shape == b.shape and x.dtype == dtype and info.tolist() == [0] * 4 and len(reports) == 4
    for k in range(4):
        alone, _, report = solve(ours, b[:, k], **options)
        np.testing.assert_allclose(x.get()[:, k], alone.get(), atol=1e-7 * abs(b[:, k]).max())
        assert abs(reports[k].iterations - report.iterations) <= max(1, report.iterations // 50)
        assert len(reports[k].history) == reports[k].iterations + 1
        assert reports[k].waits_in_loop == 0
    assert len({report.iterations for report in reports}) > 1 and reports[2].iterations == 0


@pytest.mark.parametrize("mode", ["stream", "graph"])
@pytest.mark.parametrize("format", ["csr", "dia"])
def test_columns_in_formats_and_modes(format, mode):
    a = sparse.gallery.poisson2d(15)
    b = columns_of(225)
    x0 = np.ones_like(b)
    found = [linalg.cg(a.asformat(format), b, x0, rtol=1e-10, mode=mode, check_every=k)[0].get() for k in (1, 7)]
    assert (found[0] == found[1]).all() and (x0 == 1).all()
    np.testing.assert_allclose(a.get() @ found[0], b, atol=1e-8)
    # More columns than a lane has sums of.
    many = np.random.default_rng(1).standard_normal((225, 20))
    x, info = linalg.cg(a.asformat(format), many, rtol=1e-10, mode=mode)
    assert info.shape == (20,) and not info.any()
    np.testing.assert_allclose(a.get() @ x.get(), many, atol=1e-7)
    # A column does not depend on what its neighbours are; how many there are decides in which order a GPU adds up.
    beside = np.hstack([b[:, :2], many[:, : b.shape[1] - 2]])
    again = linalg.cg(a.asformat(format), beside, x0, rtol=1e-10, mode=mode)[0].get()
    np.testing.assert_array_equal(again[:, :2], found[0][:, :2])


def test_columns_end_each_by_itself():
    a = sparse.csr_array(scipy_sparse.diags_array(np.r_[np.linspace(1, 2, 49), 0.0]))
    easy, impossible = np.r_[np.ones(49), 0.0], np.r_[np.zeros(49), 1.0]
    x, info, reports = linalg.cg(a, np.stack([easy, impossible, easy], axis=1), rtol=1e-10, return_report=True)
    assert info.tolist() == [0, -1, 0] and [r.reason for r in reports] == ["converged", "breakdown", "converged"]
    np.testing.assert_allclose(a.get() @ x.get()[:, 0], easy, atol=1e-8)
    hard = sparse.gallery.poisson2d(20)
    _, info = linalg.cg(hard, np.stack([right_side(400), np.zeros(400)], axis=1), maxiter=3)
    assert info.tolist() == [3, 0]
    calls = []
    linalg.cg(hard, np.ones((400, 2)), maxiter=4, callback=lambda x: calls.append(x.shape))
    assert calls == [(400, 2)] * 4
    with pytest.raises(ValueError, match="shapes of A .* and x0 .* are incompatible"):
        linalg.cg(hard, np.ones((400, 2)), np.ones(400))
    with pytest.raises(ValueError, match="shapes of A .* and b .* are incompatible"):
        linalg.gmres(hard, np.ones((400, 2)))
    with pytest.raises(ValueError, match="'device' ends for one right side, not for 2"):
        linalg.cg(hard, np.ones((400, 2)), mode="device")
    dense = rnp.to_gpu(hard.toarray().get())
    x, info = linalg.cg(linalg.LinearOperator((400, 400), lambda v: dense @ v), np.ones((400, 2)), rtol=1e-9)
    assert not info.any()
    np.testing.assert_allclose(hard.get() @ x.get(), np.ones((400, 2)), atol=1e-6)


@pytest.mark.parametrize(
    "method, dtype", each_kind(itertools.product(["cg", "bicgstab", "minres"], [np.float64, np.complex128]))
)
def test_refinement_is_as_accurate_as_double_precision(method, dtype):
    a = matrix(method, dtype)
    b, x0 = right_side(180, dtype), np.linspace(0, 1, 180).astype(dtype)
    solve, ours, calls = getattr(linalg, method), sparse.csr_array(a), []
    for options in ({}, {"x0": x0}, {"M": linalg.jacobi(ours)} if method != "minres" else {}):
        x, info, report = solve(ours, b, rtol=1e-12, refine=True, return_report=True, **options)
        assert info == 0 and x.dtype == dtype and report.restarts >= 1 and report.waits_in_loop == 0
        assert np.linalg.norm(b - a @ x.get()) < 1.01e-12 * np.linalg.norm(b)
        assert len(report.history) == report.restarts + 2
    # Single precision alone is far from that.
    single = solve(ours.astype(np.complex64 if dtype == np.complex128 else np.float32), b.astype(np.complex64) if
                   dtype == np.complex128 else b.astype(np.float32), rtol=1e-12)[0].get()  # fmt: skip
    assert np.linalg.norm(b - a @ single) > 1e-9 * np.linalg.norm(b)
    _, info, report = solve(ours, b, rtol=1e-12, maxiter=3, refine=True, return_report=True)
    assert info == 3 and report.reason == "maxiter"
    solve(ours, b, rtol=1e-12, refine=True, callback=lambda x: calls.append(x.get()))
    assert len(calls) >= 2 and np.linalg.norm(b - a @ calls[0]) > np.linalg.norm(b - a @ calls[-1])


def test_refinement_takes_a_hierarchy_of_double_precision():
    pyamg = pytest.importorskip("pyamg")
    a, b = sparse.gallery.poisson2d(30), np.ones(900)
    smoother = ("jacobi", {"omega": 4 / 3})
    m = linalg.amg(pyamg.smoothed_aggregation_solver(a.get().tocsr(), presmoother=smoother, postsmoother=smoother))
    x, info, report = linalg.cg(a, b, rtol=1e-12, M=m, refine=True, return_report=True)
    assert info == 0 and report.iterations < 40 and np.linalg.norm(b - a.get() @ x.get()) < 1e-12 * 30


def test_refinement_says_what_it_cannot():
    a = sparse.gallery.poisson2d(8)
    with pytest.raises(TypeError, match="refine: b and A promote to float32"):
        linalg.cg(a.astype(np.float32), np.ones(64, np.float32), refine=True)
    with pytest.raises(ValueError, match="refine"):
        linalg.cg(a, np.ones((64, 2)), refine=True)
    x, info = linalg.cg(a, np.zeros(64), np.ones(64), refine=True)
    assert info == 0 and not x.get().any()
    _, info, report = linalg.cg(sparse.csr_array(np.zeros((4, 4))), np.ones(4), refine=True, return_report=True)
    assert (info, report.reason) == (-1, "breakdown")
    # Residuals whose squares are out of the range of single precision.
    tiny = 1e-30 * right_side(64)
    x, info = linalg.cg(a, tiny, rtol=1e-10, refine=True)
    assert info == 0
    np.testing.assert_allclose(a.get() @ x.get(), tiny, rtol=0, atol=1e-38)


@pytest.mark.parametrize("preconditioner, dtype", CASES)
@pytest.mark.parametrize("form", ["flexible", "pipelined"])
def test_other_forms_of_conjugate_gradients_have_the_same_iterates(form, preconditioner, dtype):
    a = matrix("cg", dtype)
    b, x0 = right_side(180, dtype), np.linspace(0, 1, 180).astype(dtype)
    theirs, ours = preconditioners("cg", a, preconditioner)
    expected, found = [], []
    scipy_linalg.cg(a, b, x0=x0, rtol=1e-9, callback=lambda x: expected.append(x.copy()), **theirs)
    x, info = linalg.cg(
        sparse.csr_array(a), b, x0, rtol=1e-9, callback=lambda x: found.append(x.get()), **ours, **{form: True}
    )
    assert info == 0 and abs(len(found) - len(expected)) <= 1
    for one, other in zip(found[:12], expected[:12], strict=False):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9 * abs(other).max())
    assert np.linalg.norm(b - a @ x.get()) < 1e-9 * np.linalg.norm(b)


def varying(a):
    """A preconditioner that is another one at every second call."""
    diagonal = rnp.to_gpu(1 / a.diagonal())
    other = rnp.to_gpu(1 / (a.diagonal() + 3 * np.arange(a.shape[0]) / a.shape[0]))
    turns = itertools.cycle([diagonal, other])
    return linalg.LinearOperator(a.shape, lambda x: next(turns) * x)


def test_preconditioners_may_change():
    with pytest.raises(ValueError, match="flexible and pipelined are True"):
        linalg.cg(sparse.eye_array(3), np.ones(3), flexible=True, pipelined=True)
    a = matrix("cg")
    b = right_side(180)
    x, info, report = linalg.cg(sparse.csr_array(a), b, M=varying(a), rtol=1e-9, flexible=True, return_report=True)
    assert info == 0 and report.iterations < 60
    np.testing.assert_allclose(a @ x.get(), b, atol=1e-6)
    a = matrix("gmres")
    for solve in (
        lambda: linalg.gmres(sparse.csr_array(a), b, M=varying(a), flexible=True, rtol=1e-9, return_report=True),
        lambda: linalg.gcrotmk(sparse.csr_array(a), b, M=varying(a), rtol=1e-9, return_report=True),
    ):
        x, info, report = solve()
        assert info == 0 and report.iterations < 60
        assert np.linalg.norm(b - a @ x.get()) <= 1.0001e-9 * np.linalg.norm(b)


@pytest.mark.parametrize("preconditioner, dtype", [*CASES, ("diagonal", np.float32), ("none", np.complex64)])
def test_flexible_gmres_knows_its_residual(preconditioner, dtype, on_virtual_device):
    a = matrix("gmres", dtype)
    b = right_side(180, dtype)
    ours = preconditioners("gmres", a, preconditioner)[1]
    rtol = 1e-9 if np.dtype(dtype).itemsize >= 8 and dtype != np.complex64 else 1e-4
    found = []
    for mode in ["stream", "graph", "device"][: 3 if on_virtual_device else 2]:
        x, info, report = linalg.gmres(
            sparse.csr_array(a), b, flexible=True, restart=9, rtol=rtol, mode=mode, return_report=True, **ours
        )
        assert info == 0 and np.linalg.norm(b - a @ x.get()) <= 1.01 * rtol * np.linalg.norm(b)
        assert (np.diff(report.history) <= 1e-3 * report.history[:-1]).all()
        np.testing.assert_allclose(report.history[-1], report.residual, rtol=0.1)
        found.append((x.get(), report.history))
    assert all((x == found[0][0]).all() and (history == found[0][1]).all() for x, history in found)
    if preconditioner == "none" and dtype == np.float64:
        plain = linalg.gmres(sparse.csr_array(a), b, restart=9, rtol=rtol, return_report=True)[2]
        np.testing.assert_allclose(found[0][1][:30], plain.history[:30], rtol=1e-9)


@pytest.mark.parametrize(
    "preconditioner, dtype", each_kind(itertools.product(["none", "diagonal"], [np.float64, np.complex128]))
)
def test_gcrotmk_recycles(preconditioner, dtype):
    a = (matrix("gmres", dtype) + scipy_sparse.diags_array(np.linspace(-3.5, 3, 180))).tocsr()
    b, x0 = right_side(180, dtype), np.linspace(0, 1, 180).astype(dtype)
    theirs, ours = preconditioners("gmres", a, preconditioner)
    options = {"rtol": 1e-9, "x0": x0, "m": 6, "k": 5}
    products = []
    counted = scipy_linalg.LinearOperator(a.shape, lambda v: products.append(1) or a @ v, dtype=dtype)
    expected, scipy_info = scipy_linalg.gcrotmk(counted, b, **options, **theirs)
    calls = []
    x, info, report = linalg.gcrotmk(sparse.csr_array(a), b, return_report=True, **options, **ours)
    assert info == scipy_info == 0 and np.linalg.norm(b - a @ x.get()) <= 1.01e-9 * np.linalg.norm(b)
    assert report.iterations < 1.3 * len(products)
    # Better than cycles that forget.
    forgets = linalg.gcrotmk(sparse.csr_array(a), b, return_report=True, **{**options, "k": 0}, **ours)[2]
    assert report.iterations < forgets.iterations
    linalg.gcrotmk(sparse.csr_array(a), b, callback=lambda x: calls.append(x.get()), **options, **ours)
    assert len(calls) > 2
    np.testing.assert_array_equal(calls[-1], x.get())
    assert linalg.gcrotmk(sparse.csr_array(a), b, maxiter=2, m=2)[1] == 2


def test_what_gcrotmk_refuses():
    eye = sparse.eye_array(4)
    for options in ({"CU": []}, {"truncate": "smallest"}):
        with pytest.raises(NotImplementedError, match="expected None and 'oldest'"):
            linalg.gcrotmk(eye, np.ones(4), **options)
    with pytest.raises(ValueError, match="Invalid value for 'truncate': 'none'"):
        linalg.gcrotmk(eye, np.ones(4), truncate="none")
    with pytest.raises(ValueError, match="m is 0"):
        linalg.gcrotmk(eye, np.ones(4), m=0)
    with pytest.raises(ValueError, match="k is -1"):
        linalg.gcrotmk(eye, np.ones(4), k=-1)


@pytest.mark.parametrize("kind", [None, "legacy", "pr_norm", "x"])
@pytest.mark.parametrize("maxiter", [3, 7, 100])
def test_callbacks_of_gmres_are_those_of_scipy(kind, maxiter):
    host, a = convection()
    b = right_side(196)
    ours, theirs = [], []
    options = {"rtol": 1e-9, "restart": 5, "maxiter": maxiter, "callback_type": kind}
    x, info, report = linalg.gmres(
        a, b, callback=lambda v: ours.append(v if np.isscalar(v) else v.get()), return_report=True, **options
    )
    options["callback_type"] = kind or "legacy"
    expected, scipy_info = scipy_linalg.gmres(
        host, b, callback=lambda v: theirs.append(v if np.isscalar(v) else v.copy()), **options
    )
    assert (info, len(ours)) == (scipy_info, len(theirs)) and report.waits_in_loop == 0
    np.testing.assert_allclose(np.array(ours[:20]), np.array(theirs[:20]), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(x.get(), expected, atol=1e-7)


def test_callbacks_of_gmres_come_in_time():
    # One that raises ends the solution in the middle.
    class Enough(Exception):
        pass

    _, a = convection()
    norms = []

    def callback(norm):
        norms.append(norm)
        if norm < 0.3:
            raise Enough

    with pytest.raises(Enough):
        linalg.gmres(a, right_side(196), rtol=1e-12, restart=4, callback=callback)
    assert norms[-1] < 0.3 and min(norms[:-1]) >= 0.3


@pytest.mark.parametrize("method", SQUARE)
def test_callbacks_are_not_called_behind_the_end(method):
    a, calls = sparse.csr_array(matrix(method)), []
    solve = getattr(linalg, method)
    for options in ({"maxiter": 6, "rtol": 1e-14}, {"rtol": 1e-3}):
        calls.clear()
        _, _, report = solve(
            a, right_side(180), callback=lambda x: calls.append(1), check_every=7, return_report=True, **options
        )
        turns = 2 if method == "tfqmr" else 1
        assert len(calls) == -(-report.iterations // turns) and report.wasted_iterations == 0
    # A breakdown in the first iteration changes nothing.
    calls.clear()
    linalg.cg(sparse.csr_array(np.zeros((3, 3))), np.ones(3), callback=lambda x: calls.append(1))
    assert calls == []


def test_least_squares_that_have_nothing_to_do():
    a = scipy_sparse.random_array((6, 4), density=0.6, rng=np.random.default_rng(1)).tocsr()
    ours = sparse.csr_array(a)
    for solve in (linalg.lsqr, linalg.lsmr):
        x, istop, iterations, *_ = solve(ours, np.zeros(6), x0=np.ones(4))
        assert (istop, iterations) == (0, 0) and not x.get().any()
        x, istop, iterations, *_ = solve(ours, a @ np.ones(4), x0=np.ones(4))
        assert (istop, iterations) == (0, 0) and (x.get() == 1).all()
        # To the last bit: a consistent system before one that is not.
        exact = solve(ours, a @ np.arange(4.0), atol=0, btol=0, conlim=0, **{limit(solve): 40})
        assert exact[1] == getattr(scipy_linalg, solve.__name__)(
            a, a @ np.arange(4.0), atol=0, btol=0, conlim=0, **{limit(solve): 40}
        )[1] == 4  # fmt: skip
        assert solve(ours, np.arange(6.0), atol=0, btol=0, conlim=0, **{limit(solve): 40})[1] == 5
        # Reasons within the tolerances come before those.
        assert solve(ours, a @ np.arange(4.0), atol=1e-3, btol=1e-3)[1] == 1
        assert solve(ours, np.arange(6.0), atol=1e-1, btol=1e-1, conlim=1.0001)[1] in (1, 2, 3)
        with pytest.raises(ValueError, match=f"{limit(solve)} is 0; expected an integer of at least 1"):
            solve(ours, np.zeros(6), **{limit(solve): 0})


def limit(solve):
    return "iter_lim" if solve is linalg.lsqr else "maxiter"


def test_histories_of_many_iterations_are_kept_from_the_beginning():
    a = sparse.gallery.poisson2d(10)
    _, info, report = linalg.cg(a, right_side(100), maxiter=3_000_000, rtol=1e-8, return_report=True)
    assert info == 0 and len(report.history) == report.iterations + 1


def test_signatures_are_those_of_scipy_and_more():
    for name in [*SQUARE, "gmres", "gcrotmk"]:
        ours = inspect.signature(getattr(linalg, name)).parameters
        theirs = inspect.signature(getattr(scipy_linalg, name)).parameters
        assert list(ours)[:3] == ["A", "b", "x0"] and {"mode", "return_report"} <= set(ours)
        assert set(theirs) - set(ours) <= {"show", "check"}
        documented = getattr(linalg, name).__doc__
        assert all(f"\n{parameter} : " in documented for parameter in ours), name
    with pytest.raises(TypeError, match=r"cg\(\) got an unexpected keyword argument 'tol'"):
        linalg.cg(sparse.eye_array(2), np.ones(2), tol=1)
    with pytest.raises(TypeError, match=r"cgs\(\) missing a required argument: 'b'"):
        linalg.cgs(sparse.eye_array(2))


@pytest.mark.parametrize("power", range(7))
def test_powers(power):
    a = scipy_sparse.random_array((12, 12), density=0.3, rng=np.random.default_rng(2)).tocsr()
    ours = linalg.matrix_power(sparse.csr_array(a), power)
    np.testing.assert_allclose(ours.toarray().get(), np.linalg.matrix_power(a.toarray(), power), atol=1e-12)
    with pytest.raises(ValueError, match="exponent must be >= 0"):
        linalg.matrix_power(sparse.csr_array(a), -1)
    with pytest.raises(TypeError, match="sparse matrix is not square"):
        linalg.matrix_power(sparse.csr_array(np.ones((2, 3))), power)
