"""Entropy from distances to nearest neighbours: L. F. Kozachenko, N. N. Leonenko, Problemy Peredachi Informatsii 23
(1987); for images D. M. Chandler, D. J. Field, JOSA A 24 (2007).
"""

import math
import threading

import numpy as np

from rtcg import driver, neighbors

EULER = 0.57721566490153286
PIECE = 1 << 20
"""Points that are on a device at once."""


def nearest_distances(tests, others, devices=1):
    """Distances of points to their nearest among others, in float64 of those of float32.

    With several `devices`, each has a thread, a context and a part of `tests`; the bits are those of one device.
    """
    if devices == 1:
        return _on_this_device(tests, others)
    parts = np.array_split(tests, devices)
    found, errors = [None] * devices, []

    def work(number):
        try:
            context = driver.Device(number).make_context()
            try:
                found[number] = _on_this_device(parts[number], others)
            finally:
                context.pop()
                context.detach()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(devices)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return np.concatenate(found)


def _on_this_device(tests, others):
    best = np.full(len(tests), np.inf)
    for first in range(0, len(others), PIECE):
        distances, _ = neighbors.knn(tests, others[first : first + PIECE], 1)
        best = np.minimum(best, distances.get()[:, 0])
    return best


def entropy(distances, points, dimensions):
    """Bits of a point, from distances of test points to their nearest of `points` others.

    Test points and others are drawn independently, so that the density at a test point is about the number of points in
    the ball to the nearest one, e^-EULER, over its volume.
    """
    if not (distances > 0).all():
        raise ValueError(f"{(distances <= 0).sum()} distances are 0; expected points of a continuous distribution")
    log_volume = dimensions / 2 * math.log(math.pi) - math.lgamma(dimensions / 2 + 1)
    return dimensions * np.log2(distances).mean() + (log_volume + math.log(points) + EULER) / math.log(2)


def entropy_curve(tests, others, devices=1, smallest=256):
    """Entropy by numbers of others, which double to all of them: ``(points, bits)`` in rows.

    Each number of points adds the search of those that are new.
    """
    rows, best, done = [], np.full(len(tests), np.inf), 0
    points = min(smallest, len(others))
    while done < len(others):
        best = np.minimum(best, nearest_distances(tests, others[done:points], devices))
        rows.append((points, entropy(best, points, tests.shape[1])))
        done, points = points, min(2 * points, len(others))
    return np.array(rows)


def dimension(tests, others, devices=1):
    """The dimension in which points lie: distances to the nearest shrink as the number of points to -1 / dimension."""
    half = len(others) // 2
    few = nearest_distances(tests, others[:half], devices)
    many = np.minimum(few, nearest_distances(tests, others[half : 2 * half], devices))
    return float(-1 / (np.log2(many).mean() - np.log2(few).mean()))
