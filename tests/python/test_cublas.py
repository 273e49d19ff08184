"""`rtcg.cublas`: against NumPy and our own functions on a GPU, and its errors on the virtual one."""

import threading

import numpy as np
import pytest

import rtcg.driver as drv
import rtcg.numpy as xp
from rtcg import cublas, linalg
from tests.python.depth import pairs
from tests.python.libraries import REAL_AND_COMPLEX, device, near, need, numbers

pytestmark = pytest.mark.usefixtures("context")

OPS = {"n": lambda a: a, "t": lambda a: a.swapaxes(-1, -2), "c": lambda a: a.swapaxes(-1, -2).conj()}


@pytest.fixture
def library(context, on_virtual_device):
    need(cublas, on_virtual_device)
    return cublas


def test_virtual_devices_have_functions_of_their_own(on_virtual_device):
    if not on_virtual_device:
        pytest.skip("there is a GPU, whose numbers are tested below")
    a, stack, x = xp.ones((4, 4), np.float32), xp.ones((2, 4, 4), np.float32), xp.ones(4, np.float32)
    for call, name, instead in [
        (lambda: cublas.gemm(a, a), "gemm", "rtcg.numpy.matmul"),
        (lambda: cublas.gemm_strided_batched(stack, stack), "gemm_strided_batched", "rtcg.numpy.matmul"),
        (lambda: cublas.gemm_batched([a], [a]), "gemm_batched", "rtcg.numpy.matmul of stacks"),
        (lambda: cublas.matmul(a, a, bias=x), "matmul", "rtcg.numpy.matmul"),
        (lambda: cublas.matmul_algorithms(a, a), "matmul_algorithms", "rtcg.numpy.matmul"),
        (lambda: cublas.gemv(a, x), "gemv", "rtcg.numpy.matmul"),
        (lambda: cublas.trsm(a, a.copy()), "trsm", "rtcg.linalg.solve_triangular"),
        (lambda: cublas.syrk(a), "syrk", "rtcg.numpy.matmul"),
        (lambda: cublas.geam(a, a), "geam", r"alpha \* a \+ beta \* b"),
        (lambda: cublas.getrf_batched(stack), "getrf_batched", "rtcg.linalg.lu_factor"),
        (lambda: cublas.axpy(2, x, x.copy()), "axpy", r"y \+= alpha \* x"),
        (lambda: cublas.scal(2, x), "scal", r"x \*= alpha"),
        (lambda: cublas.dot(x, x), "dot", "rtcg.numpy.dot"),
        (lambda: cublas.nrm2(x), "nrm2", "rtcg.linalg.norm"),
        (lambda: cublas.amax(x), "amax", r"rtcg.numpy.argmax\(abs\(x\)\)"),
        (lambda: cublas.Handle().handle, "Handle", "rtcg.linalg"),
        (lambda: cublas.cublasSscal(None, 4, 2, x, 1), "cublasSscal_v2", "rtcg.linalg"),
    ]:
        with pytest.raises(cublas.CublasError, match=f"^{name} failed: .* runs on GPUs only; {instead} compu") as error:
            call()
        assert error.value.status is None and isinstance(error.value, cublas.LibraryError)
    assert not cublas.available


def test_operands_that_do_not_fit():
    a, b, x = xp.ones((2, 3), np.float32), xp.ones((3, 4), np.float32), xp.ones(3, np.float32)
    for call, error, said in [
        (lambda: cublas.gemm(a, a), ValueError, r"a has shape \[2, 3\] and b has shape \[2, 3\]"),
        (lambda: cublas.gemm(a, b, transa="x"), ValueError, "transa is 'x'; expected one of 'n', 'N', 't'"),
        (lambda: cublas.gemm(a, b, compute="fast"), ValueError, "compute is 'fast'; expected 'default', 'ped"),
        (lambda: cublas.gemm(a, b, compute="16f"), TypeError, "compute is for float16; a has dtype float32"),
        (lambda: cublas.gemm(a, np.ones((3, 4))), TypeError, "b is an array of dtype float64; expected an array on th"),
        (lambda: cublas.gemm(a, b.astype(np.float64)), TypeError, "b has dtype float64; expected float32"),
        (lambda: cublas.gemm(a, b, beta=1), ValueError, "beta is 1, which needs out"),
        (lambda: cublas.gemm(a, b, alpha=1j), TypeError, "alpha is .*; expected a real number, for float32"),
        (lambda: cublas.gemm(a, b, alpha="2"), TypeError, "alpha is '2'; expected a number"),
        (lambda: cublas.gemm(a, b, out=xp.ones((2, 2), np.float32)), ValueError, r"out has shape \[2, 2\]; exp"),
        (lambda: cublas.gemm(x, b), ValueError, r"a has shape \[3\]; expected a matrix"),
        (lambda: cublas.gemm_batched([], []), ValueError, "a is an empty list; expected matrices"),
        (lambda: cublas.gemm_batched([a, b], [b, b]), ValueError, r"a\[1\] has shape \[3, 4\], strides"),
        (lambda: cublas.matmul(a, b, activation="tanh"), ValueError, "activation is 'tanh'; expected None, 'relu'"),
        (lambda: cublas.matmul(a, b, bias=x), ValueError, r"bias has shape \[3\]; expected \[4\]"),
        (lambda: cublas.trsm(a, b), ValueError, r"a has shape \[2, 3\]; expected \[3, 3\]"),
        (lambda: cublas.trsm(a, b, side="up"), ValueError, "side is 'up'; expected one of 'l', 'L', 'r', 'R'"),
        (lambda: cublas.syrk(a, trans="c"), ValueError, "trans is 'c'; expected 'n' or 't' for a symmetric product"),
        (lambda: cublas.geam(a, b), ValueError, "have different shapes"),
        (lambda: cublas.dot(x, a), ValueError, r"y has shape \[2, 3\]; expected a vector"),
        (lambda: cublas.dot(x, x, out=a), ValueError, r"out has shape \[2, 3\]; expected one element"),
        (lambda: cublas.axpy(1, x, x), ValueError, "y overlaps x"),
        (lambda: cublas.nrm2(xp.ones(3, np.int32)), TypeError, "x has dtype int32; expected float16, bfloat16"),
        (lambda: cublas.amax(xp.ones(0)), ValueError, "x is empty; expected at least one element"),
        (lambda: cublas.getrf_batched(a), ValueError, r"a has shape \[2, 3\]; expected a stack of matrices"),
    ]:
        with pytest.raises(error, match=said):
            call()


# -- numbers, on a GPU


@pytest.mark.parametrize("dtype", [*REAL_AND_COMPLEX, "float16"])
@pytest.mark.parametrize("orders", ["CCC", "FFF", "CFC", "FCF", "VVC", "CVF"])
def test_gemm(library, dtype, orders):
    for transa, transb in pairs("ntc", "ntc"):
        m, n, k = 33, 50, 17
        a, b, c = numbers((m, k), dtype), numbers((k, n), dtype), numbers((m, n), dtype)
        x = device(np.ascontiguousarray(OPS[transa](a)), orders[0])
        y, out = device(np.ascontiguousarray(OPS[transb](b)), orders[1]), device(c, orders[2])
        wide = "complex128" if np.dtype(dtype).kind == "c" else "float64"
        product = a.astype(wide) @ b.astype(wide)
        scale = (np.abs(a).astype(wide) @ np.abs(b).astype(wide)).real.max()
        near(library.gemm(x, y, transa=transa, transb=transb), product, scale)
        ours = OPS[transa](x) @ OPS[transb](y)
        near(library.gemm(x, y, transa=transa, transb=transb), ours.get(), scale)
        result = library.gemm(x, y, out, alpha=2, beta=0.5, transa=transa, transb=transb)
        assert result is out
        near(out, 2 * product + 0.5 * c.astype(wide), 3 * scale)


def test_gemm_of_other_types(library):
    import ml_dtypes

    a, b = numbers((64, 32), np.float32), numbers((32, 48), np.float32)
    scale = (np.abs(a) @ np.abs(b)).max()
    for dtype in ("float16", ml_dtypes.bfloat16):
        x, y = xp.asarray(a.astype(dtype)), xp.asarray(b.astype(dtype))
        exact = a.astype(dtype).astype(np.float64) @ b.astype(dtype).astype(np.float64)
        near(library.gemm(x, y, out=xp.empty((64, 48), np.float32)), exact, scale)
        near(library.gemm(x, y).astype(np.float32), exact, scale * 2**16)
    near(library.gemm(xp.asarray(a), xp.asarray(b), compute="tf32"), a @ b, scale * 2**13)
    i, j = np.random.randint(-128, 128, (32, 64), np.int8), np.random.randint(-128, 128, (64, 16), np.int8)
    assert (library.gemm(xp.asarray(i), xp.asarray(j)).get() == i.astype(np.int32) @ j.astype(np.int32)).all()


@pytest.mark.parametrize("dtype", ["float32", "complex128", "float16"])
@pytest.mark.parametrize("orders", ["CC", "FF", "CF", "VC"])
def test_stacks(library, dtype, orders):
    a, b = numbers((5, 20, 30), dtype), numbers((5, 30, 10), dtype)
    wide = "complex128" if np.dtype(dtype).kind == "c" else "float64"
    expected, scale = a.astype(wide) @ b.astype(wide), (np.abs(a).astype(wide) @ np.abs(b).astype(wide)).real.max()
    x, y = device(a, orders[0]), device(b, orders[1])
    near(library.gemm_strided_batched(x, y), expected, scale)
    near(library.gemm_batched(list(x), list(y), alpha=2), 2 * expected, 2 * scale)
    near(library.matmul(x, y), expected, scale)
    adjoint = library.gemm_strided_batched(y, x, transa="c", transb="c")
    near(adjoint, expected.conj().swapaxes(1, 2), scale)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_matmul_with_an_epilogue(library, dtype):
    a, b, bias = numbers((128, 64), dtype), numbers((64, 96), dtype), numbers(96, dtype)
    x, y, z = xp.asarray(a), xp.asarray(b), xp.asarray(bias)
    product = a.astype(np.float64) @ b.astype(np.float64)
    scale = (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)).max()
    near(library.matmul(x, y), product, scale)
    near(library.matmul(x, y, bias=z), product + bias, scale)
    near(library.matmul(x, y, activation="relu"), np.maximum(product, 0), scale)
    near(library.matmul(x, y, bias=z, activation="relu"), np.maximum(product + bias, 0), scale)
    t = product + bias
    gelu = 0.5 * t * (1 + np.tanh(np.sqrt(2 / np.pi) * (t + 0.044715 * t**3)))
    near(library.matmul(x, y, bias=z, activation="gelu"), gelu, scale, factor=200)
    near(library.matmul(x, y, transb="n", out=xp.empty((128, 96), dtype, order="F")), product, scale)
    found = library.matmul_algorithms(x, y)
    assert found and all(workspace <= 32 << 20 and waves > 0 for workspace, waves in found)
    for algorithm in range(len(found)):
        near(library.matmul(x, y, algorithm=algorithm), product, scale)
    with pytest.raises(ValueError, match=f"algorithm is {len(found)}; cuBLASLt proposes {len(found)} for this"):
        library.matmul(x, y, algorithm=len(found))
    assert library.matmul_algorithms(x, y, workspace_bytes=0)[0][0] == 0


@pytest.mark.parametrize("dtype", REAL_AND_COMPLEX)
@pytest.mark.parametrize("order", ["C", "F", "V"])
def test_other_routines_of_matrices(library, dtype, order):
    a, b = numbers((40, 40), dtype) + 8 * np.eye(40, dtype=dtype), numbers((40, 24), dtype)
    x = numbers(40, dtype)
    for trans, op in OPS.items():
        near(library.gemv(device(a, order), xp.asarray(x)[::-1], trans=trans), op(a) @ x[::-1], factor=100)
        other = np.ascontiguousarray(op(b))
        near(
            library.geam(device(a[:, :24], order), device(other, order), alpha=2, beta=3, transb=trans),
            2 * a[:, :24] + 3 * op(other),
        )
        for lower, triangle in ((True, np.tril), (False, np.triu)):
            half = op(triangle(a))
            for b_order in "CF":
                solution = library.trsm(device(a, order), device(b, b_order), trans=trans, lower=lower, alpha=2)
                near(half @ solution.get(), 2 * b, factor=400)
                right = device(np.ascontiguousarray(b.T), b_order)
                solution = library.trsm(device(a, order), right, side="r", trans=trans, lower=lower)
                near(solution.get() @ half, b.T, factor=400)
    ours = linalg.solve_triangular(device(a, order), xp.asarray(b), lower=True)
    near(library.trsm(device(a, order), xp.asarray(b), lower=True), ours.get(), factor=400)
    near(library.syrk(device(b, order), lower=True), np.tril(b @ b.T), factor=100)
    near(library.syrk(device(b, order), trans="t", alpha=2), np.triu(2 * b.T @ b), factor=100)
    stack = np.stack([a, a + numbers((40, 40), dtype)])
    lu, piv, info = library.getrf_batched(device(stack, order))
    assert not info.get().any() and piv.shape == (2, 40)
    right = numbers((2, 40, 3), dtype)
    for trans, op in OPS.items():
        near(op(stack) @ library.getrs_batched(lu, piv, device(right, order), trans=trans).get(), right, factor=400)


@pytest.mark.parametrize("dtype", [*REAL_AND_COMPLEX, "float16"])
def test_vectors(library, dtype):
    a, b = numbers(999, dtype), numbers(999, dtype)
    wide = "complex128" if np.dtype(dtype).kind == "c" else "float64"
    p, q = a.astype(wide), b.astype(wide)
    scale = np.abs(p) @ np.abs(q)
    for step in (1, 3, -1, -2):
        x, y = xp.asarray(a)[::step], xp.asarray(b)[::step]
        near(np.asarray(library.dot(x, y)).astype(dtype), p[::step] @ q[::step], scale)
        near(np.asarray(library.dotc(x, y)).astype(dtype), p[::step].conj() @ q[::step], scale)
        real = np.empty(0, dtype).real.dtype
        near(np.asarray(library.nrm2(x)).astype(real), np.linalg.norm(p[::step]))
        near(library.axpy(0.5, x, y), q[::step] + 0.5 * p[::step])
        near(library.scal(0.25, x), 0.25 * p[::step])
        if dtype != "float16":
            absolute = np.abs(a[::step].real) + np.abs(a[::step].imag)
            assert library.amax(xp.asarray(a)[::step]) == absolute.argmax()
    out = xp.empty((), dtype)
    assert library.dot(xp.asarray(a), xp.asarray(b), out=out) is out
    near(out, p @ q, scale)


def test_streams_handles_and_threads(library):
    a, b = numbers((500, 500), np.float32), numbers((500, 500), np.float32)
    x, y = xp.asarray(a), xp.asarray(b)
    expected, scale = a.astype(np.float64) @ b, (np.abs(a) @ np.abs(b)).max()
    handle = library.Handle()
    assert handle.version == library.version() and handle.handle
    handle.math_mode = library.CUBLAS_PEDANTIC_MATH
    assert handle.math_mode == library.CUBLAS_PEDANTIC_MATH
    streams = [drv.Stream() for _ in range(3)]
    results = []
    for _ in range(4):
        for stream in streams:
            with stream:
                results.append(library.gemm(x, library.gemm(x, y, handle=handle), handle=handle))
    for stream in streams:
        stream.synchronize()
    twice = a.astype(np.float64) @ expected
    for result in results:
        near(result, twice, np.abs(a).sum(1).max() * scale)
    errors = []

    def work():
        try:
            for _ in range(20):
                near(library.gemm(x, y), expected, scale)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]


def test_functions_of_c(library):
    a, b = numbers((30, 20), np.float32), numbers((20, 10), np.float32)
    x, y = (xp.asarray(np.asfortranarray(each)) for each in (a, b))
    c = xp.zeros((30, 10), np.float32, order="F")
    handle = library.Handle()
    n, expected = library.CUBLAS_OP_N, a @ b
    library.cublasSgemm(handle, n, "CUBLAS_OP_N", 30, 10, 20, 2.0, x.gpudata, 30, y, 20, 0, int(c.gpudata), 30)
    near(c, 2 * expected, factor=100)
    vector = xp.asarray(np.array([3.0, -4, 0], np.float32))
    assert library.cublasSnrm2(handle, 3, vector, 1) == 5
    assert library.cublasIsamax(handle, 3, vector, 1) == 2
    assert np.allclose(library.cublasSrotg(handle, 3.0, 4.0), (5, 5 / 3, 0.6, 0.8))
    norm = xp.zeros(1, np.float32)
    library.cublasSetPointerMode(handle, "CUBLAS_POINTER_MODE_DEVICE")
    assert library.cublasSnrm2(handle, 3, vector, 1, result=norm) is None
    library.cublasSetPointerMode(handle, library.CUBLAS_POINTER_MODE_HOST)
    assert norm.get()[0] == 5
    own = library.cublasCreate()
    assert library.cublasGetStream(own) == 0
    library.cublasDestroy(own)
    with pytest.raises(
        library.CublasError, match="cublasSscal_v2 failed: CUBLAS_STATUS_|cublasSgemm_v2 failed"
    ) as error:
        library.cublasSgemm(handle, n, n, -1, 10, 20, 2.0, x, 30, y, 20, 0, c, 30)
    assert error.value.status == library.CUBLAS_STATUS_INVALID_VALUE
    assert error.value.status_name == "CUBLAS_STATUS_INVALID_VALUE"


def test_scikit_cuda_takes_what_is_not_computed_here(library):
    from skcuda import cublas as skcuda

    handle = skcuda.cublasCreate()
    assert np.allclose(skcuda.cublasDrotg(handle, 3.0, 4.0), (5, 0.6, 0.8))
    a, x = numbers((6, 6)), numbers(6)
    rows, columns = np.indices(a.shape)
    band = np.where(np.abs(rows - columns) <= 1, a, 0)
    stored = np.zeros((3, 6))
    for i, j in zip(*np.nonzero(band), strict=True):
        stored[1 + i - j, j] = band[i, j]
    y = xp.zeros(6)
    matrix = xp.asarray(np.asfortranarray(stored))
    skcuda.cublasDgbmv(handle, "n", 6, 6, 1, 1, 1.0, matrix.gpudata, 3, xp.asarray(x).gpudata, 1, 0.0, y.gpudata, 1)
    near(y, band @ x)
    packed = xp.zeros(21)
    skcuda.cublasDspr(handle, "u", 6, 2.0, xp.asarray(x).gpudata, 1, packed.gpudata)
    near(packed, 2 * np.outer(x, x).T[np.tril_indices(6)])
    skcuda.cublasDestroy(handle)
