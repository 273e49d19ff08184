"""Solvers, eigenvalues and norms of numbers that are far from 1: powers of two as units change no digit of an answer.

Squares of what is below 1e-154 are 0 in double precision, those of what is above 1e154 infinite.
"""

import itertools

import numpy as np
import pytest
from depth import at_depth

pytest.importorskip("scipy.sparse")

from rtcg import sparse  # noqa: E402
from rtcg.sparse import linalg  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")

#: Binary exponents of the matrix and of the right side.
POWERS = {
    np.float64: [(0, -565), (-47, 0), (-963, -963), (963, 963), (0, 960), (0, -1000), (-400, 400), (900, 0), (-900, 0)],
    np.float32: [(0, -100), (-47, 0), (-100, -100), (100, 100), (0, 100), (-40, 50), (90, 0)],
}
SOLVERS = ["cg", "bicg", "bicgstab", "cgs", "qmr", "tfqmr", "gmres", "gcrotmk", "minres", "lsqr", "lsmr"]


def system(dtype):
    """A positive definite matrix that all solvers take, and a right side."""
    a = sparse.gallery.poisson2d(5).get().tocsr().astype(dtype)
    b = np.random.default_rng(1).random(25).astype(dtype)
    return a, b


def solved(name, a, b, **options):
    """The solution and whether the solver says that it is one."""
    if name in ("lsqr", "lsmr"):
        tight = 10 * float(np.finfo(b.dtype).eps)
        x, istop = getattr(linalg, name)(a, b, atol=tight, btol=tight, conlim=0, **options)[:2]
        return x, istop in (1, 2, 4, 5)
    x, info = getattr(linalg, name)(a, b, rtol=1e-10 if b.dtype == np.float64 else 1e-5, **options)
    return x, info == 0


def scaled(array, power):
    """Times a power of two that need not be a number of the dtype."""
    half = power // 2
    return array * array.dtype.type(2.0**half) * array.dtype.type(2.0 ** (power - half))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_at_all_scales(name, dtype):
    a, b = system(dtype)
    x = np.linalg.solve(a.toarray().astype(np.float64), b.astype(np.float64))
    for of_a, of_b in POWERS[dtype]:
        if name in ("lsqr", "lsmr") and abs(of_a + of_b) > np.log2(float(np.finfo(dtype).max)):
            continue  # A.T @ b is no number
        matrix = sparse.csr_array(scaled(a, of_a))
        got, found = solved(name, matrix, scaled(b, of_b))
        wrong = abs(scaled(got.get().astype(np.float64), of_a - of_b) - x).max() / abs(x).max()
        assert found and wrong < (1e-7 if dtype == np.float64 else 1e-3), (name, of_a, of_b, found, wrong)


@pytest.mark.parametrize("name", ["cg", "minres", "gmres", "bicgstab", "tfqmr"])
def test_preconditioned_solvers_at_all_scales(name):
    a, b = system(np.float64)
    x = np.linalg.solve(a.toarray(), b)
    for (of_a, of_b), of_m in itertools.product(
        [(-963, -963), (0, -700), (800, 800)], at_depth([0, -500], [0, -500, 500])
    ):
        if of_m // 2 - of_a > 1020:
            continue  # M is no number
        matrix = sparse.csr_array(scaled(a, of_a))
        for m in (linalg.jacobi(matrix) * 2.0 ** (of_m // 2), linalg.ilu0(matrix) if name != "minres" else None):
            got, found = solved(name, matrix, scaled(b, of_b), M=m)
            wrong = abs(scaled(got.get(), of_a - of_b) - x).max() / abs(x).max()
            assert found and wrong < 1e-7, (name, of_a, of_b, of_m, found, wrong)


def test_reports_and_callbacks_are_in_the_units_of_the_problem():
    a, b = system(np.float64)
    matrix, small = sparse.csr_array(a), scaled(b, -700)
    seen = []
    x, info, report = linalg.cg(matrix, small, rtol=1e-9, return_report=True, callback=lambda x: seen.append(x.get()))
    plain = linalg.cg(matrix, b, rtol=1e-9, return_report=True)[2]
    assert info == 0 and len(seen) == report.iterations == plain.iterations
    np.testing.assert_array_equal(seen[-1], x.get())
    # Norms are those of the problem in the units of the solver, whose rounding differs.
    np.testing.assert_allclose(scaled(report.history, 700)[:5], plain.history[:5], rtol=1e-9)
    np.testing.assert_allclose(scaled(np.array(report.threshold), 700), plain.threshold, rtol=1e-12)
    # An absolute threshold is one of the problem, too.
    assert linalg.cg(matrix, small, rtol=0, atol=1e-150)[0].get().any() == False  # noqa: E712


def test_columns_of_unlike_sizes():
    a, b = system(np.float64)
    powers = [0, -700, 700, 0]
    sides = np.stack([scaled(b, power) for power in powers], axis=1)
    sides[:, 3] = 0
    x, info = linalg.cg(sparse.csr_array(a), sides, rtol=1e-10)
    assert info.tolist() == [0] * 4 and not x.get()[:, 3].any()
    want = np.linalg.solve(a.toarray(), b)
    for k, power in enumerate(powers[:3]):
        np.testing.assert_allclose(scaled(x.get()[:, k], -power), want, rtol=1e-7)


@pytest.mark.parametrize("name", ["cg", "gmres", "minres", "bicgstab"])
def test_a_start_that_hides_the_right_side(name):
    a, b = system(np.float64)
    x0 = np.ones(25)
    got, found = solved(name, sparse.csr_array(a), scaled(b, -565), x0=x0)
    wrong = abs(scaled(got.get(), 565) - np.linalg.solve(a.toarray(), b)).max()
    assert found and wrong < 1e-6, (found, wrong)


def test_a_solution_that_is_no_number_is_not_reported_as_found():
    a, b = system(np.float64)
    for of_a, of_b in ((-900, 900), (900, -900)):
        x, info = linalg.cg(sparse.csr_array(scaled(a, of_a)), scaled(b, of_b))
        assert info != 0, (of_a, of_b, x)


@pytest.mark.parametrize("name", ["cg", "bicgstab", "minres"])
def test_refined_solutions_beyond_the_range_of_single_precision(name):
    a, b = system(np.float64)
    for power in (-300, 300):
        x, info = getattr(linalg, name)(sparse.csr_array(scaled(a, power)), b, rtol=1e-11, refine=True)
        assert info == 0
        np.testing.assert_allclose(scaled(x.get(), power), np.linalg.solve(a.toarray(), b), rtol=1e-8)


@pytest.mark.parametrize("name", ["lsqr", "lsmr"])
def test_least_squares_of_zeros_of_a_start_and_of_nan(name):
    solve = getattr(linalg, name)
    a = np.random.default_rng(2).random((6, 4))
    x0, damp = np.arange(1.0, 5), 0.7
    tight = {"atol": 1e-14, "btol": 1e-14, "conlim": 0}
    for b in (np.zeros(6), np.ones(6)):
        # The least norm(b - a x)**2 + damp**2 norm(x - x0)**2.
        want = x0 + np.linalg.solve(a.T @ a + damp**2 * np.eye(4), a.T @ (b - a @ x0))
        got = solve(sparse.csr_array(a), b, damp=damp, x0=x0, **tight)
        np.testing.assert_allclose(got[0].get(), want, rtol=1e-8, err_msg=str(got[1]))
    assert not solve(sparse.csr_array(a), np.zeros(6))[0].get().any()
    for where in ("a", "b"):
        matrix, side = a.copy(), np.ones(6)
        (matrix if where == "a" else side)[2 if where == "b" else (2, 1)] = np.nan
        assert solve(sparse.csr_array(matrix), side)[1] == 7, where


def test_no_more_iterations_than_may_be():
    a, b = system(np.float64)
    for maxiter, check_every in ((3, 50), (7, 7), (1, 20)):
        options = {"rtol": 1e-14, "maxiter": maxiter, "check_every": check_every, "return_report": True}
        for mode in ("stream", "graph"):
            _, info, report = linalg.cg(sparse.csr_array(a), b, mode=mode, **options)
            assert info == report.iterations == maxiter
            assert report.wasted_iterations <= 2 * maxiter, "no group is longer than all iterations"


EIGEN = [(np.float64, p) for p in (-963, -100, 900)] + [(np.float32, p) for p in (-100, -50, 100)]


@pytest.mark.parametrize("dtype, power", EIGEN)
def test_eigenvalues_at_all_scales(dtype, power):
    a = scaled(sparse.gallery.poisson2d(6).get().tocsr().astype(dtype), power)
    ours, tol = sparse.csr_array(a), 1e-9 if dtype == np.float64 else 2e-4
    unit = np.array(sparse.gallery.poisson2d(6).toarray().get(), np.float64)
    values = np.linalg.eigvalsh(unit)

    def compare(found, want, what):
        np.testing.assert_allclose(scaled(found.get().astype(np.float64), -power), want, rtol=tol, err_msg=what)

    compare(linalg.eigsh(ours, k=3, which="LA")[0], values[-3:], "eigsh LA")
    compare(linalg.eigsh(ours, k=3, which="SA")[0], values[:3], "eigsh SA")
    u, s, vh = linalg.svds(ours, k=2)
    compare(s, values[-2:], "svds")
    product = scaled((u.get() * scaled(s.get(), -power)) @ vh.get(), 0)
    assert abs(np.linalg.norm(product, 2) - values[-1]) < 10 * tol * values[-1]
    x = np.random.default_rng(3).random((36, 2)).astype(dtype)
    found, vectors = linalg.lobpcg(ours, x, largest=True, maxiter=200)
    compare(found, values[:-3:-1], "lobpcg")
    np.testing.assert_allclose(vectors.get().T @ vectors.get(), np.eye(2), atol=1e-4)


def test_generalized_eigenvalues_at_all_scales():
    a, b = sparse.gallery.poisson2d(6).get().tocsr(), sparse.diags_array(np.arange(1.0, 37)).get().tocsr()
    x = np.random.default_rng(3).random((36, 2))
    want = linalg.lobpcg(sparse.csr_array(a), x, B=sparse.csr_array(b), maxiter=300, tol=1e-9)[0].get()
    for of_a, of_b in ((-800, 0), (0, 600), (-900, -900)):
        ours, metric = sparse.csr_array(scaled(a, of_a)), sparse.csr_array(scaled(b, of_b))
        values, vectors = linalg.lobpcg(ours, x, B=metric, maxiter=300)
        np.testing.assert_allclose(scaled(values.get(), of_b - of_a), want, rtol=1e-5)
        v = scaled(vectors.get(), of_b // 2)
        np.testing.assert_allclose(v.T @ b @ v, np.eye(2), atol=1e-6)


@pytest.mark.parametrize("dtype, power", [(np.float64, -963), (np.float64, 900), (np.float32, 100)])
def test_norms_at_all_scales(dtype, power):
    plain = sparse.random_array((7, 5), density=0.5, rng=1).get().tocsr().astype(dtype)
    a = sparse.csr_array(scaled(plain, power))
    dense = plain.toarray().astype(np.float64)
    for ord in (None, "fro", 1, -1, np.inf, -np.inf):
        got = float(linalg.norm(a, ord).get())
        np.testing.assert_allclose(scaled(np.array(got), -power), np.linalg.norm(dense, ord), rtol=1e-5)
    for ord, axis in itertools.product((None, 2, 3, 1, np.inf), (0, 1)):
        got = linalg.norm(a, ord, axis).get().astype(np.float64)
        np.testing.assert_allclose(scaled(got, -power), np.linalg.norm(dense, ord, axis), rtol=1e-5)
    square = sparse.csr_array(scaled(plain[:5], power))
    got = linalg.onenormest(square)
    np.testing.assert_allclose(scaled(np.array(got), -power), abs(dense[:5]).sum(axis=0).max(), rtol=1e-5)
