"""`qr` of device arrays: what defines the factors, for matrices of one panel and of several."""

import linalg_matrices as m
import numpy as np
import pycuda.autoinit  # noqa: F401
import pytest
from pycuda import gpuarray, linalg

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
