"""`eig` and `eigvals` of device arrays: what defines eigenvalues, and what NumPy finds."""

import threading

import linalg_matrices as m
import numpy as np
import pytest
from depth import in_turns, pairs, some

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.tools import DeviceMemoryPool
from rtcg import linalg


def distances(one, other):
    """How far each number is from the one of the others that it belongs to; each is taken once."""
    left, found = list(other), []
    for z in one:
        k = int(np.argmin([abs(z - y) for y in left]))
        found.append(abs(z - left.pop(k)))
    return np.array(found)


def complex_of(dtype):
    """What NumPy gives from 2.5 on, where it gave real numbers if all eigenvalues are."""
    return np.result_type(dtype, np.complex64)


def check(x, c=10, exact=None, spread=1.0):
    """A V - V W within c n eps |A|, vectors of length 1, eigenvalues `exact` (NumPy's) within `spread` times as much.

    Eigenvalues of a matrix that is not normal may move by more than the precision of the matrix.
    """
    d, n, eps = gpuarray.to_gpu(x), x.shape[-1], np.finfo(x.dtype).eps
    result, values = linalg.eig(d), linalg.eigvals(d)
    wanted = np.linalg.eig(x)
    assert type(result)._fields == ("eigenvalues", "eigenvectors")
    for own, other in zip((*result, values), (*wanted, wanted[0]), strict=True):
        assert own.shape == other.shape and own.dtype == complex_of(other.dtype)
    w, v = (a.get() for a in result)
    size = m.norms(x)
    scale = np.where(size > 0, size, 1)
    wide = x.astype("c16") / scale
    bound = c * n * eps
    m.within(wide @ v - v * (w / scale[..., 0])[..., None, :], bound, "A V - V W")
    m.within(np.linalg.norm(v.astype("c16"), axis=-2) - 1, bound, "lengths of vectors")
    exact = np.linalg.eigvals(x.astype("c16")) if exact is None else np.asarray(exact)
    for found in (w, values.get()):
        for one, other, each in zip(*(a.reshape(-1, n) for a in (found, exact)), scale.reshape(-1), strict=True):
            m.within(distances(one, other) / each, bound * spread, "eigenvalues")
    return w, v


@pytest.mark.parametrize("dtype", m.FLOATING)
@pytest.mark.parametrize("n", some([1, 2, 3, 4, 5, 8, 13, 33, 70], [1, 2, 3, 5, 13, 70]))
def test_random_matrices(n, dtype):
    check(m.drawn(dtype, 2, n, n), spread=30)


@pytest.mark.parametrize("dtype", m.FLOATING)
def test_matrices_larger_than_a_window(dtype):
    check(m.drawn(dtype, 110, 110), spread=30)


@pytest.mark.parametrize("dtype", ["f8", "c8"])
def test_a_cycle_that_shifts_of_zero_leave_as_it_is(dtype):
    check(np.roll(np.eye(100), 1, 0).astype(dtype), exact=np.exp(2j * np.pi * np.arange(100) / 100))


@pytest.mark.parametrize("dtype", m.FLOATING)
def test_balancing_leaves_hessenberg_matrices_accurate(dtype):
    """Frank's matrix, whose eigenvectors some ways of balancing spoil."""
    x = np.fromfunction(lambda i, j: (np.minimum(i, j) + 1) * (j >= i - 1), (40, 40)).astype(dtype)
    w, v = (a.get() for a in linalg.eig(gpuarray.to_gpu(x)))
    m.within(x @ v.astype("c16") - v.astype("c16") * w, 400 * np.finfo(dtype).eps * m.norms(x), "A V - V W")


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [4, 9, 40])
def test_complex_eigenvalues_of_real_matrices_come_in_pairs(n, dtype):
    w, v = check(m.drawn(dtype, n, n, seed=3), spread=30)
    assert w.dtype.kind == "c"
    k = 0
    while k < n:
        if w[k].imag == 0:
            assert (v[:, k].imag == 0).all()
            k += 1
        else:
            # The one with the positive part is first, as LAPACK has it; the largest element of a vector is real.
            assert w[k].imag > 0 and w[k + 1] == w[k].conj() and np.array_equal(v[:, k + 1], v[:, k].conj())
            assert v[np.abs(v[:, k]).argmax(), k].imag == 0
            k += 2


@pytest.mark.parametrize("dtype", m.FLOATING)
def test_stacks(dtype):
    x = m.drawn(dtype, 2, 3, 5, 5)
    w, _ = check(x, spread=30)
    # A stack of which one matrix only has complex eigenvalues.
    x[...] = np.diag(np.arange(5.0))
    x[1, 2, :2, :2] = [[0, 1], [-1, 0]]
    w, v = check(x)
    assert w.dtype.kind == "c"
    assert np.array_equal(linalg.eigvals(gpuarray.to_gpu(np.asfortranarray(x))).get(), w)
    for shape in ((0, 0), (0, 3, 3), (2, 0, 0)):
        w, v = linalg.eig(gpuarray.to_gpu(np.ones(shape, dtype)))
        assert w.shape == shape[:-1] and v.shape == shape and w.dtype == v.dtype == complex_of(dtype)


def test_many_small_matrices():
    x = m.drawn("f8", 65_600, 2, 2)
    w, v = (a.get() for a in linalg.eig(gpuarray.to_gpu(x)))
    assert np.allclose(x @ v, v * w[:, None], atol=1e-12)


angle = np.exp(2j * np.pi * np.arange(6) / 6)
EXACT = {
    "zero": (np.zeros((4, 4)), np.zeros(4)),
    "identity": (np.eye(5), np.ones(5)),
    "diagonal": (np.diag([3.0, -1, 0, 2, -1]), [3, -1, 0, 2, -1]),
    "triangle": (np.triu(np.arange(1.0, 26).reshape(5, 5)), [1, 7, 13, 19, 25]),
    "cycle": (np.roll(np.eye(6), 1, 0), angle),
    "symmetric": (np.diag(np.ones(7), 1) + np.diag(np.ones(7), -1), 2 * np.cos(np.pi * np.arange(1, 9) / 9)),
    "turn": (np.array([[0.6, -0.8], [0.8, 0.6]]), [0.6 + 0.8j, 0.6 - 0.8j]),
    "two pairs": (np.kron(np.eye(2), [[0.0, 1], [-1, 0]]), [1j, -1j, 1j, -1j]),
    "projection": (np.ones((4, 4)) / 4, [1, 0, 0, 0]),
    "lower": (np.array([[1.0, 0], [1, 1]]), [1, 1]),
    "skew": (np.diag([1.0, 2], 1)[:3, :3] - np.diag([1.0, 2], -1)[:3, :3], [0, 5**0.5 * 1j, -(5**0.5) * 1j]),
    "cycle of blocks": (np.kron(np.roll(np.eye(3), 1, 0), np.diag([1.0, 8])), [*angle[::2], *(2**3 * angle[::2])]),
}  # fmt: skip


@pytest.mark.parametrize("name, dtype", in_turns(EXACT, m.HALVES))
def test_matrices_with_eigenvalues_that_are_known(name, dtype):
    x, values = EXACT[name]
    check(x.astype(dtype), exact=values)


@pytest.mark.parametrize("dtype", m.FLOATING)
def test_defective_matrices(dtype):
    """Eigenvalues that come together move by a root of the precision; the equations hold all the same."""
    jordan = np.eye(6) * 2 + np.eye(6, k=1)
    w, v = check(jordan.astype(dtype), exact=np.full(6, 2))
    # There is one direction only.
    assert np.linalg.matrix_rank(v, tol=1e-2) == 1
    companion = np.eye(5, k=-1)
    companion[0] = [5, -10, 10, -5, 1]  # (z - 1)^5
    eps = np.finfo(dtype).eps
    w = linalg.eigvals(gpuarray.to_gpu(companion.astype(dtype))).get()
    m.within(w - 1, 3 * (50 * eps) ** 0.2, "eigenvalues of a companion matrix")


@pytest.mark.parametrize("dtype", m.FLOATING)
@pytest.mark.parametrize("scale", [1e30, 1e-30, 1e-37])
def test_large_and_small_elements(scale, dtype):
    check(m.drawn(dtype, 9, 9) * np.dtype(dtype).type(scale), spread=30)


def test_the_largest_and_the_least_numbers():
    for scale in (1e307, 1e-310):
        w = linalg.eigvals(gpuarray.to_gpu(np.array([[1.0, 2], [2, 1]]) * scale)).get()
        assert not w.imag.any() and np.allclose(np.sort(w.real) / scale, [-1, 3], rtol=1e-10)


@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_badly_scaled_rows_and_columns(dtype):
    """Balancing keeps small eigenvalues that rounding errors of the large elements would hide."""
    x = m.drawn(dtype, 5, 5)
    sizes = 10.0 ** np.array([0, 6, -6, 3, -3])
    d = x * sizes[:, None] / sizes
    w = linalg.eigvals(gpuarray.to_gpu(d)).get()
    m.within(distances(w, np.linalg.eigvals(x.astype("c16"))), 1e-12, "eigenvalues of what is similar")


@pytest.mark.parametrize("dtype", m.FLOATING)
def test_normal_matrices_have_orthogonal_eigenvectors(dtype):
    q, values = m.unitary(dtype, 8), np.arange(1.0, 9)
    x = (q * values) @ q.conj().T
    w, v = check(x.astype(dtype), exact=values)
    m.within(v.conj().T @ v - np.eye(8), 500 * np.finfo(dtype).eps, "V times its adjoint")


@pytest.mark.parametrize("n, bad, dtype", pairs([1, 3, 20], [np.nan, np.inf], m.FLOATING))
def test_what_is_not_finite_is_refused(n, bad, dtype):
    x = np.stack([np.eye(n), np.eye(n)]).astype(dtype)
    x[1, 0, n - 1] = bad
    for function in (linalg.eig, linalg.eigvals):
        with pytest.raises(np.linalg.LinAlgError, match="Array must not contain infs or NaNs"):
            function(gpuarray.to_gpu(x))


def test_integers_and_numpys_dispatch():
    for dtype in ("i4", "u1", "?"):
        x = np.array([[2, 1], [0, 1]]).astype(dtype)
        w, v = np.linalg.eig(gpuarray.to_gpu(x))
        wanted = np.linalg.eig(x)
        assert isinstance(w, gpuarray.GPUArray) and w.dtype == v.dtype == complex_of(wanted[0].dtype)
        assert np.allclose(np.sort(w.get()), np.sort(wanted[0]))
        assert np.allclose(np.sort(np.linalg.eigvals(gpuarray.to_gpu(x)).get()), np.sort(wanted[0]))


@pytest.mark.parametrize("x", [np.ones(3), np.ones((2, 3)), np.eye(2, dtype="f2")], ids=["axes", "square", "half"])
@pytest.mark.parametrize("function", ["eig", "eigvals"])
def test_errors_are_numpys(function, x):
    with pytest.raises((ValueError, TypeError)) as wanted:
        getattr(np.linalg, function)(x)
    with pytest.raises(type(wanted.value)) as raised:
        getattr(np.linalg, function)(gpuarray.to_gpu(x))
    assert str(raised.value).startswith(str(wanted.value))


MATRIX_FUNCTIONS = {
    "det": linalg.det,
    "inv": linalg.inv,
    "solve": lambda a: linalg.solve(a, a),
    "cholesky": linalg.cholesky,
    "qr": linalg.qr,
    "eigh": linalg.eigh,
    "eigvalsh": linalg.eigvalsh,
    "eig": linalg.eig,
    "svd": linalg.svd,
    "pinv": linalg.pinv,
    "matrix_power": lambda a: linalg.matrix_power(a, -2),
    "slogdet": linalg.slogdet,
    "cond": linalg.cond,
    "norm": lambda a: linalg.norm(a, "nuc"),
    "lstsq": lambda a: linalg.lstsq(a, a)[0],
    "matrix_rank": linalg.matrix_rank,
}


@pytest.mark.parametrize("n", [4, 40])
@pytest.mark.parametrize("name", MATRIX_FUNCTIONS)
def test_results_come_from_the_allocator_of_the_matrix(name, n):
    pool = DeviceMemoryPool()
    matrix = gpuarray.to_gpu(np.eye(n) * 3 + 0.25, allocator=pool.allocate)
    results = MATRIX_FUNCTIONS[name](matrix)
    for result in results if isinstance(results, tuple) else (results,):
        assert result.allocator == pool.allocate


def test_nan_is_no_zero():
    matrix = np.eye(3)
    matrix[0, 0] = np.nan
    assert np.isnan(linalg.inv(gpuarray.to_gpu(matrix)).get()).any()
    assert np.isnan(linalg.solve(gpuarray.to_gpu(matrix), gpuarray.to_gpu(np.ones(3))).get()).any()
    with pytest.raises(linalg.LinAlgError, match="Singular matrix"):
        linalg.inv(gpuarray.to_gpu(np.diag([1.0, 0, 2])))


def _behind_a_gate(stream):
    """Holds the stream up by a host function, which needs the interpreter, until the event is set."""
    gate = threading.Event()
    stream.launch_host_func(gate.wait, 60)
    return gate


@pytest.mark.parametrize("name", ["inv", "cholesky", "eigh", "eigvals", "svdvals", "pinv"])
def test_others_go_on_while_a_function_waits(name):
    matrix, function = gpuarray.to_gpu(np.eye(3) * 2), getattr(linalg, name)
    function(matrix)  # Compiles.
    stream = drv.Stream()
    with stream:
        gate = _behind_a_gate(stream)
        threading.Timer(0.1, gate.set).start()
        function(matrix)
        assert gate.is_set()


def test_determinants_and_qr_do_not_wait():
    matrix = gpuarray.to_gpu(np.eye(3) * 2)
    functions = (linalg.det, linalg.slogdet, linalg.qr)
    for function in functions:
        function(matrix)  # Compiles.
    stream = drv.Stream()
    with stream:
        gate = _behind_a_gate(stream)
        det, (sign, _), (q, r) = (function(matrix) for function in functions)
        waits_still = not stream.is_done()
    gate.set()
    stream.synchronize()
    assert waits_still
    assert det.get() == 8 and sign.get() == 1 and np.allclose((q @ r).get(), np.eye(3) * 2)
