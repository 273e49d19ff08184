"""Recurrence quantification: from series to the histograms of lines, and from these to the usual measures.

Source of the measures: N. Marwan, M. C. Romano, M. Thiel, J. Kurths, Recurrence plots for the analysis of complex
systems, Physics Reports 438 (2007).
"""

import dataclasses

import numpy as np

import rtcg.numpy as xp
from apps import _harness as harness
from rtcg import algorithm, driver

from . import kernels

NORMS = ("max", "manhattan", "euclidean")
MOST_POINTS = 1 << 22


@dataclasses.dataclass(frozen=True)
class Embedding:
    """How a series becomes points: (x[i], x[i + delay], ...), and which points are near each other.

    Points are near where their distance is less than `radius`. Series and distances are of float32: subtract the
    mean of numbers that differ by little.
    """

    dimension: int = 3
    delay: int = 1
    radius: float = 0.5
    norm: str = "max"

    def __post_init__(self):
        for name in ("dimension", "delay"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name} is {value!r}; expected an integer of at least 1")
        if self.norm not in NORMS:
            raise ValueError(f"norm is {self.norm!r}; expected one of {', '.join(NORMS)}")
        if not isinstance(self.radius, (int, float, np.number)) or not 1e-18 <= self.radius <= 1e18:
            raise ValueError(f"radius is {self.radius!r}; expected a number from 1e-18 to 1e18")
        if self.reach > 1024:
            raise ValueError(f"(dimension - 1) * delay is {self.reach}; expected at most 1024")

    @property
    def reach(self):
        """How many scalars a point reaches beyond its first."""
        return (self.dimension - 1) * self.delay


@dataclasses.dataclass(frozen=True)
class Lines:
    """The lines of a recurrence matrix of `shape` (rows, columns): histograms of int64, indexed by length.

    `diagonal` and `vertical` count runs of recurrences, `white` runs of other elements in columns, those at the borders
    too. `shortest` is the length from which a line counts in measures.
    """

    shape: tuple
    diagonal: np.ndarray
    vertical: np.ndarray
    white: np.ndarray
    shortest: int = 2

    def measures(self):
        """The measures of recurrence quantification by name, as floats and ints."""
        points = _weight(self.vertical)
        result = {"recurrence rate": points / (self.shape[0] * self.shape[1])}
        for prefix, share, counts in [
            ("diagonal", "determinism", self.diagonal), ("vertical", "laminarity", self.vertical),
        ]:  # fmt: skip
            result[share] = _ratio(_weight(counts[self.shortest :], self.shortest), _weight(counts))
            result.update(self._of_lines(prefix, counts))
        result["trapping time"] = result["mean vertical line"]
        result.update(self._of_lines("white vertical", self.white))
        result["recurrence time"] = result["mean white vertical line"]
        return result

    def _of_lines(self, kind, counts):
        long = counts[self.shortest :]
        shares = long[long > 0] / max(long.sum(), 1)
        return {
            f"mean {kind} line": _ratio(_weight(long, self.shortest), long.sum()),
            f"longest {kind} line": int(np.flatnonzero(counts)[-1]) if counts.any() else 0,
            f"entropy of {kind} lines": float(-(shares * np.log(shares)).sum()),
        }


def _weight(counts, first=0):
    """Elements in lines: the sum of length times count, exactly."""
    return int((np.arange(first, first + len(counts)) * counts).sum())


def _ratio(part, whole):
    return float(part / whole) if whole else float("nan")


def recurrence(series, embedding=None, theiler=1, **options):
    """Lines of the recurrence plot of one series, without elements with ``abs(i - j) < theiler``."""
    embedding = embedding or Embedding()
    x = _checked("series", series, embedding)
    return _lines([(x, x, embedding)], theiler, symmetric=True, **options)


def cross_recurrence(x, y, embedding=None, **options):
    """Lines of the cross recurrence plot: rows are points of `x`, columns points of `y`."""
    embedding = embedding or Embedding()
    return _lines(
        [(_checked("x", x, embedding), _checked("y", y, embedding), embedding)], 0, symmetric=False, **options
    )


def joint_recurrence(x, y, of_x, of_y, theiler=1, **options):
    """Lines of the joint recurrence plot of two series of equal length: both are recurrent, each in its embedding.

    The series with more points loses its last ones.
    """
    x, y = _checked("x", x, of_x), _checked("y", y, of_y)
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} numbers, y {len(y)}; expected as many")
    points = len(x) - max(of_x.reach, of_y.reach)
    x, y = x[: points + of_x.reach], y[: points + of_y.reach]
    return _lines([(x, x, of_x), (y, y, of_y)], theiler, symmetric=True, **options)


def recurrence_plot(series, embedding=None, theiler=0):
    """The recurrence matrix itself as an array of bools, ``[row, column]``; bits on the device."""
    embedding = embedding or Embedding()
    x = _checked("series", series, embedding)
    points = len(x) - embedding.reach
    if points > 1 << 15:
        raise ValueError(f"series has {points} points; expected at most {1 << 15} for a plot")
    bits = xp.zeros(((points + 31) // 32, points), np.uint32)
    _lines([(x, x, embedding)], theiler, symmetric=True, plot=bits)
    words = bits.get()
    return (words[:, None, :] >> np.arange(32, dtype=np.uint32)[:, None] & 1).astype(bool).reshape(-1, points)[:points]


def vertical_lines(plot):
    """Histograms of the vertical and white vertical lines of a recurrence matrix, by runs of its elements."""
    rows, columns = plot.shape
    # Adjacent columns have other keys, so that no run goes on in the next one.
    keys = xp.asarray(plot).T.astype(np.int32) + 2 * xp.arange(columns, dtype=np.int32)[:, None]
    keys, lengths = (array.get() for array in algorithm.run_length_encode(keys.ravel()))
    return tuple(np.bincount(lengths[keys % 2 == kind], minlength=rows + 1) for kind in (1, 0))


def _checked(name, series, embedding):
    """A series on the device as float32, or an error."""
    host = None if isinstance(series, xp.GPUArray) else np.asarray(series)
    array = series if host is None else host
    if array.ndim != 1 or np.dtype(array.dtype).kind not in "fiu":
        raise ValueError(f"{name} has shape {array.shape} and dtype {array.dtype}; expected real numbers on one axis")
    points = len(array) - embedding.reach
    if not 1 <= points <= MOST_POINTS:
        raise ValueError(
            f"{name} has {len(array)} numbers, {max(points, 0)} points; expected 1 to {MOST_POINTS} points "
            f"with dimension={embedding.dimension}, delay={embedding.delay}"
        )
    with np.errstate(over="ignore"):
        result = xp.asarray(array, dtype=np.float32)
    is_finite = np.isfinite(result.get())
    if not is_finite.all():
        where = int(np.flatnonzero(~is_finite)[0])
        raise ValueError(f"{name}[{where}] is {array[where]}; expected finite numbers of float32")
    return result


def _lines(pairs, theiler, symmetric, plot=None, **config):
    """Launch both kernels in pieces of about one wave of threads, and collect the histograms.

    `config` has parameters of `kernels.SPACE`, which change the speed only.
    """
    if not isinstance(theiler, (int, np.integer)) or theiler < 0:
        raise ValueError(f"theiler is {theiler!r}; expected an integer of at least 0")
    _, _, embedding = pairs[0]
    rows, columns = (len(series) - embedding.reach for series in pairs[0][:2])
    down, along = kernels.walkers(tuple(pair[2] for pair in pairs), int(theiler))
    config = down.default | config
    kernels.SPACE.check(config)
    down, along = down.variant(**config), along.variant(**config)
    wave = driver.Context.get_device().multiprocessor_count * 2048
    longest = min(rows, columns)
    vertical, diagonal = xp.zeros((2, rows + 1), np.uint64), xp.zeros((2, longest + 1), np.uint64)
    forward = [series for x, y, _ in pairs for series in (x, y)]
    backward = [series for x, y, _ in pairs for series in (y, x)]
    plot = np.uint64(0) if plot is None else plot
    of_thread = config["columns_of_thread"]

    def of_slice(walkers, length):
        """The length of slices, in whole tiles, by which walkers of lines become a wave of threads."""
        tiles = -(-length // config["tile"])
        return -(-tiles // max(min(wave // walkers, tiles), 1)) * config["tile"]

    def walk_down(first):
        last = min(first + wave * of_thread, columns)
        sizes = rows, columns, first, last, of_slice(-(-(last - first) // of_thread), rows)
        down(*forward, *map(np.int32, sizes), vertical, plot)

    def walk_along(series, rows, columns, first):
        last = min(first + wave, columns)
        along(*series, *map(np.int32, (rows, columns, first, last, of_slice(last - first, longest))), diagonal)

    # A symmetric matrix has each diagonal twice, but the main one, which is one line where it counts.
    steps = [(walk_down, first) for first in range(0, columns, wave * of_thread)]
    first_diagonal = max(int(theiler), 1) if symmetric else 0
    steps += [(walk_along, forward, rows, columns, first) for first in range(first_diagonal, columns, wave)]
    if not symmetric:
        steps += [(walk_along, backward, columns, rows, first) for first in range(1, rows, wave)]
    for walk, *arguments in harness.progress(steps, "recurrence"):
        walk(*arguments)
        if len(steps) > 2:
            driver.Context.synchronize()
    diagonals = diagonal.get()[1].astype(np.int64)
    if symmetric:
        diagonals *= 2
        if theiler == 0:
            diagonals[longest] += 1
    white, black = vertical.get().astype(np.int64)
    return Lines((rows, columns), diagonals, black, white)
