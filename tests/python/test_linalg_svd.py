"""`svd`, `svdvals` and what needs them of device arrays: what defines singular values, and what NumPy finds."""

import itertools

import linalg_matrices as m
import numpy as np
import pytest
from depth import in_turns, pairs, some

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from rtcg import linalg


def check(x, c=6):
    """Singular values, and A - U S V^H, within c n eps |A|; vectors are orthonormal; returns the values."""
    d, eps, k = gpuarray.to_gpu(x), np.finfo(x.dtype).eps, min(x.shape[-2:])
    bound = c * max(*x.shape[-2:], 1) * eps
    wide = x.astype("c16" if x.dtype.kind == "c" else "f8")
    size = m.norms(x)
    scale = np.where(size > 0, size, 1)
    wanted = np.linalg.svd(wide, compute_uv=False)
    for full in (True, False):
        result = linalg.svd(d, full_matrices=full)
        assert type(result)._fields == ("U", "S", "Vh")
        for own, other in zip(result, np.linalg.svd(x, full_matrices=full), strict=True):
            assert own.shape == other.shape and own.dtype == other.dtype
        u, s, vh = (a.get() for a in result)
        m.within((s - wanted) / scale[..., 0], bound, "singular values")
        m.within((u[..., :k] * (s / scale[..., 0])[..., None, :]) @ vh[..., :k, :] - wide / scale, bound, "U S V^H - A")
        m.is_unitary(u, eps, "U")
        m.is_unitary(vh.conj().mT, eps, "V")
        assert (np.diff(s) <= 0).all() and (s >= 0).all(), "singular values are not in order"
    for values in (linalg.svdvals(d), linalg.svd(d, compute_uv=False)):
        m.within((values.get() - s) / scale[..., 0], bound, "values alone")
    return s


SHAPES = [(1, 1), (1, 5), (5, 1), (2, 2), (3, 3), (4, 7), (9, 4), (16, 16), (17, 33)]
LONG_SHAPES = [(40, 31), (60, 3), (2, 70), (36, 33), (50, 90), (130, 101), (600, 2)]


@pytest.mark.parametrize(
    "shape, dtype", [*itertools.product(SHAPES, m.FLOATING), *in_turns(LONG_SHAPES, m.HALVES)], ids=str
)
def test_random_matrices(shape, dtype):
    check(m.drawn(dtype, 2, *shape))


@pytest.mark.parametrize("dtype", m.FLOATING)
def test_stacks(dtype):
    x = m.drawn(dtype, 2, 3, 5, 4)
    s = check(x)
    assert np.array_equal(linalg.svdvals(gpuarray.to_gpu(np.asfortranarray(x))).get(), s)
    assert np.array_equal(linalg.svdvals(gpuarray.to_gpu(x)[:, ::2]).get(), s[:, ::2])
    for shape in ((0, 0), (0, 3), (3, 0), (0, 2, 3), (2, 0, 3), (2, 3, 0)):
        check(np.ones(shape, dtype))
        assert linalg.svdvals(gpuarray.to_gpu(np.ones(shape, dtype))).dtype == x.real.dtype


def test_many_small_matrices():
    x = m.drawn("f8", 65_600, 3, 2)
    u, s, vh = (a.get() for a in linalg.svd(gpuarray.to_gpu(x), full_matrices=False))
    assert np.allclose((u * s[:, None]) @ vh, x, atol=1e-13)


@pytest.mark.parametrize("dtype", some(m.FLOATING, ["f4", "c16"]))
def test_a_stack_of_many_long_matrices(dtype):
    """As many as have a block each."""
    check(m.drawn(dtype, 32, 35, 34))


@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_long_columns(dtype):
    check(m.drawn(dtype, 700, 40))


DEGENERATE = {
    "zero": np.zeros((6, 4)),
    "identity": np.eye(7),
    "ones": np.ones((9, 5)),
    "wide ones": np.ones((3, 11)),
    "a row of zeros": np.diag([1.0, 0, 2]),
    "equal columns": np.repeat(np.arange(1.0, 9)[:, None], 4, 1),
    "exchange": np.eye(8)[::-1].copy(),
    "nilpotent": np.diag(np.ones(19), 1),
    "hilbert": m.hilbert(12),
    "triangle": np.triu(np.ones((20, 20))),
    "two blocks": np.kron(np.eye(2), np.ones((3, 2))),
    "rank 2": np.outer(np.arange(10.0), np.ones(8)) + np.outer(np.ones(10), np.arange(8.0)),
    "long zero": np.zeros((40, 36)),
    "long identity": np.eye(40),
    "long ones": np.ones((50, 41)),
    "long hilbert": m.hilbert(45),
    "long triangle": np.triu(np.ones((50, 50))),
    "long nilpotent": np.diag(np.ones(44), 1),
    "long repeated": np.kron(np.eye(20), [[3.0, 1], [0, 2]]),
    "columns of all sizes": np.ones((8, 8)) * 10.0 ** -np.arange(0, 16, 2) + np.eye(8) * 1e-3,
}


@pytest.mark.parametrize("name, dtype", in_turns(DEGENERATE, m.HALVES))
def test_degenerate_matrices(name, dtype):
    check(DEGENERATE[name].astype(dtype))


@pytest.mark.parametrize("dtype", m.FLOATING)
def test_rank_of_long_matrices_that_lack_some(dtype):
    x = m.drawn(dtype, 45, 5) @ m.drawn(dtype, 5, 38)
    check(x)
    assert int(linalg.matrix_rank(gpuarray.to_gpu(x))) == 5


@pytest.mark.parametrize("shape, scale, dtype", pairs([(9, 6), (40, 40)], [1e30, 1e-30, 1e-37], m.FLOATING), ids=str)
def test_large_and_small_elements(shape, scale, dtype):
    """Squares of such elements are infinite, or nothing, in single precision."""
    check(m.drawn(dtype, *shape) * np.dtype(dtype).type(scale))


def test_the_largest_and_the_least_numbers():
    for scale in (1e307, 1e-310, 5e-324):
        s = linalg.svdvals(gpuarray.to_gpu(np.array([[1.0, 2], [2, 1]]) * scale)).get()
        assert np.allclose(s / scale, [3, 1], rtol=1e-12)


def test_small_singular_values_are_found_to_their_own_precision():
    """Columns that are scaled keep the relative precision of small singular values; LAPACK's algorithm loses it."""
    rng = np.random.default_rng(3)
    q = np.linalg.qr(rng.normal(size=(8, 5)))[0]
    sizes = 10.0 ** -np.arange(0, 40, 8)
    s = linalg.svdvals(gpuarray.to_gpu(q * sizes)).get()
    assert np.allclose(s, sizes, rtol=1e-13)


@pytest.mark.parametrize(
    "bad, shape, dtype", pairs([np.nan, np.inf], [(1, 1), (3, 3), (5, 40), (40, 40)], m.FLOATING), ids=str
)
def test_what_is_not_finite_is_refused(bad, shape, dtype):
    x = np.ones((2, *shape), dtype)
    x[1, -1, 0] = bad
    d = gpuarray.to_gpu(x)
    functions = [linalg.svd, linalg.svdvals, linalg.pinv, linalg.matrix_rank, linalg.cond]
    for function in [*functions, lambda a: linalg.norm(a[1], 2), lambda a: linalg.matrix_norm(a, ord="nuc")]:
        with pytest.raises(np.linalg.LinAlgError, match="^SVD did not converge$"):
            function(d)
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge in Linear Least Squares"):
        linalg.lstsq(d[1], d[0])


@pytest.mark.parametrize("dtype", m.FLOATING)
def test_hermitian(dtype):
    x = m.hermitian(dtype, 2, 6)
    x[1] = m.with_values(dtype, [-3.0, 2, 0, 1, -1, 0])
    spoiled, eps = x.copy(), np.finfo(dtype).eps
    spoiled[:, 0, 1:] = 9  # Only the lower triangle is read.
    u, s, vh = (a.get() for a in linalg.svd(gpuarray.to_gpu(spoiled), hermitian=True))
    bound = 40 * eps * 10
    m.within(s - np.linalg.svd(x, compute_uv=False), bound, "singular values")
    m.within((u * s[:, None]) @ vh - x, bound, "U S V^H - A")
    m.is_unitary(u, eps, "U")
    m.is_unitary(vh, eps, "V^H")
    m.within(linalg.svd(gpuarray.to_gpu(spoiled), hermitian=True, compute_uv=False).get() - s, bound, "values alone")
    assert linalg.matrix_rank(gpuarray.to_gpu(spoiled), hermitian=True, tol=bound).get().tolist() == [6, 4]
    inverse = linalg.pinv(gpuarray.to_gpu(spoiled), rcond=bound, hermitian=True).get()
    m.within(inverse - np.linalg.pinv(x, rcond=bound, hermitian=True), 2e4 * eps, "pinv")


def _arrays():
    rng = np.random.default_rng(1)
    arrays = {
        "a": rng.normal(size=(5, 3)),
        "s": rng.normal(size=(4, 3, 3)),
        "t": rng.normal(size=(2, 3, 4)),
        "c": m.drawn("c16", 4, 4),
        "f": m.drawn("f4", 3, 5),
        "b": rng.normal(size=(5, 2)),
        "v": rng.normal(size=5),
        "w": rng.normal(size=(3, 2)),
        "i": np.array([[1, 2], [3, 5]]),
        "z": np.zeros((3, 3)),
        "o": np.ones((4, 3)),
        "e": np.ones((0, 3)),
        "h": np.diag([1, -2, 1e-20]),
        "tolerances": np.array([0.1, 0.2, 0.3, 0.5]),
        "singular": np.stack([np.eye(3), np.diag([1.0, 0, 3])]),
        "unknown": np.stack([np.eye(2), np.full((2, 2), np.nan)]),
    }
    return arrays


EXPRESSIONS = """
np.linalg.pinv(a)
np.linalg.pinv(s)
np.linalg.pinv(t)
np.linalg.pinv(c)
np.linalg.pinv(f)
np.linalg.pinv(o)
np.linalg.pinv(i)
np.linalg.pinv(z)
np.linalg.pinv(e)
np.linalg.pinv(e.T)
np.linalg.pinv(h, hermitian=True)
np.linalg.pinv(h, 1e-25)
np.linalg.pinv(s, rcond=tolerances)
np.linalg.pinv(s, rtol=0.4)
np.linalg.pinv(h, rtol=None)
np.linalg.pinv(s, 1e-3, rtol=1)
np.linalg.pinv(v)
np.linalg.matrix_rank(a)
np.linalg.matrix_rank(s)
np.linalg.matrix_rank(o)
np.linalg.matrix_rank(v)
np.linalg.matrix_rank(v * 0)
np.linalg.matrix_rank(z)
np.linalg.matrix_rank(e)
np.linalg.matrix_rank(f)
np.linalg.matrix_rank(h, hermitian=True)
np.linalg.matrix_rank(h, 1e-25)
np.linalg.matrix_rank(s, tol=tolerances)
np.linalg.matrix_rank(s, rtol=tolerances)
np.linalg.matrix_rank(s, 0.7)
np.linalg.matrix_rank(s, 0.1, rtol=0.5)
np.linalg.lstsq(a, b)
np.linalg.lstsq(a, v)
np.linalg.lstsq(o, c[:, :2])
np.linalg.lstsq(o[:, :1], v[:4])
np.linalg.lstsq(f, w)
np.linalg.lstsq(f.T, v)
np.linalg.lstsq(f.T, f.T)
np.linalg.lstsq(c, c)
np.linalg.lstsq(e, e[:, :2])
np.linalg.lstsq(e.T, w)
np.linalg.lstsq(o, o[:, :0])
np.linalg.lstsq(a, v, rcond=0.5)
np.linalg.lstsq(h, w, rcond=-1)
np.linalg.lstsq(h, w, rcond=1e-25)
np.linalg.lstsq(v, v)
np.linalg.lstsq(a, s)
np.linalg.lstsq(a, w)
np.linalg.norm(a, 2)
np.linalg.norm(a, -2)
np.linalg.norm(a, "nuc")
np.linalg.norm(i, 2)
np.linalg.norm(f, 2)
np.linalg.norm(c, "nuc", keepdims=True)
np.linalg.norm(t, 2, axis=(0, 2), keepdims=True)
np.linalg.norm(t, -2, axis=(2, 0))
np.linalg.norm(t, "nuc", axis=(1, -1))
np.linalg.norm(e, 2)
np.linalg.norm(e, -2)
np.linalg.norm(e, "nuc")
np.linalg.norm(t, 2)
np.linalg.matrix_norm(t, ord=2)
np.linalg.matrix_norm(t, ord="nuc", keepdims=True)
np.linalg.cond(a)
np.linalg.cond(s)
np.linalg.cond(s, -2)
np.linalg.cond(c, 2)
np.linalg.cond(f)
np.linalg.cond(i)
np.linalg.cond(z)
np.linalg.cond(singular)
np.linalg.cond(singular, -2)
np.linalg.cond(singular, 1)
np.linalg.cond(singular, "fro")
np.linalg.cond(unknown, 1)
np.linalg.cond(c, "nuc")
np.linalg.cond(a, 1)
np.linalg.cond(e)
np.linalg.cond(v)
np.linalg.cond(s, "most")
np.linalg.svdvals(v)
np.linalg.svdvals(f.astype("f2"))
np.linalg.svd(a, hermitian=True)
np.linalg.svd(a, full_matrices=False).S
""".strip().splitlines()


def _outcome(expression, arrays):
    with np.errstate(all="ignore"):
        try:
            return eval(expression, {"np": np, **arrays})
        except Exception as error:
            return error


def _compare(own, wanted):
    if isinstance(wanted, Exception):
        assert type(own) is type(wanted) and str(own).startswith(str(wanted)), repr(own)
    elif isinstance(wanted, tuple):
        assert isinstance(own, tuple) and len(own) == len(wanted), repr(own)
        for one, other in zip(own, wanted, strict=True):
            _compare(one, other)
    else:
        assert not isinstance(own, Exception), repr(own)
        assert isinstance(own, gpuarray.GPUArray) or isinstance(wanted, np.int32)
        own = own.get() if isinstance(own, gpuarray.GPUArray) else own
        assert own.shape == np.shape(wanted) and own.dtype == np.asarray(wanted).dtype
        rtol = 1e-4 if own.dtype.char in "fF" else 1e-10
        # Where something is left of nothing, so much is right.
        atol = 0 if np.abs(wanted).max(initial=0) > 1e10 else 1e-6 if own.dtype.char in "fF" else 1e-12
        assert np.allclose(own, wanted, rtol, atol, equal_nan=True), f"{own}, expected {wanted}"


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_results_are_numpys(expression):
    arrays = _arrays()
    own = _outcome(expression, {name: gpuarray.to_gpu(x) for name, x in arrays.items()})
    _compare(own, _outcome(expression, arrays))


@pytest.mark.parametrize("dtype", m.FLOATING)
def test_pseudo_inverses(dtype):
    """The four equations of Penrose, for a matrix that lacks rank."""
    a = m.drawn(dtype, 2, 9, 3) @ m.drawn(dtype, 2, 3, 6)
    p = linalg.pinv(gpuarray.to_gpu(a), rtol=100 * np.finfo(dtype).eps).get()
    bound = 2000 * np.finfo(dtype).eps
    for error, what in ((a @ p @ a - a, "A P A"), (p @ a @ p - p, "P A P")):
        m.within(error, bound * m.largest(a), what)
    for product in (a @ p, p @ a):
        m.within(product - product.conj().mT, bound, "what should be Hermitian")


@pytest.mark.parametrize("dtype", m.FLOATING)
def test_least_squares(dtype):
    """What is left is orthogonal to all columns, and the solution has no part that the matrix takes to nothing."""
    a, b = m.drawn(dtype, 12, 3) @ m.drawn(dtype, 3, 5), m.drawn(dtype, 12, 2)
    x, rest, rank, s = linalg.lstsq(gpuarray.to_gpu(a), gpuarray.to_gpu(b), rcond=100 * np.finfo(dtype).eps)
    assert rank == 3 and type(rank) is np.int32 and rest.shape == (0,) and s.shape == (5,)
    bound = 2000 * np.finfo(dtype).eps
    m.within(a.conj().T @ (a @ x.get() - b), bound * 10, "A^H (A x - b)")
    null = np.linalg.svd(a)[2][3:]
    m.within(null @ x.get(), bound, "the part in the null space")


@pytest.mark.parametrize("name", ["rcond", "rtol"])
def test_tolerances_that_are_no_numbers(name):
    a = gpuarray.to_gpu(np.eye(2))
    with pytest.raises(TypeError, match=f"{name} is 'x'; expected a real number or an array of them"):
        linalg.pinv(a, **{name: "x"})
