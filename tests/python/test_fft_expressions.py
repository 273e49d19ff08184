"""`load` and `store` of Fourier transforms: expressions that kernels apply to elements as they read and write them."""

import numpy as np
import pytest

import rtcg.autoinit  # noqa: F401
from rtcg import fft

rng = np.random.default_rng(5)


def complex_numbers(shape, dtype=np.complex128):
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def assert_close(found, expected, tolerance=1e-11):
    assert np.abs(found.get() - expected).max() <= tolerance * np.abs(expected).max()


# A block, two passes, a convolution (17 and 1009 are primes), a single butterfly.
@pytest.mark.parametrize("n", [8, 60, 17, 1009, 1000, 1 << 14])
@pytest.mark.parametrize("inverse", [False, True])
def test_complex_transforms_apply_both(n, inverse):
    a, w = complex_numbers((3, n)), rng.random(n)
    ours, numpys = (fft.ifft, np.fft.ifft) if inverse else (fft.fft, np.fft.fft)
    found = ours(a, load="x * w[i] + row", store="x * s + double(i)", w=w, s=0.5)
    rows = np.arange(3)[:, None]
    assert_close(found, numpys(a * w + rows) * 0.5 + np.arange(n))


def test_single_precision_stays():
    a, w = complex_numbers((4, 96), np.complex64), rng.random(96, np.float32)
    found = fft.fft(a, load="x * w[i]", w=w)
    assert found.dtype == np.complex64
    assert_close(found, np.fft.fft(a * w), 1e-5)


@pytest.mark.parametrize("n", [30, 31, 34])
def test_real_transforms(n):
    a, w = rng.standard_normal((5, n)), rng.random(n)
    assert_close(fft.rfft(a, load="x * w[i]", store="x * 2.0", w=w), np.fft.rfft(a * w) * 2)
    coefficients = complex_numbers((5, n // 2 + 1))
    found = fft.irfft(coefficients, n, load="x * 3.0", store="x + row", w=w)
    assert found.dtype == np.float64
    assert_close(found, np.fft.irfft(coefficients * 3, n) + np.arange(5)[:, None])


def test_real_input_may_become_complex():
    a, phases = rng.standard_normal((2, 40)), complex_numbers(40)
    assert_close(fft.fft(a, load="x * w[i]", w=phases), np.fft.fft(a * phases))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rows_count_the_other_axes(axis):
    a = complex_numbers((4, 12, 5))
    rows = np.arange(a.size // a.shape[axis]).reshape(np.delete(a.shape, axis))
    expected = np.fft.fft(a + np.expand_dims(rows, axis), axis=axis)
    assert_close(fft.fft(a, axis=axis, load="x + row"), expected)


def test_padding_is_not_loaded():
    a = complex_numbers((2, 20))
    assert_close(fft.fft(a, 32, load="x + 1.0"), np.fft.fft(a + 1, 32))
    assert_close(fft.fft(a, 9, load="x + 1.0"), np.fft.fft(a + 1, 9))


def test_errors_name_the_argument():
    a = complex_numbers((2, 8))
    with pytest.raises(ValueError, match="load is empty; expected an expression of the element `x`"):
        fft.fft(a, load=" ")
    with pytest.raises(ValueError, match="operand 'w' is given without load and store"):
        fft.fft(a, w=np.ones(8))
    with pytest.raises(ValueError, match="operand 'row' has no name for a variable"):
        fft.fft(a, load="x", row=np.ones(8))
    with pytest.raises(TypeError, match="store is 3; expected an expression of CUDA C"):
        fft.fft(a, store=3)
    with pytest.raises(Exception, match="nonsense"):
        fft.fft(a, load="x * nonsense")
