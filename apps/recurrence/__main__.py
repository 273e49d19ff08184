"""Recurrence quantification of a time series: all pairs of its points, on the GPU.

python -m apps.recurrence --check
python -m apps.recurrence --size seed --bench
python -m apps.recurrence --plot recurrence.png
"""

import ctypes
import sys
from pathlib import Path

import numpy as np

from apps import _harness as harness

from . import reference
from .analysis import (
    NORMS,
    Embedding,
    cross_recurrence,
    joint_recurrence,
    recurrence,
    recurrence_plot,
    vertical_lines,
)

SIZES = {"small": {"points": 1_500}, "seed": {"points": 10_000}, "h200": {"points": 1_000_000}}


def logistic_map(points, start=0.4, r=4.0):
    """The logistic map, ``x -> r x (1 - x)``, a series of float32."""
    series = np.empty(points, np.float64)
    for i in range(points):
        series[i] = start
        start = r * start * (1 - start)
    return series.astype(np.float32)


def lorenz(points, step=0.02):
    """The first coordinate of Lorenz' system by the classic Runge-Kutta method with a fixed step."""

    def rate(s):
        return np.array([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]])

    state, series = np.array([1.0, 1.0, 20.0]), np.empty(points, np.float32)
    for i in range(-500, points):
        k1 = rate(state)
        k2 = rate(state + step / 2 * k1)
        k3 = rate(state + step / 2 * k2)
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + rate(state + step * k3))
        if i >= 0:
            series[i] = state[0]
    return series


def _compare(checks, name, found, near):
    for kind, expected in zip(("diagonal", "vertical", "white"), reference.lines(near), strict=True):
        checks.equal(f"{name}, {kind} lines", getattr(found, kind), expected)


def check(size, checks):
    """Histograms against the whole matrix in NumPy, and what is known of a sine and of noise."""
    points = size["points"]
    # Multiples of 2^-6, so that distances in float32 are exact, and many are equal to the radius.
    x = np.round(logistic_map(points) * 64).astype(np.float32) / 64
    y = np.round(np.sin(np.arange(points // 2) * 0.37) * 32 + 32).astype(np.float32) / 64
    for norm in NORMS:
        for dimension, delay, radius, theiler in [(1, 1, 0.125, 0), (3, 2, 0.25, 1), (2, 40, 0.25, 5)]:
            embedding = Embedding(dimension, delay, radius, norm)
            near = reference.matrix(x, x, dimension, delay, radius, norm, theiler)
            _compare(checks, f"{norm}, dimension {dimension}", recurrence(x, embedding, theiler), near)
        embedding = Embedding(2, 3, 0.25, norm)
        _compare(checks, f"{norm}, cross", cross_recurrence(x, y, embedding), reference.matrix(x, y, 2, 3, 0.25, norm))
        other = Embedding(3, 1, 0.5, norm)
        short = x[: len(y)]
        both = reference.matrix(y, y, 3, 1, 0.5, norm, 1)
        both &= reference.matrix(short[:-1], short[:-1], 2, 1, 0.25, "max", 1)
        _compare(checks, f"{norm}, joint", joint_recurrence(short, y, Embedding(2, 1, 0.25), other), both)
    _check_variants(x, checks)
    _check_known(checks)


def _check_variants(x, checks):
    embedding = Embedding(3, 1, 0.25)
    near = reference.matrix(x, x, 3, 1, 0.25, "max")
    plot = recurrence_plot(x, embedding)
    checks.equal("plot", plot, near)
    whole = recurrence(x, embedding, 0)
    for kind, found in zip(("vertical", "white"), vertical_lines(plot), strict=True):
        checks.equal(f"{kind} lines of the plot", found, getattr(whole, kind))
    found = recurrence(x, embedding)
    near &= ~np.eye(len(near), dtype=bool)
    checks.close("determinism", found.measures()["determinism"], reference.determinism(near), rtol=1e-12)
    checks.close("recurrence rate", found.measures()["recurrence rate"], near.mean(), rtol=1e-12)
    for options in [{"threads": 64, "columns_of_thread": 1}, {"threads": 256, "tile": 1024, "columns_of_thread": 4}]:
        again = recurrence(x, embedding, **options)
        checks.equal(f"{options}", np.concatenate([again.diagonal, again.vertical, again.white]),
                     np.concatenate([found.diagonal, found.vertical, found.white]))  # fmt: skip


def _check_known(checks):
    sine = np.sin(2 * np.pi * np.arange(1500) / 50).astype(np.float32)
    checks.equal("determinism of a sine", recurrence(sine, Embedding(2, 12, 0.05)).measures()["determinism"], 1)
    # Noise on [0, 1): a pair is near with p = r (2 - r), pairs along a diagonal independently of each other. A line of
    # length l begins at n - l - 1 places inside a diagonal of n elements with p^l (1 - p)^2, at an end with p^l (1 - p)
    points, radius, seeds = 400, 0.3, 24
    rng, p = np.random.default_rng(17), radius * (2 - radius)
    found = np.array(
        [recurrence(rng.random(points, np.float32), Embedding(1, 1, radius)).diagonal[:6] for _ in range(seeds)]
    )
    n = np.arange(1, points)
    for length in range(1, 6):
        inside = np.maximum(n - length - 1, 0) * p**length * (1 - p) ** 2
        expected = 2 * (inside + 2 * (n > length) * p**length * (1 - p)).sum()
        error = found[:, length].std(ddof=1) / np.sqrt(seeds)
        checks.close(f"lines of {length} in noise", found[:, length].mean(), expected, atol=3 * error)


def _on_one_core(x, embedding):
    """The same histograms by C on one core, compiled when it is called."""
    function = harness.compile_c(Path(__file__).with_name("reference.c")).recurrence_lines
    points = len(x) - embedding.reach

    def call():
        counts = np.zeros((3, points + 1), np.int64)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, counts)]
        function(
            pointers[0], points, embedding.dimension, embedding.delay, ctypes.c_float(embedding.radius), pointers[1]
        )
        return counts

    return call


def _pyrqa(x, embedding):
    """PyRQA, the OpenCL package of the field; its result."""
    from pyrqa.analysis_type import Classic
    from pyrqa.computation import RQAComputation
    from pyrqa.metric import MaximumMetric
    from pyrqa.neighbourhood import FixedRadius
    from pyrqa.settings import Settings
    from pyrqa.time_series import TimeSeries

    series = TimeSeries(x, embedding_dimension=embedding.dimension, time_delay=embedding.delay)
    settings = Settings(series, analysis_type=Classic, neighbourhood=FixedRadius(embedding.radius),
                        similarity_measure=MaximumMetric, theiler_corrector=1)  # fmt: skip
    return RQAComputation.create(settings, verbose=False).run()


def bench(size, tables):
    """All measures of the logistic map, dimension 3, maximum norm."""
    points = size["points"]
    x, embedding = logistic_map(points), Embedding(3, 1, 0.05)
    pairs = (points - embedding.reach) ** 2 / 1e9
    limit, name = _limit()
    table = harness.Table(f"recurrence of {points} points, dimension 3, maximum norm", "Gpairs/s", limit, name)
    tables.append(table)
    ours = table.row("rtcg, default", pairs, lambda: recurrence(x, embedding))
    best, remarks = _tuned(x, embedding)
    table.row("rtcg, tuned", pairs, lambda: recurrence(x, embedding, **best), remarks=remarks)
    part = x[: min(points, 20_000)]
    part_pairs = (len(part) - embedding.reach) ** 2 / 1e9
    expected = recurrence(part, embedding).diagonal if len(part) < points else ours.diagonal
    table.row("C, one core", part_pairs, _on_one_core(part, embedding), lambda counts: (counts[0] != expected).sum(),
              on_device=False, rounds=1, remarks=f"{len(part)} points; error: lengths whose counts differ")  # fmt: skip
    table.row("PyRQA", pairs, lambda: _pyrqa(x, embedding), on_device=False, rounds=1)


def _tuned(x, embedding):
    """The fastest of a few shapes of the launches."""
    from rtcg import tune

    from .kernels import SPACE

    part = x[: min(len(x), 200_000)]
    report = tune.search(
        SPACE, lambda **config: _seconds(part, embedding, config), budget=harness.budget, progress=False
    )
    return report.best, harness.tuned(report)


def _seconds(x, embedding, config):
    recurrence(x, embedding, **config)
    start = harness.time.perf_counter()
    recurrence(x, embedding, **config)
    return harness.time.perf_counter() - start


def _limit():
    """The rate at which the device issues instructions, with 8 for a pair, and half of the pairs by symmetry."""
    rate = harness.instruction_rate()
    return (None, "") if rate is None else (rate / 4 / 1e9, "4 instructions a pair of the matrix")


def plot(size):
    """The four classic plots: noise, a sine, a chaotic flow, and a map that drifts."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    points = 400
    rng = np.random.default_rng(4)
    drift = logistic_map(points) + np.arange(points, dtype=np.float32) * 0.01
    series = {
        "white noise": (rng.random(points).astype(np.float32), Embedding(1, 1, 0.1)),
        "sine": (np.sin(np.arange(points) * 0.12).astype(np.float32), Embedding(2, 13, 0.2)),
        "Lorenz' system": (lorenz(points), Embedding(3, 4, 5.0)),
        "logistic map with a drift": (drift, Embedding(1, 1, 0.2)),
    }
    figure, axes = plt.subplots(2, 2, figsize=(9, 9.4))
    for axis, (title, (x, embedding)) in zip(axes.flat, series.items(), strict=True):
        axis.imshow(recurrence_plot(x, embedding), cmap="binary", origin="lower", interpolation="nearest")
        measures = recurrence(x, embedding).measures()
        axis.set_title(
            f"{title}: determinism {measures['determinism']:.2f}, laminarity {measures['laminarity']:.2f}", fontsize=9
        )
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    sys.exit(harness.run(__doc__, SIZES, check, bench, plot))
