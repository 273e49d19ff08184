"""The oracle: the whole recurrence matrix in NumPy, lines by a walk over its columns and diagonals, in float64."""

import numpy as np


def embed(series, dimension, delay):
    """Points of a series, one a row."""
    points = len(series) - (dimension - 1) * delay
    return np.array([[series[i + t * delay] for t in range(dimension)] for i in range(points)], np.float64)


def matrix(x, y, dimension, delay, radius, norm, theiler=0):
    """Which points of x (rows) are near which of y (columns)."""
    differences = np.abs(embed(x, dimension, delay)[:, None, :] - embed(y, dimension, delay)[None, :, :])
    if norm == "max":
        near = differences.max(axis=2) < radius
    elif norm == "manhattan":
        near = differences.sum(axis=2) < radius
    else:
        near = (differences**2).sum(axis=2) < radius**2
    i, j = np.indices(near.shape)
    return near & (np.abs(i - j) >= theiler)


def histogram(lines, value, size):
    """How many maximal runs of `value` of each length there are in some lines."""
    counts = np.zeros(size + 1, np.int64)
    for line in lines:
        ends = np.flatnonzero(np.diff(np.concatenate([[False], line == value, [False]]).astype(np.int8)))
        np.add.at(counts, ends[1::2] - ends[::2], 1)
    return counts


def lines(near):
    """Histograms of diagonal, vertical and white vertical lines of a recurrence matrix."""
    rows, columns = near.shape
    diagonals = [np.diagonal(near, k) for k in range(1 - rows, columns)]
    return (
        histogram(diagonals, True, min(rows, columns)), histogram(near.T, True, rows), histogram(near.T, False, rows)
    )  # fmt: skip


def determinism(near, shortest=2):
    """Share of recurrent points with a recurrent neighbour on their diagonal, for lines of at least two."""
    padded = np.pad(near, 1)
    on_line = near & (padded[:-2, :-2] | padded[2:, 2:])
    assert shortest == 2
    return on_line.sum() / near.sum()
