"""`eigh` and `eigvalsh` of device arrays: what defines eigenvalues, and what NumPy finds."""

import itertools

import linalg_matrices as m
import numpy as np
import pytest
from depth import in_turns, pairs, some

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from rtcg import linalg


def check(x, c=6):
    """Eigenvalues are NumPy's within c n eps |A|, as is A V - V W; V is unitary within 10 n eps; returns them."""
    w, v = result = linalg.eigh(gpuarray.to_gpu(x))
    assert type(result)._fields == ("eigenvalues", "eigenvectors")
    n, eps = x.shape[-1], np.finfo(x.dtype).eps
    assert w.shape == x.shape[:-1] and v.shape == x.shape and w.dtype == x.real.dtype and v.dtype == x.dtype
    w, v = w.get(), v.get()
    wide = x.astype("c16" if x.dtype.kind == "c" else "f8")
    size = m.norms(x)
    scale = np.where(size > 0, size, 1)
    bound = c * max(n, 1) * eps
    m.within((w - np.linalg.eigvalsh(wide)) / scale[..., 0], bound, "eigenvalues")
    m.within(((wide / scale) @ v - v * (w / scale[..., 0])[..., None, :]), bound, "A V - V W")
    m.is_unitary(v, eps, "V")
    assert (np.diff(w) >= 0).all(), "eigenvalues are not in order"
    m.within((linalg.eigvalsh(gpuarray.to_gpu(x)).get() - w) / scale[..., 0], bound, "eigvalsh beside eigh")
    return w, v


@pytest.mark.parametrize(
    "n, dtype",
    [*itertools.product([1, 2, 3, 4, 5, 8, 9, 16, 31, 32], m.FLOATING), *in_turns([33, 53, 110], m.HALVES)],
)
def test_random_matrices(n, dtype):
    check(m.hermitian(dtype, 2, n))


@pytest.mark.parametrize("dtype", m.FLOATING)
def test_stacks(dtype):
    x = m.hermitian(dtype, 2, 3, 5)
    w, v = check(x)
    # A stack in another layout, and views.
    turned = gpuarray.to_gpu(np.asfortranarray(x))
    assert np.array_equal(linalg.eigh(turned)[0].get(), w)
    assert np.array_equal(linalg.eigvalsh(gpuarray.to_gpu(x)[:, ::2]).get(), w[:, ::2])
    for shape in ((0, 0), (0, 3, 3), (2, 0, 0)):
        w, v = linalg.eigh(gpuarray.to_gpu(np.ones(shape, dtype)))
        assert w.shape == shape[:-1] and v.shape == shape and w.dtype == x.real.dtype and v.dtype == x.dtype
        assert linalg.eigvalsh(gpuarray.to_gpu(np.ones(shape, dtype))).shape == shape[:-1]


def test_many_small_matrices():
    x = m.hermitian("f8", 65_600, 2)
    w, v = (a.get() for a in linalg.eigh(gpuarray.to_gpu(x)))
    assert np.allclose(x @ v, v * w[:, None], atol=1e-13)


@pytest.mark.parametrize("n", some([63, 64, 65, 96, 127, 129, 260, 431], [63, 64, 65, 129, 260]))
def test_lengths_of_which_parts_are_made(n):
    """Parts that fill their leaves, and such as end within one or before it; panels that are full or not."""
    check(m.hermitian("f8", n))


def test_stacks_of_long_matrices():
    check(np.stack([m.hermitian("c8", 70), np.eye(70, dtype="c8"), m.hermitian("c8", 70, seed=1) * 1000]))


def tridiagonal(diagonal, beside):
    return np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)


def glued(n, count, glue):
    """Matrices of Wilkinson's, W21+ for n = 21, one after the other: many values agree to all digits, or nearly."""
    beside = np.ones(n * count - 1)
    beside[n - 1 :: n] = glue
    return tridiagonal(np.tile(np.abs(np.arange(n) - n // 2).astype(float), count), beside)


HARD = {
    "glued": glued(21, 10, 1e-7),
    "loosely glued": glued(21, 7, 1e-14),
    "one long wilkinson": glued(301, 1, 0),
    "second differences": tridiagonal(np.full(257, 2.0), -np.ones(256)),
    "zeros between blocks": np.kron(np.eye(6), tridiagonal(np.arange(32.0), np.ones(31))),
    "zeros where it is torn": np.kron(np.eye(4), tridiagonal(np.arange(16.0), np.ones(15)) + 0.1),
    "graded downwards": tridiagonal(2.0 ** -np.arange(0, 100), 2.0 ** -np.arange(0.5, 99)),
    "graded upwards": tridiagonal(2.0 ** np.arange(-99, 1), 2.0 ** np.arange(-99, 0)),
    "weakly coupled": tridiagonal(np.arange(150) % 2 * 1.0, np.full(149, 1e-9)),
    "negative couplings": tridiagonal(np.sin(np.arange(143.0)), np.cos(np.arange(142.0))),
    "clusters": m.with_values("f8", np.repeat([1, 1 + 1e-14, 1 + 1e-10, 1.001, -3], 30)),
    "a low rank": m.with_values("f8", np.r_[np.arange(1, 6), np.zeros(140)]),
    "an arrow": np.diag(np.arange(100.0)) + np.pad(np.ones((99, 1)), ((1, 0), (0, 99))) + np.eye(100),
}


@pytest.mark.parametrize("name, dtype", in_turns(HARD, [["f4"], ["c16"], ["f8"]]))
def test_hard_matrices(name, dtype):
    """What divides and conquers badly: everything deflates, or nearly, or nothing does."""
    x = HARD[name]
    check(((x + x.T) / 2).astype(dtype))


DEGENERATE = {
    "zero": np.zeros((6, 6)),
    "identity": np.eye(7),
    "ones": np.ones((9, 9)),
    "diagonal": np.diag([3.0, -1, 0, 2, -1, 3]),
    "exchange": np.eye(8)[::-1].copy(),
    "one off the diagonal": np.eye(5) + 1e-3 * (np.eye(5, k=4) + np.eye(5, k=-4)),
    "path": np.diag(np.ones(30), 1) + np.diag(np.ones(30), -1),
    "hilbert": m.hilbert(12),
    "wilkinson": np.diag(np.abs(np.arange(-10.0, 11))) + np.eye(21, k=1) + np.eye(21, k=-1),
    "blocks": np.kron(np.eye(5), [[2.0, 1], [1, 2]]),
    "long zero": np.zeros((101, 101)),
    "long identity": np.eye(101),
    "long diagonal": np.diag(np.arange(120.0) % 7 - 3),
    "long path": np.diag(np.ones(119), 1) + np.diag(np.ones(119), -1),
    "long wilkinson": np.diag(np.abs(np.arange(-52.0, 53))) + np.eye(105, k=1) + np.eye(105, k=-1),
    "long ones": np.ones((103, 103)),
    "long hilbert": m.hilbert(101),
    "long blocks": np.kron(np.eye(51), [[2.0, 1], [1, 2]]),
    "graded": np.outer(2.0 ** -np.arange(0, 40, 4), 2.0 ** -np.arange(0, 40, 4)) + np.diag(2.0 ** -np.arange(0, 40, 4)),
}


@pytest.mark.parametrize("name, dtype", in_turns(DEGENERATE, m.HALVES))
def test_degenerate_matrices(name, dtype):
    check(DEGENERATE[name].astype(dtype))


@pytest.mark.parametrize("dtype", m.FLOATING)
@pytest.mark.parametrize("n", [12, 45, 111])
def test_repeated_eigenvalues(n, dtype):
    values = np.repeat([-2.0, 0, 1], n // 3)
    w, _ = check(m.with_values(dtype, values))
    m.within(w - values, 20 * n * np.finfo(dtype).eps, "the eigenvalues that it was made of")


@pytest.mark.parametrize("n, scale, dtype", pairs([6, 40, 105], [1e30, 1e-30, 1e-37], m.FLOATING))
def test_large_and_small_elements(n, scale, dtype):
    """Squares of such elements are infinite, or nothing, in single precision."""
    check(m.hermitian(dtype, n) * np.dtype(dtype).type(scale))


def test_the_largest_and_the_least_numbers():
    for scale in (1e307, 1e-310, 5e-324):
        w = linalg.eigvalsh(gpuarray.to_gpu(np.array([[1.0, 2], [2, 1]]) * scale)).get()
        assert np.allclose(w / scale, [-1, 3], rtol=1e-12)


@pytest.mark.parametrize("n, uplo, dtype", pairs([5, 40, 101], ["L", "U", "l", "u"], m.FLOATING))
def test_one_triangle_is_read(n, uplo, dtype):
    x = m.hermitian(dtype, n)
    spoiled = x.copy()
    spoiled[(np.triu_indices if uplo in "Ll" else np.tril_indices)(n, 1 if uplo in "Ll" else -1)] = np.nan
    if dtype[0] == "c":
        spoiled.imag[np.diag_indices(n)] = 7  # What the diagonal has there is not read either.
    w, v = (a.get() for a in linalg.eigh(gpuarray.to_gpu(spoiled), uplo))
    wanted, _ = (a.get() for a in linalg.eigh(gpuarray.to_gpu(x)))
    bound = 6 * n * np.finfo(dtype).eps * np.linalg.norm(x, 2)
    m.within(w - wanted, bound, "eigenvalues")
    m.within(x @ v - v * w, bound, "A V - V W")
    m.within(linalg.eigvalsh(gpuarray.to_gpu(spoiled), UPLO=uplo).get() - wanted, bound, "eigvalsh")


@pytest.mark.parametrize("bad, n, dtype", pairs([np.nan, np.inf, -np.inf], [1, 4, 40, 101], m.FLOATING))
def test_what_is_not_finite_is_refused(bad, n, dtype):
    x = np.stack([np.eye(n), np.eye(n)]).astype(dtype)
    x[1, n - 1, 0] = x[1, 0, n - 1] = bad
    for function in (linalg.eigh, linalg.eigvalsh):
        with pytest.raises(np.linalg.LinAlgError, match="Eigenvalues did not converge"):
            function(gpuarray.to_gpu(x))


def test_integers_and_numpys_dispatch():
    x = np.array([[2, 1], [1, 2]])
    for dtype in ("i4", "u1", "?"):
        w, v = np.linalg.eigh(gpuarray.to_gpu(x.astype(dtype)))
        wanted = np.linalg.eigh(x.astype(dtype))
        assert isinstance(w, gpuarray.GPUArray) and w.dtype == wanted[0].dtype and v.dtype == wanted[1].dtype
        assert np.allclose(w.get(), wanted[0])
    assert np.allclose(np.linalg.eigvalsh(gpuarray.to_gpu(x), "U").get(), [1, 3])


BAD = {
    "one axis": (np.ones(3), "L"),
    "not square": (np.ones((2, 3)), "L"),
    "half precision": (np.eye(2, dtype="f2"), "L"),
    "no triangle": (np.eye(2), "X"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("function", ["eigh", "eigvalsh"])
def test_errors_are_numpys(function, name):
    x, uplo = BAD[name]
    with pytest.raises((ValueError, TypeError)) as wanted:
        getattr(np.linalg, function)(x, uplo)
    with pytest.raises(type(wanted.value)) as raised:
        getattr(np.linalg, function)(gpuarray.to_gpu(x), uplo)
    assert str(raised.value).startswith(str(wanted.value))
