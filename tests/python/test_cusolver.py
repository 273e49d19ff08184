"""`rtcg.cusolver`: against NumPy and `rtcg.linalg` on a GPU, and its errors on the virtual one."""

import numpy as np
import pytest

import rtcg.driver as drv
import rtcg.numpy as xp
from rtcg import cusolver, linalg
from tests.python.libraries import REAL_AND_COMPLEX, device, near, need, numbers

pytestmark = pytest.mark.usefixtures("context")

FACTOR = 2000  # Sums of some hundred terms, and condition numbers.


@pytest.fixture
def library(context, on_virtual_device):
    need(cusolver, on_virtual_device)
    return cusolver


def definite(n, dtype, count=None):
    a = numbers((count, n, n) if count else (n, n), dtype)
    return a @ a.conj().swapaxes(-1, -2) + n * np.eye(n, dtype=dtype)


def adjoint(a):
    return a.conj().swapaxes(-1, -2)


def test_virtual_devices_have_functions_of_their_own(on_virtual_device):
    if not on_virtual_device:
        pytest.skip("there is a GPU, whose numbers are tested below")
    a, tau, piv = xp.eye(4), xp.ones(4), xp.ones(4, np.int64)
    for call, name, instead in [
        (lambda: cusolver.potrf(a), "potrf", "cholesky"),
        (lambda: cusolver.potrs(a, a), "potrs", "solve"),
        (lambda: cusolver.getrf(a), "getrf", "lu_factor"),
        (lambda: cusolver.getrs(a, piv, a), "getrs", "lu_solve"),
        (lambda: cusolver.gesv(a, a), "getrf", "lu_factor"),
        (lambda: cusolver.geqrf(a), "geqrf", "qr"),
        (lambda: cusolver.ormqr(a, tau, a), "ormqr", "qr"),
        (lambda: cusolver.gesvd(a), "gesvd", "svd"),
        (lambda: cusolver.gesvdj(a), "gesvdj", "svd"),
        (lambda: cusolver.syevd(a), "syevd", "eigh"),
        (lambda: cusolver.syevj(a), "syevj", "eigh"),
        (lambda: cusolver.geev(a), "geev", "eig"),
    ]:
        with pytest.raises(
            cusolver.CusolverError, match=f"^{name} failed: .* runs on GPUs only; rtcg.linalg.{instead} "
        ):
            call()
    with pytest.raises(cusolver.CusolverError, match="cusolverDnCreate failed: .*; rtcg.linalg computes on both"):
        cusolver.cusolverDnCreate()
    assert not cusolver.available


def test_operands_that_do_not_fit():
    a, wide, b = xp.eye(3), xp.ones((3, 4)), xp.ones((3, 2))
    for call, error, said in [
        (lambda: cusolver.potrf(wide), ValueError, r"a has shape \[3, 4\]; expected a square matrix"),
        (lambda: cusolver.potrf(a.astype(np.float16)), TypeError, "a has dtype float16; expected float32, float64"),
        (lambda: cusolver.getrf(xp.ones((2, 3, 3))), ValueError, r"a has shape \[2, 3, 3\]; expected a matrix"),
        (lambda: cusolver.getrs(a, xp.ones(3, np.int32), b), TypeError, "piv has dtype int32; expected int64"),
        (lambda: cusolver.getrs(a, xp.ones(3, np.int64), b.T), ValueError, r"b has shape \[2, 3\]; expected \[3, 3\]"),
        (lambda: cusolver.getrs(a, xp.ones(3, np.int64), b, trans=1), ValueError, "trans is 1; expected one of 'n'"),
        (lambda: cusolver.ormqr(a, xp.ones(3), b.T), ValueError, "qr, tau and c of shapes .* do not fit"),
        (
            lambda: cusolver.ormqr(a + 0j, xp.ones(3) + 0j, b + 0j, trans="t"),
            ValueError,
            "trans is 't'; expected 'n' or",
        ),
        (lambda: cusolver.gesvdj(xp.ones((2, 40, 3))), ValueError, "stacks have matrices of up to 32 by 32"),
        (lambda: cusolver.potrs(xp.ones((2, 3, 3)), xp.ones((2, 3, 2))), ValueError, "stacks of b have one column"),
        (lambda: cusolver.syevd([[1.0]]), TypeError, r"a is \[\[1.0\]\]; expected an array on the device"),
    ]:
        with pytest.raises(error, match=said):
            call()


# -- numbers, on a GPU


@pytest.mark.parametrize("dtype", REAL_AND_COMPLEX)
@pytest.mark.parametrize("order", ["C", "F", "V"])
def test_systems(library, dtype, order):
    n = 150
    a, b = numbers((n, n), dtype), numbers((n, 4), dtype)
    x = device(a, order)
    lu, piv, info = library.getrf(x)
    assert info.get() == 0
    for trans, op in {"n": a, "t": a.T, "c": adjoint(a)}.items():
        solution = library.getrs(lu, piv, device(b, order), trans=trans).get()
        near(op @ solution, b, scale=np.abs(op).sum(1).max() * np.abs(solution).max())
    solution, info = library.gesv(x, xp.asarray(b))
    largest = np.abs(solution.get()).max()
    near(a @ solution.get(), b, scale=np.abs(a).sum(1).max() * largest)
    near(a @ linalg.solve(x, xp.asarray(b)).get(), b, scale=np.abs(a).sum(1).max() * largest)
    singular = a.copy()
    singular[:, 7] = 0
    assert library.getrf(xp.asarray(singular))[2].get() == 8
    d = definite(n, dtype)
    for lower, triangle in ((True, np.tril), (False, np.triu)):
        c, info = library.potrf(device(d, order), lower=lower)
        assert info.get() == 0
        half = triangle(c.get())
        near(half @ adjoint(half) if lower else adjoint(half) @ half, d, factor=FACTOR)
        near(half, linalg.cholesky(xp.asarray(d), upper=not lower).get(), factor=FACTOR)
        solution = library.potrs(c, device(b, order), lower=lower).get()
        near(d @ solution, b, scale=np.abs(d).sum(1).max() * np.abs(solution).max())
    assert library.potrf(xp.asarray(-d))[1].get() == 1
    tall = numbers((120, 70), dtype)
    lu, piv, _ = (each.get() for each in library.getrf(device(tall, order)))
    swapped = tall.copy()
    for row, pivot in enumerate(piv - 1):
        swapped[[row, pivot]] = swapped[[pivot, row]]
    near((np.tril(lu, -1) + np.eye(120, 70, dtype=dtype)) @ np.triu(lu[:70]), swapped, factor=FACTOR)


@pytest.mark.parametrize("dtype", REAL_AND_COMPLEX)
def test_stacks(library, dtype):
    d = definite(20, dtype, 6)
    for order in "CFV":
        c, info = library.potrf(device(d, order), lower=True)
        assert info.shape == (6,) and not info.get().any()
        half = np.tril(c.get())
        near(half @ adjoint(half), d, factor=FACTOR)
        b = numbers((6, 20, 1), dtype)
        near(d @ library.potrs(c, device(b, order), lower=True).get(), b, factor=FACTOR)
        w, v, info = library.syevj(device(d, order))
        assert not info.get().any()
        near(np.sort(w.get()), np.linalg.eigvalsh(d), factor=FACTOR)
        near(d @ v.get(), v.get() * w.get()[:, None, :], factor=FACTOR)
        a = numbers((6, 20, 12), dtype)
        u, s, v, info = library.gesvdj(device(a, order))
        assert u.shape == (6, 20, 20) and v.shape == (6, 12, 12) and not info.get().any()
        near(u.get()[:, :, :12] * s.get()[:, None, :] @ adjoint(v.get()), a, factor=FACTOR)


@pytest.mark.parametrize("dtype", REAL_AND_COMPLEX)
@pytest.mark.parametrize("shape", [(90, 60), (60, 90), (64, 64)])
def test_orthogonal_factors(library, dtype, shape):
    m, n = shape
    a = numbers(shape, dtype)
    for order in "CF":
        qr, tau, info = library.geqrf(device(a, order))
        assert info.get() == 0
        r = np.triu(qr.get())
        near(library.ormqr(qr, tau, xp.asarray(r.copy())), a, factor=FACTOR)
        near(library.ormqr(qr, tau, device(a, order), trans="c"), r, factor=FACTOR)
        ours = linalg.qr(xp.asarray(a), mode="r").get()
        near(np.abs(r[: min(shape)]), np.abs(ours), factor=FACTOR)
        near(
            library.ormqr(qr, tau, device(np.ascontiguousarray(adjoint(a)), order), side="r"), adjoint(r), factor=FACTOR
        )
    if dtype[0] == "f":
        near(library.ormqr(qr, tau, xp.asarray(a), trans="t"), r, factor=FACTOR)


@pytest.mark.parametrize("dtype", REAL_AND_COMPLEX)
@pytest.mark.parametrize("shape", [(90, 60), (60, 90), (64, 64)])
def test_singular_values(library, dtype, shape):
    a, least = numbers(shape, dtype), min(shape)
    expected = np.linalg.svd(a, compute_uv=False)
    ours = linalg.svdvals(xp.asarray(a)).get()
    for order, full in (("C", True), ("F", False), ("V", False)):
        u, s, vh, info = library.gesvd(device(a, order), full_matrices=full)
        assert info.get() == 0
        assert u.shape == (shape[0], shape[0] if full else least) and vh.shape == (
            shape[1] if full else least,
            shape[1],
        )
        near(s, expected, factor=FACTOR)
        near(s, ours, factor=FACTOR)
        near(u.get()[:, :least] * s.get() @ vh.get()[:least], a, factor=FACTOR)
        near(adjoint(u.get()) @ u.get(), np.eye(u.shape[1]), factor=FACTOR)
        u, s, v, info = library.gesvdj(device(a, order), full_matrices=full)
        assert info.get() == 0
        near(s, expected, factor=FACTOR)
        near(u.get()[:, :least] * s.get() @ adjoint(v.get()[:, :least]), a, factor=FACTOR)
    u, s, vh, info = library.gesvd(xp.asarray(a), compute_uv=False)
    assert u.size == vh.size == 0
    near(s, expected, factor=FACTOR)
    assert library.gesvdj(xp.asarray(a), max_sweeps=1, tolerance=1e-15)[3].get() == least + 1


@pytest.mark.parametrize("dtype", REAL_AND_COMPLEX)
def test_eigenvalues(library, dtype):
    n = 80
    a = numbers((n, n), dtype)
    a = a + adjoint(a)
    expected = np.linalg.eigvalsh(a)
    for order, lower in (("C", False), ("F", True), ("V", True)):
        half = np.tril(a) if lower else np.triu(a)
        for solve in (library.syevd, library.syevj):
            w, v, info = solve(device(half, order), lower=lower)
            assert info.get() == 0
            near(w, expected, factor=FACTOR)
            near(a @ v.get(), v.get() * w.get(), factor=FACTOR)
            w, v, info = solve(device(half, order), lower=lower, compute_v=False)
            assert v.size == 0
            near(w, expected, factor=FACTOR)
    near(w, linalg.eigvalsh(xp.asarray(a)).get(), factor=FACTOR)
    general = numbers((n, n), dtype)
    try:
        w, v, info = library.geev(xp.asarray(general))
    except library.CusolverError as error:
        assert "since CUDA 12.8" in str(error)
        return
    assert info.get() == 0
    values, vectors = w.get(), v.get()
    if dtype[0] == "f":
        packed, vectors = vectors, vectors.astype(values.dtype)
        for i in np.nonzero(values.imag > 0)[0]:
            vectors[:, i] = packed[:, i] + 1j * packed[:, i + 1]
            vectors[:, i + 1] = vectors[:, i].conj()
    near(general @ vectors, vectors * values, factor=FACTOR)
    key = lambda w: (np.round(w.real, 3), w.imag)  # noqa: E731
    sort = lambda w: w[np.lexsort(key(w)[::-1])]  # noqa: E731
    near(sort(library.geev(xp.asarray(general), compute_v=False)[0].get()), sort(values), factor=FACTOR * 10)
    near(sort(linalg.eigvals(xp.asarray(general)).get()), sort(values), factor=FACTOR * 10)


def test_streams_handles_and_functions_of_c(library):
    a = definite(100, np.float64)
    handle, stream = library.Handle(), drv.Stream()
    assert handle.version == library.version() and handle.handle
    with stream:
        c, info = library.potrf(xp.asarray(a), lower=True, handle=handle)
        near(np.tril(c.get()), np.linalg.cholesky(a), factor=FACTOR)
    x = xp.asarray(np.asfortranarray(a))
    size = library.cusolverDnDpotrf_bufferSize(handle, 0, 100, x, 100)
    work, info = xp.empty(size, np.float64), xp.ones(1, np.int32)
    library.cusolverDnDpotrf(handle, 0, 100, x.gpudata, 100, work.gpudata, size, info.gpudata)
    assert info.get() == 0
    near(np.tril(x.get()), np.linalg.cholesky(a), factor=FACTOR)


def test_scikit_cuda_has_the_library(library):
    from skcuda import cusolver as skcuda

    a = definite(50, np.float32)
    handle = skcuda.cusolverDnCreate()
    x, w, info = xp.asarray(np.asfortranarray(a)), xp.empty(50, np.float32), xp.ones(1, np.int32)
    size = skcuda.cusolverDnSsyevd_bufferSize(handle, "CUSOLVER_EIG_MODE_VECTOR", "u", 50, x.gpudata, 50, w.gpudata)
    work = xp.empty(size, np.float32)
    skcuda.cusolverDnSsyevd(handle, 1, "u", 50, x.gpudata, 50, w.gpudata, work.gpudata, size, info.gpudata)
    assert info.get() == 0
    near(w, np.linalg.eigvalsh(a), factor=FACTOR)
    with pytest.raises(skcuda.CUSOLVER_ERROR, match="cusolverDnSsyevd failed: CUSOLVER_STATUS_INVALID_VALUE"):
        skcuda.cusolverDnSsyevd(handle, 1, "u", -1, x.gpudata, 50, w.gpudata, work.gpudata, size, info.gpudata)
    skcuda.cusolverDnDestroy(handle)
