"""Triangular systems and LU factors beside SciPy's: one panel and several, stacks, transposes, bad input."""

import linalg_matrices as m
import numpy as np
import pytest
import scipy.linalg

import rtcg.autoinit  # noqa: F401
from rtcg import linalg, numpy as xp

TRANSPOSITIONS = [(0, lambda a: a), ("T", lambda a: a.swapaxes(-1, -2)), (2, lambda a: a.conj().swapaxes(-1, -2))]


def triangular(dtype, *shape):
    """Triangles on both sides of a diagonal that keeps solutions small."""
    a = m.drawn(dtype, *shape) / shape[-1]
    return a + np.eye(shape[-1], dtype=dtype) * 2


@pytest.mark.parametrize("trans, as_solved", TRANSPOSITIONS)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_triangular_systems(dtype, unit, lower, trans, as_solved):
    for shape, sides in (((5, 5), (5,)), ((3, 70, 70), (3, 70, 4)), ((130, 130), (2, 130, 1))):
        a, b = triangular(dtype, *shape), m.drawn(dtype, *sides)
        x = linalg.solve_triangular(xp.asarray(a), xp.asarray(b), trans, lower, unit).get()
        read = (np.tril if lower else np.triu)(a, 0)
        if unit:
            read[..., np.arange(shape[-1]), np.arange(shape[-1])] = 1
        assert x.shape == b.shape and x.dtype == b.dtype
        product = as_solved(read) @ (x if len(sides) > 1 else x[:, None])
        m.within(product.reshape(b.shape) - b, 20 * shape[-1] * np.finfo(dtype).eps, "A x - b")


def test_the_other_triangle_is_not_read():
    a = np.triu(triangular("f8", 40, 40)) + np.tril(np.full((40, 40), np.nan), -1)
    x = linalg.solve_triangular(a, np.ones(40)).get()
    np.testing.assert_allclose(x, scipy.linalg.solve_triangular(np.triu(a), np.ones(40)), rtol=1e-12)


@pytest.mark.parametrize("dtype", m.FLOATING)
@pytest.mark.parametrize("n", [1, 4, 64, 65, 150])
def test_factors_have_the_form_of_lapack(n, dtype):
    a = m.drawn(dtype, n, n)
    lu, piv = (part.get() for part in linalg.lu_factor(xp.asarray(a)))
    wanted = scipy.linalg.lu_factor(a)
    assert piv.dtype == np.int32 and (piv == wanted[1]).all()
    m.within(lu - wanted[0], 200 * n * np.finfo(dtype).eps, "factors")


@pytest.mark.parametrize("trans, as_solved", TRANSPOSITIONS)
@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_solutions_by_factors(dtype, trans, as_solved):
    for shape, sides in (((5, 5), (5,)), ((3, 100, 100), (100, 2)), ((150, 150), (2, 150, 3))):
        a, b = m.drawn(dtype, *shape) + 3 * np.eye(shape[-1], dtype=dtype), m.drawn(dtype, *sides)
        x = linalg.lu_solve(linalg.lu_factor(xp.asarray(a)), b, trans).get()
        product = as_solved(a) @ (x if len(sides) > 1 else x[:, None])
        m.within(product.reshape(x.shape) - b, 2e3 * shape[-1] * np.finfo(dtype).eps, "A x - b")
    assert linalg.lu_solve(linalg.lu_factor(np.ones((2, 2))), [1.0, 2.0]).get().tolist() == [-np.inf, np.inf]


def test_solutions_by_cholesky_factors():
    a = m.drawn("c16", 70, 70)
    a, b = a @ a.conj().T + np.eye(70), m.drawn("c16", 70, 3)
    for lower in (True, False):
        x = linalg.cho_solve((linalg.cholesky(xp.asarray(a), upper=not lower), lower), b).get()
        m.within(a @ x - b, 1e-9, "A x - b")


def test_matrices_without_elements():
    assert linalg.solve_triangular(np.zeros((0, 0)), np.zeros((0, 2))).shape == (0, 2)
    lu, piv = linalg.lu_factor(np.zeros((2, 0, 0)))
    assert (lu.shape, piv.shape) == ((2, 0, 0), (2, 0))
    assert linalg.lu_solve((lu, piv), np.zeros((2, 0, 1))).shape == (2, 0, 1)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: linalg.solve_triangular([[1.0, 2.0], [3.0, 0.0]], [1.0, 1.0]), linalg.LinAlgError, "diagonal is 0"),
        (lambda: linalg.solve_triangular(np.eye(2), np.ones(3)), ValueError, r"shape \(2, 2\) and .* shape \(3,\) do"),
        (lambda: linalg.solve_triangular(np.ones((2, 3)), np.ones(2)), linalg.LinAlgError, r"must be square.*\(2, 3\)"),
        (lambda: linalg.solve_triangular(np.eye(2), np.ones(2), trans="H"), ValueError, "trans is 'H'; expected 0 or"),
        (lambda: linalg.lu_factor(np.ones((2, 3))), linalg.LinAlgError, r"must be square.*\(2, 3\)"),
        (lambda: linalg.lu_solve((np.eye(2), [0, 2]), np.ones(2)), ValueError, "a pivot is no row; expected 0 to 1"),
        (lambda: linalg.lu_solve((np.eye(2), [0, -1]), np.ones(2)), ValueError, "a pivot is no row; expected 0 to 1"),
        (lambda: linalg.lu_solve((np.eye(2), [0]), np.ones(2)), ValueError, r"pivots of shape \(1,\) and dtype int64"),
        (
            lambda: linalg.lu_solve((np.eye(2), [0.0, 1.0]), np.ones(2)),
            ValueError,
            "dtype float64 .* expected integers",
        ),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
