"""The modes of iterative solvers: the same bits in each, whatever the schedule is; what each needs; clean checks."""

import numpy as np
import pytest
from depth import at_depth, in_turns

import rtcg.numpy as rnp
from rtcg import sparse
from rtcg.sparse import gallery, linalg
from tests.python.subprocesses import run_python
from tests.python.test_sparse import forced

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def modes(context, on_virtual_device):
    """The modes that the device has."""
    found = ["stream", "graph", "persistent"]
    if on_virtual_device:
        return [*found, "device"]
    try:
        linalg.cg(sparse.eye_array(4, format="csr"), np.ones(4), mode="device")
    except ValueError as error:
        assert "cudadevrt" in str(error) or "CUDA 12.3" in str(error)  # noqa: PT017
        return found
    return [*found, "device"]


def matrix_of(format):
    """A matrix whose products are computed in a format, or by a kernel."""
    a = gallery.poisson2d(24)
    if format == "dia":
        return a.todia()
    kernels = {
        "sell": lambda: a._native.to_sell(64, 4.0),
        "bsr": lambda: a.tobsr((2, 2))._native,
        "merge": lambda: format,
    }
    if format in kernels:
        a._native = a._native.planned(kernels[format]())
    elif format != "csr":
        a._native = a._native.planned("rows", int(format.split()[1]))
    return a


@pytest.mark.parametrize("format", ["csr", "dia", "sell", "merge", "rows 8", "bsr"])
def test_formats_in_all_modes(format, modes):
    a = matrix_of(format)
    b = np.random.default_rng(3).standard_normal(576)
    found = {}
    for mode in modes:
        x, info, report = linalg.cg(a, b, rtol=1e-10, mode=mode, return_report=True)
        assert (info, report.mode, report.mode_reason) == (0, mode, "asked for")
        assert (report.waits_in_loop, report.waits_at_end) == (0, 1 + report.restarts)
        found[mode] = x.get(), report.history
    x, history = found["stream"]
    np.testing.assert_allclose(gallery.poisson2d(24).get() @ x, b, atol=1e-7)
    for mode, (other, others) in found.items():
        assert (other == x).all() and (others == history).all(), mode


@pytest.mark.parametrize(
    "method, dtype",
    in_turns(["cg", "bicg", "bicgstab", "cgs", "minres", "qmr", "tfqmr"], [[np.float32], [np.complex128]]),
)
def test_methods_in_all_modes(method, dtype, modes):
    a = gallery.poisson2d(9) if method in ("cg", "minres") else gallery.convection_diffusion(9)
    b = np.linspace(1, 2, 81).astype(dtype) * (1 + 1j if dtype == np.complex128 else 1)
    m = sparse.diags_array(np.linspace(0.2, 0.3, 81)) if method in ("cg", "bicgstab") else None
    solve, options = getattr(linalg, method), {} if m is None else {"M": m}
    found = {}
    for mode in modes:
        x, info, report = solve(a.astype(dtype), b, rtol=1e-4, mode=mode, return_report=True, **options)
        assert info == 0 and report.mode == mode
        found[mode] = x.get(), report.iterations, report.history
    x, iterations, history = found["stream"]
    for other, count, others in found.values():
        assert (other == x).all() and count == iterations and (others == history).all()


def test_hubs_are_recorded_but_not_part_of_one_kernel(modes):
    a, b = gallery.poisson2d(24), np.random.default_rng(3).standard_normal(576)
    a._native = a._native.planned("hub")
    found = [linalg.cg(a, b, rtol=1e-10, mode=mode)[0].get() for mode in modes if mode != "persistent"]
    np.testing.assert_allclose(gallery.poisson2d(24).get() @ found[0], b, atol=1e-7)
    assert all((x == found[0]).all() for x in found)
    with pytest.raises(ValueError, match="'persistent' cannot have a format whose blocks are larger"):
        linalg.cg(a, b, mode="persistent")


@pytest.mark.parametrize("format", ["merge", "hub", "rows 8"])
def test_several_right_sides_of_skewed_matrices(format):
    # Products with dense matrices take the merge path, unless they are recorded.
    n = 3000
    host = sparse.gallery.arrow(n, dtype=np.float64).get()
    host.setdiag(2.0 * n)
    a, b = sparse.csr_array(host), np.random.default_rng(3).standard_normal((n, 3))
    a._native = a._native.planned(*([format] if format != "rows 8" else ["rows", 8]))
    for lanes in (1, 4):
        solve = lambda: linalg.cg(a, b, rtol=1e-10, return_report=True)  # noqa: E731
        x, info, reports = forced("merge", lanes, solve, "sparse.spmm")
        modes = {report.mode for report in reports}
        assert (np.asarray(info) == 0).all() and modes == {"graph" if format == "rows 8" else "stream"}
        np.testing.assert_allclose(host @ x.get(), b, atol=1e-7)


@pytest.mark.parametrize("method", ["lsqr", "lsmr"])
def test_least_squares_in_all_modes(method, modes):
    a = gallery.linear_program(40, 70, 5).T
    b = np.linspace(-1, 1, 70)
    found = [getattr(linalg, method)(a, b, mode=mode) for mode in modes]
    for x, *numbers in found:
        assert (x.get() == found[0][0].get()).all()
        assert [np.asarray(n).tolist() for n in numbers[:3]] == [np.asarray(n).tolist() for n in found[0][1:4]]


def test_limits_and_breakdowns_in_all_modes(modes):
    a, b = gallery.poisson2d(12), np.ones(144)
    for mode in modes:
        _, info, report = linalg.cg(a, b, rtol=1e-12, maxiter=7, mode=mode, return_report=True)
        assert (info, report.reason, report.iterations) == (7, "maxiter", 7)
        _, info, report = linalg.cg(sparse.csr_array((3, 3)), np.ones(3), mode=mode, return_report=True)
        assert (info, report.reason) == (-1, "breakdown")
        x, info, report = linalg.cg(a, a @ b, x0=b, mode=mode, return_report=True)
        assert (info, report.iterations) == (0, 0) and (x.get() == 1).all()


def test_what_modes_need(on_virtual_device):
    a, b = gallery.poisson2d(6), rnp.ones(36)
    function = linalg.LinearOperator(a.shape, matvec=lambda x: a @ x, dtype=np.float64)
    with pytest.raises(ValueError, match="'persistent' needs matrices in formats of this package, not functions"):
        linalg.cg(function, b, mode="persistent")
    with pytest.raises(ValueError, match="a callback is called in mode 'stream' only"):
        linalg.cg(a, b, mode="persistent", callback=print)
    with pytest.raises(ValueError, match=r"'persistent' has \d+ bytes of arguments for the \d+ kernels"):
        linalg.gmres(a, b, mode="persistent", restart=20)
    _, _, report = linalg.cg(function, b, return_report=True)
    assert report.mode == "stream" and "not functions" in report.mode_reason
    _, _, report = linalg.cg(a, b, callback=lambda x: None, return_report=True)
    assert report.mode == "stream" and "callback" in report.mode_reason
    _, _, report = linalg.gmres(a, b, return_report=True)
    assert report.mode in ("device", "graph") and "'persistent'" in report.mode_reason
    _, _, report = linalg.cg(a, b, return_report=True)
    assert report.mode_reason and report.mode != "auto"


# Solves in all modes, and compares bits with those of the first run and among modes.
SOLVE_ALL = """
import numpy as np
import rtcg.autoinit
from rtcg import checking, sparse
from rtcg.sparse import gallery, linalg

def solve_all(size=8):
    a, b = gallery.poisson2d(size), np.linspace(1, 2, size * size)
    found = []
    for mode in ("stream", "graph", "device", "persistent"):
        for matrix in (a, a.todia()):
            found.append(linalg.cg(matrix, b, rtol=1e-8, mode=mode)[0].get().tobytes())
        found.append(linalg.bicgstab(a, b, rtol=1e-8, M=linalg.jacobi(a), mode=mode)[0].get().tobytes())
    assert len(set(found)) <= 3, "one result for each of three systems"
    return found
"""


def test_schedules_do_not_change_bits(on_virtual_device):
    if not on_virtual_device:
        pytest.skip("schedules are those of the virtual GPU")
    code = f"""{SOLVE_ALL}
first = solve_all()
for seed in range({at_depth(3, 20)}):
    checking.set_schedule(f"chaos:{{seed}}")
    assert solve_all() == first, seed
"""
    run_python(code, timeout_s=300)


@pytest.mark.parametrize("checks", ["memory,init,sync,fatal", "race,fatal"])
def test_checks_are_clean_in_all_modes(checks, on_virtual_device):
    if not on_virtual_device:
        pytest.skip("checks are those of the virtual GPU")
    size = 5 if "race" in checks else 30
    code = f"""{SOLVE_ALL}
solve_all({size})
assert not checking.findings(), checking.findings()
"""
    run_python(code, timeout_s=300, RTCG_CHECK=checks)
