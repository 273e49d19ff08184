"""The oracle: all distances in NumPy, and entropies that are known in closed form."""

import numpy as np


def nearest(tests, others, k):
    """Indices of the `k` nearest and their distances, by sorting all of them in float64; the lower index first."""
    squares = np.zeros((len(tests), len(others)))
    for t in range(tests.shape[1]):
        squares += (tests[:, t, None].astype(np.float64) - others[None, :, t].astype(np.float64)) ** 2
    order = np.argsort(squares, axis=1, kind="stable")[:, :k]
    return order, np.sqrt(np.take_along_axis(squares, order, axis=1))


def gaussian_bits(dimensions, sigma):
    """Entropy of independent Gaussian coordinates."""
    return dimensions * 0.5 * np.log2(2 * np.pi * np.e * sigma**2)


def uniform_bits(dimensions, width):
    """Entropy of coordinates that are uniform on an interval."""
    return dimensions * np.log2(width)
