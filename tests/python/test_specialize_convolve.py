"""Convolution, against SciPy."""

import numpy as np
import pytest

import rtcg.numpy as xp
from rtcg.specialize import convolve
from rtcg.specialize._convolve import separate

scipy_ndimage = pytest.importorskip("scipy.ndimage")
scipy_signal = pytest.importorskip("scipy.signal")

pytestmark = pytest.mark.usefixtures("context")


def kernels(rng):
    """Products of vectors, and others, with one to three axes."""
    vectors = [rng.normal(size=n) for n in (9, 8, 7)]
    yield vectors[0]
    yield np.multiply.outer(vectors[0], vectors[1])
    yield rng.normal(size=(3, 3))
    yield np.multiply.outer(np.multiply.outer(vectors[2], vectors[2]), vectors[1])
    yield rng.normal(size=(3, 2, 3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mode", ["reflect", "wrap", "constant", "full", "same", "valid"])
def test_results_are_those_of_scipy(dtype, mode):
    rng = np.random.default_rng(1)
    for kernel in kernels(rng):
        image = rng.normal(size=(23, 17, 12)[: kernel.ndim]).astype(dtype)
        if mode in ("full", "same", "valid"):
            expected = scipy_signal.convolve(image.astype(np.float64), kernel, mode, method="direct")
        else:
            expected = scipy_ndimage.convolve(image.astype(np.float64), kernel, mode=mode)
        found = convolve(image, kernel.astype(dtype), mode)
        assert found.dtype == dtype and found.shape == expected.shape
        tolerance = 1e-12 if dtype == np.float64 else 1e-4
        np.testing.assert_allclose(found.get(), expected, atol=tolerance * np.abs(kernel).sum())


@pytest.mark.parametrize("image_dtype", ["?", "u1", "i4", "u8", "f4", "c8"])
@pytest.mark.parametrize("kernel_dtype", ["?", "i1", "i8", "f4", "f8"])
def test_extents_have_the_dtype_of_scipy(image_dtype, kernel_dtype):
    rng = np.random.default_rng(5)
    for shape, size in (((9,), (4,)), ((6, 7), (3, 2))):
        if image_dtype == kernel_dtype == "?" and len(shape) > 1:
            continue  # Refused by SciPy.
        # Sums that wrap in the narrow dtypes of integers.
        image, kernel = (rng.integers(0, 100, n).astype(d) for n, d in ((shape, image_dtype), (size, kernel_dtype)))
        for mode in ("full", "same", "valid"):
            found, expected = convolve(image, kernel, mode), scipy_signal.convolve(image, kernel, mode, method="direct")
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found.get(), expected, rtol=1e-5)
    assert convolve(np.array([1, 2, 3]), [0.5, 0.5], "full").get().tolist() == [0.5, 1.5, 2.5, 1.5]
    assert convolve(np.array([1, 2, 3]), [0.5, 0.5], "constant").get().tolist() == [1, 2, 1]  # As scipy.ndimage.


def test_separable_kernels_take_one_pass_for_each_axis(launches):
    rng = np.random.default_rng(2)
    image, vector = rng.normal(size=(40, 40)).astype(np.float32), np.hanning(11)
    kernel = np.multiply.outer(vector, vector)
    assert launches(lambda: convolve(image, kernel))[1].count("ndimage_correlate") == 2
    kernel[3, 4] += 1e-3
    assert launches(lambda: convolve(image, kernel))[1].count("ndimage_correlate") == 1


def test_weights_of_the_host_take_no_launches_of_their_own(launches):
    image, kernel = np.ones((90, 70), np.float32), np.random.default_rng(3).random((5, 5))
    there = xp.asarray(image)
    for weights in (kernel, kernel.astype(np.float32)):
        names = launches(lambda weights=weights: convolve(there, weights))[1]
        assert len(names) == 1 and "ndimage_correlate" in names[0]


@pytest.mark.parametrize("shape, taps", [((40, 120), (5, 5)), ((12, 24, 30), (7, 7, 7)), ((2, 3000), (5, 6))])
def test_large_images_have_the_results_of_scipy(shape, taps):
    rng = np.random.default_rng(4)
    image, kernel = rng.normal(size=shape), rng.normal(size=taps)
    for mode in ("reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap"):
        expected = scipy_ndimage.convolve(image, kernel, mode=mode, cval=0.5)
        np.testing.assert_allclose(convolve(image, kernel, mode, 0.5).get(), expected, atol=1e-12 * kernel.size)
    for mode in ("full", "same"):
        expected = scipy_signal.convolve(image, kernel, mode, method="direct")
        np.testing.assert_allclose(convolve(image, kernel, mode).get(), expected, atol=1e-12 * kernel.size)


def test_factors_are_found_up_to_rounding():
    vectors = np.array([1.0, -2, 1]), np.array([0.0, 3, 4, 5])
    product = np.multiply.outer(*vectors)
    factors = separate(product.astype(np.float32), np.dtype(np.float32))
    np.testing.assert_allclose(np.multiply.outer(*factors), product, atol=1e-6)
    assert separate(np.eye(3), np.dtype(np.float32)) is None
    assert separate(np.zeros((3, 3)), np.dtype(np.float32)) is None
    assert separate(product + 1e-9, np.dtype(np.float64)) is None


def test_integers_are_exact_and_complex_numbers_are_taken():
    image = np.arange(63, dtype=np.int32).reshape(9, 7)
    kernel = np.ones((7, 7), np.int32)
    np.testing.assert_array_equal(convolve(image, kernel, "same").get(), scipy_signal.convolve(image, kernel, "same"))
    found = convolve(image.astype(np.float64), kernel[:3, :3] * 1j)
    np.testing.assert_allclose(found.get().imag, scipy_ndimage.convolve(image.astype(np.float64), kernel[:3, :3]))


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (([[1.0]], [1.0]), ValueError, r"kernel has shape \(1,\); expected elements along 2 axes"),
        ((1.0, 1.0), ValueError, r"image has shape \(\); expected one to three axes"),
        (([1.0], []), ValueError, r"kernel has shape \(0,\)"),
        (([1.0], [1.0, 2.0], "valid"), ValueError, r"kernel has shape \(2,\); expected at most \(1,\)"),
        (([1.0], [1.0], "around"), ValueError, "mode is 'around'"),
        (([1.0], ["a"]), TypeError, "kernel is of dtype"),
        (
            ([1.0], np.ones(1, np.longdouble), "full"),
            TypeError,
            "kernel is of dtype .*; expected one that devices have",
        ),
        (([1.0], np.ma.masked_array([1.0])), TypeError, "kernel is a masked array"),
        ((np.ma.masked_array([1.0]), [1.0]), TypeError, "image is a masked array"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        convolve(*arguments)
