"""`qr` of device arrays: what defines the factors, for matrices of one panel and of several."""

import linalg_matrices as m
import numpy as np
import pytest

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from rtcg import linalg

SHAPES = [(2, 70, 45), (45, 70), (3, 33, 33), (2, 1, 5), (2, 5, 1), (100, 100), (65, 64), (0, 4, 4), (2, 0, 3)]


@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("dtype", m.FLOATING)
@pytest.mark.parametrize("shape", SHAPES)
def test_factors(shape, dtype, mode):
    a = m.drawn(dtype, *shape)
    q, r = (factor.get() for factor in linalg.qr(gpuarray.to_gpu(a), mode))
    wanted = np.linalg.qr(a, mode)
    assert (q.shape, r.shape) == (wanted.Q.shape, wanted.R.shape) and q.dtype == r.dtype == a.dtype
    bound = 10 * max(shape) * np.finfo(dtype).eps
    size = np.abs(a).max(initial=1)
    m.within((q @ r - a) / size, bound, "Q R - A")
    m.within(q.conj().swapaxes(-1, -2) @ q - np.eye(q.shape[-1]), bound, "Q^H Q")
    assert (np.tril(r, -1) == 0).all()


@pytest.mark.parametrize("dtype", m.FLOATING)
def test_reflections_as_lapack_leaves_them(dtype):
    a = m.drawn(dtype, 40, 50)
    h, tau = (part.get() for part in linalg.qr(gpuarray.to_gpu(a), "raw"))
    wanted, factors = np.linalg.qr(a, "raw")
    bound = 500 * np.finfo(dtype).eps
    m.within(h - wanted, bound * np.abs(a).max(), "vectors and R")
    m.within(tau - factors, bound, "factors")


@pytest.mark.parametrize(
    "dtype, size", [("f4", 1e-30), ("f4", 1e30), ("c8", 1e-30), ("c8", 1e30), ("f8", 1e-200), ("c16", 1e200)]
)
@pytest.mark.parametrize("mode", ["reduced", "r"])
def test_large_and_small_elements(mode, dtype, size):
    """Squares of elements would overflow or vanish."""
    a = m.drawn(dtype, 40, 35)
    found = linalg.qr(gpuarray.to_gpu(a * np.dtype(dtype).type(size)), mode)
    plain = linalg.qr(gpuarray.to_gpu(a), mode)
    bound = 1000 * np.finfo(dtype).eps
    r, wanted = (found if mode == "r" else found.R).get(), (plain if mode == "r" else plain.R).get()
    m.within(r / np.dtype(dtype).type(size) - wanted, bound, "R")
    if mode == "reduced":
        m.within(found.Q.get() - plain.Q.get(), bound, "Q")


def test_columns_of_zeros_and_of_nan():
    q, r = (factor.get() for factor in linalg.qr(gpuarray.to_gpu(np.diag([0.0, 1.0, 0.0]))))
    assert np.allclose(q @ r, np.diag([0.0, 1.0, 0.0])) and np.allclose(q.T @ q, np.eye(3))
    assert np.isnan(linalg.qr(gpuarray.to_gpu(np.full((3, 2), np.nan))).R.get()[0]).all()


def test_signs_of_infinite_determinants():
    for a in ([[np.inf, 0], [0, 1.0]], [[-np.inf, 0], [0, 1.0]], [[0.0, 0], [0, 1.0]]):
        found, wanted = linalg.slogdet(gpuarray.to_gpu(np.array(a))), np.linalg.slogdet(np.array(a))
        assert [part.get() for part in found] == list(wanted)


def test_axes_that_are_not_there():
    a = gpuarray.zeros((4, 4), np.float64)
    for call in (
        lambda: linalg.norm(a, axis=(0, 5)),
        lambda: linalg.norm(a[0, 0], axis=(0, 1)),
        lambda: linalg.cross(a[0, 0], a[0, 0]),
        lambda: linalg.tensorsolve(a, a[0], axes=(3,)),
    ):
        with pytest.raises(np.exceptions.AxisError, match="out of bounds"):
            call()
    with pytest.raises(TypeError, match="axis is 1.5; expected an integer or two of them"):
        linalg.norm(a, axis=1.5)
    turned, b = np.moveaxis((np.eye(6) * 2 + 1).reshape(6, 3, 2), 2, 0), np.arange(6.0)
    x = linalg.tensorsolve(gpuarray.to_gpu(turned), gpuarray.to_gpu(b), axes=(-3,))
    assert np.allclose(x.get(), np.linalg.tensorsolve(turned, b, axes=(0,)))


def test_messages_name_what_was_given():
    a = gpuarray.zeros((4, 4), np.float64)
    with pytest.raises(ValueError, match=r"right sides of shape \(3,\) do not fit"):
        linalg.solve(a, a[0, :3])
    with pytest.raises(TypeError, match="float16 is unsupported in linalg; expected float32"):
        linalg.inv(a.astype(np.float16))
