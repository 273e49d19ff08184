"""Triangular systems and factorisations: solutions, factors and errors as SciPy and the definitions have them."""

import itertools
import warnings

import numpy as np
import pytest
from depth import at_depth, each_kind

scipy_sparse = pytest.importorskip("scipy.sparse")

import scipy.sparse.linalg as host_linalg  # noqa: E402

import rtcg.numpy as rnp  # noqa: E402
from rtcg import sparse  # noqa: E402
from rtcg.sparse import gallery, linalg  # noqa: E402
from tests.python.subprocesses import has_real_device, run_python  # noqa: E402

pytestmark = pytest.mark.usefixtures("context")

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def random_matrix(n, density, dtype, seed=0):
    """A random matrix, some of whose rows have nothing but a large diagonal."""
    host = scipy_sparse.random_array((n, n), density=density, rng=np.random.default_rng(seed), format="csr")
    host.data = numbers(host.nnz, dtype, seed)
    return (host.astype(dtype) + scipy_sparse.diags_array(numbers(n, dtype, seed) + 8).astype(dtype)).tocsr()


def assert_solves(host, x, b):
    """That the residual is one that rounding explains."""
    eps = np.finfo(x.dtype).eps
    scale = abs(host) @ abs(x) + abs(b)
    assert (abs(host @ x - b) <= 4 * np.sqrt(host.shape[0]) * eps * scale).all()


@pytest.mark.parametrize("lower, dtype", each_kind(itertools.product([True, False], DTYPES)))
def test_solutions_are_those_of_scipy(dtype, lower):
    full = random_matrix(150, 0.04, dtype, seed=3)
    host = scipy_sparse.csr_array((scipy_sparse.tril if lower else scipy_sparse.triu)(full))
    a = sparse.csr_array(host)
    for b in (numbers(150, dtype, 1), numbers((150, 1), dtype, 1), numbers((150, 5), dtype, 2)):
        x = linalg.spsolve_triangular(a, b, lower=lower)
        assert x.shape == b.shape and x.dtype == dtype
        expected = host_linalg.spsolve_triangular(host, b, lower=lower)
        assert expected.dtype == x.dtype
        np.testing.assert_allclose(x.get(), expected, rtol=200 * np.finfo(dtype).eps, atol=50 * np.finfo(dtype).eps)
        assert_solves(host, x.get(), b)
    # The other triangle does not count, and neither does the diagonal where it is taken for 1.
    assert (linalg.spsolve_triangular(sparse.csr_array(full), b, lower=lower).get() == x.get()).all()
    small = full * dtype(0.1)
    unit = linalg.spsolve_triangular(sparse.csr_array(small), b, lower=lower, unit_diagonal=True)
    triangle = (scipy_sparse.tril(small, -1) if lower else scipy_sparse.triu(small, 1)).tocsr()
    assert_solves((triangle + scipy_sparse.eye_array(150, dtype=dtype)).tocsr(), unit.get(), b)


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_formats_indices_and_dtypes(format):
    host = scipy_sparse.tril(random_matrix(60, 0.1, np.float64)).asformat(format)
    b = numbers(60, np.float64)
    expected = host_linalg.spsolve_triangular(host, b)
    a = getattr(sparse, f"{format}_array")(host)
    np.testing.assert_allclose(linalg.spsolve_triangular(a, b).get(), expected, rtol=1e-12)
    wide = getattr(sparse, f"{format}_array")(
        (host.data, host.indices.astype(np.int64), host.indptr.astype(np.int64)), shape=host.shape
    )
    assert wide.indices.dtype == np.int64
    np.testing.assert_allclose(linalg.spsolve_triangular(wide, rnp.to_gpu(b)).get(), expected, rtol=1e-12)
    with pytest.warns(sparse.SparseEfficiencyWarning, match="CSC or CSR matrix format is required"):
        linalg.spsolve_triangular(a.tocoo(), b)
    for dtype, other in ((np.int64, np.int64), (np.float32, np.int32), (np.float32, np.complex64)):
        x = linalg.spsolve_triangular(a.astype(dtype), b.astype(other))
        assert x.dtype == host_linalg.spsolve_triangular(host.astype(dtype), b.astype(other)).dtype


def test_rows_out_of_order_and_elements_of_one_place():
    # [[2, 0], [1 + 2, 4 + 4]], whose columns descend.
    a = sparse.csr_array((np.array([2.0, 4, 4, 1, 2]), np.array([0, 1, 1, 0, 0]), np.array([0, 1, 5])), shape=(2, 2))
    x = linalg.spsolve_triangular(a, np.array([2.0, 11]))
    assert x.get().tolist() == [1, 1] and a.nnz == 5


def chain(n):
    """A matrix each of whose rows needs the one before it."""
    return scipy_sparse.diags_array([numbers(n - 1, np.float64), numbers(n, np.float64) + 6], offsets=[-1, 0]).tocsr()


@pytest.mark.parametrize(
    ("host", "levels"),
    [
        (scipy_sparse.eye_array(1, format="csr") * 4.0, 1),
        (scipy_sparse.eye_array(70, format="csr") * 2.0, 1),
        (chain(300), 300),
        (scipy_sparse.tril(gallery.poisson2d(24).get()).tocsr(), 47),
        (scipy_sparse.tril(gallery.arrow(400).get() + 900 * scipy_sparse.eye_array(400)).tocsr(), 2),
    ],
    ids=["one row", "diagonal", "chain", "stencil", "arrow"],
)
def test_levels(host, levels):
    solver = linalg.TriangularSolver(sparse.csr_array(host))
    b = numbers(host.shape[0], np.float64)
    assert solver.levels == levels
    assert_solves(host, solver.solve(b).get(), b)
    assert_solves(host.T.tocsr(), solver.solve(b, "T").get(), b)
    X = numbers((host.shape[0], 33), np.float64)
    assert_solves(host, (solver @ rnp.to_gpu(X)).get(), X)


def test_an_analysed_triangle():
    host = random_matrix(80, 0.06, np.complex128)
    a = sparse.csr_array(host)
    solver = linalg.TriangularSolver(a, lower=False)
    upper = scipy_sparse.triu(host).tocsr()
    b = numbers(80, np.complex128)
    for trans, matrix in (("N", upper), ("T", upper.T), ("H", upper.conj().T)):
        assert_solves(matrix.tocsr(), solver.solve(b, trans).get(), b)
    assert_solves(upper.conj().T.tocsr(), solver.H.matvec(rnp.to_gpu(b)).get(), b)
    # Values are those of the moment, and the analysis is kept with the array.
    first = linalg.spsolve_triangular(a, b)
    a.data *= 2
    np.testing.assert_allclose(linalg.spsolve_triangular(a, b).get(), first.get() / 2, rtol=1e-13)
    real = linalg.TriangularSolver(sparse.csr_array(host.real))
    x = real.solve(b).get()
    np.testing.assert_allclose(x, real.solve(b.real).get() + 1j * real.solve(b.imag).get())
    with pytest.raises(ValueError, match="trans must be N, T, or H"):
        solver.solve(b, "X")
    with pytest.raises(ValueError, match="b is of incompatible size"):
        solver.solve(b[1:])


def test_nan_and_infinity_arrive():
    host = chain(40)
    b = np.ones(40)
    b[7], b[20] = np.inf, np.nan
    # A number whose bits are all ones is that NaN which no element of a solution is posted as.
    b[30] = np.array([-1], np.int64).view(np.float64)[0]
    x = linalg.spsolve_triangular(sparse.csr_array(host), b).get()
    assert np.isfinite(x[:7]).all() and np.isinf(x[7:20]).all() and np.isnan(x[20:]).all()


def message(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args)
        except (ValueError, RuntimeError, TypeError, np.linalg.LinAlgError) as error:
            return type(error), str(error)
    return None


def test_errors_are_those_of_scipy():
    for matrix, b in (
        (np.eye(2), np.ones(3)),
        (np.eye(2), np.ones((2, 1, 1))),
        (np.diag([1.0, 0]), np.ones(2)),
        (np.array([[1.0, 0], [1, 0]]), np.ones(2)),
    ):
        host = scipy_sparse.csr_array(matrix)
        expected = message(host_linalg.spsolve_triangular, host, b)
        found = message(linalg.spsolve_triangular, sparse.csr_array(matrix), b)
        assert expected is not None and found[0] is expected[0] and found[1].startswith(expected[1].rstrip("."))
    stored = sparse.csr_array((np.array([1.0, 0, 3]), np.arange(3), np.arange(4)), shape=(3, 3))
    missing = sparse.csr_array((np.ones(2), np.array([0, 1]), np.array([0, 1, 2, 2])), shape=(3, 3))
    with pytest.raises(np.linalg.LinAlgError, match="zero entry on diagonal in row 1"):
        linalg.spsolve_triangular(stored, np.ones(3))
    with pytest.raises(np.linalg.LinAlgError, match="zero entry on diagonal in row 2"):
        linalg.TriangularSolver(missing, lower=False)
    with pytest.raises(ValueError, match="A must be a square matrix"):
        linalg.spsolve_triangular(sparse.csr_array(np.ones((2, 3))), np.ones(2))
    found = linalg.spsolve_triangular(scipy_sparse.csr_array(np.eye(2)), np.ones(2))
    np.testing.assert_array_equal(found.get(), np.ones(2))


def test_systems_without_rows_or_columns():
    empty = sparse.csr_array((0, 0))
    assert linalg.spsolve_triangular(empty, np.ones(0)).shape == (0,)
    assert linalg.ilu0(empty).solve(np.ones((0, 2))).shape == (0, 2)
    assert linalg.spsolve_triangular(sparse.csr_array(np.eye(3)), np.ones((3, 0))).shape == (3, 0)


# -- incomplete factors -----------------------------------------------------------------------------------


def dense_ilu0(a):
    """ILU(0) as it is defined."""
    a, stored = a.copy(), a != 0
    for i in range(len(a)):
        for k in range(i):
            if stored[i, k]:
                a[i, k] /= a[k, k]
                later = stored[i] & (np.arange(len(a)) > k)
                a[i, later] -= a[i, k] * a[k, later]
    return a


@pytest.mark.parametrize("dtype", DTYPES)
def test_ilu0_is_what_it_is_defined_as(dtype):
    for host in (random_matrix(70, 0.06, dtype, 5), gallery.convection_diffusion(9).get().astype(dtype)):
        M = linalg.ilu0(sparse.csr_array(host))
        n, tolerance = host.shape[0], 100 * np.finfo(dtype).eps
        expected = dense_ilu0(host.toarray())
        np.testing.assert_allclose((M.L + M.U).toarray().get(), expected + np.eye(n), rtol=tolerance, atol=tolerance)
        product = (M.L @ M.U).toarray().get()
        inside = host.toarray() != 0
        np.testing.assert_allclose(product[inside], host.toarray()[inside], rtol=tolerance, atol=tolerance)
        b = numbers(n, dtype)
        host_product = scipy_sparse.csr_array(product)
        for trans, matrix in (("N", host_product), ("T", host_product.T), ("H", host_product.conj().T)):
            x = M.solve(b, trans).get()
            np.testing.assert_allclose(matrix @ x, b, rtol=100 * tolerance, atol=100 * tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ic0_is_what_it_is_defined_as(dtype):
    half = random_matrix(60, 0.05, dtype, 6)
    host = (half + half.conj().T).tocsr()
    M = linalg.ic0(sparse.csr_array(host))
    lower, tolerance = M.L.toarray().get(), 100 * np.finfo(dtype).eps
    assert ((lower != 0) == (np.tril(host.toarray()) != 0)).all()
    inside = host.toarray() != 0
    product = lower @ lower.conj().T
    np.testing.assert_allclose(product[inside], host.toarray()[inside], rtol=tolerance, atol=20 * tolerance)
    np.testing.assert_allclose(M.U.toarray().get(), lower.conj().T)
    b = numbers(60, dtype)
    np.testing.assert_allclose(product @ M.solve(b).get(), b, rtol=100 * tolerance, atol=100 * tolerance)


def test_pivots_name_their_rows():
    for matrix, function, text in (
        ([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]], linalg.ilu0, "the pivot of row 1 is 0"),
        ([[1.0, 2, 0], [2, 1, 0], [0, 0, 1]], linalg.ic0, "the pivot of row 1 is not positive"),
        ([[1.0, 0, 0], [0, 1, 0], [0, 1, 0]], linalg.ilu0, "no element on the diagonal in row 2"),
        ([[0.0, 1], [1, 1]], linalg.ssor, "zero entry on diagonal in row 0"),
    ):
        with pytest.raises(np.linalg.LinAlgError, match=text):
            function(sparse.csr_array(np.array(matrix)))
    with pytest.raises(ValueError, match="omega is 2.0"):
        linalg.ssor(sparse.csr_array(np.eye(2)), 2)
    with pytest.raises(ValueError, match="expected square matrix"):
        linalg.ilu0(sparse.csr_array(np.ones((2, 3))))
    with pytest.raises(TypeError, match="expected a sparse array"):
        linalg.ic0(np.eye(2))


def test_ssor_has_the_colours_of_the_matrix():
    from rtcg.sparse._triangular import colour_order

    host = gallery.poisson2d(12).get()
    order = colour_order(sparse.csr_array(host)).get()
    permuted = host.toarray()[np.ix_(order, order)]
    # Red rows, and then black ones.
    assert (permuted[:72, :72] == 4 * np.eye(72)).all() and (permuted[72:, 72:] == 4 * np.eye(72)).all()
    for omega in (1.0, 1.4):
        M = linalg.ssor(sparse.csr_array(host), omega)
        assert list(M.levels) == [2, 2]
        D, E, F = np.diag(np.diag(permuted)), np.tril(permuted, -1), np.triu(permuted, 1)
        matrix = (D / omega + E) @ np.linalg.inv(D) @ (D / omega + F) * omega / (2 - omega)
        b = numbers(144, np.float64)
        x = M.matvec(rnp.to_gpu(b)).get()
        np.testing.assert_allclose(matrix @ x[order], b[order], rtol=1e-12, atol=1e-12)
    unsymmetric = random_matrix(90, 0.05, np.float64, 4)
    order = colour_order(sparse.csr_array(unsymmetric)).get()
    assert sorted(order) == list(range(90))
    assert max(linalg.ssor(sparse.csr_array(unsymmetric)).levels) < 20


@pytest.mark.parametrize("mode", ["stream", "graph"])
def test_factors_as_preconditioners(mode):
    a = gallery.poisson2d(18)
    b = numbers(a.shape[0], np.float64)

    def iterations(solver, matrix, M):
        x, info, report = solver(matrix, b, M=M, rtol=1e-8, mode=mode, return_report=True)
        assert info == 0 and np.linalg.norm(b - matrix.get() @ x.get()) <= 1.01e-8 * np.linalg.norm(b)
        return report.iterations

    plain = iterations(linalg.cg, a, None)
    for M in (linalg.ic0(a), linalg.ilu0(a), linalg.ssor(a, 1.3)):
        assert iterations(linalg.cg, a, M) < 0.75 * plain
    c = gallery.convection_diffusion(18)
    for solver in (linalg.bicgstab, linalg.gmres, linalg.bicg):
        assert iterations(solver, c, linalg.ilu0(c)) < 0.75 * iterations(solver, c, None)
    assert iterations(linalg.cg, a, linalg.splu(a.tocsc())) <= 2


# -- direct factorisations --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_of_scipy_on_the_device(dtype):
    host = random_matrix(90, 0.05, dtype, 8).tocsc()
    ours, theirs = linalg.splu(sparse.csc_array(host)), host_linalg.splu(host)
    assert (ours.shape, ours.nnz) == (theirs.shape, theirs.nnz)
    assert (ours.perm_r == theirs.perm_r).all() and (ours.perm_c == theirs.perm_c).all()
    assert (ours.L.toarray().get() == theirs.L.toarray()).all() and ours.U.format == "csc"
    tolerance = 500 * np.finfo(dtype).eps
    for b in (numbers(90, dtype), numbers((90, 4), dtype)):
        for trans in "NTH":
            x, expected = ours.solve(b, trans).get(), theirs.solve(b, trans)
            np.testing.assert_allclose(x, expected, rtol=tolerance, atol=tolerance)
        x = linalg.spsolve(sparse.csr_array(host), b)
        np.testing.assert_allclose(x.get(), host_linalg.spsolve(host, b), rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(linalg.factorized(sparse.csc_array(host))(b).get(), x.get(), rtol=tolerance)
    incomplete = linalg.spilu(sparse.csc_array(host), drop_tol=0.1)
    expected = host_linalg.spilu(host, drop_tol=0.1).solve(b)
    np.testing.assert_allclose(incomplete.solve(b).get(), expected, rtol=tolerance, atol=tolerance)


def test_spsolve_as_in_scipy():
    host = random_matrix(30, 0.1, np.float64)
    b = scipy_sparse.random_array((30, 4), density=0.2, rng=np.random.default_rng(0), format="csr")
    x = linalg.spsolve(sparse.csr_array(host), sparse.csr_array(b))
    assert x.format == "csr"
    np.testing.assert_allclose(x.toarray().get(), host_linalg.spsolve(host.tocsc(), b.tocsc()).toarray(), atol=1e-13)
    assert linalg.spsolve(sparse.csr_array(host), np.ones((30, 1))).shape == (30,)
    with pytest.warns(host_linalg.MatrixRankWarning, match="Matrix is exactly singular"):
        assert np.isnan(linalg.spsolve(sparse.csr_array(np.ones((2, 2))), np.ones(2)).get()).all()
    pairs = [
        (host_linalg.splu, linalg.splu, (np.ones((2, 2)),)),
        (host_linalg.spilu, linalg.spilu, (np.ones((2, 2)),)),
        (host_linalg.splu, linalg.splu, (np.ones((2, 3)),)),
        (host_linalg.spsolve, linalg.spsolve, (np.ones((2, 3)), np.ones(2))),
        (host_linalg.spsolve, linalg.spsolve, (np.eye(2), np.ones(3))),
    ]
    for theirs, ours, (matrix, *rest) in pairs:
        expected = message(theirs, scipy_sparse.csc_array(matrix), *rest)
        assert expected is not None and message(ours, sparse.csc_array(matrix), *rest) == expected
    with pytest.warns(sparse.SparseEfficiencyWarning, match="splu converted its input to CSC format"):
        linalg.splu(sparse.csr_array(host))


def test_without_scipy_the_error_names_another_way():
    run_python(
        """
        import sys
        sys.modules["scipy"] = sys.modules["scipy.sparse"] = sys.modules["scipy.sparse.linalg"] = None
        import numpy as np, rtcg.autoinit
        from rtcg import sparse
        from rtcg.sparse import linalg
        a = sparse.csc_array(np.eye(2))
        for solve in (linalg.splu, linalg.spilu, lambda a: linalg.spsolve(a, np.ones(2))):
            try:
                solve(a)
            except ImportError as error:
                assert "install scipy, or solve by iterations with rtcg.sparse.linalg.ilu0" in str(error)
            else:
                raise AssertionError
        assert (linalg.ilu0(a).solve(np.ones(2)).get() == 1).all()
        """
    )


# -- blocks that wait for each other ----------------------------------------------------------------------

SYSTEMS = """
import numpy as np
from rtcg import checking, sparse
{enable}
import rtcg.autoinit
from rtcg.sparse import gallery, linalg

# Red rows and black ones: two levels of enough rows for several warps, also on the virtual GPU.
order = np.argsort(np.add.outer(np.arange(32), np.arange(32)).ravel() % 2, kind="stable")
grid = sparse.csr_array(gallery.poisson2d(32).get()[order][:, order])
band = gallery.banded(280, 6, 3)

def analysed(dtype):
    triangle = linalg.TriangularSolver(grid.astype(dtype))
    assert triangle.levels == 2
    return linalg.TriangularSolver(band.astype(dtype), unit_diagonal=True), triangle

def solve(dtype, triangles, *makes):
    b = np.random.default_rng(0).standard_normal(1024).astype(dtype)
    found = [triangles[0].solve(b[:280]), triangles[1].solve(b), triangles[1].solve(np.stack([b, 2 * b], axis=1))]
    found += [make(grid.astype(dtype)).solve(b) for make in makes]
    return b"".join(x.get().tobytes() for x in found)
"""


@pytest.mark.skipif(has_real_device(), reason="a real device has no schedules")
def test_results_do_not_depend_on_the_schedule():
    run_python(
        SYSTEMS.format(enable="")
        + f"""
for dtype in (np.float32, np.complex128):
    checking.set_schedule("normal")
    triangles = analysed(dtype)
    expected, factored = solve(dtype, triangles), solve(dtype, triangles, linalg.ilu0)
    for seed in range({at_depth(6, 20)}):
        checking.set_schedule(f"chaos:{{seed}}")
        assert solve(dtype, triangles) == expected, seed
    assert solve(dtype, analysed(dtype), linalg.ilu0) == factored
""",
        timeout_s=600,
    )


@pytest.mark.skipif(has_real_device(), reason="a real device has no checked mode")
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_no_races_and_no_uninitialised_reads(dtype):
    run_python(
        SYSTEMS.format(enable='checking.enable("memory,init,race,sync")')
        + f"solve(np.{dtype}, analysed(np.{dtype}), linalg.ilu0, linalg.ic0)\n"
        + "assert not checking.findings(), checking.findings()[:3]\n"
    )
