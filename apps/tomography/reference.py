"""The oracle in NumPy and float64: the projections of a disc, and filtered backprojection by direct convolution."""

import numpy as np


def disc(radius, detectors, views):
    """Projections of a disc of value 1 about the axis: chords."""
    row = [2 * np.sqrt(max(radius**2 - (k - (detectors - 1) / 2) ** 2, 0.0)) for k in range(detectors)]
    return np.tile(row, (views, 1))


def filtered(sinogram):
    """The ramp filter, in space."""
    detectors = sinogram.shape[1]
    offsets = np.arange(-detectors, detectors + 1)
    kernel = np.where(offsets % 2 == 0, 0.0, -1 / (np.pi * np.where(offsets == 0, 1, offsets)) ** 2)
    kernel[detectors] = 0.25
    return np.array([np.convolve(row, kernel)[detectors : 2 * detectors] for row in np.asarray(sinogram, float)])


def reconstruct(sinogram, angles, height, width, axis, center):
    """Filtered backprojection; outside of the detector rows go down to 0 within a bin."""
    rows = filtered(sinogram)
    y, x = np.mgrid[:height, :width]
    image = np.zeros((height, width))
    bins = np.arange(-1, rows.shape[1] + 1)
    for row, angle in zip(rows, angles, strict=True):
        at = center + (x - axis[0]) * np.cos(angle) + (axis[1] - y) * np.sin(angle)
        image += np.interp(at, bins, np.concatenate([[0], row, [0]]), left=0, right=0)
    return image * np.pi / len(angles)
