"""Elements on the edges of half-open intervals, and quantiles on elements, beside NumPy."""

import itertools

import numpy as np
import pytest
from depth import some

import rtcg.numpy as rnp
from rtcg.numpy._statistics import _CONTINUOUS_METHODS, _EXACT_METHODS

EDGES = {
    "ascending": [0.0, 1.0, 2.0, 5.0],
    "descending": [5.0, 2.0, 1.0, 0.0],
    "repeated": [0.0, 1.0, 1.0, 1.0, 2.0],
    "repeated, descending": [2.0, 1.0, 1.0, 1.0, 0.0],
    "all equal": [1.0, 1.0, 1.0],
    "one": [1.0],
    "none": [],
    "infinite": [-np.inf, 0.0, np.inf],
    "infinite, descending": [np.inf, 0.0, -np.inf],
}
#: Edges, what is between them, beside them and outside.
BETWEEN = np.array([-1, 0, -0.0, 0.5, 1, 1.5, 2, 3, 5, 6, np.nextafter(1, 2), np.nextafter(1, 0), np.inf, -np.inf])
METHODS = [*_CONTINUOUS_METHODS, *_EXACT_METHODS, "midpoint", "averaged_inverted_cdf"]


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
def test_digitize(edges, dtype):
    bins, x = np.array(EDGES[edges]), BETWEEN
    if dtype[0] in "iu":
        bins, x = (a[np.isfinite(a) & (a >= 0)] for a in (bins, x))
    bins, x = bins.astype(dtype), x.astype(dtype)
    for right in (False, True):
        actual = rnp.digitize(rnp.to_gpu(x), rnp.to_gpu(bins), right=right).get()
        np.testing.assert_array_equal(actual, np.digitize(x, bins, right=right))


def test_digitize_of_unlike_dtypes():
    for x, bins in itertools.product(["u1", "i8", "f2", "f8"], repeat=2):
        a, b = np.arange(5).astype(x), np.array([3, 2, 0]).astype(bins)
        for right in (False, True):
            actual = rnp.digitize(rnp.to_gpu(a), rnp.to_gpu(b), right).get()
            np.testing.assert_array_equal(actual, np.digitize(a, b, right))
    with pytest.raises(ValueError, match="monotonically"):
        rnp.digitize(rnp.to_gpu(np.arange(3)), rnp.to_gpu(np.array([0, 2, 1])))


@pytest.mark.parametrize("edges", ["ascending", "repeated", "all equal", "one", "infinite"])
def test_searches(edges):
    a, x = np.array(EDGES[edges]), np.append(BETWEEN, np.nan)
    order = np.argsort(-a, kind="stable")
    for side in ("left", "right"):
        expected = np.searchsorted(a, x, side)
        np.testing.assert_array_equal(rnp.searchsorted(rnp.to_gpu(a), rnp.to_gpu(x), side).get(), expected)
        shuffled = np.searchsorted(a[order], x, side, sorter=np.argsort(a[order], kind="stable"))
        sorter = rnp.argsort(rnp.to_gpu(a[order]))
        actual = rnp.searchsorted(rnp.to_gpu(a[order]), rnp.to_gpu(x), side, sorter=sorter)
        np.testing.assert_array_equal(actual.get(), shuffled)


@pytest.mark.parametrize("edges", ["ascending", "repeated", "all equal", "infinite"])
def test_histograms(edges):
    bins, x = np.array(EDGES[edges]), BETWEEN[np.isfinite(BETWEEN)]
    weights = np.arange(1.0, x.size + 1)
    for options in ({}, {"weights": weights}):
        ours = {name: rnp.to_gpu(value) for name, value in options.items()}
        np.testing.assert_array_equal(
            rnp.histogram(rnp.to_gpu(x), rnp.to_gpu(bins), **ours)[0].get(), np.histogram(x, bins, **options)[0]
        )
        actual = rnp.histogramdd([rnp.to_gpu(x)], [rnp.to_gpu(bins)], **ours)[0].get()
        np.testing.assert_array_equal(actual, np.histogramdd([x], [bins], **options)[0])
    with pytest.raises(ValueError, match="increase monotonically"):
        rnp.histogram(rnp.to_gpu(x), rnp.to_gpu(np.array([2.0, 1.0, 0.0])))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
def test_histograms_of_equal_bins(dtype):
    x = np.array([0, 1, 1, 2, 3, 5, 9, 10]).astype(dtype)
    for bins, limits in itertools.product([1, 3, 5, 10], [None, (0, 10), (1, 9), (2, 2), (0.5, 9.5)]):
        actual = rnp.histogram(rnp.to_gpu(x), bins, limits)
        for ours, theirs in zip(actual, np.histogram(x, bins, limits), strict=True):
            np.testing.assert_array_equal(ours.get(), theirs)


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_on_elements(method):
    for dtype, n in itertools.product(some(["f8", "f4", "i4", "u1"], ["f8", "i4"]), [1, 2, 4, 5]):
        x = np.arange(n, 0, -1).astype(dtype) * 3
        q = np.arange(n * 4 + 1) / (n * 4)
        expected, actual = np.quantile(x, q, method=method), rnp.quantile(rnp.to_gpu(x), q, method=method).get()
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(actual, expected, rtol=1e-6)
        for percent in (0, 25, 50.0, 100):
            ours = rnp.percentile(rnp.to_gpu(x), percent, method=method).get()
            theirs = np.percentile(x, percent, method=method)
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_quantiles_are_in_the_dtype_of_both():
    for dtype, q in itertools.product(["f2", "f4", "f8", "i1", "u8"], [np.float32(0.3), np.float64(0.3), 0.3, 1]):
        x = np.array([1, 2, 4, 8]).astype(dtype)
        ours, theirs = rnp.quantile(rnp.to_gpu(x), q), np.quantile(x, q)
        assert ours.dtype == theirs.dtype, (dtype, q)
        np.testing.assert_allclose(ours.get(), theirs, rtol=1e-3 if dtype == "f2" else 1e-6)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_interp_on_points(order):
    xp, fp = np.array([0.0, 1, 2, 5])[order], np.array([1.0, -1, 4, 3])[order]
    x = BETWEEN[np.isfinite(BETWEEN)]
    period = None if order == sorted(order) else 7
    actual = rnp.interp(rnp.to_gpu(x), rnp.to_gpu(xp), rnp.to_gpu(fp), period=period).get()
    np.testing.assert_allclose(actual, np.interp(x, xp, fp, period=period), rtol=1e-14, atol=1e-15)
    with pytest.raises(TypeError, match="x has dtype complex128"):
        rnp.interp(rnp.to_gpu(x + 1j), rnp.to_gpu(xp), rnp.to_gpu(fp))
