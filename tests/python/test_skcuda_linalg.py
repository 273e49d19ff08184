"""`skcuda.linalg` and `skcuda.rlinalg`, compared with NumPy."""

import re

import numpy as np
import pytest

import rtcg.driver as drv
import rtcg.numpy as rnp
from rtcg.tools import DeviceMemoryPool
from skcuda import cublas, linalg, misc, rlinalg

pytestmark = pytest.mark.usefixtures("context")

DTYPES = ["float32", "complex128"]


@pytest.fixture(autouse=True)
def _initialised(context):
    linalg.init()
    yield
    linalg.shutdown()


def numbers(shape, dtype="float32", order="C"):
    values = np.random.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * np.random.standard_normal(shape)
    return np.asarray(values.astype(dtype), order=order)


def positive(n, dtype, order="C"):
    """A Hermitian positive-definite matrix."""
    a = numbers((n, n), dtype)
    return np.asarray((a @ a.T.conj() + n * np.eye(n)).astype(dtype), order=order)


def to_gpu(a):
    gpu = rnp.to_gpu(a)
    assert gpu.strides == a.strides
    return gpu


def assert_near(actual, expected, factor=1):
    actual = actual.get() if hasattr(actual, "gpudata") else actual
    assert np.shape(actual) == np.shape(expected)
    eps = np.finfo(np.asarray(actual).dtype).eps
    assert np.abs(actual - expected).max() <= 100 * factor * eps * max(1, np.abs(expected).max())


OP = {"n": lambda a: a, "t": np.transpose, "c": lambda a: a.T.conj()}


# -- products


@pytest.mark.parametrize("dtype, orders", [("complex128", "CC"), ("float32", "FF"), ("float32", "CF")])
def test_products_of_matrices(dtype, orders):
    for transa, transb in ("nn", "cn", "tc"):
        a = numbers((4, 3) if transa == "n" else (3, 4), dtype, orders[0])
        b = numbers((3, 5) if transb == "n" else (5, 3), dtype, orders[1])
        expected = OP[transa](a) @ OP[transb](b)
        a_gpu, b_gpu = to_gpu(a), to_gpu(b)
        result = linalg.dot(a_gpu, b_gpu, transa, transb.upper())
        assert result.flags.f_contiguous == (orders[0] == "F")
        assert_near(result, expected)
        c = numbers((4, 5), dtype, orders[1])
        c_gpu = to_gpu(c)
        assert linalg.add_dot(a_gpu, b_gpu, c_gpu, transa, transb, alpha=2, beta=0.5) is c_gpu
        assert_near(c_gpu, 2 * expected + 0.5 * c)
        assert linalg.dot(a_gpu, b_gpu, transa, transb, out=c_gpu) is c_gpu
        assert_near(c_gpu, expected)


def test_products_of_blocks():
    a, b, c = numbers((8, 8)), numbers((6, 7)), numbers((9, 9))
    c_gpu = to_gpu(c)
    linalg.add_dot(to_gpu(a)[:3, 1:5], to_gpu(b)[1:5, :4], c_gpu[2:5, 3:7], handle=misc._global_cublas_handle)
    c[2:5, 3:7] += a[:3, 1:5] @ b[1:5, :4]
    assert_near(c_gpu, c)


@pytest.mark.parametrize("dtype", ["complex128"])
def test_products_with_vectors(dtype):
    a, x, y = numbers((4, 3), dtype), numbers(3, dtype), numbers(4, dtype)
    a_gpu, x_gpu, y_gpu = map(to_gpu, (a, x, y))
    number = linalg.dot(x_gpu, to_gpu(x))
    assert isinstance(number, np.dtype(dtype).type)
    assert_near(number, x @ x)
    assert_near(linalg.dot(a_gpu, x_gpu), a @ x)
    assert_near(linalg.dot(y_gpu, a_gpu), y @ a)
    assert_near(linalg.dot(a_gpu, y_gpu, "c"), a.T.conj() @ y)
    b, c = numbers((3, 5), dtype), numbers((5, 2), dtype)
    assert_near(linalg.mdot(a_gpu, to_gpu(b), to_gpu(c)), a @ b @ c)
    assert_near(a_gpu, a)
    assert_near(linalg.norm(a_gpu), np.linalg.norm(a))
    assert_near(linalg.trace(a_gpu), np.trace(a))


@pytest.mark.parametrize("order", "CF")
def test_diagonal_matrices(order):
    for dtype in DTYPES[1:] if order == "C" else DTYPES[:1]:
        a, d, e = numbers((4, 3), dtype, order), numbers(4, dtype), numbers((1, 3), dtype)
        a_gpu = to_gpu(a)
        assert_near(linalg.dot_diag(to_gpu(d), a_gpu), np.diag(d) @ a)
        assert_near(linalg.dot_diag(to_gpu(e), a_gpu, "t"), (np.diag(e[0]) @ a.T).T)
        assert linalg.dot_diag(to_gpu(d), a_gpu, overwrite=True) is a_gpu
        assert_near(a_gpu, np.diag(d) @ a)
        square = numbers((4, 4), dtype, order)
        square_gpu = to_gpu(square)
        assert_near(linalg.add_diag(to_gpu(d), square_gpu), np.diag(d) + square)
        assert_near(square_gpu, square)
        assert linalg.add_diag(to_gpu(d), square_gpu, overwrite=True) is square_gpu
        assert_near(square_gpu, np.diag(d) + square)
        assert_near(linalg.diag(to_gpu(d)), np.diag(d))
        assert_near(linalg.diag(to_gpu(a)), np.diag(a))
        assert_near(linalg.diag(to_gpu(a).T), np.diag(a))


def test_products_by_elements():
    x, y = numbers((3, 4)), numbers((3, 4), "complex64")
    x_gpu, y_gpu = to_gpu(x), to_gpu(y)
    assert_near(linalg.multiply(x_gpu, y_gpu), x * y)
    assert linalg.multiply(x_gpu, y_gpu, overwrite=True) is y_gpu
    assert_near(y_gpu, x * y)
    assert linalg.scale(2 - 1j, y_gpu) is None
    linalg.scale(3.0, y_gpu, alpha_real=True)
    assert_near(y_gpu, x * y * (6 - 3j))
    with pytest.raises(ValueError, match="alpha is 1j; expected a real number"):
        linalg.scale(1j, x_gpu)
    with pytest.raises(ValueError, match=r"have shapes \(3, 4\) and \(4,\); expected one shape"):
        linalg.multiply(x_gpu, y_gpu[0])


# -- forms


@pytest.mark.parametrize("dtype, order", [("float32", "F"), ("complex128", "C")])
def test_forms(dtype, order):
    a = numbers((4, 4), dtype, order)
    a_gpu = to_gpu(a)
    for function, expected in [(linalg.transpose, a.T), (linalg.hermitian, a.T.conj()), (linalg.tril, np.tril(a))]:
        assert_near(function(a_gpu), expected)
    assert_near(linalg.transpose(a_gpu[:, :2]), a[:, :2].T)
    assert linalg.transpose(a_gpu).flags.c_contiguous and linalg.hermitian(a_gpu).flags.c_contiguous
    assert_near(linalg.triu(a_gpu), np.triu(a))
    assert_near(linalg.triu(a_gpu, k=1), np.triu(a, 1))
    assert_near(linalg.conj(a_gpu), a.conj())
    assert_near(a_gpu, a)
    assert linalg.conj(a_gpu, overwrite=True) is a_gpu
    assert linalg.tril(a_gpu, overwrite=True) is a_gpu
    assert_near(a_gpu, np.tril(a.conj()))
    assert linalg.triu(a_gpu, overwrite=True) is a_gpu
    assert_near(a_gpu, np.diag(np.diag(a.conj())))


def test_new_matrices():
    assert (linalg.eye(5).get() == np.eye(5)).all() and linalg.eye(5).dtype == np.float32
    assert (linalg.eye(128, np.complex128).get() == np.eye(128)).all()
    x = numbers(4, "complex64")
    result = linalg.vander(to_gpu(x), n=6)
    assert result.flags.f_contiguous
    assert_near(result, np.vander(x, 6, increasing=True))
    assert_near(linalg.vander(to_gpu(x)), np.vander(x, increasing=True))


# -- decompositions


@pytest.mark.parametrize("shape, dtype", [((4, 6), "float32"), ((5, 5), "float32"), ((6, 4), "complex128")])
def test_singular_values(shape, dtype):
    a = numbers(shape, dtype)
    k = min(shape)
    for jobs in ("AA", "SS", "sa", "OS", "SO"):
        if "O" in jobs and shape[0] != shape[1]:
            continue
        a_gpu = to_gpu(a)
        u_gpu, s_gpu, vh_gpu = linalg.svd(a_gpu, *jobs)
        assert u_gpu.shape == (shape[0], shape[0] if jobs[0] == "A" else k)
        assert vh_gpu.shape == (shape[1] if jobs[1] in "Aa" else k, shape[1])
        assert (u_gpu is a_gpu) == (jobs[0] == "O") and (vh_gpu is a_gpu) == (jobs[1] == "O")
        assert u_gpu.flags.c_contiguous and vh_gpu.flags.c_contiguous
        assert_near(s_gpu, np.linalg.svd(a, compute_uv=False))
        assert_near((u_gpu.get()[:, :k] * s_gpu.get()) @ vh_gpu.get()[:k], a)
    assert_near(linalg.svd(to_gpu(a), "N", "n"), np.linalg.svd(a, compute_uv=False))
    u_gpu, s_gpu = linalg.svd(to_gpu(a), "S", "N")
    assert u_gpu.shape == (shape[0], k)
    s_gpu, vh_gpu = linalg.svd(to_gpu(a), "N", "S")
    assert vh_gpu.shape == (k, shape[1]) and s_gpu.ndim == 1


@pytest.mark.parametrize("dtype, order", [("float32", "F"), ("complex128", "C")])
@pytest.mark.parametrize("uplo", "LU")
def test_cholesky(dtype, order, uplo):
    a = positive(5, dtype, order)
    lower = np.linalg.cholesky(a)
    # As upstream, `uplo` is that of column-major memory.
    is_upper = (uplo == "L") == (order == "C")
    expected = lower.T.conj() if is_upper else lower
    a_gpu = to_gpu(a)
    assert linalg.cholesky(a_gpu, uplo) is None
    assert_near(a_gpu, expected)
    # One triangle is read, and the other one stays.
    given = (np.triu(a) if is_upper else np.tril(a)) + (np.tril(np.full_like(a, 7), -1) if is_upper else 0)
    given = np.asarray(given if is_upper else given + np.triu(np.full_like(a, 7), 1), order=order)
    a_gpu = to_gpu(given)
    linalg.cho_factor(a_gpu, uplo.lower())
    factor = a_gpu.get()
    triangle, rest = (np.triu, np.tril) if is_upper else (np.tril, np.triu)
    assert_near(triangle(factor), expected)
    assert (factor - triangle(factor) == given - triangle(given)).all() and rest is not triangle
    for b in (numbers(5, dtype), numbers((5, 3), dtype, order))[: 2 if uplo == "L" else 1]:
        a_gpu, b_gpu = to_gpu(a), to_gpu(b)
        linalg.cho_solve(a_gpu, b_gpu, uplo)
        assert_near(b_gpu, np.linalg.solve(a, b))
        assert_near(triangle(a_gpu.get()), expected)


def test_matrices_that_have_no_factor():
    a_gpu = to_gpu(-np.eye(3, dtype=np.float32))
    with pytest.raises(linalg.LinAlgError):
        linalg.cho_factor(a_gpu)
    assert (a_gpu.get() == -np.eye(3)).all()
    with pytest.raises(ValueError, match=r"b_gpu has shape \(4,\); expected a vector or matrix with 3 rows"):
        linalg.cho_solve(a_gpu, rnp.zeros(4, np.float32))


@pytest.mark.parametrize("dtype, order", [("float32", "F"), ("complex128", "C")])
def test_inverses_and_determinants(dtype, order):
    a = positive(4, dtype, order)
    a_gpu = to_gpu(a)
    inverse = np.linalg.inv(a)
    assert_near(linalg.inv(a_gpu), inverse)
    assert_near(linalg.pinv(a_gpu), inverse)
    assert_near(linalg.det(a_gpu), np.linalg.det(a))
    pivots = rnp.empty((4, 1), np.int32)
    assert_near(linalg.det(a_gpu, overwrite=True, workspace_gpu=rnp.empty(9, dtype), ipiv_gpu=pivots), np.linalg.det(a))
    assert linalg.inv(a_gpu, overwrite=True, ipiv_gpu=pivots) is a_gpu
    assert_near(a_gpu, inverse)
    wide = numbers((3, 5), dtype, order)
    assert_near(linalg.pinv(to_gpu(wide)), np.linalg.pinv(wide))
    assert_near(linalg.pinv(to_gpu(np.ascontiguousarray(wide.T)), 1e-3), np.linalg.pinv(wide.T))
    with pytest.raises(linalg.LinAlgError, match="Singular matrix"):
        linalg.inv(rnp.ones((3, 3), dtype))


@pytest.mark.parametrize("dtype", ["complex128"])
def test_qr(dtype):
    a = numbers((6, 4), dtype, "F")
    a_gpu = to_gpu(a)
    q_gpu, r_gpu = linalg.qr(a_gpu)
    q, r = q_gpu.get(), r_gpu.get()
    assert q.shape == (6, 4) and r.shape == (4, 4) and q_gpu.flags.f_contiguous and r_gpu.flags.f_contiguous
    assert_near(q @ r, a)
    assert_near(q.T.conj() @ q, np.eye(4))
    assert (np.tril(r, -1) == 0).all()
    assert_near(linalg.qr(a_gpu, "economic"), q)
    assert_near(linalg.qr(a_gpu, mode="r"), r)
    assert linalg.qr(to_gpu(np.ascontiguousarray(a.T)), "r").shape == (4, 6)


@pytest.mark.parametrize("dtype, order", [("float32", "F"), ("complex128", "C")])
def test_eigenvalues(dtype, order):
    a = positive(5, dtype, order)
    triangle = np.tril if order == "F" else np.triu
    a_gpu = to_gpu(np.asarray(triangle(a), order=order))
    vectors_gpu, values_gpu = linalg.eig(a_gpu)
    assert vectors_gpu.flags.f_contiguous and values_gpu.dtype == a.real.dtype
    values, vectors = values_gpu.get(), vectors_gpu.get()
    assert_near(values, np.linalg.eigvalsh(a))
    assert_near(a @ vectors, vectors * values)
    assert_near(linalg.eig(a_gpu, "N", "N", imag="T"), np.linalg.eigvalsh(a))
    with pytest.raises(NotImplementedError, match="jobvl is 'V'; expected 'N'"):
        linalg.eig(a_gpu, "V")


def test_wrong_arguments():
    a, v, square = rnp.zeros((3, 4), np.float32), rnp.zeros(3, np.float32), rnp.zeros((3, 3), np.float32)
    for call, said in [
        (lambda: linalg.dot(a, a), "objects are not aligned: a_gpu and b_gpu have shapes (3, 4) and (3, 4)"),
        (lambda: linalg.dot(v, rnp.zeros(4, np.float32)), "x_gpu and y_gpu have 3 and 4 elements; expected one length"),
        (lambda: linalg.dot(v, rnp.zeros(3)), "x_gpu and y_gpu have dtypes float32 and float64; expected one dtype"),
        (lambda: linalg.dot(square, a, "x"), "transa is 'x'; expected 'N' or 'T' or 'C'"),
        (lambda: linalg.add_dot(square, a, square), "c_gpu has shape (3, 3) and dtype float32; expected (3, 4)"),
        (lambda: linalg.dot(square, rnp.zeros((3, 3), int)), "y_gpu has dtype int64; expected float32, float64,"),
        (lambda: linalg.dot_diag(v, a, "t"), "d_gpu has 3 elements; expected 4, for shape (3, 4)"),
        (lambda: linalg.dot_diag(a, a), "d_gpu has shape (3, 4); expected a vector"),
        (lambda: linalg.add_diag(v, a), "a_gpu has shape (3, 4); expected a square matrix"),
        (lambda: linalg.transpose(v), "a_gpu has shape (3,); expected 2 axes"),
        (lambda: linalg.diag(rnp.zeros((2, 2, 2))), "v_gpu has shape (2, 2, 2); expected one or two axes"),
        (lambda: linalg.diag(rnp.zeros(0)), "v_gpu has shape (0,); expected one element at least"),
        (lambda: linalg.eye(0), "N is 0; expected an integer of at least 1"),
        (lambda: linalg.eye(3, np.int32), "dtype is int32; expected"),
        (lambda: linalg.svd(a, "O", "S"), "a_gpu has shape (3, 4); expected a square matrix"),
        (lambda: linalg.svd(square, "O", "O"), "jobu and jobvt are both 'O'"),
        (lambda: linalg.svd(a, "X"), "jobu is 'X'; expected 'A' or 'S' or 'O' or 'N'"),
        (lambda: linalg.svd(a, lib="lapack"), "lib is 'lapack'; expected 'cusolver'"),
        (lambda: linalg.cho_factor(a), "a_gpu has shape (3, 4); expected a square matrix"),
        (lambda: linalg.cho_factor(square, "X"), "uplo is 'X'; expected 'L' or 'U'"),
        (lambda: linalg.inv(a), "a_gpu has shape (3, 4); expected a square matrix"),
        (lambda: linalg.inv(square, ipiv_gpu=v), "ipiv_gpu has dtype float32 and 3 elements; expected int32 and at"),
        (lambda: linalg.det(a), "a_gpu has shape (3, 4); expected a square matrix"),
        (lambda: linalg.qr(a, "full"), "mode is 'full'; expected 'reduced', 'economic' or 'r'"),
        (lambda: linalg.eig(square, imag="X"), "imag is 'X'; expected 'T' or 'F'"),
    ]:
        with pytest.raises(ValueError, match=re.escape(said)):
            call()
    for function in (linalg.svd, linalg.pinv, linalg.inv, linalg.det, linalg.qr, linalg.eig, linalg.cholesky):
        with pytest.raises(NotImplementedError, match="lib is 'cula', which no longer exists; expected 'cusolver'"):
            function(square, lib="cula")
    with pytest.raises(TypeError, match="a_gpu is .*; expected a GPUArray"):
        linalg.inv(np.eye(3))


def test_memory_is_from_the_allocator_of_init():
    linalg.shutdown()
    pool = DeviceMemoryPool()
    linalg.init(pool.allocate)
    result = linalg.dot(to_gpu(numbers((64, 64))), to_gpu(numbers((64, 64))))
    assert pool.active_bytes >= result.nbytes


def test_functions_are_computed_in_the_stream_of_the_handle():
    linalg.shutdown()
    streams = []

    def allocate(size):
        streams.append(drv.Stream.get_current())
        return drv.mem_alloc(size)

    linalg.init(allocate)
    a, handle, stream = numbers((4, 4)), cublas.cublasCreate(), drv.Stream()
    cublas.cublasSetStream(handle, stream.handle)
    result = linalg.dot(to_gpu(a), to_gpu(a), handle=handle)
    stream.synchronize()
    assert_near(result, a @ a)
    assert {each.handle for each in streams} == {stream.handle}
    streams.clear()
    linalg.dot(to_gpu(a), to_gpu(a))
    assert set(streams) == {None}
    with pytest.raises(cublas.cublasNotInitialized, match="handle is 'x'; expected one of cublasCreate"):
        linalg.norm(to_gpu(a), handle="x")


# -- principal components, dynamic modes


@pytest.mark.parametrize("dtype", ["float64"])
def test_principal_components(dtype):
    x = numbers((30, 6), dtype, "F")
    pca = linalg.PCA()
    scores = pca.fit_transform(to_gpu(x)).get()
    assert scores.shape == (30, 6)
    gram = scores.T @ scores
    assert_near(gram, np.diag(np.diag(gram)), 5)
    assert (np.diff(np.diag(gram)) <= 0).all()
    centred = x - x.mean(axis=1, keepdims=True)
    assert_near(np.sqrt(np.diag(gram))[:5], np.linalg.svd(centred, compute_uv=False)[:5], 5)
    few = linalg.PCA(n_components=2, handle=cublas.cublasCreate()).fit_transform(to_gpu(x))
    assert few.flags.f_contiguous
    assert_near(few.get() * np.sign(few.get()[0]), scores[:, :2] * np.sign(scores[0, :2]))
    assert_near(linalg.dot(few[:, 0], few[:, 1]), np.dtype(dtype).type(0), 30)


def test_settings_of_principal_components():
    pca = linalg.PCA(n_components=99)
    assert pca.get_n_components() == 99
    assert pca.fit_transform(to_gpu(numbers((4, 3), order="F"))).shape == (4, 3)
    pca.set_n_components(None)
    assert pca.get_n_components() is None
    with pytest.raises(ValueError, match="n_components is 0; expected an int above 0, or None"):
        pca.set_n_components(0)
    with pytest.raises(ValueError, match="X_gpu is in C order; expected Fortran order"):
        pca.fit_transform(to_gpu(numbers((4, 3))))
    with pytest.raises(ValueError, match=r"X_gpu has shape \(4,\); expected two axes"):
        pca.fit_transform(to_gpu(numbers(4)))
    with pytest.raises(TypeError, match="X_gpu has dtype int64; expected float32 or float64"):
        pca.fit_transform(rnp.zeros((4, 3), int))


@pytest.mark.parametrize(
    "decompose, options",
    [
        (linalg.dmd, {"modes": "exact"}),
        (linalg.dmd, {"modes": "standard"}),
        (rlinalg.rdmd, {"p": 3, "q": 2, "modes": "Exact"}),
        (rlinalg.cdmd, {"c": 12}),
    ],
)
def test_dynamic_modes(decompose, options):
    """Three patterns that change with time; eigenvalues of real matrices may be complex."""
    t = np.arange(20)
    a = np.asfortranarray(numbers((40, 3), "float64") @ np.array([0.9**t, np.cos(0.5 * t), np.sin(0.5 * t)]))
    f, b, v, omega = decompose(to_gpu(a), k=3, return_amplitudes=True, return_vandermonde=True, **options)
    assert f.shape == (40, 3) and b.shape == (3,) and v.shape == (3, 19) and omega.shape == (3,)
    np.testing.assert_allclose(f.get() @ np.diag(b.get()) @ v.get(), a[:, :-1], atol=1e-8)
    np.testing.assert_allclose(sorted(omega.get().imag), [-0.5, 0, 0.5], atol=1e-8)
    np.testing.assert_allclose(sorted(omega.get().real), [np.log(0.9), 0, 0], atol=1e-8)
    assert len(decompose(to_gpu(a), 3, **options)) == 2


@pytest.mark.parametrize("method, dtype", [("standard", "float64"), ("fast", "float64")])
def test_random_projections(method, dtype):
    a = numbers((6, 4), dtype, "F")
    u, s, vh = rlinalg.rsvd(to_gpu(a), k=4, p=0, q=2, method=method)
    assert_near((u.get() * s.get()) @ vh.get(), a)
    low = numbers((20, 3), dtype) @ numbers((3, 10), dtype)
    u, s, vh = rlinalg.rsvd(to_gpu(low), k=3, p=2)
    assert u.shape == (20, 3) and s.shape == (3,) and vh.shape == (3, 10)
    assert_near((u.get() * s.get()) @ vh.get(), low)


def test_wrong_arguments_of_decompositions():
    a_gpu = to_gpu(numbers((6, 4)))
    for call, said in [
        (lambda: rlinalg.rsvd(a_gpu), "k is None; expected 1 to 4"),
        (lambda: rlinalg.rsvd(a_gpu, 5), "k is 5; expected 1 to 4"),
        (lambda: rlinalg.rsvd(a_gpu.T, 2), "a_gpu has shape (4, 6); expected at least as many rows as columns"),
        (lambda: rlinalg.rsvd(a_gpu, 2, method="slow"), "method is 'slow'; expected 'standard' or 'fast'"),
        (lambda: linalg.dmd(a_gpu, 4), "k is 4; expected 1 to 3"),
        (lambda: linalg.dmd(a_gpu, modes="none"), "modes is 'none'; expected 'exact' or 'standard'"),
        (lambda: rlinalg.cdmd(a_gpu, 2, 9), "c is 9; expected 2 to 6"),
        (lambda: rlinalg.cdmd(a_gpu, 2, modes="standard"), "modes is 'standard'; expected 'exact'"),
    ]:
        with pytest.raises(ValueError, match=re.escape(said)):
            call()
