"""The same steps for single pixels and small images, in NumPy and float64."""

import math

import numpy as np


def lab(rgb):
    """CIE L*a*b* of one sRGB colour."""
    linear = [((c + 0.055) / 1.055) ** 2.4 if c > 0.04045 else c / 12.92 for c in map(float, rgb)]
    r, g, b = linear
    xyz = (
        0.412453 * r + 0.357580 * g + 0.180423 * b,
        0.212671 * r + 0.715160 * g + 0.072169 * b,
        0.019334 * r + 0.119193 * g + 0.950227 * b,
    )
    scaled = [v / white for v, white in zip(xyz, (0.95047, 1, 1.08883), strict=True)]
    f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in scaled]
    return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]


def half_disc_difference(labels, row, column, radius, bins, orientation, orientations):
    """Chi-square of the normalised histograms of both halves of a disc around one pixel, without smoothing."""
    rows, columns = labels.shape
    histograms = np.zeros((2, bins))
    for y in range(-radius, radius + 1):
        for x in range(-radius, radius + 1):
            if not 0 < y * y + x * x <= radius * radius:
                continue
            angle = (math.atan2(-y, x) - orientation * math.pi / orientations + 1e-9) % (2 * math.pi)
            y_in, x_in = (
                i if 0 <= i < n else -1 - i if i < 0 else 2 * n - 1 - i
                for i, n in ((row + y, rows), (column + x, columns))
            )
            histograms[int(angle >= math.pi), labels[y_in, x_in]] += 1
    g, h = histograms / histograms.sum()
    return ((g - h) ** 2 / np.where(g + h > 0, g + h, 1)).sum()


def affinities(strength, reach, rho):
    """The dense matrix of affinities, normalised by degrees."""
    rows, columns = strength.shape
    dense = np.zeros((rows * columns,) * 2)
    for a in np.ndindex(rows, columns):
        for b in np.ndindex(rows, columns):
            vector = np.subtract(b, a)
            if tuple(vector) < (0, 0) or not 0 < vector @ vector <= reach * reach:
                continue
            longest = abs(vector).max()
            line = [np.sign(vector) * np.floor(abs(vector) * s / longest + 0.5).astype(int) for s in range(longest + 1)]
            most = max(strength[tuple(np.subtract(b, step))] for step in line)
            dense[a[0] * columns + a[1], b[0] * columns + b[1]] = math.exp(-most / rho)
    dense += dense.T
    degree = dense.sum(1)
    return dense / np.sqrt(np.outer(degree, degree))
