"""`skcuda.cublas`: functions of pointers in column-major order, compared with NumPy."""

import inspect
import re

import numpy as np
import pytest

import rtcg.driver as drv
import rtcg.numpy as rnp
from skcuda import cublas

pytestmark = pytest.mark.usefixtures("context")

OP = {"n": lambda a: a, "t": np.transpose, "c": lambda a: a.T.conj()}
REAL = {"S": "float32", "D": "float64"}
COMPLEX = {"C": "complex64", "Z": "complex128"}
# Of each kind one: functions of all dtypes share one body.
LETTERS = {"S": "float32", "Z": "complex128"}


@pytest.fixture
def handle(context):
    handle = cublas.cublasCreate()
    yield handle
    cublas.cublasDestroy(handle)


def numbers(shape, dtype):
    values = np.random.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * np.random.standard_normal(shape)
    return np.asfortranarray(values.astype(dtype))


def call(name, handle, *args):
    """Call a function with addresses in the place of arrays."""
    return getattr(cublas, f"cublas{name}")(handle, *[getattr(arg, "gpudata", arg) for arg in args])


def assert_near(actual, expected):
    actual = actual.get() if hasattr(actual, "gpudata") else actual
    assert np.shape(actual) == np.shape(expected)
    eps = np.finfo(np.asarray(actual).dtype).eps
    assert np.abs(actual - expected).max() <= 60 * eps * max(1, np.abs(expected).max())


@pytest.mark.parametrize("letter, dtype", [("Z", "complex128")])
def test_vectors(handle, letter, dtype):
    x, y = numbers(12, dtype), numbers(12, dtype)
    x_gpu, y_gpu = rnp.to_gpu(x), rnp.to_gpu(y)
    taxicab = np.abs(x.real) + np.abs(x.imag)
    small = letter.lower()
    assert call(f"I{small}amax", handle, 12, x_gpu, 1) == taxicab.argmax()
    assert call(f"I{small}amin", handle, 4, x_gpu, 3) == taxicab[::3].argmin()
    prefix = {"S": "S", "Z": "Dz"}[letter]
    assert_near(call(f"{prefix}asum", handle, 12, x_gpu, 1), taxicab.sum())
    assert_near(call(f"{prefix}nrm2", handle, 6, x_gpu, 2), np.linalg.norm(x[::2]))
    dot = "dot" if letter == "S" else "dotu"
    result = call(letter + dot, handle, 6, x_gpu, 2, y_gpu, 1)
    assert isinstance(result, np.dtype(dtype).type)
    assert_near(result, x[::2] @ y[:6])
    # A negative increment begins at the end, and 0 stays.
    assert_near(call(letter + dot, handle, 12, x_gpu, -1, y_gpu, 1), x[::-1] @ y)
    assert_near(call(letter + dot, handle, 12, x_gpu, 1, y_gpu, 0), x.sum() * y[0])
    if letter == "Z":
        assert_near(call("Zdotc", handle, 12, x_gpu, 1, y_gpu, 1), x.conj() @ y)


@pytest.mark.parametrize("letter, dtype", [("S", "float32")])
def test_vectors_that_change(handle, letter, dtype):
    x, y = numbers(12, dtype), numbers(12, dtype)
    x_gpu, y_gpu = rnp.to_gpu(x), rnp.to_gpu(y)
    alpha = 2 - 1j if letter == "Z" else 2.5
    call(f"{letter}axpy", handle, 6, alpha, x_gpu, 1, y_gpu, 2)
    y[::2] += alpha * x[:6]
    assert_near(y_gpu, y)
    call(f"{letter}scal", handle, 4, alpha, x_gpu, 3)
    x[::3] *= alpha
    assert_near(x_gpu, x)
    call(f"{letter}swap", handle, 12, x_gpu, 1, y_gpu, -1)
    x, y = y[::-1].copy(), x[::-1].copy()
    assert_near(x_gpu, x)
    assert_near(y_gpu, y)
    call(f"{letter}rot", handle, 12, x_gpu, 1, y_gpu, 1, 0.6, 0.8)
    x, y = 0.6 * x + 0.8 * y, 0.6 * y - 0.8 * x
    assert_near(x_gpu, x)
    assert_near(y_gpu, y)
    call(f"{letter}copy", handle, 12, x_gpu, 1, y_gpu, 1)
    assert_near(y_gpu, x)
    if letter == "Z":
        call("Zdscal", handle, 12, 0.5, x_gpu, 1)
        assert_near(x_gpu, x / 2)


@pytest.mark.parametrize("letter, dtype", [("Z", "complex128")])
def test_matrices_and_vectors(handle, letter, dtype):
    a, x, y = numbers((5, 3), dtype), numbers(5, dtype), numbers(5, dtype)
    a_gpu, x_gpu = rnp.to_gpu(a), rnp.to_gpu(x)
    for trans, op in list(OP.items())[: 3 if letter == "Z" else 2]:
        y_gpu = rnp.to_gpu(y)
        rows, columns = op(a).shape
        call(f"{letter}gemv", handle, trans, 5, 3, 2.0, a_gpu, 5, x_gpu, 1, 0.5, y_gpu, 1)
        assert_near(y_gpu[:rows], 2 * op(a) @ x[:columns] + y[:rows] / 2)
    for name, columns in [("ger", x[:3])] if letter == "S" else [("geru", x[:3]), ("gerc", x[:3].conj())]:
        a_gpu = rnp.to_gpu(a)
        call(letter + name, handle, 5, 3, 2.0, rnp.to_gpu(y), 1, x_gpu, 1, a_gpu, 5)
        assert_near(a_gpu, a + 2 * np.outer(y, columns))


@pytest.mark.parametrize("letter, dtype", [("Z", "complex128")])
def test_symmetric_and_triangular_matrices_and_vectors(handle, letter, dtype):
    x, y = numbers(5, dtype), numbers(5, dtype)
    x_gpu = rnp.to_gpu(x)
    square = numbers((4, 4), dtype)
    square_gpu = rnp.to_gpu(square)
    for uplo, triangle in (("L", np.tril), ("u", np.triu)):
        half, y_gpu = triangle(square), rnp.to_gpu(y)
        whole = half + half.T - np.diag(np.diag(half))
        call(f"{letter}symv", handle, uplo, 4, 1.0, square_gpu, 4, x_gpu, 1, 0.0, y_gpu, 1)
        assert_near(y_gpu[:4], whole @ x[:4])
        vector_gpu = rnp.to_gpu(x[:4])
        call(f"{letter}trmv", handle, uplo, "t", "n", 4, square_gpu, 4, vector_gpu, 1)
        assert_near(vector_gpu, half.T @ x[:4])
        call(f"{letter}trsv", handle, uplo, "t", "n", 4, square_gpu, 4, vector_gpu, 1)
        assert np.abs(vector_gpu.get() - x[:4]).max() < 1e-3
        changed_gpu = rnp.to_gpu(square)
        call(f"{letter}syr", handle, uplo, 4, 2.0, x_gpu, 1, changed_gpu, 4)
        assert_near(changed_gpu, square + triangle(2 * np.outer(x[:4], x[:4])))
        if letter == "Z":
            hermitian = half + half.T.conj() - np.diag(np.diag(half).real + 0j)
            call("Zhemv", handle, uplo, 4, 1.0, square_gpu, 4, x_gpu, 1, 0.0, y_gpu, 1)
            assert_near(y_gpu[:4], hermitian @ x[:4])
            changed_gpu = rnp.to_gpu(square)
            call("Zher", handle, uplo, 4, 2.0, x_gpu, 1, changed_gpu, 4)
            assert_near(changed_gpu, square + triangle(2 * np.outer(x[:4], x[:4].conj())))


@pytest.mark.parametrize("letter, dtype", LETTERS.items())
def test_products_of_matrices(handle, letter, dtype):
    m, n, k = 4, 3, 5
    for transa, transb in ("nn", "tc", "cn"):
        a = numbers((m, k) if transa == "n" else (k, m), dtype)
        b = numbers((k, n) if transb == "n" else (n, k), dtype)
        c = numbers((m + 2, n), dtype)
        a_gpu, b_gpu, c_gpu = map(rnp.to_gpu, (a, b, c))
        operands = (a_gpu, a.shape[0], b_gpu, b.shape[0])
        call(f"{letter}gemm", handle, transa, transb, m, n, k, 2.0, *operands, 0.5, c_gpu, m + 2)
        c[:m] = 2 * OP[transa](a) @ OP[transb](b) + c[:m] / 2
        assert_near(c_gpu, c)
    # Nothing is read from C if beta is 0.
    c_gpu = rnp.full((m, n), np.nan, dtype, order="F")
    call(f"{letter}gemm", handle, "c", "n", m, n, k, 1, *operands, 0, c_gpu, m)
    assert_near(c_gpu, a.T.conj() @ b)


@pytest.mark.parametrize("letter, dtype", [("S", "float32")])
def test_batches_of_products(handle, letter, dtype):
    a, b, c = numbers((3, 4, 5), dtype), numbers((3, 2, 4), dtype), numbers((3, 2, 5), dtype)
    arrays = [rnp.to_gpu(np.ascontiguousarray(each)) for each in (a, b, c)]
    # In column-major order they are transposed: (5, 4) @ (4, 2).
    expected = 2 * b @ a
    pointers = [rnp.to_gpu(int(x.gpudata) + np.arange(3, dtype=np.uint64) * (x.nbytes // 3)) for x in arrays]
    sizes = ("n", "n", 5, 2, 4, 2.0)
    call(f"{letter}gemmBatched", handle, *sizes, pointers[0], 5, pointers[1], 4, 0.0, pointers[2], 5, 3)
    assert_near(arrays[2], expected)
    arrays[2].fill(1)
    strided = (arrays[0], 5, 20, arrays[1], 4, 8, 1.0, arrays[2], 5, 10, 3)
    call(f"{letter}gemmStridedBatched", handle, *sizes, *strided)
    assert_near(arrays[2], expected + 1)
    triangles, right = numbers((3, 4, 4), dtype) + 4 * np.eye(4, dtype=dtype), numbers((3, 2, 4), dtype)
    arrays = [rnp.to_gpu(np.ascontiguousarray(each)) for each in (triangles, right)]
    pointers = [rnp.to_gpu(int(x.gpudata) + np.arange(3, dtype=np.uint64) * (x.nbytes // 3)) for x in arrays]
    call(f"{letter}trsmBatched", handle, "l", "u", "t", "n", 4, 2, 2.0, pointers[0], 4, pointers[1], 4, 3)
    solved = [np.linalg.solve(np.tril(a), 2 * b.T).T for a, b in zip(triangles, right, strict=True)]
    assert_near(arrays[1], np.array(solved))


@pytest.mark.parametrize("letter, dtype", [("Z", "complex128")])
def test_batches_of_factors(handle, letter, dtype):
    lu_factor = pytest.importorskip("scipy.linalg").lu_factor
    n, count = 70, 4
    # In column-major order.
    a, b = numbers((count, n, n), dtype), numbers((count, n, 3), dtype)
    packed = lambda x: rnp.to_gpu(np.ascontiguousarray(x.swapaxes(1, 2)))  # noqa: E731
    unpacked = lambda x: x.get().swapaxes(1, 2)  # noqa: E731
    pointers = lambda x: rnp.to_gpu(int(x.gpudata) + np.arange(count, dtype=np.uint64) * (x.nbytes // count))  # noqa: E731
    factors, pivots, info = packed(a), rnp.empty((count, n), np.int32), rnp.full(count, -1, np.int32)
    call(f"{letter}getrfBatched", handle, n, pointers(factors), n, pivots, info, count)
    expected = [lu_factor(each) for each in a]
    eps = np.finfo(dtype).eps * n * 50
    assert not info.get().any() and (pivots.get() - 1 == [each[1] for each in expected]).all()
    np.testing.assert_allclose(unpacked(factors), [each[0] for each in expected], rtol=0, atol=eps * 10)
    for trans, op in OP.items():
        right = packed(b)
        call(f"{letter}getrsBatched", handle, trans, n, 3, pointers(factors), n, pivots, pointers(right), n, 0, count)
        residual = np.abs([op(x) @ y - z for x, y, z in zip(a, unpacked(right), b, strict=True)]).max()
        assert residual <= eps * np.abs(right.get()).max()
    inverses = rnp.empty_like(factors)
    call(f"{letter}getriBatched", handle, n, pointers(factors), n, pivots, pointers(inverses), n, info, count)
    assert np.abs(a @ unpacked(inverses) - np.eye(n)).max() <= eps * np.abs(inverses.get()).max()
    if letter == "Z":
        # Without pivots, and singular.
        a = np.array([[[2, 1], [1, 3]], [[1, 2], [2, 4]]], dtype)
        factors, info = rnp.to_gpu(a), rnp.empty(2, np.int32)
        pointed = rnp.to_gpu(int(factors.gpudata) + np.arange(2, dtype=np.uint64) * (factors.nbytes // 2))
        call("ZgetrfBatched", handle, 2, pointed, 2, 0, info, 2)
        assert (info.get() == [0, 2]).all()
        assert_near(factors, np.array([[[2, 0.5], [1, 2.5]], [[1, 2], [2, 0]]], dtype))
        call("ZgetriBatched", handle, 2, pointed, 2, None, pointers(inverses)[:2], 2, info, 2)
        assert (info.get() == [0, 2]).all()
        with pytest.raises(ValueError, match="info has 8 bytes; expected at least 12"):
            cublas.cublasZgetrfBatched(handle, 2, 8, 2, 0, info, 3)


@pytest.mark.parametrize("letter, dtype", [("Z", "complex128")])
def test_special_matrices(handle, letter, dtype):
    a, b, c = numbers((4, 4), dtype), numbers((4, 3), dtype), numbers((4, 3), dtype)
    a_gpu, b_gpu = rnp.to_gpu(a), rnp.to_gpu(b)
    x = numbers(4, dtype)
    for uplo, triangle in (("l", np.tril), ("u", np.triu)):
        half = triangle(a)
        symmetric = half + half.T - np.diag(np.diag(half))
        c_gpu = rnp.to_gpu(c)
        call(f"{letter}symm", handle, "l", uplo, 4, 3, 1.0, a_gpu, 4, b_gpu, 4, 2.0, c_gpu, 4)
        assert_near(c_gpu, symmetric @ b + 2 * c)
        call(f"{letter}trmm", handle, "l", uplo, "n", "u", 4, 3, 2.0, a_gpu, 4, b_gpu, 4, c_gpu, 4)
        unit = half - np.diag(np.diag(half)) + np.eye(4)
        assert_near(c_gpu, 2 * unit @ b)
        call(f"{letter}trsm", handle, "l", uplo, "n", "u", 4, 3, 0.5, a_gpu, 4, c_gpu, 4)
        assert np.abs(c_gpu.get() - b).max() < 1e-3
        for name, right in [("syrk", b.T)] + ([("herk", b.T.conj())] if letter == "Z" else []):
            changed_gpu = rnp.to_gpu(a)
            call(letter + name, handle, uplo, "n", 4, 3, 2.0, b_gpu, 4, 1.0, changed_gpu, 4)
            assert_near(changed_gpu, a + triangle(2 * b @ right))
    c_gpu = rnp.to_gpu(np.asfortranarray(c.T))
    half = np.tril(a)
    call(f"{letter}trmm", handle, "r", "l", "t", "n", 3, 4, 1.0, a_gpu, 4, c_gpu, 3, c_gpu, 3)
    assert_near(c_gpu, c.T @ half.T)
    call(f"{letter}trsm", handle, "r", "l", "t", "n", 3, 4, 1.0, a_gpu, 4, c_gpu, 3)
    assert np.abs(c_gpu.get() - c.T).max() < 1e-3
    c_gpu = rnp.to_gpu(c)
    call(f"{letter}dgmm", handle, "l", 4, 3, b_gpu, 4, rnp.to_gpu(x), 1, c_gpu, 4)
    assert_near(c_gpu, np.diag(x) @ b)
    call(f"{letter}dgmm", handle, "r", 4, 3, b_gpu, 4, rnp.to_gpu(x), 1, c_gpu, 4)
    assert_near(c_gpu, b * x[:3])
    call(f"{letter}geam", handle, "n", "c", 4, 3, 2.0, b_gpu, 4, 3.0, rnp.to_gpu(np.asfortranarray(c.T)), 3, c_gpu, 4)
    assert_near(c_gpu, 2 * b + 3 * c.conj())
    call(f"{letter}geam", handle, "t", "t", 3, 4, 1.0, b_gpu, 4, 0.0, 0, 4, c_gpu, 3)
    assert_near(c_gpu.ravel(order="F"), b.T.ravel(order="F"))


def test_hermitian_products(handle):
    a, b = numbers((3, 3), "complex128"), numbers((2, 3), "complex128")
    half = np.tril(a, -1)
    whole = half + half.T.conj() + np.diag(np.diag(a).real)
    c_gpu = rnp.empty((2, 3), np.complex128, order="F")
    call("Zhemm", handle, "r", "l", 2, 3, 1.0, rnp.to_gpu(a), 3, rnp.to_gpu(b), 2, 0.0, c_gpu, 2)
    assert_near(c_gpu, b @ whole)


def test_handles_and_streams():
    handle = cublas.cublasCreate()
    assert cublas.cublasGetStream(handle) == 0 and cublas.cublasGetVersion(handle) >= 11000
    stream = drv.Stream()
    cublas.cublasSetStream(handle, stream.handle)
    assert cublas.cublasGetStream(handle) == stream.handle
    x_gpu = rnp.to_gpu(np.ones(1000, np.float32))
    cublas.cublasSscal(handle, 1000, 3, x_gpu.gpudata, 1)
    assert cublas.cublasSasum(handle, 1000, x_gpu.gpudata, 1) == 3000
    cublas.cublasSetStream(handle, 0)
    cublas.cublasDestroy(handle)
    with pytest.raises(cublas.cublasNotInitialized, match=f"handle is {handle}; expected one of cublasCreate"):
        cublas.cublasSscal(handle, 1000, 3, x_gpu.gpudata, 1)


def test_names_and_signatures():
    assert list(inspect.signature(cublas.cublasSaxpy).parameters) == "handle n alpha x incx y incy".split()
    assert cublas.cublasZgemm.__name__ == "cublasZgemm" and "complex128" in cublas.cublasZgemm.__doc__
    assert {"cublasIcamax", "cublasScasum", "cublasDznrm2", "cublasCsscal", "cublasCgeru"} <= set(cublas.__all__)
    with pytest.raises(
        AttributeError, match="skcuda.cublas has no cublasSmatinvBatched: use the functions of rtcg.linalg"
    ):
        cublas.cublasSmatinvBatched
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        cublas.other
    assert cublas._CUBLAS_OP["T"] == 1 and cublas._CUBLAS_FILL_MODE["u"] == 1


def test_wrong_arguments(handle):
    a = rnp.zeros((3, 3), np.float32)
    for function, arguments, said in [
        (cublas.cublasSgemm, ("x", "n", 3, 3, 3, 1, a, 3, a, 3, 0, a, 3), "transa is 'x'; expected one of 'n', 'N'"),
        (cublas.cublasSgemm, ("n", "n", 3, 3, 3, 1, a, 2, a, 3, 0, a, 3), "lda is 2; expected 3 or more"),
        (cublas.cublasSgemm, ("n", "n", -1, 3, 3, 1, a, 3, a, 3, 0, a, 3), "m is -1; expected 0 or more"),
        (cublas.cublasSscal, (3, 1j, a, 1), "alpha is 1j; expected a real number"),
        (cublas.cublasIsamax, (0, a, 1), "n is 0; expected 1 or more"),
        (cublas.cublasStrsm, ("z", "l", "n", "n", 3, 3, 1, a, 3, a, 3), "side is 'z'; expected one of 'l', 'L', 'r'"),
    ]:
        with pytest.raises(cublas.cublasInvalidValue, match=re.escape(said)):
            function(handle, *arguments)
    with pytest.raises(ValueError, match="x has 36 bytes; expected at least 40"):
        cublas.cublasSscal(handle, 10, 1.0, a, 1)
    with pytest.raises(TypeError, match="x is 'x'; expected an array on the device or a device pointer"):
        cublas.cublasSscal(handle, 10, 1.0, "x", 1)
    with pytest.raises(TypeError, match="missing a required argument: 'incx'"):
        cublas.cublasSscal(handle, 10, 1.0, a)


# What scikit-cuda 0.5.3 has and own kernels do not compute.
FORWARDED = """
cublasSrotg cublasDrotg cublasCrotg cublasZrotg cublasSrotm cublasDrotm cublasSrotmg cublasDrotmg cublasSgbmv
cublasDgbmv cublasCgbmv cublasZgbmv cublasSsbmv cublasDsbmv cublasSspmv cublasDspmv cublasSspr cublasDspr cublasSspr2
cublasDspr2 cublasSsyr2 cublasDsyr2 cublasCsyr2 cublasZsyr2 cublasStbmv cublasDtbmv cublasCtbmv cublasZtbmv cublasStbsv
cublasDtbsv cublasCtbsv cublasZtbsv cublasStpmv cublasCtpmv cublasDtpmv cublasZtpmv cublasStpsv cublasCtpsv cublasDtpsv
cublasZtpsv cublasChbmv cublasZhbmv cublasChpmv cublasZhpmv cublasCher2 cublasZher2 cublasChpr cublasZhpr cublasChpr2
cublasZhpr2 cublasSsyr2k cublasDsyr2k cublasCsyr2k cublasZsyr2k cublasCher2k cublasZher2k
""".split()


def test_functions_of_the_library(handle):
    for name in FORWARDED:
        assert name not in cublas.__all__ and getattr(cublas, name).__name__ == name
    parameters = "handle trans m n kl ku alpha A lda x incx beta y incy"
    assert list(inspect.signature(cublas.cublasSgbmv).parameters) == parameters.split()
    with pytest.raises(cublas.cublasInvalidValue, match="uplo is 'x'; expected one of 'l', 'L', 'u', 'U'"):
        cublas.cublasSspr(handle, "x", 3, 1.0, 0, 1, 0)
    with pytest.raises(cublas.cublasNotInitialized, match="handle is 'h'; expected one of cublasCreate"):
        cublas.cublasSspr("h", "l", 3, 1.0, 0, 1, 0)
    with pytest.raises(TypeError, match="missing a required argument: 'AP'"):
        cublas.cublasSspr(handle, "l", 3, 1.0, 0, 1)


def test_functions_of_the_library_need_it(handle, on_virtual_device):
    if not on_virtual_device:
        pytest.skip("there is a GPU; test_libraries.py computes there")
    with pytest.raises(
        cublas.cublasNotSupported, match="is virtual, and cuBLAS runs on GPUs only; rtcg.linalg computes"
    ):
        cublas.cublasSrotg(handle, 3.0, 4.0)
