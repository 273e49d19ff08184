"""Conjugate gradients on the device against SciPy's: iterates, what is said of the result, and who waits."""

import itertools
import json

import numpy as np
import pytest
from depth import each_kind

scipy_sparse = pytest.importorskip("scipy.sparse")
scipy_linalg = pytest.importorskip("scipy.sparse.linalg")

import rtcg.numpy as rnp  # noqa: E402
from rtcg import sparse, tracing  # noqa: E402
from rtcg.sparse import linalg  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")

# Calls of the driver that return when the device has done something.
WAITS = ("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize", "cuMemcpyDtoH", "cuMemcpyHtoD", "cuMemcpy",
         "cuMemFree", "cuMemAlloc", "cuMemHostAlloc", "cuMemFreeHost")  # fmt: skip


def poisson(n):
    line = scipy_sparse.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    eye = scipy_sparse.eye_array(n)
    return (scipy_sparse.kron(line, eye) + scipy_sparse.kron(eye, line)).tocsr()


def hermitian(n, seed=0):
    rng = np.random.default_rng(seed)
    a = scipy_sparse.random_array((n, n), density=0.05, rng=rng) + 1j * scipy_sparse.random_array(
        (n, n), density=0.05, rng=rng
    )
    # Well conditioned, so that differences by rounding grow slowly.
    return (a @ a.conj().T + 40 * scipy_sparse.eye_array(n)).tocsr()


def right_side(n, dtype=np.float64):
    b = np.random.default_rng(7).standard_normal(n)
    return (b + 1j * b[::-1] if np.dtype(dtype).kind == "c" else b).astype(dtype)


def iterates(solve, *args, copy, **keywords):
    found = []
    x, info = solve(*args, callback=lambda x: found.append(x.copy()), **keywords)
    return [copy(x) for x in found], copy(x), info


@pytest.mark.parametrize("case", ["real", "complex", "jacobi", "dense operator", "preconditioned by an operator"])
def test_iterates_are_those_of_scipy(case):
    a = hermitian(300) if case == "complex" else poisson(30)
    b = right_side(a.shape[0], a.dtype)
    ours, theirs, m, device_m = sparse.csr_array(a), a, None, None
    if case == "jacobi":
        a = a + scipy_sparse.diags_array(np.linspace(0, 9, a.shape[0]))
        ours, theirs = sparse.csr_array(a), a
        m = scipy_sparse.diags_array(1 / a.diagonal())
        device_m = sparse.dia_array(m)
    elif case == "dense operator":
        dense = rnp.to_gpu(a.toarray())
        ours = linalg.LinearOperator(a.shape, lambda x: dense @ x)
    elif case == "preconditioned by an operator":
        m = scipy_sparse.diags_array(1 / np.linspace(1, 2, a.shape[0]))
        device_m = sparse.csr_array(m)
    x0 = np.linspace(0, 1, a.shape[0]).astype(a.dtype)
    expected, last, info = iterates(scipy_linalg.cg, theirs, b, x0=x0, M=m, rtol=1e-9, copy=np.asarray)
    before = x0.copy()
    got, x, our_info = iterates(linalg.cg, ours, b, x0=x0, M=device_m, rtol=1e-9, copy=lambda x: x.get())
    assert (x0 == before).all() and info == our_info == 0
    assert abs(len(got) - len(expected)) <= max(1, len(expected) // 50)
    for ours, theirs in zip(got[:20], expected[:20], strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10 * abs(theirs).max())
    assert np.linalg.norm(b - a @ x) < 1e-9 * np.linalg.norm(b)


@pytest.mark.parametrize(
    "preconditioned, dtype",
    each_kind(itertools.product([False, True], [np.float32, np.float64, np.complex64, np.complex128])),
)
def test_all_modes_give_the_same_bits(dtype, preconditioned, on_virtual_device):
    a = (poisson(25) if np.dtype(dtype).kind == "f" else hermitian(200)).astype(dtype)
    b = right_side(a.shape[0], dtype)
    m = sparse.diags_array(np.linspace(1, 2, a.shape[0])) if preconditioned else None
    rtol = 1e-4 if np.dtype(dtype).itemsize < 16 and dtype != np.float64 else 1e-9
    found = {}
    modes = ["stream", "graph", "persistent", "auto"] + ["device"] * on_virtual_device
    for mode in modes:
        x, info, report = linalg.cg(sparse.csr_array(a), b, M=m, rtol=rtol, mode=mode, return_report=True)
        assert (
            info == 0
            and report.reason == "converged"
            and report.mode in ([mode] if mode != "auto" else ["graph", "device", "persistent"])
        )
        assert report.residual < report.threshold
        assert len(report.history) == report.iterations + 1
        assert f"history=<{len(report.history)} norms>" in repr(report) and "\n" not in repr(report)
        found[mode] = x.get(), report
        assert x.dtype == dtype and (report.waits_in_loop, report.waits_at_end) == (0, 1 + report.restarts)
    first, report = found["stream"]
    for x, other in found.values():
        assert (x == first).all()
        assert other.iterations == report.iterations and (other.history == report.history).all()
    np.testing.assert_allclose(report.residual, np.linalg.norm(b - a @ first), rtol=1e-2)
    assert found["graph"][1].wasted_iterations <= 80


def traced_calls(path):
    """Names of driver calls in order."""
    events = json.loads(path.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    calls = [event for event in events if event.get("ph") == "X" and event["name"].startswith("cu")]
    return [event["name"] for event in sorted(calls, key=lambda event: event["ts"])]


@pytest.mark.parametrize("mode", ["stream", "graph"])
def test_the_host_waits_once_and_at_the_end(tmp_path, mode):
    a, b = sparse.csr_array(poisson(40)), rnp.to_gpu(right_side(1600))
    solve = lambda: linalg.cg(a, b, rtol=1e-9, mode=mode, return_report=True)  # noqa: E731
    solve()  # compiles and loads
    with tracing.trace(tmp_path / "trace.json"):
        x, info, report = solve()
    calls = traced_calls(tmp_path / "trace.json")
    launches = [k for k, name in enumerate(calls) if name.startswith(("cuLaunchKernel", "cuGraphLaunch"))]
    waits = [k for k, name in enumerate(calls) if name in WAITS]
    assert info == 0 and report.iterations > 100
    assert "cuEventQuery" in calls
    # The one for the residual at the end, and the copy of the history behind it.
    assert 1 <= len(waits) <= 2 and min(waits) > max(launches), [calls[k] for k in waits]


def test_what_is_said_of_the_result():
    a, n = sparse.csr_array(poisson(20)), 400
    b = right_side(n)
    x, info, report = linalg.cg(a, b, maxiter=7, return_report=True)
    assert (info, report.reason, report.iterations, len(report.history)) == (7, "maxiter", 7, 8)
    assert info == scipy_linalg.cg(a.get(), b, maxiter=7)[1]
    np.testing.assert_allclose(x.get(), scipy_linalg.cg(a.get(), b, maxiter=7)[0], rtol=1e-9)
    # Nothing to do: a right side of zeros, whatever the start is, and a start that is the solution.
    x, info, report = linalg.cg(a, np.zeros(n), x0=np.ones(n), return_report=True)
    assert (info, report.iterations) == (0, 0) and not x.get().any()
    solution = np.ones(n)
    x, info, report = linalg.cg(a, a.get() @ solution, x0=solution, return_report=True)
    assert (info, report.iterations) == (0, 0) and (x.get() == 1).all()
    # Not positive definite: found, and said.
    indefinite = sparse.diags_array(np.where(np.arange(50) % 2, -1.0, 2.0)).tocsr()
    _, info, report = linalg.cg(indefinite, np.ones(50), return_report=True)
    assert report.negative_curvature > 0
    # A direction that the matrix takes to nothing.
    _, info, report = linalg.cg(sparse.csr_array(np.zeros((3, 3))), np.ones(3), return_report=True)
    assert (info, report.reason) == (-1, "breakdown")
    _, info, report = linalg.cg(a, np.full(n, np.nan), return_report=True)
    assert (info, report.reason) == (-1, "breakdown")
    # More than rounding allows: the recurrence believes it, the residual does not.
    x, info, report = linalg.cg(a, b, rtol=1e-30, maxiter=2000, return_report=True)
    assert info > 0 and report.reason in ("stagnated", "maxiter") and report.residual < 1e-10


def test_an_empty_and_a_small_system():
    x, info = linalg.cg(sparse.csr_array((0, 0)), np.zeros(0))
    assert (x.shape, info) == ((0,), 0)
    x, info = linalg.cg(sparse.csr_array([[4.0]]), np.array([2]))
    assert (x.get().tolist(), x.dtype, info) == ([0.5], np.float64, 0)


def test_callbacks_and_functions_may_raise():
    a, b = sparse.csr_array(poisson(10)), right_side(100)

    def fail(x):
        raise KeyError("of a function")

    with pytest.raises(KeyError, match="of a function"):
        linalg.cg(a, b, callback=fail)
    with pytest.raises(KeyError, match="of a function"):
        linalg.cg(linalg.LinearOperator(a.shape, fail), b)
    with pytest.raises(TypeError, match="expected a GPUArray"):
        linalg.cg(linalg.LinearOperator(a.shape, lambda x: 3), b)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"b": np.ones(3)}, r"shapes of A \(4, 4\) and b \(3,\) are incompatible"),
        ({"x0": np.ones(5)}, r"shapes of A \(4, 4\) and x0 \(5,\) are incompatible"),
        ({"A": np.ones((4, 3))}, "expected square matrix, but got shape"),
        ({"M": np.eye(3)}, "matrix and preconditioner have different shapes"),
        ({"mode": "fast"}, "mode is 'fast'; expected"),
        ({"check_every": 0}, "check_every is 0"),
        ({"rtol": -1.0}, "rtol is -1.0"),
        ({"mode": "graph", "callback": print}, "a callback is called in mode 'stream' only"),
        ({"mode": "graph", "A": np.eye(4)}, "graphs need a csr_array"),
    ],
)
def test_bad_arguments(change, message):
    arguments = {"A": sparse.eye_array(4), "b": np.ones(4), **change}
    with pytest.raises(ValueError, match=message):
        linalg.cg(arguments.pop("A"), arguments.pop("b"), **arguments)


def test_operators():
    a = host = poisson(6)
    operator = linalg.aslinearoperator(sparse.csr_array(a))
    x = right_side(36)
    np.testing.assert_allclose(operator.matvec(rnp.to_gpu(x)).get(), host @ x)
    np.testing.assert_allclose(operator.rmatvec(rnp.to_gpu(x)).get(), host.T @ x)
    for ord in (None, "fro", 1, np.inf, -1, -np.inf):
        ours = float(linalg.norm(sparse.csr_array(a), ord).get())
        np.testing.assert_allclose(ours, scipy_linalg.norm(host, "fro" if ord is None else ord))
    cube = linalg.matrix_power(sparse.csr_array(a), 3)
    np.testing.assert_allclose(cube.toarray().get(), (host @ host @ host).toarray())


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dia"])
@pytest.mark.parametrize("mode", ["stream", "graph"])
def test_formats_of_operators(format, mode):
    a = poisson(20)
    b = right_side(400)
    x, info, report = linalg.cg(sparse.csr_array(a).asformat(format), b, rtol=1e-9, mode=mode, return_report=True)
    assert info == 0 and report.mode == mode
    np.testing.assert_allclose(a @ x.get(), b, atol=1e-6)


def test_a_matrix_with_full_rows():
    a = sparse.gallery.circuit(3000, 2)
    b = right_side(3000)
    x, info = linalg.cg(a, b, rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(a.get() @ x.get(), b, atol=1e-8)


INTERRUPTED = """
import faulthandler, os, signal, threading, time
faulthandler.dump_traceback_later(100, exit=True)
import numpy as np
import rtcg.autoinit
from rtcg import sparse
from rtcg.sparse import linalg

# So badly conditioned that iterations take for ever.
bad = sparse.diags_array([np.logspace(0, 15, 4000)], offsets=[0]).tocsr()
good = sparse.eye_array(4000).tocsr()
for mode in ("stream", "graph", "persistent", "auto"):
    linalg.cg(bad, np.ones(4000), maxiter=40, mode=mode)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.perf_counter()
    try:
        linalg.cg(bad, np.ones(4000), rtol=1e-200, maxiter=10**9, mode=mode)
    except KeyboardInterrupt:
        assert time.perf_counter() - begun < 20
    else:
        raise SystemExit("no KeyboardInterrupt")
    x, info = linalg.cg(good, np.ones(4000), mode=mode)
    assert info == 0 and (x.get() == 1).all()
"""


def test_control_c_ends_a_solution():
    from tests.python.subprocesses import run_python

    run_python(INTERRUPTED)


def test_numbers_that_make_no_sense_are_refused(context):
    a = sparse.eye_array(3, format="csr")
    for options, message in (({"maxiter": 0}, "maxiter is 0"), ({"rtol": float("nan")}, "rtol is nan")):
        with pytest.raises(ValueError, match=message):
            sparse.linalg.cg(a, rnp.ones(3), **options)
