"""The oracle: the whole recurrence matrix in NumPy, lines by a walk over its columns and diagonals, in float64."""

import numpy as np


def embed(series, dimension, delay):
    """Points of a series, one a row."""
    points = len(series) - (dimension - 1) * delay
    return np.array([[series[i + t * delay] for t in range(dimension)] for i in range(points)], np.float64)


def matrix(x, y, dimension, delay, radius, norm, theiler=0):
    """Which points of x (rows) are near which of y (columns)."""
    x, y = embed(x, dimension, delay), embed(y, dimension, delay)
    distance = np.zeros((len(x), len(y)))
    for t in range(dimension):
        difference = np.abs(x[:, None, t] - y[None, :, t])
        if norm == "max":
            np.maximum(distance, difference, out=distance)
        else:
            distance += difference if norm == "manhattan" else difference**2
    near = distance < (radius**2 if norm == "euclidean" else radius)
    return near & (np.abs(np.arange(len(x))[:, None] - np.arange(len(y))) >= theiler)


def histogram(lines, value, size):
    """How many maximal runs of `value` of each length there are in some lines, the rows of an array."""
    # Between two lines is an element of neither, so that no run goes on in the next one.
    found = np.pad(lines == value, ((0, 0), (1, 1))).ravel()
    ends = np.flatnonzero(found[1:] != found[:-1])
    return np.bincount(ends[1::2] - ends[::2], minlength=size + 1)


def diagonals(near):
    """The diagonals of a matrix as rows of an array, False beyond their ends."""
    rows, columns = near.shape
    # Each row begins one place further than the row below it: a row is one element shorter than its padded one.
    padded = np.pad(near[::-1], ((0, 0), (0, rows))).ravel()
    return padded[: rows * (rows + columns - 1)].reshape(rows, -1).T


def lines(near):
    """Histograms of diagonal, vertical and white vertical lines of a recurrence matrix."""
    rows, columns = near.shape
    return (
        histogram(diagonals(near), True, min(rows, columns)), histogram(near.T, True, rows),
        histogram(near.T, False, rows),
    )  # fmt: skip


def determinism(near, shortest=2):
    """Share of recurrent points with a recurrent neighbour on their diagonal, for lines of at least two."""
    padded = np.pad(near, 1)
    on_line = near & (padded[:-2, :-2] | padded[2:, 2:])
    assert shortest == 2
    return on_line.sum() / near.sum()
