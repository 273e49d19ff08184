"""Entropy from distances to nearest neighbours: L. F. Kozachenko, N. N. Leonenko, Problemy Peredachi Informatsii 23
(1987); for images D. M. Chandler, D. J. Field, JOSA A 24 (2007).
"""

import math

import numpy as np

import rtcg.numpy as xp
from apps import _harness as harness
from rtcg import devices as all_devices, driver, neighbors

EULER = 0.57721566490153286
PIECE = 1 << 20
"""Points of a piece; two pieces are on a device at once."""


def nearest_distances(tests, others, devices=1, piece=PIECE):
    """Distances of points to their nearest among others, in float64 of those of float32.

    With several `devices`, each has a thread and takes parts of `tests`; the bits are those of one device. `others` may
    be an array that is not in memory as a whole, such as a memory-mapped file: it is read piece by piece.
    """
    if devices == 1:
        return _on_this_device(tests, others, piece, harness.progress)
    parts = np.array_split(tests, devices)
    found = all_devices.map(lambda part: _on_this_device(part, others, piece), parts, devices=range(devices))
    return np.concatenate(found)


class _Slot:
    """Memory of one piece, page-locked and on the device."""

    def __init__(self, count, like):
        shape = (count, like.shape[1])
        self.host, self.device = driver.pagelocked_empty(shape, like.dtype), xp.empty(shape, like.dtype)
        self.copied, self.searched = driver.Event(), driver.Event()

    def begin_copy(self, points, stream):
        """Copies points to the device in a stream, when the last search of this slot is done."""
        self.searched.synchronize()
        self.host[: len(points)] = points
        self.device[: len(points)].set_async(self.host[: len(points)], stream)
        self.copied.record(stream)


def _on_this_device(tests, others, piece, show=lambda steps, label: steps):
    """Searches piece after piece: the next one is copied in a stream of its own while one is searched.

    There are two slots of `piece` points in page-locked memory and on the device, whatever the number of points.
    """
    if not len(others):
        return np.full(len(tests), np.inf)
    piece = min(piece, len(others))
    queries, best = xp.asarray(tests), None
    # Work of other streams does not wait for this one, nor it for that.
    stream = driver.Stream(driver.stream_flags.NON_BLOCKING)
    slots = [_Slot(piece, others) for _ in range(2)]
    begins = list(range(0, len(others), piece))
    slots[0].begin_copy(others[:piece], stream)
    for number, first in enumerate(show(begins, "nearest neighbours")):
        slot, count = slots[number % 2], min(piece, len(others) - first)
        slot.copied.synchronize()
        distances, _ = neighbors.knn(queries, slot.device[:count], 1)
        best = distances if best is None else xp.minimum(best, distances)
        slot.searched.record()
        if number + 1 < len(begins):
            slots[(number + 1) % 2].begin_copy(others[begins[number + 1] : begins[number + 1] + piece], stream)
    return best.get()[:, 0].astype(np.float64)


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
